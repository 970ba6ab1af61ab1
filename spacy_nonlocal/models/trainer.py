"""Weights that learn: tables of features, raw weights, sums for averaging, and the rows of documents seen before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..features.attributes import Encoded
from ..features.extractor import FeatureExtractor
from ..kernels.lattice import padded, score_rows
from ..kernels.update import move_edges, move_nodes, squared_distance
from .feature_table import FeatureTable
from .lattice import Lattice, Move
from .storage import Arrays, pack_sparse, unpack_sparse

# Rows of training documents are kept from one epoch to the next, up to so many bytes.
MAX_KEPT_BYTES = 512 * 1024 * 1024
_DIGEST_SIZE = 16


class Rows(NamedTuple):
    """The features of a sequence, as rows of the weights."""

    node: NDArray[np.int32]  # [T, K]
    edge: NDArray[np.int32]  # [T, 1 + text-dependent edge features]: the label pair alone is row 0

    @property
    def nbytes(self) -> int:
        return self.node.nbytes + self.edge.nbytes


def _mean(w: NDArray[np.float32], u: NDArray[np.float64], clock: int) -> NDArray[np.float32]:
    """w - u / clock, or w itself if there are no sums"""
    out = w.copy()
    if len(u) and clock:
        # In slices: a second matrix of 64-bit floats would be the largest thing in memory.
        for start in range(0, len(out), 65536):
            part = slice(start, start + 65536)
            out[part] = w[part] - u[part] / clock
    return out


class SparseWeights:
    """Weights for the features of a table. The table may grow; `w` and `u` have room for more rows than it has.

    features (FeatureTable): The features.
    columns (int): Weights per feature.
    averaged (bool): Whether to keep the sums that averaging needs.
    """

    def __init__(self, features: FeatureTable, columns: int, averaged: bool) -> None:
        self.features = features
        self.averaged = averaged
        self.w = np.zeros((len(features), columns), dtype=np.float32)
        self.u = np.zeros((len(features), columns) if averaged else (0, 0), dtype=np.float64)

    def make_room(self) -> None:
        """Make room for all features that the table has now."""
        n = len(self.features)
        if n > len(self.w):
            room = max(n, len(self.w) + len(self.w) // 2) - len(self.w)
            self.w = np.concatenate([self.w, np.zeros((room, self.w.shape[1]), dtype=np.float32)])
            if self.averaged:
                self.u = np.concatenate([self.u, np.zeros((room, self.u.shape[1]))])

    def mean(self, clock: int) -> NDArray[np.float32]:
        """RETURNS (ndarray): The mean of the weights over all examples, or the weights if they are not averaged."""
        n = len(self.features)
        return _mean(self.w[:n], self.u[:n], clock)

    def mean_of(
        self, rows: NDArray[np.int32], clock: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The same for a few rows only, where the mean of all would take longer.

        rows (ndarray): int32[T, K], -1 for none.
        RETURNS (Tuple[ndarray, ndarray]): The rows, numbered anew, and the mean of their weights.
        """
        used, where = np.unique(rows, return_inverse=True)
        none = int(len(used) > 0 and used[0] < 0)
        used = used[none:]
        sums = self.u[used] if self.averaged else self.u
        return (where.reshape(rows.shape) - none).astype(np.int32), _mean(self.w[used], sums, clock)

    def reset(self) -> None:
        """Set all weights to zero."""
        self.w[...] = 0
        self.u[...] = 0

    def state(self) -> dict[str, NDArray[Any]]:
        n = len(self.features)
        weights = {**pack_sparse("w", self.w[:n]), **pack_sparse("u", self.u[:n])}
        return {**self.features.state(), **weights}

    @classmethod
    def from_state(
        cls, arrays: Arrays, prefix: str, columns: int, averaged: bool, min_count: int, source: str
    ) -> SparseWeights:
        out = cls(FeatureTable.from_state(arrays, prefix, min_count), columns, averaged)
        out.w = unpack_sparse(f"{prefix}.w", arrays, columns, source)
        out.u = unpack_sparse(f"{prefix}.u", arrays, columns if averaged else 0, source)
        return out


