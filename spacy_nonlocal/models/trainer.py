"""Weights that learn: tables of features, raw weights, sums for averaging, and the rows of documents seen before."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..features.attributes import Encoded
from ..features.extractor import FeatureExtractor
from ..kernels.lattice import padded, score_rows
from ..kernels.update import gather, move_edges, move_nodes, squared_distance
from .feature_table import FeatureTable
from .lattice import Gradient, Lattice, Move, indicators
from .rules import Rule
from .sparse_weights import SparseWeights
from .storage import Arrays

# Rows of training documents are kept from one epoch to the next, up to so many bytes.
MAX_KEPT_BYTES = 512 * 1024 * 1024
_DIGEST_SIZE = 16
# Sums of weights up to this size are finite in single precision.
MAX_WEIGHT = 1e30


class DivergenceError(ValueError):
    """A change would make weights too large to compute with; they stay as they were."""


_FIRST = np.zeros((1, 1), dtype=np.int32)


class Rows(NamedTuple):
    """The features of a sequence, as rows of the weights."""

    node: NDArray[np.int32]  # [T, K]
    edge: NDArray[
        np.int32
    ]  # [T, edge features that look at the text]; the label pair alone is row 0

    starts: tuple[int, ...] = ()  # where sequences begin, beside the first

    @property
    def nbytes(self) -> int:
        return self.node.nbytes + self.edge.nbytes

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """RETURNS (Rows): The features of sequences one after the other; no label pair lies across their bounds."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([len(part.node) for part in parts[:-1]])
        edge = np.concatenate([part.edge for part in parts])
        edge[starts] = -1
        return cls(np.concatenate([part.node for part in parts]), edge, tuple(starts.tolist()))


