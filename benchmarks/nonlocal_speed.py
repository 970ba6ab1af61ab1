"""What non-local features cost: n-best, training, decoding, and very long documents (see nonlocal.py)."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import spacy
from common import WARM_UP, Corpus, count_tokens, format_number, say, training
from measuring import PeakMemory, Timer, in_child, memory_note
from nonlocal_quality import (
    LABELLER,
    N_BEST,
    Keep,
    Load,
    System,
    evaluate,
    joint_perceptron,
    margin_perceptron,
    markdown,
)
from numpy.typing import NDArray
from report import judged
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nonlocal.corpus import ColumnCorpus
from spacy_nonlocal.kernels.lattice import padded
from spacy_nonlocal.kernels.nbest import n_best, n_best_changes
from spacy_nonlocal.kernels.viterbi import viterbi

LABELS = 9
NUMBERS = (1, 2, 20, 100, 1000, 6400)
LENGTHS = (100, 1000, 10_000, 100_000)
LARGEST = 10**8  # labels in all labellings together
BRIEF = 0.002  # seconds: what takes less is repeated, for the clock's sake

TRAIN_NUMBERS = (5, 20, 50, 100)
DECODE_NUMBERS = (1, 20, 100, 1000, 6400)

MARGIN = 1000.0
# Local learners, and the joint ones that are compared with them
PAIRS = {
    "algorithm 4.2": (margin_perceptron(MARGIN), joint_perceptron("proposed", MARGIN)),
    "JointPassiveAggressive": (
        System("PassiveAggressive"),
        System("JointPassiveAggressive", N_BEST),
    ),
}

NEWS = Path(__file__).parents[1] / "assets" / "news-train.txt"
LONG = (25_000, 50_000, 100_000)
EVERY = 5  # the name is every fifth token
NEW_NAME = "Zmarlow"  # not in the bundled corpus


def medians(runs: dict[Any, Callable[[], float]], repeats: int) -> dict[Any, float]:
    """Measure several things in turn, so that what slows the machine down for a while slows down all.

    runs (Dict[Any, Callable]): Each gives the seconds that one run took.
    repeats (int): How often to run each, after a first time that does not count.
    RETURNS (Dict[Any, float]): Medians.
    """
    found: dict[Any, list[float]] = {key: [] for key in runs}
    for _ in range(repeats + 1):
        for key, run in runs.items():
            found[key].append(run())
    return {key: median(seconds[1:]) for key, seconds in found.items()}


def seconds_per_call(function: Callable[[], Any], clock: str) -> float:
    timer, calls = Timer(), 0
    while not calls or timer.seconds(clock) < BRIEF:
        with timer:
            result = function()
        calls += 1
        del result  # what it takes to give memory back does not count
    return timer.seconds(clock) / calls


# --- n-best --------------------------------------------------------------------------------------


def nbest(args: argparse.Namespace, keep: Keep) -> str:
    """RETURNS (str): Time of the n best labellings of random scores, by length."""
    found = {}
    for length in LENGTHS:
        key = f"{LABELS} labels, {length} tokens, {args.repeats} repeats, {args.clock}"
        measure = partial(in_child, nbest_times, length, args.repeats, args.clock)
        found[length] = keep(key, measure)
    net = partial(_net_ratio, wanted={(1000, 6400): 30.0})
    title = f"times / Viterbi, {LABELS} labels; tokens"
    parts = [
        _nbest_table(f"n_best_changes, {title}", found, partial(_ratio, what="changes")),
        _nbest_table(f"n_best less copy, {title}", found, net),
        _nbest_table(f"n_best, {title}", found, partial(_ratio, what="paths")),
        _nbest_table(f"copy of n paths, {title}", found, partial(_ratio, what="copy")),
        _nbest_table("n_best_changes, ms; tokens", found, partial(_milliseconds, what="changes")),
        _nbest_table("n_best, ms; tokens", found, partial(_milliseconds, what="paths")),
    ]
    rows = [[f"{n:,}", f"{1000 * times['viterbi']:.4g}"] for n, times in found.items()]
    wanted = "(6,400 of 1,000 tokens: wanted <= 30 without the copy; !: not reached)\n\n"
    return "".join([*parts[:2], wanted, *parts[2:], markdown(["tokens", "Viterbi, ms"], rows)])


def nbest_times(length: int, repeats: int, clock: str) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Seconds of "viterbi" and, for each n, of "changes n", "paths n" and "copy n"."""
    say(f"n-best of {length:,} tokens …")
    node, edge = random_lattice(length)
    work: dict[str, Callable[[], Any]] = {"viterbi": partial(viterbi, node, edge)}
    for n in NUMBERS:
        work[f"changes {n}"] = partial(n_best_changes, node, edge, n)
        if n * length <= LARGEST:
            work[f"paths {n}"] = partial(n_best, node, edge, n)
            # Ones, since a page of zeros that nobody has written to is not there.
            work[f"copy {n}"] = np.ones((n, length), dtype=np.int32).copy
    clocked = {name: partial(seconds_per_call, each, clock) for name, each in work.items()}
    return medians(clocked, repeats)


