"""python-crfsuite as a careful user would run it: the same features as ours, as strings, at little cost.

What depends on one word alone is made once per word: for each offset, a tuple of ready strings "name=value". A
token's features are then a few tuples put together, and a handful of joined strings for templates that look at several
positions. Everything runs in C-level loops (`map`, `zip`, `operator`), and strings are UTF-8 already: python-crfsuite
would have to encode them at each use (a tenth of the time).
"""

from __future__ import annotations

import ctypes
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import chain, islice
from operator import add, eq
from pathlib import Path
from typing import Any

import pycrfsuite
from common import (
    WARM_UP,
    Corpus,
    annotate,
    count_tokens,
    labels_of,
    say,
    score,
    sequences,
    words_of,
)
from measuring import PeakMemory, Timer, best_run, in_child, measure_speed
from spacy.lang.lex_attrs import word_shape
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nonlocal.features.extractor import FeatureExtractor
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.templates import Reference, Template, Term
from spacy_nonlocal.features.words import affix, short_shape, word_form

# Never part of a word in a column file, so that joined values cannot be confused.
SEPARATOR = "\t"
BEFORE, AFTER = "\t-", "\t+"

Words = Sequence[str]
Features = list[tuple[bytes, ...]]
Sequence_ = tuple[list[str], list[str]]  # words and labels

_AFFIX = re.compile(r"(prefix|suffix)(\d+)")
_WORD_FUNCTIONS: dict[str, Callable[[str], str]] = {
    "orth": str,
    "lower": str.lower,
    "shape": word_shape,
    "form": word_form,
    "shape_short": short_shape,
}


