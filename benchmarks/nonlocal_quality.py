"""What non-local features are good for: F1 and consistency, with each of them and without (see nonlocal.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from statistics import mean, stdev
from typing import Any

import spacy
from common import Corpus, registered_name, say, training
from measuring import Timer, in_child
from spacy.language import Language
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nonlocal.features.consistency import SWITCHES
from spacy_nonlocal.pipeline.scoring import labeller_score

Keep = Callable[[str, Callable[[], Any]], Any]  # measures what has no result under this name yet
Load = Callable[[str], Corpus]

LABELLER = "labeller"  # the component's name in all pipelines
N_BEST = {"n_best": 20, "n_best_predict": 100}
MARGINS = (0, 100, 1000, 5657)
# Points of F1 that algorithm 4.2 should gain over the margin perceptron
WANTED = {"bc5cdr": 0.6, "ewt-ner": 1.5}


# --- what speed and quality share ----------------------------------------------------------------


@dataclass(frozen=True)
class System:
    """A learner with its settings, and, if it is a joint one, those of ConsistencyFeatures."""

    learner: str
    settings: dict[str, Any] = field(default_factory=dict)
    features: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        pairs = [f"{key}={value}" for key, value in {**self.settings, **self.features}.items()]
        return f"{self.learner}({', '.join(pairs)})"

    @property
    def joint(self) -> bool:
        return self.learner.startswith("Joint")

    def pipeline(self, vocab: Vocab) -> Language:
        """RETURNS (Language): A pipeline of one untrained component; local features are the same for all."""
        config: dict[str, Any] = {"model": {"features": {"preset": "ner"}}}
        learner = {"@misc": registered_name(self.learner), **self.settings}
        if self.joint:
            block = {"@misc": "spacy-nonlocal.ConsistencyFeatures.v1", **self.features}
            config |= {"ranker": learner, "nonlocal_features": {"consistency": block}}
        else:
            config["learner"] = learner
        nlp = spacy.util.get_lang_class("en")(vocab=vocab)
        factory = "nonlocal_reranker" if self.joint else "local_tagger"
        nlp.add_pipe(factory, name=LABELLER, config=config)
        return nlp

    def train(self, corpus: Corpus, passes: int, seed: int) -> tuple[Language, Timer]:
        """RETURNS (Tuple[Language, Timer]): The trained pipeline, and the time that took."""
        nlp = self.pipeline(corpus.train[0].reference.vocab)
        return nlp, sum(training(nlp, corpus.train, passes, seed), Timer())


def evaluate(nlp: Language, corpus: Corpus) -> dict[str, float | None]:
    """RETURNS (Dict[str, Optional[float]]): Scores on the development documents, in percent."""
    docs = nlp.pipe([eg.predicted.copy() for eg in corpus.dev])
    pairs = [Example(doc, eg.reference) for doc, eg in zip(docs, corpus.dev, strict=True)]
    scores = labeller_score(pairs, target=corpus.target)
    keys = {"f": "ents_f", "p": "ents_p", "r": "ents_r", "consistency": "ents_consistency"}
    found = {name: scores.get(key) for name, key in keys.items()}
    return {name: None if value is None else 100 * value for name, value in found.items()}


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """RETURNS (str): A table, with an empty line after it."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def spread(values: list[float | None], sign: str = "") -> str:
    """RETURNS (str): Mean and standard deviation; a dash if there is nothing."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    around = f" ± {stdev(known):.2f}" if len(known) > 1 else ""
    return f"{mean(known):{sign}.2f}{around}"


# --- runs ----------------------------------------------------------------------------------------


def margin_perceptron(margin: float) -> System:
    return System("MarginPerceptron", {"margin": margin})


def joint_perceptron(algorithm: str, margin: float, **settings: Any) -> System:
    # Both margins are the same, as in the paper: to tune one number for each rival is fair.
    both = {"margin_local": margin, "margin_total": margin}
    return System("JointPerceptron", {"algorithm": algorithm, **both, **N_BEST, **settings})


LOCAL, CANDIDATE, PROPOSED = "MarginPerceptron", "algorithm 4.1", "algorithm 4.2"
# With non-local steps as long as local ones
PAPER_CANDIDATE, PAPER_PROPOSED = f"{CANDIDATE}, paper's steps", f"{PROPOSED}, paper's steps"
PA, JOINT_PA = "PassiveAggressive", "JointPassiveAggressive"
TUNED: dict[str, Callable[[float], System]] = {
    LOCAL: margin_perceptron,
    CANDIDATE: partial(joint_perceptron, "candidate"),
    PROPOSED: partial(joint_perceptron, "proposed"),
    PAPER_CANDIDATE: partial(joint_perceptron, "candidate", nonlocal_step=1.0),
    PAPER_PROPOSED: partial(joint_perceptron, "proposed", nonlocal_step=1.0),
}
FIXED = {PA: System(PA), JOINT_PA: System(JOINT_PA, N_BEST)}
RIVALS = {
    CANDIDATE: LOCAL,
    PROPOSED: LOCAL,
    PAPER_CANDIDATE: LOCAL,
    PAPER_PROPOSED: LOCAL,
    JOINT_PA: PA,
}  # and whom they should be better than


def train_and_score(corpus: Corpus, system: System, passes: int, seed: int) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Scores on dev; "local": those of the local weights alone; "seconds" of training."""
    nlp, timer = system.train(corpus, passes, seed)
    result = {**evaluate(nlp, corpus), "seconds": timer.wall, "local": {}}
    if system.joint:
        nlp.get_pipe(LABELLER).learner.n_best_predict = 1  # nothing to choose from
        result["local"] = evaluate(nlp, corpus)
    return result


