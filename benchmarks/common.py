"""What the benchmarks share: corpora, one scorer for all, numbers and tables."""

from __future__ import annotations

import os
import platform
import random
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import spacy
import srsly
import wasabi
from measuring import Timer
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example, biluo_tags_to_spans, iob_to_biluo
from spacy.util import minibatch
from spacy.vocab import Vocab

from spacy_nonlocal.corpus import ColumnCorpus
from spacy_nonlocal.pipeline.scoring import labeller_score

PACKAGES = ("spacy-nonlocal", "spacy", "thinc", "numpy", "python-crfsuite")
BATCH = 32  # documents in one call of nlp.update
WARM_UP = 2  # documents (sequences) to learn before anything is measured: code is loaded then


def say(text: str) -> None:
    """Show progress."""
    print(text, file=sys.stderr, flush=True)


# --- corpora -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CorpusFormat:
    """How a corpus is written, and what is learned from it."""

    columns: tuple[str, ...]
    document: str
    target: str = "ents"
    preset: str = "ner"
    n_dev: int = 0  # documents at the end of the training file that are kept for development


FORMATS = {
    "ewt-ner": CorpusFormat(("orth", "_", "_", "ents"), "-DOCSTART-"),
    "bc5cdr": CorpusFormat(("orth", "ents"), "-DOCSTART-"),
    "jnlpba": CorpusFormat(("orth", "ents"), "###MEDLINE:", n_dev=200),
    "ud-ewt": CorpusFormat(("_", "orth", "_", "_", "tag"), "# newdoc", target="tag", preset="tag"),
}


class Corpus(NamedTuple):
    name: str
    target: str
    train: list[Example]
    dev: list[Example]


def find_format(directory: Path, name: str | None) -> tuple[str, CorpusFormat]:
    """Find out how a corpus is written; stop the program if that cannot be known.

    directory (Path): Where the corpus is.
    name (Optional[str]): The format's name; if not given, the directory's name says it.
    RETURNS (Tuple[str, CorpusFormat]): The format and its name.
    """
    if not directory.is_dir():
        raise SystemExit(f"There is no directory {directory}.")
    name = name or directory.resolve().name
    if name not in FORMATS:
        raise SystemExit(
            f"{directory}: the folder's name is none of {', '.join(FORMATS)}; say which with --format."
        )
    return name, FORMATS[name]


def load_corpus(directory: Path, name: str, nlp: Language) -> Corpus:
    """Read a corpus.

    directory (Path): Where the files train.* and, in most formats, dev.* are.
    name (str): The format's name.
    nlp (Language): The pipeline whose vocabulary the documents get.
    RETURNS (Corpus): Training and development documents.
    """
    format_ = FORMATS[name]
    train = _read(_find_file(directory, "train"), format_, nlp)
    if format_.n_dev:
        train, dev = train[: -format_.n_dev], train[-format_.n_dev :]
    else:
        dev = _read(_find_file(directory, "dev"), format_, nlp)
    return Corpus(name, format_.target, train, dev)


def _find_file(directory: Path, part: str) -> Path:
    files = sorted(directory.glob(f"{part}.*"))
    if len(files) != 1:
        found = ", ".join(path.name for path in files) or "none"
        raise SystemExit(f"{directory}: one file {part}.* is needed; found: {found}.")
    return files[0]


def _read(path: Path, format_: CorpusFormat, nlp: Language) -> list[Example]:
    try:
        return list(ColumnCorpus(path, list(format_.columns), document=format_.document)(nlp))
    except ValueError as error:
        raise SystemExit(str(error)) from None


def count_tokens(examples: Iterable[Example]) -> int:
    return sum(len(eg.reference) for eg in examples)


def sequences(doc: Doc, unit: str) -> list[Doc | Span]:
    """RETURNS (List[Union[Doc, Span]]): What is labelled in one go: the document, or its sentences."""
    if not len(doc):
        return []
    return list(doc.sents) if unit == "sent" else [doc]


def words_of(part: Doc | Span) -> list[str]:
    return [token.text for token in part]