class _Cache(dict[str, Any]):
    """What a function gives for each word, worked out once."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> Any:
        self[word] = value = self._function(word)
        return value


class _Column:
    """Something that is known from one word, read at an offset, for every position of a sequence."""

    def __init__(self, function: Callable[[str], Any], offset: int) -> None:
        self._cache = _Cache(function)
        self._offset = offset
        outside = [*range(-abs(offset), 0)], [*range(1, abs(offset) + 1)]
        self._before = [function(f"{BEFORE}{-d}") for d in outside[0]] if offset < 0 else []
        self._after = [function(f"{AFTER}{d}") for d in outside[1]] if offset > 0 else []

    def __call__(self, words: Words) -> Sequence[Any]:
        values = list(map(self._cache.__getitem__, words))
        if self._offset < 0:
            return (self._before + values)[: len(words)]
        return (values + self._after)[self._offset :] if self._offset else values


class FeatureStrings:
    """Give the features of a sequence of words as python-crfsuite takes them.

    The order is that of our FeatureExtractor: templates that look at one position, by offset, then the rest.

    templates (Iterable[Template]): Node templates. Their names are short (numbers): python-crfsuite stores them.
    """

    def __init__(self, templates: Iterable[Template]) -> None:
        by_offset: dict[int, list[tuple[str, Template]]] = {}
        self._rest: list[list[Callable[[Words], Iterable[bytes]]]] = []
        for number, template in enumerate(templates):
            name = f"{number}="
            offsets = {reference.offset for reference in template.references} or {0}
            if len(offsets) == 1:
                by_offset.setdefault(offsets.pop(), []).append((name, template))
            else:
                self._rest.append(_joined(name, template))
        self._groups = [_Column(_group(by_offset[o]), o) for o in sorted(by_offset)]

    def __call__(self, words: Words) -> Features:
        """RETURNS (List[Tuple[bytes, ...]]): The features of each word."""
        columns: list[Iterable[Any]] = [group(words) for group in self._groups]
        if self._rest:
            joined = [
                reduce(lambda a, b: map(add, a, b), (piece(words) for piece in pieces))
                for pieces in self._rest
            ]
            columns.append(zip(*joined, strict=True))
        return list(reduce(lambda a, b: map(add, a, b), columns))


def _word_function(attr: str) -> Callable[[str], str]:
    """The function that reads an attribute off a word; positions outside stand for themselves."""
    match = _AFFIX.fullmatch(attr)
    if match:
        side, length = match[1], int(match[2])
        function: Callable[[str], str] = lambda word: affix(word, side, length)  # noqa: E731
    elif attr in _WORD_FUNCTIONS:
        function = _WORD_FUNCTIONS[attr]
    else:
        known = ", ".join([*_WORD_FUNCTIONS, "prefixN", "suffixN"])
        raise SystemExit(f"The comparison cannot use the attribute {attr!r}; it can use: {known}.")
    return lambda word: word if word.startswith(SEPARATOR) else function(word)


def _group(templates: list[tuple[str, Template]]) -> Callable[[str], tuple[bytes, ...]]:
    """A function from a word to the strings of all templates that look at it alone."""
    functions = [(name, [_term(term) for term in template.terms]) for name, template in templates]
    return lambda word: tuple(
        (name + SEPARATOR.join(term(word) for term in terms)).encode() for name, terms in functions
    )


def _term(term: Term) -> Callable[[str], str]:
    value = _word_function(term.value.attr)
    if term.same_as is None:
        return value
    other = _word_function(term.same_as.attr)
    return lambda word: str(int(value(word) == other(word)))


def _joined(name: str, template: Template) -> list[Callable[[Words], Iterable[bytes]]]:
    """The pieces of a template that looks at several positions; joined, they are its strings."""
    return [_piece("" if i else name, term) for i, term in enumerate(template.terms)]


def _piece(name: str, term: Term) -> Callable[[Words], Iterable[bytes]]:
    if term.same_as is None:
        function = _word_function(term.value.attr)
        return _Column(
            lambda word: f"{name}{function(word)}{SEPARATOR}".encode(), term.value.offset
        )
    left, right = _column(term.value), _column(term.same_as)
    answers = [f"{name}{same}{SEPARATOR}".encode() for same in (0, 1)]
    return lambda words: map(answers.__getitem__, map(eq, left(words), right(words)))


def _column(reference: Reference) -> _Column:
    return _Column(_word_function(reference.attr), reference.offset)


def train(
    data: Iterable[Sequence_],
    features: FeatureStrings,
    passes: int | None,
    model: Path,
    seed: int,
    algorithm: str = "ap",
) -> tuple[dict[str, Timer], int]:
    """Train with python-crfsuite's defaults.

    data (Iterable[Tuple[Sequence[str], List[str]]]): Words and labels of each sequence.
    features (FeatureStrings): Makes the features.
    passes (Optional[int]): How often to go through the data at most; None: as often as the library does by itself.
    model (Path): Where the model goes.
    seed (int): How it shuffles.
    algorithm (str): "ap" (averaged perceptron), "pa", "l2sgd" or "lbfgs".
    RETURNS (Tuple[Dict[str, Timer], int]): Times of "append" and "train"; how often it went through the data.
    """
    timers = {"append": Timer(), "train": Timer()}
    with suppress(AttributeError, OSError, TypeError):  # where the C library can be had like this
        ctypes.CDLL(None).srand(seed + 1)  # for C, 0 and 1 are the same seed
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params({"feature.minfreq": 0})
    if passes is not None:
        trainer.set_params({"max_iterations": passes})
    for words, labels in data:
        strings = features(words)
        with timers["append"]:
            trainer.append(strings, labels)
    with timers["train"]:
        trainer.train(str(model))
    return timers, (trainer.logparser.last_iteration or {"num": 0})["num"]


class Tagger:
    """From words to labels.

    model (Path): What `train` has written.
    features (FeatureStrings): Makes the features.
    """

    def __init__(self, model: Path, features: FeatureStrings) -> None:
        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(model))
        self._features = features

    def __call__(self, sequences: Iterable[Words]) -> list[list[str]]:
        """RETURNS (List[List[str]]): Labels of each sequence."""
        tag, features = self._tagger.tag, self._features
        return [tag(features(words)) for words in sequences]


# --- measuring -----------------------------------------------------------------------------------


def make_extractor(preset: str) -> FeatureExtractor:
    """RETURNS (FeatureExtractor): Our own way to the same features."""
    features = FeatureTemplates(preset=preset)
    extractor = FeatureExtractor(features, *features.templates())
    if extractor.edge_templates:
        raise SystemExit(f"Preset {preset!r}: python-crfsuite has no edge features of the text.")
    return extractor


def make_strings(preset: str) -> FeatureStrings:
    return FeatureStrings(make_extractor(preset).node_templates)


def check_features(preset: str, docs: Iterable[Doc]) -> int:
    """Stop unless our keys and the peer's strings tell the same features apart.

    RETURNS (int): How many distinct features the documents have.
    """
    extractor, strings = make_extractor(preset), make_strings(preset)
    pairs = set()
    for doc in docs:
        keys = extractor.keys(extractor.nodes, extractor.encode(doc)).tolist()
        texts = strings(words_of(doc))
        pairs.update(zip(chain.from_iterable(keys), chain.from_iterable(texts), strict=True))
    n_keys, n_texts = (len(set(side)) for side in zip(*pairs, strict=True))
    if not n_keys == n_texts == len(pairs):
        raise SystemExit(
            f"The features differ: {n_keys} keys, {n_texts} strings, {len(pairs)} pairs."
        )
    return n_keys


def label_sequences(examples: Iterable[Example], args: Namespace) -> list[Sequence_]:
    """RETURNS (List[Tuple[List[str], List[str]]]): Words and labels of each sequence."""
    parts = [part for eg in examples for part in sequences(eg.reference, args.unit)]
    return [(words_of(part), labels_of(part, args.target)) for part in parts]


def train_watched(
    args: Namespace,
    data: list[Sequence_],
    model: Path,
    seed: int,
    passes: int | None,
    algorithm: str = "ap",
) -> dict[str, Any]:
    """Train in this process.

    RETURNS (Dict[str, Any]): Times and memory.
    """
    train(data[:WARM_UP], make_strings(args.preset), 1, model, seed, algorithm)
    features = make_strings(args.preset)
    memory = PeakMemory()
    with Timer() as extraction:
        for words, _ in data:
            features(words)
    caches = memory.growth()
    # What Python keeps of the strings is there now: from here on it is the trainer alone that is watched.
    memory = PeakMemory()
    timers, iterations = train(data, features, passes, model, seed, algorithm)
    both = timers["append"] + timers["train"]
    return {
        "features": extraction,
        **timers,
        "passes": both,
        "training": extraction + both,
        "iterations": iterations,
        "memory": memory.growth(),
        "caches": caches,
        "size": model.stat().st_size,
    }


def measure(args: Namespace, corpus: Corpus, directory: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): All numbers of python-crfsuite."""
    data, model = label_sequences(corpus.train, args), directory / "crfsuite"
    words = [words for words, _ in label_sequences(corpus.dev, args)]
    runs = []
    for run in range(args.runs):
        say(f"python-crfsuite: training ({run + 1} of {args.runs}) …")
        runs.append(in_child(train_watched, args, data, model, args.seed + run, args.passes))
        runs[-1]["quality"] = evaluate(args, corpus, model)
    say("python-crfsuite: tagging …")
    tagger = Tagger(model, make_strings(args.preset))
    n = count_tokens(corpus.dev)
    speed = measure_speed(tagger, lambda: words, n, args.repeats, args.clock)
    return {**best_run(runs, args.clock), "speed": speed}


def evaluate(args: Namespace, corpus: Corpus, model: Path) -> float:
    """RETURNS (float): Quality on the development documents."""
    words = [words for words, _ in label_sequences(corpus.dev, args)]
    labels = iter(Tagger(model, make_strings(args.preset))(words))
    docs = [
        annotate(eg.predicted.copy(), _next(labels, eg, args), args.target) for eg in corpus.dev
    ]
    return score(corpus.dev, docs, args.target)


def _next(labels: Iterator[list[str]], eg: Example, args: Namespace) -> list[list[str]]:
    """The labels of one document's sequences."""
    return list(islice(labels, len(sequences(eg.reference, args.unit))))
