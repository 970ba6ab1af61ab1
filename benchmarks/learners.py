"""Compare all learners, pass by pass and second by second, with python-crfsuite's, on one corpus.

    python benchmarks/learners.py DIRECTORY --output RESULTS

All learn from the same sequences with the same features. Ours train through `nlp.initialize` and `nlp.update`; all of
that counts as training, features and the search for the first step included. Python-crfsuite has its default settings;
"append" and "train" count, and feature strings are listed beside them. Evaluation never counts. Each of its algorithms
is trained anew for each number of iterations in --peer-passes; lbfgs also runs until it stops by itself.
Note its penalty: c2 ‖w‖² with c2 = 1, which is `l2=2` of ours.

Passes are chosen on the development documents, for all learners alike, so the best point of a curve flatters it.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import crfsuite_peer
import spacy
import srsly
from calibration import THRESHOLD, calibrate
from common import (
    FORMATS,
    PACKAGES,
    WARM_UP,
    Corpus,
    check_learners,
    count_tokens,
    describe_run,
    find_format,
    load_corpus,
    make_pipeline,
    registered_name,
    say,
    score,
    table,
    training,
)
from curves import Curve, Point, draw
from measuring import Timer, in_child, measure_speed
from report import judged, raw
from spacy.util import registry

LEARNERS = (
    "Perceptron", "AveragedPerceptron", "MarginPerceptron", "PassiveAggressive",
    "SGD", "L1SGD", "ADF", "MADF", "DCA",
)  # fmt: skip
PEERS = ("lbfgs", "l2sgd", "ap", "pa")
POINTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50)  # passes after which quality is measured

NEAR = 0.2  # points of quality that a CRF learner may stay behind lbfgs
TIME = 0.2  # of lbfgs's time
SLOWER = 3  # times that decoding may take with confidences
REPEATS = 5  # of decoding
FEW = 10  # passes in which ADF and MADF should get as far as SGD does in all


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="directory of a corpus, with train.* and dev.*")
    parser.add_argument("--format", choices=list(FORMATS), help="default: the directory's name")
    parser.add_argument(
        "--learner",
        nargs="+",
        default=list(LEARNERS),
        help="default: all; with settings if need be: SGD:l2=2,average=true",
    )
    parser.add_argument("--passes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="how documents are shuffled")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument(
        "--peer-passes",
        type=int,
        nargs="*",
        default=[10, 50],
        help="iterations of the peers, a run for each number; 0: until they stop by themselves",
    )
    parser.add_argument("--unit", choices=["doc", "sent"], default="doc", help="one sequence")
    parser.add_argument("--preset", help="feature templates; default: by corpus")
    parser.add_argument("--min-count", type=int, default=1, help="not known to the peers")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu: on a busy machine"
    )
    parser.add_argument("--output", metavar="PREFIX", help="write PREFIX.json and PREFIX.svg")
    args = parser.parse_args()
    if min(args.passes, args.min_count) < 1 or min(args.peer_passes, default=0) < 0:
        parser.error("--passes and --min-count have to be at least 1, --peer-passes at least 0.")
    check_learners(parser, args.learner)
    return args


# --- this tagger ---------------------------------------------------------------------------------


def is_crf(learner: str) -> bool:
    return getattr(registry.get("misc", registered_name(learner)), "probabilistic", False)


def curve_of(args: argparse.Namespace, corpus: Corpus, learner: str) -> dict[str, Any]:
    """Train, and measure quality on the way.

    RETURNS (Dict[str, Any]): The time of "initialize"; "points" with "passes", "quality" and time of "training";
        "calibration" and "speed" (without and with confidences) after the last pass; "failure", if training broke off.
    """
    vocab = corpus.train[0].reference.vocab
    with suppress(ValueError):  # so few documents prove nothing
        list(training(make_pipeline(args, vocab, learner), corpus.train[:WARM_UP], 1, args.seed))
    nlp = make_pipeline(args, vocab, learner)
    tagger: Any = nlp.get_pipe("local_tagger")
    points: list[dict[str, Any]] = []
    result: dict[str, Any] = {"points": points, "calibration": {}}
    total, docs = Timer(), []
    try:
        for done, timer in enumerate(training(nlp, corpus.train, args.passes, args.seed)):
            total += timer
            if not done:
                result["initialize"] = timer
            elif done in POINTS or done == args.passes:
                docs = list(tagger.pipe(eg.predicted.copy() for eg in corpus.dev))
                quality = score(corpus.dev, docs, corpus.target)
                points.append({"passes": done, "quality": quality, "training": total})
                seconds = total.seconds(args.clock)
                say(f"{learner}: pass {done}, {100 * quality:.2f} %, {seconds:.2f} s")
    except ValueError as error:  # it diverged: the others can go on
        say(f"{learner}: {error}")
        return {**result, "failure": str(error)}
    if is_crf(learner):
        result["calibration"] = calibrate(corpus.dev, docs, corpus.target)
        result["speed"] = {sure: speed(args, corpus, tagger, sure) for sure in (False, True)}
    return result


def speed(args: argparse.Namespace, corpus: Corpus, tagger: Any, confidence: bool) -> float:
    """RETURNS (float): Tokens per second, from documents to annotated documents, with or without confidences."""
    tagger.confidence = confidence
    n = count_tokens(corpus.dev)
    measured = measure_speed(
        lambda docs: list(tagger.pipe(docs)),
        lambda: [eg.predicted.copy() for eg in corpus.dev],
        n,
        REPEATS,
        args.clock,
    )
    return measured.warm


# --- python-crfsuite -----------------------------------------------------------------------------


def peer_curve(
    args: argparse.Namespace,
    corpus: Corpus,
    data: list[crfsuite_peer.Sequence_],
    algorithm: str,
    model: Path,
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): "points", the same as ours, with the times of "features", "append" and "train"."""
    limits: list[int | None] = [limit or None for limit in sorted({*args.peer_passes} - {0})]
    if algorithm == "lbfgs" or 0 in args.peer_passes:
        limits.append(None)
    points = []
    for limit in limits:
        say(f"python-crfsuite {algorithm}: {limit or 'any number of'} iterations …")
        run = in_child(crfsuite_peer.train_watched, args, data, model, args.seed, limit, algorithm)
        quality = crfsuite_peer.evaluate(args, corpus, model)
        times = {key: run[key] for key in ("features", "append", "train")}
        both = {"passes": run["iterations"], "quality": quality, "training": run["passes"]}
        points.append({**both, **times, "stopped": limit is None})
        say(f"python-crfsuite {algorithm}: {run['iterations']} iterations, {100 * quality:.2f} %")
    return {"points": points}


