"""What `nonlocal_reranker` costs and what it is good for, against `local_tagger` with the same local features.

    python benchmarks/nonlocal.py DIRECTORY --output nonlocal.json

DIRECTORY holds a directory for each corpus. Results are written to the file one by one; what is there already, for the
same settings, is not measured again. To measure anew after a change of the code, take another file.

nbest: exact n-best search, against one Viterbi pass. train: a pass through the training documents. decode: throughput
on the development documents. quality: F1 and consistency, with margins chosen on the development documents for all
rivals alike. long: one name 20,000 times in a document. ablation, on request: what each feature is worth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import nonlocal_quality
import nonlocal_speed
import spacy
import srsly
from common import FORMATS, PACKAGES, Corpus, describe_run, find_format, load_corpus, say
from report import raw

PARTS = ("nbest", "train", "decode", "quality", "long", "ablation")
CORPORA = [name for name, format_ in FORMATS.items() if format_.target == "ents"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="directory with a directory for each corpus")
    parser.add_argument(
        "--part", nargs="+", choices=PARTS, default=PARTS[:-1], help="default: all but ablation"
    )
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=["bc5cdr", "ewt-ner"])
    parser.add_argument("--seeds", type=int, default=3, help="of quality and ablation")
    parser.add_argument("--passes", type=int, default=30, help="of all training")
    parser.add_argument("--repeats", type=int, default=7, help="of each measurement of speed")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu: on a busy machine"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="keep results in this file")
    args = parser.parse_args()
    if min(args.seeds, args.passes, args.repeats) < 1:
        parser.error("--seeds, --passes and --repeats have to be at least 1.")
    return args


class Results:
    """Results by part and name, kept in a file, if there is one, as soon as they are known."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        known = srsly.read_json(path) if path and path.exists() else {}
        self._results: dict[str, dict[str, Any]] = known.get("results", {})
        self.about: list[str] = known.get("about", [])
        if known:
            say(f"{path}: {sum(map(len, self._results.values()))} results are there already")

    def keep(self, part: str, key: str, measure: Callable[[], Any]) -> Any:
        """RETURNS (Any): The result of this name; it is measured only if there is none."""
        results = self._results.setdefault(part, {})
        if key not in results:
            results[key] = raw(measure())
            self.save()
        return results[key]

    def save(self) -> None:
        if self._path:
            # A run that is stopped here leaves the old file or the new one, not half of it.
            new = self._path.with_name(f"{self._path.name}.new")
            srsly.write_json(new, {"about": self.about, "results": self._results})
            new.replace(self._path)


def reader(data: Path) -> Callable[[str], Corpus]:
    """RETURNS (Callable): Reads a corpus the first time that it is asked for."""

    @cache
    def load(name: str) -> Corpus:
        say(f"{name}: reading …")
        return load_corpus(data / name, name, spacy.blank("en"))

    return load


def run_part(args: argparse.Namespace, part: str, results: Results, load: Any) -> str:
    """RETURNS (str): The tables of one part."""
    # What ablation starts from are results of quality.
    keep = partial(results.keep, "quality" if part == "ablation" else part)
    if part in ("nbest", "long"):
        return getattr(nonlocal_speed, part)(args, keep)
    if part in ("train", "decode"):
        measure = getattr(nonlocal_speed, part)
        return "".join(measure(args, name, load, keep) for name in args.corpus)
    compare = getattr(nonlocal_quality, part)
    runs = partial(nonlocal_quality.Runs, args.passes, args.seeds, load=load, keep=keep)
    return f"{args.passes} passes, {args.seeds} seeds\n\n" + "".join(
        compare(runs(name)) for name in args.corpus
    )


def main() -> None:
    args = parse_arguments()
    if {"train", "decode", "quality", "ablation"} & {*args.part}:
        for name in args.corpus:  # better found out now than after an hour
            find_format(args.data / name, name)
    results = Results(args.output)
    about = [*describe_run(PACKAGES[:-1], args.data), f"time: {args.clock}"]
    results.about += [line for line in about if line not in results.about]
    load = reader(args.data)
    for part in args.part:
        print(f"## {part}\n\n{run_part(args, part, results, load)}", flush=True)
    print("\n".join(about))


if __name__ == "__main__":
    main()
