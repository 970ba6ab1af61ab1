"""Small documents and pipelines that the tests of this directory share."""

from pathlib import Path

import spacy
from spacy.cli._util import app
from spacy.tokens import Doc
from spacy.training import Example
from typer.testing import CliRunner

NAME = "local_tagger"
ENTS = (
    ("Anna Smith lives in Paris .", "B-PER I-PER O O B-LOC O"),
    ("Bob flew to New York with Anna .", "B-PER O O B-LOC I-LOC O B-PER O"),
    ("They met in Rome .", "O O O B-LOC O"),
    ("Rome and Paris are cities .", "B-LOC O B-LOC O O O"),
)
TAGS = (
    ("the dog sees a cat", "DT NN VBZ DT NN"),
    ("a small cat runs", "DT JJ NN VBZ"),
    ("dogs see the small house", "NNS VBP DT JJ NN"),
)
LEARNERS = {
    "Perceptron": {},
    "AveragedPerceptron": {},
    "MarginPerceptron": {"margin": 5.0},
    "PassiveAggressive": {"C": 1.0},
}
# These learn whole documents, and need another factory.
JOINT = {
    "JointPerceptron": {"margin_local": 5.0, "margin_total": 5.0},
    "JointPassiveAggressive": {"C": 1.0},
}
RERANKER = {"factory": "nonlocal_reranker"}


def learner(name, **settings):
    """The config of a component with a learner."""
    settings = settings or (LEARNERS | JOINT)[name]
    block = {"@misc": f"spacy-nonlocal.{name}.v1", **settings}
    return {**RERANKER, "ranker": block} if name in JOINT else {"learner": block}


def features(*nodes, **settings):
    """The config of a model with these templates and no preset."""
    return {"model": {"features": {"preset": None, "nodes": list(nodes), **settings}}}


def make_nlp(factory=NAME, **config):
    """A pipeline of one component, a local tagger unless another is asked for; it has one name, whatever it is."""
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, name=NAME, config=config)
    return nlp


def make_doc(nlp, text, **annotation):
    return Doc(nlp.vocab, words=text.split(), **annotation)


def make_examples(nlp, data=ENTS, attr="ents"):
    """Examples from pairs of words and labels; "?" stands for unknown."""
    examples = []
    for text, labels in data:
        values = ["" if label == "?" else label for label in labels.split()]
        reference = make_doc(nlp, text, **{attr: values})
        examples.append(Example(make_doc(nlp, text), reference))
    return examples


def update(nlp, examples, passes=40):
    """Learn in several passes; return the loss of the last one."""
    losses = {}
    for _ in range(passes):
        losses = {}
        # As `spacy train` does: the prediction of an example is new each time.
        fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
        nlp.update(fresh, losses=losses)
    return losses.get(NAME)


def trained(data=ENTS, attr="ents", passes=40, **config):
    """A pipeline that has learned these data."""
    nlp = make_nlp(**config)
    examples = make_examples(nlp, data, attr)
    nlp.initialize(lambda: examples)
    update(nlp, examples, passes)
    return nlp


def label(nlp, text, **annotation):
    """A document, cut at white space, that the pipeline has labelled."""
    return nlp(make_doc(nlp, text, **annotation))


def iob(doc):
    return " ".join(f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else t.ent_iob_ for t in doc)


def tags(doc):
    return " ".join(token.tag_ for token in doc)


def files_of(directory):
    """The contents of all files below a directory."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


CONFIG = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["local_tagger"]

[components]

[components.local_tagger]
factory = "local_tagger"
target = "{target}"

[corpora]

[corpora.train]
@readers = "spacy-nonlocal.ColumnCorpus.v1"
path = ${{paths.train}}
columns = ["orth", "{target}"]

[corpora.dev]
@readers = "spacy-nonlocal.ColumnCorpus.v1"
path = ${{paths.dev}}
columns = ["orth", "{target}"]

[training]
seed = 1
max_steps = 40
eval_frequency = 10
patience = 0

[training.score_weights]
{score} = 1.0

[initialize]

[initialize.components]

[initialize.components.local_tagger]
"""
BASE_CONFIG = """
[nlp]
lang = "en"
pipeline = ["local_tagger"]

[components]

[components.local_tagger]
factory = "local_tagger"
"""
DATA = {"ents": ENTS, "tag": TAGS}
SCORES = {"ents": "ents_f", "tag": "tag_acc"}


def columns(data):
    """A column file."""
    lines = []
    for text, labels in data:
        lines += ["-DOCSTART- O", ""]
        lines += [
            f"{word} {label}" for word, label in zip(text.split(), labels.split(), strict=True)
        ]
        lines.append("")
    return "\n".join(lines)


def write_config(path, text):
    """Write a config, with the defaults filled in."""
    base = Path(path).with_suffix(".base.cfg")
    base.write_text(text, encoding="utf8")
    run("init", "fill-config", base, path)


def write_project(path, target="ents"):
    """Write a config and a corpus; return the arguments that commands need."""
    corpus, config = path / "corpus.txt", path / "config.cfg"
    corpus.write_text(columns(DATA[target]), encoding="utf8")
    write_config(config, CONFIG.format(target=target, score=SCORES[target]))
    return [str(config)], ["--paths.train", str(corpus), "--paths.dev", str(corpus)]


def run(*args):
    """Run a command of spaCy's; return what it printed."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output