# --- answers -------------------------------------------------------------------------------------


class Answers:
    """The tables: ratios and differences first, then what they are made of.

    args (Namespace): The program's arguments.
    ours (Dict[str, Dict[str, Any]]): Curves by learner.
    peers (Dict[str, Dict[str, Any]]): Curves by algorithm.
    """

    def __init__(
        self, args: argparse.Namespace, ours: dict[str, Any], peers: dict[str, Any]
    ) -> None:
        self._clock = args.clock
        self._passes = args.passes
        self._measure = measure_name(args.target)
        self._ours = ours
        self._peers = peers
        self._crf = [name for name in ours if is_crf(name) and ours[name]["points"]]

    def __str__(self) -> str:
        parts = [self._against_lbfgs(), self._few_passes(), self._confidence()]
        return "\n".join([*parts, self._quality(), self._seconds(), self._peer_table()])

    def _time(self, point: dict[str, Any]) -> float:
        return point["training"].seconds(self._clock)

    def _against_lbfgs(self) -> str:
        """(a) Quality and time of CRF learners, against lbfgs."""
        title = f"\n(a) CRF learners against python-crfsuite's lbfgs; points of {self._measure}"
        if not (self._crf and self._peers.get("lbfgs")):
            return f"{title}: needs a CRF learner and lbfgs.\n"
        lbfgs = self._peers["lbfgs"]["points"][-1]
        names = sorted(self._crf, key=lambda name: -best(self._ours[name])["quality"])
        rows = []
        for name in names:
            points = self._ours[name]["points"]
            near = next((p for p in points if gain(p, lbfgs) >= -NEAR), None)
            quick = [p for p in points if self._time(p) <= TIME * self._time(lbfgs)]
            chosen = {
                "best": best(self._ours[name]),
                f"best within {TIME} of its time": best({"points": quick}) if quick else None,
                "last": points[-1],
                "first near lbfgs": near,
            }
            rows += [[f"{name}, {what}", *self._compared(p, lbfgs)] for what, p in chosen.items()]
        header = ["", f"points, >= -{NEAR}", f"time ratio, <= {TIME}", "pass", "seconds"]
        top = best(self._ours[names[0]])
        line = (
            f"best: {names[0]}, {gain(top, lbfgs):+.2f} points in {self._time(top) / self._time(lbfgs):.3f} of "
            f"the time (append + train), after {top['passes']} passes; lbfgs: {100 * lbfgs['quality']:.2f}, "
            f"{self._time(lbfgs):.1f} s, {lbfgs['passes']} iterations\n"
        )
        return title + table(header, rows) + line

    def _compared(self, point: dict[str, Any] | None, lbfgs: dict[str, Any]) -> list[str]:
        if point is None:
            return ["never !", "-  ", "-", "-"]
        difference = gain(point, lbfgs)
        mark = "!" if difference < -NEAR else " "
        ratio = judged(self._time(point) / self._time(lbfgs), "<=", TIME)
        passes, seconds = str(point["passes"]), f"{self._time(point):.2f}"
        return [f"{difference:+.2f} {mark}", ratio, passes, seconds]

    def _few_passes(self) -> str:
        """(b) ADF and MADF after few passes, against SGD after all."""
        title = f"\n(b) after at most {FEW} passes, against SGD after all; {self._measure}"
        fast = [name for name in self._crf if plain(name) in ("ADF", "MADF")]
        slow = next((name for name in self._crf if plain(name) == "SGD"), None)
        if not fast or slow is None:
            return f"{title}: needs SGD, and ADF or MADF.\n"
        goal = self._ours[slow]["points"][-1]
        rows = []
        for name in fast:
            points = [p for p in self._ours[name]["points"] if p["passes"] <= FEW]
            for what, point in (("best", best({"points": points})), ("last", points[-1])):
                ratio = judged(point["quality"] / max(goal["quality"], 1e-9), ">=", 1.0)
                difference, time = gain(point, goal), self._time(point) / self._time(goal)
                cells = [ratio, f"{difference:+.2f}", f"{time:.3f}", str(point["passes"])]
                rows.append([f"{name}, {what}", *cells])
        header = ["", "quality ratio, >= 1", "points", "time ratio", "pass"]
        seconds, passes = self._time(goal), goal["passes"]
        line = f"{slow}: {100 * goal['quality']:.2f}, {seconds:.1f} s, {passes} passes\n"
        return title + table(header, rows) + line

    def _confidence(self) -> str:
        """(c) Whether confidences can be believed."""
        title = f"\n(c) confidence on dev after {self._passes} passes"
        known = {name: self._ours[name]["calibration"] for name in self._crf}
        known = {name: each for name, each in known.items() if each}
        if not known:
            return f"{title}: skipped, no learner has set ._.confidence\n"
        rows = []
        for name, each in known.items():
            pairs = [(each[f"{key}_confident"], each[f"{key}_all"]) for key in "fp"]
            ratios = [f"{confident / max(total, 1e-9):.4f}" for confident, total in pairs]
            numbers = [f"{100 * value:.2f}" for pair in pairs for value in pair]
            sure, kept = f"{100 * each['f_sure']:.2f}", f"{each['kept']:.3f}"
            without, with_ = self._ours[name]["speed"].values()
            cost = judged(without / with_, "<=", SLOWER)
            rows.append([name, *ratios, f"{each['error']:.4f}", cost, *numbers, sure, kept])
        above = f"> {THRESHOLD}"
        header = ["", f"F1 ratio, {above} / all", "precision ratio", "calibration error"]
        header += [f"decoding time with / without, <= {SLOWER}"]
        header += [f"F1 {above}, %", "F1, %", f"precision {above}, %", "precision, %"]
        header += ["F1 where sure, %", "kept"]
        note = (
            f"(F1 {above}: without predictions of less confidence, and without gold that they overlap; where sure: on "
            "entities above it and gold that they overlap)\n"
        )
        return title + table(header, rows) + note

    def _passes_measured(self) -> list[int]:
        return sorted({p["passes"] for each in self._ours.values() for p in each["points"]})

    def _quality(self) -> str:
        """Quality after each measured pass."""
        passes, rows = self._passes_measured(), []
        for name, each in self._ours.items():
            cells = {p["passes"]: f"{100 * p['quality']:.2f}" for p in each["points"]}
            rows.append([name, *(cells.get(n, "-") for n in passes)])
            if "failure" in each:
                rows.append([f"  broke off: {each['failure']}"[:60]])
        return table([f"{self._measure} after passes", *map(str, passes)], rows)

    def _seconds(self) -> str:
        """Time until each measured pass."""
        passes, rows = self._passes_measured(), []
        for name, each in self._ours.items():
            start = each.get("initialize")
            cells = {p["passes"]: f"{self._time(p):.2f}" for p in each["points"]}
            first = f"{start.seconds(self._clock):.2f}" if start else "-"
            rows.append([name, first, *(cells.get(n, "-") for n in passes)])
        return table(["seconds, all in all", "initialize", *map(str, passes)], rows)

    def _peer_table(self) -> str:
        if not self._peers:
            return ""
        rows = []
        for name, each in self._peers.items():
            for p in each["points"]:
                keys = ("training", "append", "train", "features")
                seconds = [f"{p[key].seconds(self._clock):.2f}" for key in keys]
                stop = " (own stop)" if p["stopped"] else ""
                rows.append(
                    [f"{name}{stop}", str(p["passes"]), f"{100 * p['quality']:.2f}", *seconds]
                )
        header = ["python-crfsuite", "iterations", self._measure, "append + train, s"]
        return table([*header, "append, s", "train, s", "beside: feature strings, s"], rows)


