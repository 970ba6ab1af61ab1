"""The tables of the tagger's benchmark: ratios first, then what they are made of."""

from __future__ import annotations

import argparse
from typing import Any

from common import format_number, table
from measuring import Speed, Timer, can_fork

PEER = "python-crfsuite"

# What is wanted of each ratio: the rows of the first table.
WANTED: dict[str, tuple[str, float]] = {
    "training time, against append + train": ("<=", 1 / 3),
    "training time, against all of the peer's": ("", 0.0),
    "tagging speed, against the peer": (">=", 6.0),
    "tagging speed, against spaCy's own": (">=", 25.0),
    "tagging speed, against the tokenizer": (">=", 0.5),
    "peak memory of training": ("<=", 1.0),
    "model size": ("<=", 1.0),
    "quality on dev": (">=", 1.0),
}


def ratios(args: argparse.Namespace, ours: dict[str, Any], results: dict[str, Any]) -> list[Any]:
    """RETURNS (List[Optional[float]]): In the order of WANTED."""
    peer, own = results[PEER], results["spacy"]
    time = ours["training"].seconds(args.clock)
    speed = ours["speed"].warm
    return [
        time / peer["passes"].seconds(args.clock),
        time / peer["training"].seconds(args.clock),
        speed / peer["speed"].warm,
        speed / own.warm if own else None,
        speed / results["tokenizer"].warm,
        ours["memory"] / peer["memory"] if can_fork() else None,
        ours["size"] / peer["size"],
        ours["quality"] / peer["quality"] if peer["quality"] else None,
    ]


def ratio_table(args: argparse.Namespace, results: dict[str, Any]) -> str:
    columns = [ratios(args, results[learner], results) for learner in args.learner]
    rows = []
    for (name, (sign, limit)), *values in zip(WANTED.items(), *columns, strict=True):
        wanted = f"{sign} {format_number(limit)}" if sign else ""
        rows.append([name, wanted, *(judged(value, sign, limit) for value in values)])
    return table(["ratio", "wanted", *args.learner], rows) + "(!: not reached)\n"


def judged(value: float | None, sign: str, limit: float) -> str:
    """RETURNS (str): The number, with a mark if it is not what is wanted."""
    missed = value is not None and (
        (sign == "<=" and value > limit) or (sign == ">=" and value < limit)
    )
    text = f"{value:.4f}" if value is not None and 0.9 < value < 1.1 else format_number(value)
    return f"{text} {'!' if missed else ' '}"


def number_table(args: argparse.Namespace, results: dict[str, Any]) -> str:
    names = [PEER, *args.learner]
    megabyte = 1_000_000

    def seconds(key: str) -> list[str]:
        timers = [results[name].get(key) for name in names]
        return [format_number(timer.seconds(args.clock) if timer else None) for timer in timers]

    def numbers(key: str, scale: float = 1.0) -> list[str]:
        values = [results[name].get(key) for name in names]
        return [format_number(value / scale if value is not None else None) for value in values]

    def speeds(which: str) -> list[str]:
        columns = [results[name]["speed"] for name in names]
        columns += [results["spacy"], results["tokenizer"]]
        return [format_number(getattr(speed, which) if speed else None) for speed in columns]

    quality = "F1, %" if args.target == "ents" else "accuracy, %"
    rows = [
        ["features (ours: initialize), s", *seconds("features")],
        ["passes (peer: append + train), s", *seconds("passes")],
        ["  append, s", *seconds("append")],
        ["  nlp.update without a component, s", *seconds("around")],
        ["training in all, s", *seconds("training")],
        ["saving the model, s", *seconds("saving")],
        ["tagging, first time, tokens/s", *speeds("first")],
        ["tagging, warm, tokens/s", *speeds("warm")],
        ["peak memory of training, MB", *numbers("memory", megabyte)],
        ["  before saving, MB", *numbers("memory_alone", megabyte)],
        ["  feature strings in Python, MB", *numbers("caches", megabyte)],
        ["model file, MB", *numbers("size", megabyte)],
        [quality, *(f"{100 * results[name]['quality']:.2f}" for name in names)],
        ["  standard deviation", *numbers("spread", 0.01)],
    ]
    own = "spaCy tagger" if args.target == "tag" else "spaCy ner"
    header = ["", *names, own, "tokenizer"]
    return table(header, rows)


def scaling_table(scaling: dict[str, Any]) -> str:
    half, whole = scaling["training"]
    growth = whole["seconds"] / half["seconds"] / (whole["tokens"] / half["tokens"]) * 2
    rows = [
        [what, f"{run['tokens']:,}", f"{run['seconds']:.4f}", *_per_token(run)]
        for what, runs in scaling.items()
        for run in runs
    ]
    header = ["", "tokens", "seconds", "tokens/s", "memory, MB", "bytes per token"]
    mark = "" if growth <= 2.2 else " !"
    return table(header, rows) + f"twice the corpus: {growth:.2f} × the time (<= 2.2){mark}\n"


def _per_token(run: dict[str, Any]) -> list[str]:
    tokens, memory = run["tokens"], run["memory"]
    speed = format_number(tokens / run["seconds"])
    return [speed, format_number(memory / 1e6), format_number(memory / tokens)]


def raw(value: Any) -> Any:
    """RETURNS (Any): The same for JSON."""
    if isinstance(value, Timer):
        return {"wall": value.wall, "cpu": value.cpu}
    if isinstance(value, Speed):
        return value._asdict()
    if isinstance(value, dict):
        return {key: raw(each) for key, each in value.items()}
    if isinstance(value, list):
        return [raw(each) for each in value]
    return value