class Runs:
    """Runs on one corpus, each made when it is asked for and not there yet.

    passes (int): Of training.
    seeds (int): How many.
    name (str): The corpus.
    load (Callable): Reads it.
    keep (Callable): Keeps results.
    """

    def __init__(self, passes: int, seeds: int, name: str, load: Load, keep: Keep) -> None:
        self.name = name
        self._passes, self._seeds = passes, seeds
        self._load, self._keep = load, keep
        self._chosen: dict[str, float] = {}

    def one(self, system: System, seed: int = 0) -> dict[str, Any]:
        key = f"{self.name}, {self._passes} passes, seed {seed}, {system}"

        def measure() -> dict[str, Any]:
            say(f"{key} …")
            corpus = self._load(self.name)
            return in_child(train_and_score, corpus, system, self._passes, seed)

        return self._keep(key, measure)

    def all(self, system: System) -> list[dict[str, Any]]:
        return [self.one(system, seed) for seed in range(self._seeds)]

    def margin(self, name: str) -> float:
        """RETURNS (float): The best one on dev, with the first seed."""
        if name not in self._chosen:
            found = {margin: self.one(TUNED[name](margin))["f"] for margin in MARGINS}
            self._chosen[name] = max(MARGINS, key=lambda margin: found[margin])
        return self._chosen[name]

    def system(self, name: str) -> System:
        return TUNED[name](self.margin(name)) if name in TUNED else FIXED[name]


def column(runs: list[dict[str, Any]], key: str) -> list[float | None]:
    return [run.get(key) for run in runs]


def gains(runs: list[dict[str, Any]], others: list[dict[str, Any]], key: str) -> list[float | None]:
    """RETURNS (List[Optional[float]]): How much better, seed by seed."""
    pairs = zip(column(runs, key), column(others, key), strict=True)
    return [None if a is None or b is None else a - b for a, b in pairs]


# --- quality -------------------------------------------------------------------------------------


