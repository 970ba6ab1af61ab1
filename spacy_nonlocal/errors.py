"""Every message a user can get from us, each with a code.

A message names the component (or file), what is wrong, where, and what to do about it. Codes:
1xx features, 2xx model files, 3xx corpora, 4xx components and their data, 5xx learners, 6xx kernels.
"""

from __future__ import annotations

from typing import Any


class _Catalogue(type):
    """Put its code in front of each message, so that no message repeats it."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _Catalogue:
        for code, text in namespace.items():
            if code.startswith("NL"):
                namespace[code] = f"[{code}] {text}"
        return super().__new__(mcs, name, bases, namespace)


class LatticeError(ValueError):
    """Scores that no decoder can work with, or too much asked of them; components say for which document."""


class Errors(metaclass=_Catalogue):
    # --- 1xx: features -------------------------------------------------------------------------
    NL101 = (
        "Cannot read the feature template {template!r}. A template is one or more attributes with offsets, "
        'joined by \'|\': "orth[0]", "orth[-2..2]", "lower[-1]|lower[0]", "orth[-1]==orth[0]", or "bias".'
    )
    NL102 = (
        "The feature template {template!r} joins a range with something else. Write each combination out, "
        'e.g. "orth[-1]|tag[0]" and "orth[0]|tag[0]".'
    )
    NL103 = (
        "The feature template {template!r} has an empty range or an offset beyond {limit}. "
        'Ranges go from left to right, e.g. "orth[-2..2]".'
    )
    NL104 = (
        "Features ask for an unknown attribute {name!r}.{hint} Known are: {known}, prefixN, suffixN, "
        "gazetteer:NAME, cluster:BITS, and extension attributes as _.name."
    )
    NL105 = (
        "Features use gazetteer:{name}, but no gazetteer of that name is configured (configured: {known}). "
        'Add a block [….model.features.gazetteers.{name}] with @misc = "spacy-nonlocal.Gazetteer.v1".'
    )
    NL106 = (
        "Features use the extension attribute _.{name}, which is not registered. Call "
        "Token.set_extension({name!r}, default=None) before using the pipeline, or read it from a column."
    )
    NL107 = (
        "The extension attribute _.{name} of token {i} ({token!r}) is {value!r} of type {type}. "
        "A feature needs a string, a number, a truth value or None."
    )
    NL108 = "Unknown feature preset {preset!r}. Known are: {known}."
    NL109 = "min_count is {min_count}, but a feature must be seen at least once: use 1 or more."
    NL110 = 'No features are configured. Set `preset` (e.g. "ner") or list templates under `nodes`.'
    NL112 = "A gazetteer is called {name!r}. Its name may have letters, digits, '.', '_' and '-': templates use it."
    NL111 = (
        "Gazetteer {name!r} is {value!r}. Write a block [….model.features.gazetteers.{name}] with "
        '@misc = "spacy-nonlocal.Gazetteer.v1" and a path.'
    )

    # --- 12x: text files, gazetteers, clusters, CRF++ templates ---------------------------------------------
    NL121 = "{path}: the file cannot be opened ({error}). Correct the path."
    NL122 = (
        "{path}:{line}: the line is not {encoding} ({error}). Convert the file to UTF-8, or, for a corpus, set "
        "`encoding` (CoNLL-2002 needs 'latin-1')."
    )
    NL123 = "{path}:{line}: the file cannot be read from here on, or is damaged ({error}). Get the file again."
    NL124 = "{path}: the file has no {what}."
    NL125 = (
        "{owner} is used before its contents are there. They are read from the file when "
        "the pipeline is initialized, and from the model when a saved pipeline is loaded."
    )
    NL126 = (
        "{owner}: what a model file holds for it does not fit ({error}). The model is "
        "damaged, or belongs to another configuration."
    )
    NL127 = (
        "{owner}: the model was made with lower = {given}, but the config says {expected}. Set "
        "lower as it was, or train again."
    )
    NL128 = "A gazetteer got {hashes} hashes but {powers} powers: one of each per token is needed."
    NL129 = "A gazetteer's table has {expected} prefixes, but {given} were marked."
    NL130 = (
        "{path}:{line}: the macro '{macro}' uses column {column}, which is marked '_' (not to be "
        "used). Name the column, or remove the template."
    )
    NL131 = (
        "{path}:{line}: {text!r} is not a cluster's path, a tab and a word (and, if need be, a tab "
        "and a count)."
    )
    NL132 = "{path}:{line}: the path {bits!r} has other characters than 0 and 1."
    NL133 = "{path}:{line}: the path {bits!r} has {length} bits. At most {limit} are possible."
    NL134 = (
        "{path}:{line}: the word {word!r} was in another cluster before. A word belongs to one "
        "cluster: remove one of the lines."
    )
    NL135 = "A cluster feature asks for {bits} bits of a word's path. Ask for 1 or more."
    NL136 = (
        "{path}:{line}: {text!r} is not a CRF++ template. Templates begin with U or B, comments "
        "with #."
    )
    NL137 = (
        "{path}:{line}: {text!r} is not a macro. Macros are written %x[row,column], such as "
        "%x[-1,0]."
    )
    NL138 = (
        "{path}:{line}: the macro '{macro}' uses column {column}, but only {columns} columns are "
        "named. Columns are counted from 0."
    )
    NL139 = (
        "{path}:{line}: {text!r} has no macro, so its text means nothing. Write {letter} alone for "
        "a template that looks at no text."
    )

    # --- 14x: features of whole labellings ------------------------------------------------------
    NL141 = "ConsistencyFeatures: `{setting}` is {value!r}. Known are: {known}."
    NL142 = "ConsistencyFeatures has {n} connectives. At most {limit} can be told apart."
    NL143 = "UserFeatures ({function}): `timeout` is {timeout}, but has to be seconds, from 0.001 to 86,400."
    NL144 = (
        "The feature function {function} {what}. It was asked about candidate {candidate} ({spans}) of {where}. It has "
        "to return strings that are not empty (a list, or a generator), whatever the document and the spans are."
    )
    NL145 = (
        "UserFeatures: the function {function!r} cannot be found ({error}). Give the name under which it is registered "
        '(@spacy.registry.misc("my_features"), in a file named with --code), or its dotted name ("module.function").'
    )

    # --- 2xx: model files ----------------------------------------------------------------------
    NL201 = (
        "{source} is not a spacy-nonlocal model file. Was the directory written by another component "
        "or another program? Save the pipeline again with nlp.to_disk."
    )
    NL202 = (
        "{source} has format version {version}, but this version of spacy-nonlocal reads versions up to "
        "{known}. Install a newer spacy-nonlocal."
    )
    NL203 = (
        "{source} is damaged: its checksum does not fit its contents, so it was cut short or changed. "
        "Nothing was loaded. Copy the file again, or train the pipeline again."
    )
    NL204 = "{source} holds a {kind!r} file where a {expected!r} file is expected."
    NL205 = "{source} holds weights that are not finite numbers. Nothing was loaded; train the pipeline again."
    NL206 = (
        "Could not save to {directory}: {error}. What was saved there before is unchanged. Check that the "
        "directory is writable and that there is space left."
    )
    NL208 = (
        "This model was called for prediction: there is nothing to learn from. Call begin_update."
    )
    NL209 = (
        "The model has not been initialized: call nlp.initialize or load a trained pipeline first."
    )
    NL210 = (
        "The model was saved without what training needs, so it cannot be trained on. Save it with "
        '`resumable = true` and without exclude=["training"], or train anew.'
    )
    NL211 = (
        "{source} does not belong to the model file beside it: one of the two was replaced. Copy the whole "
        "directory again, or remove this file if the pipeline is not to be trained on."
    )
    NL207 = (
        "Component '{name}' has weights that are not finite numbers (NaN or infinity), so it is not saved. "
        "Load the last checkpoint, and train with a smaller step."
    )

    # --- 3xx: corpora --------------------------------------------------------------------------
    NL301 = "ColumnCorpus has no path. Set it in the config, or say e.g. --paths.train FILE."
    NL302 = (
        "ColumnCorpus has an empty document setting. Give the start of the line that opens a "
        "document, or null to make each sentence a document of its own."
    )
    NL303 = "{path}: no documents are left after the first {skip}. Lower skip."
    NL304 = "{path}: the file has no tokens. Give a file with one token per line."
    NL307 = (
        "{where}: {line!r} has {n} columns, but the names in columns ask for {needed}. Correct the "
        "line, columns or document."
    )
    NL308 = "{where}: {line!r} has nothing in column 'orth'. Correct the line or columns."
    NL309 = "{where}: {value!r} is no value for column '{name}'. Correct the line or columns."
    NL310 = (
        "{where}: {label!r} in column '{name}' is no label. Labels are O, a class after B-, I-, "
        "L-, U-, E-, S- or M-, or '-' if unknown."
    )
    NL311 = (
        "{where}: head {head!r} is not in its sentence. Heads are numbers from 1 to {length} here, "
        "or 0 for a root."
    )
    NL312 = "{where}: the heads from this token on run in a circle. One must be 0, the root."
    NL313 = (
        "Column '{name}' cannot be read: this token extension is computed, not stored. Name the "
        "column otherwise."
    )
    NL314 = "{path}: there is no such file or directory."
    NL315 = "{path}: the directory has no files to read."
    NL316 = "'{name}' is no name for a column. Names are: {names}."
    NL317 = "Column '{name}' is named twice. Name it once, and '_' where a column is to be skipped."
    NL318 = "None of the columns {columns} is 'orth', the token itself."
    NL319 = "Input '{name}' is not among the columns {columns} that can be inputs (all but 'orth')."
    NL320 = "{names} has 'head' without 'dep': spaCy sees no tree unless both are given."
    NL321 = "ColumnCorpus has {name} = {count}. It counts documents: give 0 or more."
    NL322 = (
        "ColumnCorpus cannot read encoding {encoding!r}. Give one that Python knows and that keeps "
        "ASCII as it is, such as 'utf8' or 'latin-1'."
    )

    # --- 4xx: components and their data --------------------------------------------------------
    NL401 = "Unknown labelling scheme {scheme!r}. Known are: {known}."
    NL402 = (
        'Component \'{name}\' has the target {target!r}. A target is "ents", "tag", "pos" or '
        '"spans:KEY", where KEY names a group in doc.spans.'
    )
    NL403 = (
        "Component '{name}' does not know the label {label!r} of {text!r} in {where}. It was initialized with: "
        "{known}. Add the label under [initialize.components.{name}.labels], or initialize with examples that have it."
    )
    NL404 = "Component '{name}' is to predict parts of speech, but {label!r} is not one of the universal tags."
    NL405 = 'Component \'{name}\' has the unit {unit!r}. A unit is "doc" or "sent".'
    NL406 = (
        "Component '{name}' works on sentences (unit = \"sent\"), but {where} has none. Put a sentencizer or a parser "
        'before it (and into annotating_components for training), or set unit = "doc".'
    )
    NL407 = (
        "Component '{name}' has not been trained: it has no weights yet. Train it with `spacy train` or "
        "nlp.initialize and nlp.update, or load a trained pipeline."
    )
    NL408 = (
        "Component '{name}' was saved without its training state, so it cannot be trained on. Save it with "
        '`resumable = true` and without exclude=["training"], or train it anew.'
    )
    NL409 = (
        "Component '{name}' has its labels already; {label!r} cannot be added. List all labels under "
        "[initialize.components.{name}.labels] and train anew."
    )
    NL410 = (
        "Component '{name}' got no training examples with any {target} annotation. Check the corpus and, for "
        "ColumnCorpus, its `columns`; columns under `inputs` are shown to the component, not learned."
    )
    NL411 = (
        "{source} was saved with the labels {saved}, but target, scheme and labels beside it give {given}: the "
        "config or the file cfg was changed after training. Restore it, or train anew."
    )
    NL412 = (
        "{source} is missing: the directory was not written by this component, or not completely."
    )
    NL413 = (
        "{source} was trained with the learner {learner}. The learner in the config moves weights in another way, or "
        "averages them where that one does not, or the other way round. Restore the learner, or train anew."
    )
    NL414 = "Component '{name}' cannot resume from {path}: {error}"
    NL415 = (
        "Component '{name}': a label has to be a string that is not empty, but {label!r} is not."
    )
    NL416 = "Component '{name}': bpm_runs is {runs}, but has to be 0 (off) or the number of runs."
    NL417 = (
        "Component '{name}' learns with {learner}, whose scores are not probabilities, so it cannot give any "
        "(asked for: {what}). Train it with a CRF learner: MADF, SGD, L1SGD, ADF or DCA."
    )
    NL418 = (
        "Component '{name}': threshold is {threshold}, but has to be a probability, from 0 to 1."
    )
    NL419 = "Component '{name}' cannot work on {where}: {error}"
    NL420 = (
        "{source} holds a model whose scores {saved} probabilities, but the learner in the config is of the other "
        "kind. Restore the learner that it was trained with, or train anew."
    )
    NL421 = (
        "Pipeline {model} has no component that gives confidences (its components: {names}). Train one with a CRF "
        "learner: MADF, SGD, L1SGD, ADF or DCA."
    )
    NL422 = "Pipeline {model} has no component '{name}' that gives confidences. Components that do: {known}."
    NL423 = (
        "{path}: there is no {target} annotation to compare predictions with. Give data in which it is right, such as "
        "the development data."
    )
    NL424 = (
        "{path} cannot be read as a .spacy file ({error}). Predictions are compared with what is right, so plain text "
        "will not do; `python -m spacy nonlocal docbin` makes .spacy files of column files."
    )
    NL425 = "Component '{name}' was asked for {n} labellings: ask for one or more."

    NL426 = (
        "Component '{name}': nonlocal_features.{block} is {value!r}. Write a block "
        '[components.{name}.nonlocal_features.{block}] with @misc = "spacy-nonlocal.ConsistencyFeatures.v1" or '
        '"spacy-nonlocal.UserFeatures.v1".'
    )
    NL427 = (
        "Component '{name}' learns with {learner}, which cannot rank candidates. Set `ranker` to JointPerceptron or "
        "JointPassiveAggressive."
    )
    NL428 = (
        "Pipeline {model} has no component that looks at whole documents, so there are no changes to show (its "
        "components: {names}). Train one with `nonlocal_reranker`, for instance with configs/nonlocal.cfg."
    )
    NL429 = (
        "{path} cannot be read as a .spacy file ({error}). Get the file again, or make it anew: `python -m spacy "
        "nonlocal docbin` makes .spacy files of column files."
    )
    NL430 = (
        "Pipeline {model} gives no scores for entities (its components: {names}), so it cannot be compared. Give a "
        "pipeline that finds entities."
    )
    NL431 = "--n-best is {value!r}. Give whole numbers of 1 or more with commas between them, such as 20,100,400."
    NL432 = "There are {models} pipelines, but --names has {names}: give one name for each, with commas between them."
    NL433 = (
        "{path}: a table is written as Markdown or as JSON. Give a name that ends in .md or .json."
    )
    NL434 = (
        "Component '{name}' has the learner {learner}, which learns to choose among labellings of whole documents. Use "
        "it as the `ranker` of a nonlocal_reranker, or another learner here."
    )

    # --- 5xx: learners -------------------------------------------------------------------------
    NL501 = "{learner}: `{setting}` is {value}, but has to be a number greater than 0 and at most {limit:g}."
    NL502 = "{learner}: `{setting}` is {value}, but has to be 0 or a positive number."
    NL503 = (
        "{learner}: `{setting}` is {value}, but has to be a number greater than 0 and at most 1."
    )
    NL504 = "{learner}: `{more}` is {value}, but must not be less than `{less}` ({other})."
    NL505 = (
        "Component '{name}': training diverges in {where}: the objective of {learner} is {loss}. The weights "
        "are as they were before it. Lower `{setting}` (it is {value}) and train anew."
    )
    NL506 = (
        "Component '{name}': no first step between {lowest:g} and {highest:g} lets {learner} learn from a sample of "
        "the training data. Check the data, or set `rate` yourself."
    )

    NL507 = '{learner}: `algorithm` is {algorithm!r}. It is "proposed" (algorithm 4.2) or "candidate" (algorithm 4.1).'
    NL508 = "{learner}: `{setting}` is {value}, but at least one labelling is needed."

    # --- 6xx: kernels --------------------------------------------------------------------------
    NL601 = (
        "The compiled kernels of spacy_nonlocal cannot be imported ({error}). In the source tree, build them with "
        "`python -m pip install --editable .`; with an installed package, start Python in another directory."
    )
    NL602 = "{given} keys were given for a table, but only {distinct} of them are distinct."
    NL603 = "A feature key is 0, which the table keeps for its empty slots."
    NL604 = "A model holds at most 2,147,483,647 features. Raise min_count or use fewer templates."
    NL605 = "{seeds} templates were given with {terms} lists of terms: one list each is needed."
    NL606 = "A template names column {column}, but there are only {columns} columns."
    NL607 = "Attributes have {given} columns (word, token), but the templates look at {expected}."
    NL608 = "{given} {what} were given for {expected} tokens."
    NL609 = "Token {position} has word number {id}, but only {words} words are known."
    NL610 = "Token {position} has a feature in row {row}, but the weights have {rows} rows."
    NL611 = (
        "Shapes do not fit: weights are {weights} wide, the base {base}, the output is {out} "
        "for {length} tokens; widths must agree and be whole blocks of four."
    )
    NL612 = "Groups {groups} do not cut {columns} columns into consecutive parts."
    NL613 = "Word scores or attributes have shape {given}, which does not fit the templates."
    NL614 = "Group {group} has offset {offset}: all its templates must look at one word there."
    NL615 = "Node scores {node} and edge scores {edge} do not belong to one lattice."
    NL616 = (
        "No labelling of these {length} tokens has a finite score (got {score}): the constraints "
        "contradict each other, or the weights are not finite."
    )
    NL617 = "Token {position} has label number {label}, but there are only {labels} labels."
    NL618 = (
        "Weights {weights} and averaging sums {sums} do not fit features with {columns} columns."
    )
    NL619 = "Edge scores are {width} wide, which is too narrow for {labels} labels."
    NL620 = "Some scores are not numbers, or infinite: the weights have grown out of bounds. Train with smaller steps."
    NL621 = "Spans have {columns} columns, but need four: start, end, and the labels that must not be around them."
    NL622 = "Span {span} does not fit {length} tokens and {labels} labels."
    NL623 = "The {what} have shape {given}, which does not fit features with {columns} columns."
    NL624 = "{n} labellings were asked for: ask for one or more."
    NL625 = "{n} labellings of {length} tokens were asked for, which no memory holds: ask for at most {most}."
    NL626 = "So many labellings of {length} tokens differ in so many labels that no memory holds them: ask for fewer."
    NL627 = (
        "The changes of labellings do not fit: positions have to rise within each labelling and be below {length}, "
        "each with a label, and the numbers of the first ones have to rise from 0 to how many there are."
    )
    NL628 = "Classes, or connectives, do not fit {labels} labels, {classes} classes, and connectives below {keys}."


class Warnings(metaclass=_Catalogue):
    # --- 3xx: corpora --------------------------------------------------------------------------
    NL351 = (
        "{path}: no line starts with {document!r}, so each sentence is taken for a document of its "
        "own. Set document to what opens a document in this file, or to null if nothing does."
    )
    NL352 = (
        "{where}: column '{name}' has unknown labels beside known ones. Span groups cannot hold "
        "them, so they are read as O."
    )

    # --- 4xx: components and their data --------------------------------------------------------
    NL451 = (
        "Component '{name}': the span {span!r} (tokens {start} to {end}) in {where} is nothing but white space. "
        "It is left out; its tokens count as unknown."
    )
    NL452 = (
        "Component '{name}': the span {span!r} (tokens {start} to {end} of the reference) in {where} does not begin "
        "and end where tokens do. It is left out; its tokens count as unknown."
    )
    NL453 = (
        "Component '{name}': the span {span!r} (tokens {start} to {end}) in {where} overlaps a longer one. "
        "It is left out; the tokens that only it covers count as unknown."
    )
    NL454 = "Component '{name}': the training examples have no spans at all, so it will label everything as outside."
    NL455 = (
        "Component '{name}': the span {span!r} (tokens {start} to {end}) in {where} lies across a sentence boundary, "
        'which unit = "sent" cannot represent. Its tokens count as unknown.'
    )
    NL456 = (
        "Component '{name}': the span {span!r} (tokens {start} to {end}) in {where} has no label. "
        "It is left out; its tokens count as unknown."
    )