def plain(learner: str) -> str:
    """RETURNS (str): The name without settings."""
    return learner.partition(":")[0]


def best(curve: dict[str, Any]) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The point of the highest quality; of several, the first."""
    return max(curve["points"], key=lambda point: point["quality"])


def gain(point: dict[str, Any], other: dict[str, Any]) -> float:
    """RETURNS (float): How much better the first is, in points."""
    return 100 * (point["quality"] - other["quality"])


def measure_name(target: str) -> str:
    return "F1, %" if target == "ents" else "accuracy, %"


def picture(
    args: argparse.Namespace, title: str, ours: dict[str, Any], peers: dict[str, Any]
) -> str:
    """RETURNS (str): All curves, as SVG. Lines of CRF learners are whole, those of others dashed."""

    def points(curve: dict[str, Any]) -> list[Point]:
        return [
            Point(p["passes"], p["training"].seconds(args.clock), 100 * p["quality"])
            for p in curve["points"]
        ]

    curves = [Curve(name, points(c), dashed=not is_crf(name)) for name, c in ours.items()]
    curves += [
        Curve(f"crfsuite {name}", points(c), peer=True, level=name == "lbfgs")
        for name, c in peers.items()
    ]
    return draw(curves, title, f"{measure_name(args.target)} on dev")


# --- all of it -----------------------------------------------------------------------------------


def main() -> None:
    args = parse_arguments()
    name, format_ = find_format(args.data, args.format)
    args.target, args.preset = format_.target, args.preset or format_.preset
    say(f"{name}: reading …")
    corpus = load_corpus(args.data, name, spacy.blank("en"))
    for learner in args.learner:  # wrong settings are better found now than after an hour
        make_pipeline(args, corpus.train[0].reference.vocab, learner)
    sample = corpus.dev[:50]
    n_features = crfsuite_peer.check_features(args.preset, [eg.predicted for eg in sample])
    ours = {learner: in_child(curve_of, args, corpus, learner) for learner in args.learner}
    data = crfsuite_peer.label_sequences(corpus.train, args)
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "model"
        peers = {peer: peer_curve(args, corpus, data, peer, model) for peer in args.peers}
    if not any(curve["points"] for curve in (*ours.values(), *peers.values())):
        raise SystemExit("There is nothing to show: no learner got through a pass.")
    lines = [*describe_run(PACKAGES, args.data), f"time: {args.clock}"]
    lines.append(f"features agree: {n_features:,} distinct ones in {len(sample)} documents")
    sizes = [f"{count_tokens(part):,} / {len(part):,}" for part in (corpus.train, corpus.dev)]
    title = f"{name}, {args.passes} passes"
    print(f"\n{title}; tokens / documents: {sizes[0]} train, {sizes[1]} dev")
    print(Answers(args, ours, peers))
    print("\n".join(lines))
    if args.output:
        results = raw({"ours": ours, "peers": peers})
        srsly.write_json(f"{args.output}.json", {"about": lines, "corpus": name, **results})
        Path(f"{args.output}.svg").write_text(picture(args, title, ours, peers), encoding="utf8")


if __name__ == "__main__":
    main()