def quality(runs: Runs) -> str:
    """RETURNS (str): All learners on one corpus: what they gain, what that is made of, and the margins."""
    systems = {name: runs.system(name) for name in (*TUNED, *FIXED)}
    found = {name: runs.all(system) for name, system in systems.items()}
    parts = [_gain_table(runs.name, found), _score_table(runs, found), _margin_table(runs)]
    return f"### {runs.name}\n\n" + "".join(parts)


def _gain_table(corpus: str, found: dict[str, list[dict[str, Any]]]) -> str:
    rows = []
    for name, other in RIVALS.items():
        points = gains(found[name], found[other], "f")
        wanted, missed = _wanted(corpus, name, mean(points))
        cells = [f"{spread(points, '+')}{' !' if missed else ''}", wanted]
        changed = spread(gains(found[name], found[other], "consistency"), "+")
        # How much of it is in the choice between candidates, and not in better local weights
        alone = [run["local"] for run in found[name]]
        cells += [changed, spread(gains(found[name], alone, "f"), "+")]
        cells += [spread(gains(found[name], alone, "consistency"), "+")]
        rows.append([f"{name}, against {other}", *cells])
    header = ["points on dev (!: not reached)", "F1", "wanted", "consistency"]
    return markdown([*header, "F1, against n' = 1", "consistency, against n' = 1"], rows)


def _wanted(corpus: str, name: str, points: float) -> tuple[str, bool]:
    if name == PAPER_CANDIDATE:
        return "< 0", points >= 0
    if name == PROPOSED and corpus in WANTED:
        return f">= {WANTED[corpus]}", points < WANTED[corpus]
    return "", False


def _score_table(runs: Runs, found: dict[str, list[dict[str, Any]]]) -> str:
    rows = []
    for name, each in found.items():
        alone = [run["local"] for run in each]
        cells = [spread(column(each, key)) for key in ("f", "p", "r", "consistency")]
        cells += [spread(column(alone, key)) for key in ("f", "consistency")]
        margin = f"{runs.margin(name)}" if name in TUNED else "-"
        rows.append([name, *cells, margin, spread(column(each, "seconds"))])
    header = ["dev, %", "F1", "precision", "recall", "consistency", "F1, n' = 1"]
    return markdown([*header, "consistency, n' = 1", "margin", "training, s"], rows)


def _margin_table(runs: Runs) -> str:
    rows = [
        [name, *(f"{runs.one(make(margin))['f']:.2f}" for margin in MARGINS)]
        for name, make in TUNED.items()
    ]
    return markdown(["F1 by margin, %, first seed", *map(str, MARGINS)], rows)


# --- ablation ------------------------------------------------------------------------------------


def variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """YIELDS (Tuple[str, Dict[str, Any]]): Settings of ConsistencyFeatures, with a name for them."""
    off = dict.fromkeys(SWITCHES, False)
    yield "as it is", {}
    for switch in SWITCHES:
        yield f"without {switch}", {switch: False}
    for switch in SWITCHES:
        yield f"{switch} alone", {**off, switch: True}
    yield "none at all", off
    yield "match lower", {"match": "lower"}
    yield "match norm", {"match": "norm"}
    yield "count pairs", {"count": "pairs"}
    yield "by length", {"by_length": True}


def ablation(runs: Runs) -> str:
    """RETURNS (str): What each family of features, and each other setting, is worth on one corpus."""
    names = (PROPOSED, JOINT_PA)
    systems = [runs.system(name) for name in names]
    whole = [runs.all(system) for system in systems]
    rows = []
    for variant, features in variants():
        points, scores = [], []
        for system, reference in zip(systems, whole, strict=True):
            each = runs.all(System(system.learner, system.settings, features))
            points += [spread(gains(each, reference, key), "+") for key in ("f", "consistency")]
            scores += [spread(column(each, key)) for key in ("f", "consistency")]
        rows.append([variant, *points, *scores])
    header = [f"{name}: {key}" for name in names for key in ("F1", "consistency")]
    differences = [f"{each}, difference" for each in header]
    return f"### {runs.name}\n\n" + markdown(["on dev, %", *differences, *header], rows)