class Trainer:
    """The learning half of a linear-chain model.

    extractor (FeatureExtractor): Features.
    transitions (ndarray): bool[L, L], which label may follow which.
    rule (Rule): How weights follow a gradient.
    min_count (int): How often a feature has to be seen.
    """

    def __init__(
        self,
        extractor: FeatureExtractor,
        transitions: NDArray[np.bool_],
        rule: Rule,
        min_count: int,
    ) -> None:
        self.extractor = extractor
        self.rule = rule
        self.min_count = min_count
        self.clock = 0
        self.penalty = 0.0  # what L1 could have taken from each weight by now
        self._bound = 0.0  # no weight is larger
        self.n_labels = len(transitions)
        self.width = padded(self.n_labels)
        self.base_node, self.base_edge = base_scores(transitions)
        self._edge_groups = np.array([0, len(extractor.edges)], dtype=np.int32)
        self._kept: dict[bytes, Rows] = {}
        self._kept_bytes = 0
        self._tokens = 0  # tokens whose features were counted
        self._met = False  # whether all features of the training data have been met
        self._seen: set[bytes] = (
            set()
        )  # what was counted already; only if features are counted at all
        self.node = SparseWeights(FeatureTable(min_count), self.width, rule)
        self.edge = SparseWeights(FeatureTable(min_count), self.n_labels * self.width, rule)
        self.document = SparseWeights(FeatureTable(1), 1, rule)  # of features of whole labellings
        # The label pair alone is row 0 of the edge table, whatever min_count is.
        self.edge.features.add(np.array([extractor.bias_key], dtype=np.uint64))
        self.edge.claim(_FIRST, np.ones(1, dtype=bool))

    @property
    def parts(self) -> tuple[SparseWeights, SparseWeights, SparseWeights]:
        """RETURNS (Tuple[SparseWeights, …]): All weights there are."""
        return self.node, self.edge, self.document

    def collect(self, sequences: Iterable[Encoded]) -> None:
        """Number the features of the training documents.

        sequences (Iterable[Encoded]): Training sequences. What is not among them is found when it is learned from.
        """
        for sequence in sequences:
            key = _digest(sequence.orths, sequence.tokens)
            # Documents may repeat: each counts here, but none again when it is learned from.
            self._find(sequence, key, count=True, repeat=True)

    def rows(self, sequence: Encoded, *, learn: bool) -> Rows:
        """Find the features of a sequence; those of a sequence learned from before are not computed again.

        sequence (Encoded): The sequence.
        learn (bool): Whether to count its features, so that new ones get a row.
        RETURNS (Rows): The rows of its features.
        """
        key = _digest(sequence.orths, sequence.tokens)
        rows = self._kept.get(key)
        return self._find(sequence, key, count=learn) if rows is None else rows

    def _find(self, sequence: Encoded, key: bytes, *, count: bool, repeat: bool = False) -> Rows:
        nodes = self.extractor.keys(self.extractor.nodes, sequence)
        edges = self.extractor.keys(self.extractor.edges, sequence)
        if count:
            self._count(nodes, edges, _digest(sequence.orths), key, repeat)
        rows = Rows(self.node.features.find(nodes), self.edge.features.find(edges))
        if count:
            self._keep(key, rows)
        return rows

    def _count(
        self,
        nodes: NDArray[np.uint64],
        edges: NDArray[np.uint64],
        words: bytes,
        everything: bytes,
        repeat: bool,
    ) -> None:
        """Count the features of a sequence: those of its words and those of its annotations, each only once."""
        before = len(self.node.features), len(self.edge.features)
        for part, keys, of_words in (
            (self.node.features, nodes, self.extractor.node_of_words),
            (self.edge.features, edges, self.extractor.edge_of_words),
        ):
            if self.min_count == 1:
                part.count(keys)
                continue
            if repeat or words not in self._seen:
                part.count(keys[:, of_words])
            if repeat or everything not in self._seen:
                part.count(keys[:, ~of_words])
        if self.min_count > 1:
            self._seen |= {words, everything}
            if (len(self.node.features), len(self.edge.features)) != before:
                # Features that were too rare until now are missing in what is kept.
                self._kept, self._kept_bytes = {}, 0

    def _keep(self, key: bytes, rows: Rows) -> None:
        if key not in self._kept and self._kept_bytes + rows.nbytes <= MAX_KEPT_BYTES:
            self._kept[key] = rows
            self._kept_bytes += rows.nbytes

    def lattice(self, rows: Rows) -> Lattice:
        """RETURNS (Lattice): Scores of a sequence under the raw weights."""
        node = np.empty((len(rows.node), self.width), dtype=np.float32)
        slots = self.node.slots
        score_rows(rows.node, self.extractor.groups, self.node.w, self.base_node, node, slots)
        places, bias = self.edge.places(rows.edge), self.base_edge + self.edge.w[0]
        return Lattice(node, self._edge_scores(places, self.edge.w, bias))

    def mean_lattice(self, rows: Rows) -> Lattice:
        """RETURNS (Lattice): Scores under the weights for prediction, of which only those needed are computed."""
        node = np.empty((len(rows.node), self.width), dtype=np.float32)
        places, weights = self.node.mean_of(rows.node, self.clock, self.penalty)
        score_rows(places, self.extractor.groups, weights, self.base_node, node)
        places, weights = self.edge.mean_of(rows.edge, self.clock, self.penalty)
        _, bias = self.edge.mean_of(_FIRST, self.clock, self.penalty)
        return Lattice(node, self._edge_scores(places, weights, self.base_edge + bias[0]))

    def _edge_scores(
        self, places: NDArray[np.int32], weights: NDArray[np.float32], bias: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        return edge_scores(places, self._edge_groups, weights, bias, self.n_labels)

    def move(self, rows: Rows, move: Move) -> None:
        """Change the weights."""
        gold, guess, step = move
        node, edge = self.node, self.edge
        wrong = gold != guess
        wrong_rows = rows.node[wrong]
        node.claim(wrong_rows, wrong[wrong])
        args = (gold[wrong], guess[wrong], step, node.w, node.u)
        move_nodes(node.places(wrong_rows), *args, self.clock, self.n_labels)
        # A pair differs if one of its labels does; none ends at the first token.
        pairs = wrong.copy()
        pairs[1:] |= wrong[:-1]
        pairs[:1] = False
        for edge_rows in self._edge_rows(rows):
            edge.claim(edge_rows, pairs)
            args = (gold, guess, step, edge.w, edge.u)
            move_edges(edge.places(edge_rows), *args, self.clock, self.n_labels, self.width)

    def follow(self, rows: Rows, gradient: Gradient) -> None:
        """Change the weights by beliefs; if they would grow beyond all bounds, nothing changes."""
        step, changes = gradient.step, list(self._changes(rows, gradient.node, gradient.edge))
        if math.isfinite(gradient.reach):
            squared = sum(float(np.vdot(change, change)) for _, _, change in changes)
            step = min(step, gradient.reach / squared) if squared else 0.0
        self._check_bound(
            step * self.rule.top_rate * (rows.node.size + rows.edge.size + len(rows.node))
        )
        self.penalty = gradient.penalty
        for part, places, change in changes:
            self.rule.move(part, places, change, step, self.clock, gradient.penalty)
        if gradient.period:
            for part in (self.node, self.edge):
                if gradient.shrink:
                    self.rule.shrink(part, gradient.shrink, self.clock)
                self.rule.end_period(part, gradient.period, gradient.penalty)

    def _changes(
        self, rows: Rows, node: NDArray[np.float32], edge: NDArray[np.float32]
    ) -> Iterator[tuple[SparseWeights, NDArray[np.int32], NDArray[np.float32]]]:
        """What beliefs add up to for each feature: where its weights are, and the sums."""
        yield self._sums(self.node, rows.node, node)
        if self.extractor.edge_bias:
            yield self.edge, _FIRST[0], edge.sum(axis=0, dtype=np.float32).reshape(1, -1)
        if rows.edge.shape[1]:
            yield self._sums(self.edge, rows.edge, edge.reshape(len(edge), -1))

    def _sums(
        self, part: SparseWeights, rows: NDArray[np.int32], beliefs: NDArray[np.float32]
    ) -> tuple[SparseWeights, NDArray[np.int32], NDArray[np.float32]]:
        numbers, features = part.distinct(rows)
        before = part.used
        part.claim(features[:, None], np.ones(len(features), dtype=bool))
        sums = np.zeros((len(features), part.columns), dtype=np.float32)
        gather(numbers, beliefs, sums)
        places = part.slots[features]
        if self._met and part.used > before:
            late = places >= before
            firings = np.bincount(numbers[numbers >= 0], minlength=len(places))[late]
            self.rule.meet_late(part, places[late], firings, len(rows))
        return part, places, sums

    def move_document(
        self, keys: NDArray[np.uint64], values: NDArray[np.float64], step: float
    ) -> None:
        """Change the weights of features of a whole labelling.

        keys (ndarray): uint64[n], distinct features.
        values (ndarray): float64[n], Φ(gold) - Φ(guess).
        """
        if not len(keys):
            return
        part = self.document
        part.features.count(keys)
        rows = part.features.find(keys)[:, None]
        part.claim(rows, np.ones(len(rows), dtype=bool))
        change = values.astype(np.float32)[:, None]
        self.rule.move(part, part.places(rows)[:, 0], change, step, self.clock, 0.0)

    def document_weights(self, keys: NDArray[np.uint64]) -> NDArray[np.float32]:
        """RETURNS (ndarray): float32[n], the raw weights of features of a whole labelling."""
        part = self.document
        places = part.places(part.features.find(keys)[:, None])[:, 0]
        # One more, for features without any.
        return np.append(part.w[: part.used, 0], np.float32(0))[places]

    def _check_bound(self, change: float) -> None:
        """Raise if weights could leave the range in which scores are finite."""
        if not self._bound + change < MAX_WEIGHT:
            self._bound = max(float(np.abs(p.w).max(initial=0)) for p in (self.node, self.edge))
            if not self._bound + change < MAX_WEIGHT:
                raise DivergenceError("without bounds")
        self._bound += change

    def meet(self, rows: Rows, gold: NDArray[np.int32]) -> None:
        """Give features their weights, and count them with the right labels if the rule wants to know.

        gold (ndarray): int32[T], -1 where nothing is known.
        """
        tables = len(gold) if rows.edge.shape[1] else 1
        node, edge = indicators(gold, self.n_labels, self.width, tables)
        for part, places, counts in self._changes(rows, node, edge):
            self.rule.meet(part, places, counts)
        self._tokens += np.count_nonzero(gold >= 0)

    def end_meeting(self) -> None:
        """Take note that there are no more features to be met before training begins."""
        for part in (self.node, self.edge):
            self.rule.end_meeting(part, self._tokens)
        self._met = True

    def start_from(self, weights: Iterable[NDArray[np.float64]]) -> None:
        """Start with other weights than zero, given for each of the parts."""
        self.reset()
        for part, w in zip(self.parts, weights, strict=True):
            part.w[...] = w
        self._bound = MAX_WEIGHT  # to be found out when needed

    def norms(self) -> tuple[float, float]:
        """RETURNS (Tuple[float, float]): The sum of all weights' sizes, and of their squares."""
        size = squares = 0.0
        for part in self.parts:
            for start in range(0, part.used, 65536):
                w = part.w[start : min(start + 65536, part.used)]
                size += float(np.abs(w).sum(dtype=np.float64))
                squares += float(np.vdot(w, w))
        return size, squares

    def distance(self, rows: Rows, gold: NDArray[np.int32], guess: NDArray[np.int32]) -> float:
        """RETURNS (float): ‖Φ(gold) - Φ(guess)‖²."""
        wrong = gold != guess
        args = (gold[wrong], guess[wrong])
        total = _squared_distance(self.node, rows.node[wrong], *args, self.n_labels, 0)
        for edge_rows in self._edge_rows(rows):
            total += _squared_distance(self.edge, edge_rows, gold, guess, self.n_labels, self.width)
        return total

    def _edge_rows(self, rows: Rows) -> Iterable[NDArray[np.int32]]:
        if self.extractor.edge_bias:
            bias = np.zeros((len(rows.edge), 1), dtype=np.int32)
            bias[list(rows.starts)] = -1
            yield bias
        if rows.edge.shape[1]:
            yield rows.edge

    def reset(self) -> None:
        """Set all weights to zero; the features stay."""
        self.clock = 0
        self.penalty = self._bound = 0.0
        for part in self.parts:
            part.reset()

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): Everything that going on with training needs."""
        seen = np.frombuffer(b"".join(sorted(self._seen)), dtype=np.uint8)
        return {
            "clock": np.array([self.clock], dtype=np.int64),
            "penalty": np.array([self.penalty], dtype=np.float64),
            "seen": seen.reshape(-1, _DIGEST_SIZE),
            **{f"node.{name}": array for name, array in self.node.state().items()},
            **{f"edge.{name}": array for name, array in self.edge.state().items()},
            **{f"document.{name}": array for name, array in self.document.state().items()},
        }

    def set_state(self, arrays: Arrays, source: str) -> None:
        self.clock = int(arrays["clock"][0])
        self.penalty = float(arrays["penalty"][0]) if "penalty" in arrays else 0.0
        self._met, self._bound = True, MAX_WEIGHT  # to be found out when needed
        self._seen = {row.tobytes() for row in arrays["seen"]}
        self._kept, self._kept_bytes = {}, 0
        shared = (self.rule, self.min_count, source)
        self.node = SparseWeights.from_state(arrays, "node", self.width, *shared)
        self.edge = SparseWeights.from_state(arrays, "edge", self.n_labels * self.width, *shared)
        if "document.keys" in arrays:  # files of version 0.1 have none
            document = SparseWeights.from_state(arrays, "document", 1, self.rule, 1, source)
            self.document = document


def base_scores(transitions: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What scores are before any weight is added: -inf for padding and for illegal transitions.

    transitions (ndarray): bool[L, L].
    RETURNS (Tuple[ndarray, ndarray]): float32[width] and float32[L * width].
    """
    n_labels = len(transitions)
    width = padded(n_labels)
    node = np.zeros(width, dtype=np.float32)
    node[n_labels:] = -np.inf
    edge = np.zeros((n_labels, width), dtype=np.float32)
    edge[:, :n_labels][~transitions] = -np.inf
    return node, edge.reshape(-1)


def edge_scores(
    rows: NDArray[np.int32],
    groups: NDArray[np.int32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    n_labels: int,
) -> NDArray[np.float32]:
    """RETURNS (ndarray): float32[1, L, width], or [T, L, width] if some edge features look at the text."""
    if not rows.shape[1]:
        return bias.reshape(1, n_labels, len(bias) // n_labels)
    out = np.empty((len(rows), len(bias)), dtype=np.float32)
    score_rows(rows, groups, weights, bias, out)
    return out.reshape(len(rows), n_labels, len(bias) // n_labels)


def _squared_distance(
    weights: SparseWeights,
    rows: NDArray[np.int32],
    gold: NDArray[np.int32],
    guess: NDArray[np.int32],
    n_labels: int,
    width: int,
) -> float:
    numbers, features = weights.distinct(rows)
    counts = np.zeros((len(features), weights.columns), dtype=np.float32)
    return squared_distance(numbers, gold, guess, counts, n_labels, width)


def _digest(*arrays: NDArray[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for array in arrays:
        digest.update(array.tobytes())
    # So that words with annotations never look like words alone.
    digest.update(bytes([len(arrays)]))
    return digest.digest()