class Trainer:
    """The learning half of a linear-chain model.

    extractor (FeatureExtractor): Features.
    transitions (ndarray): bool[L, L], which label may follow which.
    averaged (bool): Whether prediction uses the mean of the weights.
    min_count (int): How often a feature has to be seen.
    """

    def __init__(
        self,
        extractor: FeatureExtractor,
        transitions: NDArray[np.bool_],
        averaged: bool,
        min_count: int,
    ) -> None:
        self.extractor = extractor
        self.averaged = averaged
        self.min_count = min_count
        self.clock = 0
        self.n_labels = len(transitions)
        self.width = padded(self.n_labels)
        self.base_node, self.base_edge = base_scores(transitions)
        self._edge_groups = np.array([0, len(extractor.edges)], dtype=np.int32)
        self._kept: dict[bytes, Rows] = {}
        self._kept_bytes = 0
        self._seen: set[bytes] = (
            set()
        )  # what was counted already; only if features are counted at all
        self._scratch: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
        self.node = SparseWeights(FeatureTable(min_count), self.width, averaged)
        self.edge = SparseWeights(FeatureTable(min_count), self.n_labels * self.width, averaged)
        # The label pair alone is row 0 of the edge table, whatever min_count is.
        self.edge.features.add(np.array([extractor.bias_key], dtype=np.uint64))
        self.edge.make_room()

    def collect(self, sequences: Iterable[Encoded]) -> None:
        """Number the features of the training documents.

        sequences (Iterable[Encoded]): Training sequences. What is not among them is found when it is learned from.
        """
        for sequence in sequences:
            key = _digest(sequence.orths, sequence.tokens)
            # Documents may repeat: each counts here, but none again when it is learned from.
            self._find(sequence, key, count=True, repeat=True)
        self.node.make_room()
        self.edge.make_room()

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
        return self._lattice(rows, self.node.w, self.edge.w, self.edge.w[0])

    def mean_lattice(self, rows: Rows) -> Lattice:
        """RETURNS (Lattice): Scores under the weights for prediction, of which only those needed are computed."""
        node_rows, node_weights = self.node.mean_of(rows.node, self.clock)
        edge_rows, edge_weights = self.edge.mean_of(rows.edge, self.clock)
        _, bias = self.edge.mean_of(np.zeros((1, 1), dtype=np.int32), self.clock)
        return self._lattice(Rows(node_rows, edge_rows), node_weights, edge_weights, bias[0])

    def _lattice(
        self,
        rows: Rows,
        node_weights: NDArray[np.float32],
        edge_weights: NDArray[np.float32],
        bias: NDArray[np.float32],
    ) -> Lattice:
        node = np.empty((len(rows.node), self.width), dtype=np.float32)
        score_rows(rows.node, self.extractor.groups, node_weights, self.base_node, node)
        groups, bias = self._edge_groups, self.base_edge + bias
        return Lattice(node, edge_scores(rows.edge, groups, edge_weights, bias, self.n_labels))

    def move(self, rows: Rows, move: Move) -> None:
        """Change the weights."""
        args = (move.gold, move.guess, move.step)
        move_nodes(rows.node, *args, self.node.w, self.node.u, self.clock, self.n_labels)
        weights, sums = self.edge.w, self.edge.u
        for edge_rows in self._edge_rows(rows):
            move_edges(edge_rows, *args, weights, sums, self.clock, self.n_labels, self.width)

    def distance(self, rows: Rows, gold: NDArray[np.int32], guess: NDArray[np.int32]) -> float:
        """RETURNS (float): ‖Φ(gold) - Φ(guess)‖²."""
        shapes = self.node.w.shape, self.edge.w.shape
        if self._scratch is None or tuple(each.shape for each in self._scratch) != shapes:
            self._scratch = np.zeros_like(self.node.w), np.zeros_like(self.edge.w)
        nodes, edges = self._scratch
        total = squared_distance(rows.node, gold, guess, nodes, self.n_labels, 0)
        for edge_rows in self._edge_rows(rows):
            total += squared_distance(edge_rows, gold, guess, edges, self.n_labels, self.width)
        return total

    def _edge_rows(self, rows: Rows) -> Iterable[NDArray[np.int32]]:
        if self.extractor.edge_bias:
            yield np.zeros((len(rows.edge), 1), dtype=np.int32)
        if rows.edge.shape[1]:
            yield rows.edge

    def reset(self) -> None:
        """Set all weights to zero; the features stay."""
        self.clock = 0
        self.node.reset()
        self.edge.reset()

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): Everything that going on with training needs."""
        seen = np.frombuffer(b"".join(sorted(self._seen)), dtype=np.uint8)
        return {
            "clock": np.array([self.clock], dtype=np.int64),
            "seen": seen.reshape(-1, _DIGEST_SIZE),
            **{f"node.{name}": array for name, array in self.node.state().items()},
            **{f"edge.{name}": array for name, array in self.edge.state().items()},
        }

    def set_state(self, arrays: Arrays, source: str) -> None:
        self.clock = int(arrays["clock"][0])
        self._seen = {row.tobytes() for row in arrays["seen"]}
        self._kept, self._kept_bytes, self._scratch = {}, 0, None
        shared = (self.averaged, self.min_count, source)
        self.node = SparseWeights.from_state(arrays, "node", self.width, *shared)
        self.edge = SparseWeights.from_state(arrays, "edge", self.n_labels * self.width, *shared)


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


def _digest(*arrays: NDArray[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for array in arrays:
        digest.update(array.tobytes())
    # So that words with annotations never look like words alone.
    digest.update(bytes([len(arrays)]))
    return digest.digest()