def random_lattice(length: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """RETURNS (Tuple[ndarray, ndarray]): Node and edge scores, padded as those of a model are."""
    rng = np.random.default_rng(0)
    width = padded(LABELS)
    node = rng.normal(size=(length, width)).astype(np.float32)
    node[:, LABELS:] = -np.inf
    return node, rng.normal(size=(1, LABELS, width)).astype(np.float32)


def _nbest_table(title: str, found: dict[int, Any], cell: Callable[..., str]) -> str:
    rows = [[f"{t:,}", *(cell(times, t, n) for n in NUMBERS)] for t, times in found.items()]
    return markdown([title, *(f"n = {n:,}" for n in NUMBERS)], rows)


def _ratio(times: dict[str, float], length: int, n: int, what: str) -> str:
    seconds = times.get(f"{what} {n}")
    return format_number(seconds and seconds / times["viterbi"])


def _net_ratio(times: dict[str, float], length: int, n: int, wanted: dict[Any, float]) -> str:
    if f"paths {n}" not in times:
        return "-"
    net = times[f"paths {n}"] - times[f"copy {n}"]
    limit = wanted.get((length, n))
    return judged(net / times["viterbi"], "<=" if limit else "", limit or 0.0).strip()


def _milliseconds(times: dict[str, float], length: int, n: int, what: str) -> str:
    seconds = times.get(f"{what} {n}")
    return "-" if seconds is None else f"{1000 * seconds:.4g}"


# --- training ------------------------------------------------------------------------------------


def train(args: argparse.Namespace, name: str, load: Load, keep: Keep) -> str:
    """RETURNS (str): Time of a pass of the joint learners, against that of the local ones, on one corpus."""
    rows = []
    for title, (local, joint) in PAIRS.items():
        key = f"{name}, {args.passes} passes, {title}, {args.clock}"
        times = keep(key, partial(_pass_times, name, load, local, joint, args))
        around, base = times["around"], times["local"]
        for n in TRAIN_NUMBERS:
            each = times[str(n)]
            ratio = judged(sum(each) / sum(base), "<=" if n == 20 else "", 4.0).strip()
            net = (sum(each) - sum(around)) / (sum(base) - sum(around))
            ends = [f"{each[i] / base[i]:.2f}" for i in (0, -1)]
            seconds = [f"{median(passes):.4f}" for passes in (each, base, around)]
            what = f"{title}, n = {n}, against {local.learner}"
            rows.append([what, ratio, f"{net:.2f}", *ends, *seconds])
    header = ["a pass (n = 20: wanted <= 4; !: not reached)", "ratio", "without what spaCy does"]
    header += ["first pass", "last pass", "seconds, median", "local", "without a component"]
    return f"### {name}, {args.passes} passes\n\n" + markdown(header, rows)


def _pass_times(
    name: str, load: Load, local: System, joint: System, args: argparse.Namespace
) -> dict[str, list[float]]:
    corpus = load(name)
    numbers = {"n_best_predict": 1}  # has no part in training
    systems = {
        str(n): System(joint.learner, {**joint.settings, **numbers, "n_best": n})
        for n in TRAIN_NUMBERS
    }
    return in_child(pass_times, corpus, {"local": local, **systems}, args.passes, args.clock)


def pass_times(
    corpus: Corpus, systems: dict[str, System], passes: int, clock: str
) -> dict[str, list[float]]:
    """RETURNS (Dict[str, List[float]]): Seconds of each pass; "around": of `nlp.update` without any component."""
    say(f"{corpus.name}, passes: {', '.join(map(str, systems.values()))} …")
    vocab = corpus.train[0].reference.vocab
    for system in systems.values():
        with suppress(ValueError):  # so few documents prove nothing
            list(training(system.pipeline(vocab), corpus.train[:WARM_UP], 1, 0))
    pipelines = {name: system.pipeline(vocab) for name, system in systems.items()}
    pipelines["around"] = spacy.util.get_lang_class("en")(vocab=vocab)
    # One pass of each, then the next one: a slow moment of the machine is the same for all.
    trainers = [training(nlp, corpus.train, passes, 0) for nlp in pipelines.values()]
    _, *timers = zip(*trainers, strict=True)
    columns = zip(*timers, strict=True)
    return {
        name: [timer.seconds(clock) for timer in each]
        for name, each in zip(pipelines, columns, strict=True)
    }


# --- decoding ------------------------------------------------------------------------------------


def decode(args: argparse.Namespace, name: str, load: Load, keep: Keep) -> str:
    """RETURNS (str): Throughput of the joint models, against that of the local ones, on one corpus."""
    rows = []
    for title, (local, joint) in PAIRS.items():
        key = f"{name}, {args.passes} passes, {title}, {args.repeats} repeats, {args.clock}"
        found = keep(key, partial(_decoding, name, load, local, joint, args))
        for n in DECODE_NUMBERS:
            each, base = found[str(n)], found["local"]
            ratio = each["speed"] / base["speed"]
            cells = [judged(ratio, ">=" if n == 100 else "", 1 / 3).strip()]
            cells += [f"{each['speed']:,.0f}", f"{base['speed']:,.0f}"]
            cells += [f"{each['f']:.2f}", f"{base['f']:.2f}"]
            rows.append([f"{title}, n' = {n:,}, against {local.learner}", *cells])
    header = ["decoding (n' = 100: wanted >= 0.333; !: not reached)", "ratio", "tokens/s"]
    header += ["local, tokens/s", "F1, %", "local F1, %"]
    return f"### {name}, {args.passes} passes\n\n" + markdown(header, rows)


def _decoding(
    name: str, load: Load, local: System, joint: System, args: argparse.Namespace
) -> dict[str, Any]:
    return in_child(decoding, load(name), local, joint, args)


def decoding(
    corpus: Corpus, local: System, joint: System, args: argparse.Namespace
) -> dict[str, dict[str, float | None]]:
    """RETURNS (Dict[str, Dict[str, Optional[float]]]): "speed" (tokens per second) and scores; "local", and by n'."""
    say(f"{corpus.name}, decoding: {joint} …")
    one, other = (system.train(corpus, args.passes, 0)[0] for system in (local, joint))
    runs = {"local": (one, None), **{str(n): (other, n) for n in DECODE_NUMBERS}}
    clocked = {key: partial(decode_once, *run, corpus, args.clock) for key, run in runs.items()}
    seconds, tokens = medians(clocked, args.repeats), count_tokens(corpus.dev)
    found = {}
    for key, (nlp, n) in runs.items():
        set_number(nlp, n)
        found[key] = {"speed": tokens / seconds[key], **evaluate(nlp, corpus)}
    return found


def set_number(nlp: Language, n: int | None) -> None:
    if n is not None:
        nlp.get_pipe(LABELLER).learner.n_best_predict = n


def decode_once(nlp: Language, n: int | None, corpus: Corpus, clock: str) -> float:
    set_number(nlp, n)
    docs = [eg.predicted.copy() for eg in corpus.dev]
    with Timer() as timer:
        for _ in nlp.pipe(docs):
            pass
    return timer.seconds(clock)


# --- long documents ------------------------------------------------------------------------------


def long(args: argparse.Namespace, keep: Keep) -> str:
    """RETURNS (str): Time and memory of documents in which one name comes up again and again."""
    measure = partial(_long_runs, args)
    runs = keep(f"{args.passes} passes, {args.repeats} repeats, {args.clock}", measure)
    rows = []
    for before, run in zip([None, *runs], runs, strict=False):
        doubled = before is not None and run["tokens"] == 2 * before["tokens"]
        growth = judged(run["seconds"] / before["seconds"], "<=", 2.2).strip() if doubled else "-"
        more = f"{run['memory'] / before['memory']:.2f}" if doubled else "-"
        cells = [growth, more, f"{run['seconds'] / run['local']:.2f}"]
        cells += [f"{run['memory'] / run['tokens']:,.0f}", f"{1000 * run['seconds']:.1f}"]
        cells += [f"{run[key] / 1e6:.1f}" for key in ("memory", "local_memory", "peak")]
        counts = [f"{run[key]:,}" for key in ("repeats", "mentions", "changes")]
        rows.append([f"{run['learner']}, {run['name']}, {run['tokens']:,} tokens", *cells, *counts])
    header = ["n' = 100 (!: not reached)", "time / half the length, <= 2.2", "memory / half"]
    header += ["time / local", "bytes per token", "ms", "memory, MB", "local, MB", "ru_maxrss, MB"]
    header += ["repeats", "found", "changes"]
    return markdown(header, rows) + f"({memory_note()})\n\n"


def _long_runs(args: argparse.Namespace) -> list[dict[str, Any]]:
    corpus = news()
    names = {"a known name": common_name(corpus.train), "a new name": NEW_NAME}
    found = []
    for local, joint in PAIRS.values():
        say(f"long documents: {joint} …")
        one, other = (system.train(corpus, args.passes, 0)[0] for system in (local, joint))
        for title, name in names.items():
            for length in LONG:
                doc = repetitive_doc(corpus, name, length)
                # A process for each, or memory that the last one gave back would be used again.
                base = in_child(label_long, one, doc, args)
                run = in_child(label_long, other, doc, args)
                run |= {"local": base["seconds"], "local_memory": base["memory"]}
                found.append({"learner": joint.learner, "name": title, **run})
    return found


def news() -> Corpus:
    """RETURNS (Corpus): The bundled one. There is nothing to evaluate on it."""
    read = ColumnCorpus(NEWS, ["orth", "ents"])
    return Corpus("news", "ents", list(read(spacy.blank("en"))), [])


def common_name(examples: list[Example]) -> str:
    """RETURNS (str): The name of one word that is there most often."""
    names = Counter(ent.text for eg in examples for ent in eg.reference.ents if len(ent) == 1)
    return names.most_common(1)[0][0]


def repetitive_doc(corpus: Corpus, name: str, length: int) -> Doc:
    """RETURNS (Doc): What is not a name in the corpus, over and over, with this name as every fifth word."""
    others = islice(cycle(other_words(corpus.train)), length)
    words = [name if i % EVERY == EVERY - 1 else word for i, word in enumerate(others)]
    vocab: Vocab = corpus.train[0].reference.vocab
    return Doc(vocab, words=words)


def other_words(examples: list[Example]) -> Iterator[str]:
    return (t.text for eg in examples for t in eg.reference if not t.ent_type)


def label_long(nlp: Language, doc: Doc, args: argparse.Namespace) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Time, growth of memory and its peak in bytes, and what was found."""
    nlp(doc[:1000].as_doc())
    memory = PeakMemory()
    found = nlp(doc.copy())
    growth, peak = memory.growth(), max_rss()

    def run() -> float:
        given = doc.copy()
        with Timer() as timer:
            nlp(given)
        return timer.seconds(args.clock)

    name = doc[EVERY - 1].text
    return {
        "tokens": len(doc),
        "seconds": medians({"": run}, args.repeats)[""],
        "memory": growth,
        "peak": peak,
        "repeats": sum(token.text == name for token in doc),
        "mentions": sum(name in ent.text for ent in found.ents),
        "changes": len(found._.nonlocal_changes) if found.has_extension("nonlocal_changes") else 0,
    }


def max_rss() -> int:
    """RETURNS (int): The highest resident size of this process, in bytes; 0 where that is not known."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