def labels_of(part: Doc | Span, target: str) -> list[str]:
    """RETURNS (List[str]): The right labels, as strings: BIO for entities."""
    if target == "tag":
        return [token.tag_ for token in part]
    return [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in part]


# --- this tagger ---------------------------------------------------------------------------------


def registered_name(learner: str) -> str:
    return f"spacy-nonlocal.{learner.partition(':')[0]}.v1"


def check_learners(parser: ArgumentParser, learners: Iterable[str]) -> None:
    for learner in learners:
        if not spacy.util.registry.has("misc", registered_name(learner)):
            parser.error(f"There is no learner {learner!r}.")


def make_pipeline(args: Namespace, vocab: Vocab, learner: str) -> Language:
    """RETURNS (Language): A pipeline of one untrained tagger."""
    nlp = spacy.util.get_lang_class("en")(vocab=vocab)
    pairs = (each.split("=") for each in learner.partition(":")[2].split(",") if each)
    config = {
        "target": args.target,
        "unit": args.unit,
        "model": {"features": {"preset": args.preset, "min_count": args.min_count}},
        "learner": {
            "@misc": registered_name(learner),
            **{key: srsly.json_loads(value) for key, value in pairs},
        },
    }
    nlp.add_pipe("local_tagger", config=config)
    return nlp


def training(nlp: Language, examples: Iterable[Example], passes: int, seed: int) -> Iterator[Timer]:
    """Train through `nlp.update`. What is done between two steps does not count.

    nlp (Language): The untrained pipeline.
    examples (Iterable[Example]): The training documents.
    passes (int): How often to go through them.
    seed (int): How they are shuffled.
    YIELDS (Timer): The time of `nlp.initialize`, and then of each pass.
    """
    examples = list(examples)
    rng = random.Random(seed)
    with Timer() as timer:
        nlp.initialize(lambda: examples)
    yield timer
    for _ in range(passes):
        with Timer() as timer:
            rng.shuffle(examples)
            for batch in minibatch(examples, BATCH):
                nlp.update(batch)
        yield timer


# --- quality -------------------------------------------------------------------------------------


def score(examples: Iterable[Example], docs: Iterable[Doc], target: str) -> float:
    """RETURNS (float): F1 of entities, or accuracy of tags: the same function for all."""
    pairs = [Example(doc, eg.reference) for doc, eg in zip(docs, examples, strict=True)]
    return labeller_score(pairs, target=target)["ents_f" if target == "ents" else "tag_acc"]


def annotate(doc: Doc, labels: list[list[str]], target: str) -> Doc:
    """Write label strings into a document.

    doc (Doc): The document.
    labels (List[List[str]]): The labels of each of its sequences.
    target (str): "ents" or "tag".
    RETURNS (Doc): The document.
    """
    if target == "tag":
        for token, label in zip(doc, (label for part in labels for label in part), strict=True):
            token.tag_ = label
        return doc
    # An I- that no B- precedes opens an entity.
    doc.set_ents(biluo_tags_to_spans(doc, [tag for part in labels for tag in iob_to_biluo(part)]))
    return doc


# --- output --------------------------------------------------------------------------------------


def describe_run(packages: Iterable[str], data: Path) -> Iterator[str]:
    """YIELDS (str): Versions, machine and command; of the data's path only the last part."""
    yield ", ".join(f"{name} {version(name)}" for name in packages)
    yield f"Python {platform.python_version()}, {_cpu()}, {os.cpu_count()} CPUs, {platform.system()}"
    arguments = [Path(a).name if os.sep in a or Path(a) == data else a for a in sys.argv[1:]]
    yield shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *arguments])


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "CPU")


def format_number(value: float | None) -> str:
    """RETURNS (str): Three digits, or whole numbers with commas; a dash for nothing."""
    if value is None:
        return "-"
    return (
        f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if value < 1 else f"{value:.2f}"
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """RETURNS (str): Rows as aligned text; rows that are too short are filled up."""
    rows = [row + [""] * (len(header) - len(row)) for row in rows]
    aligns = ["l", *["r"] * (len(header) - 1)]
    return wasabi.table(rows, header=header, divider=True, aligns=aligns, max_col=60)
