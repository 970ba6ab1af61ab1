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
from ..kernels.table import KeyTable
from ..kernels.update import move_edges, move_nodes, squared_distance
from .lattice import Lattice, Move
from .storage import Arrays, pack_sparse, unpack_sparse

# Rows of training documents are kept from one epoch to the next, up to so many bytes.
MAX_KEPT_BYTES = 512 * 1024 * 1024


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
    """One table of features with its weights.

    table (KeyTable): Feature keys.
    columns (int): Weights per feature.
    averaged (bool): Whether to keep the sums that averaging needs.
    """

    def __init__(self, table: KeyTable, columns: int, averaged: bool) -> None:
        self.table = table
        self.w = np.zeros((len(table), columns), dtype=np.float32)
        self.u = np.zeros((len(table), columns) if averaged else (0, 0), dtype=np.float64)

    def mean(self, clock: int) -> NDArray[np.float32]:
        """RETURNS (ndarray): The mean of the weights over all examples, or the weights if they are not averaged."""
        return _mean(self.w, self.u, clock)

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
        sums = self.u[used] if len(self.u) else self.u
        return (where.reshape(rows.shape) - none).astype(np.int32), _mean(self.w[used], sums, clock)


class Trainer:
    """The learning half of a linear-chain model.

    extractor (FeatureExtractor): Features.
    transitions (ndarray): bool[L, L], which label may follow which.
    averaged (bool): Whether prediction uses the mean of the weights.
    """

    def __init__(
        self, extractor: FeatureExtractor, transitions: NDArray[np.bool_], averaged: bool
    ) -> None:
        self.extractor = extractor
        self.averaged = averaged
        self.clock = 0
        self.n_labels = len(transitions)
        self.width = padded(self.n_labels)
        self.base_node, self.base_edge = base_scores(transitions)
        self._edge_groups = np.array([0, len(extractor.edges)], dtype=np.int32)
        self._kept: dict[bytes, Rows] = {}
        self._kept_bytes = 0
        self._set_tables(KeyTable(), KeyTable())

    def _set_tables(self, node_table: KeyTable, edge_table: KeyTable) -> None:
        self._scratch: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
        self.node = SparseWeights(node_table, self.width, self.averaged)
        self.edge = SparseWeights(edge_table, self.n_labels * self.width, self.averaged)

    def collect(self, sequences: Iterable[Encoded], min_count: int) -> None:
        """Number the features of the training documents; drop rare ones.

        sequences (Iterable[Encoded]): All training sequences.
        min_count (int): How often a feature has to be seen.
        """
        node_table, edge_table = KeyTable(), KeyTable()
        # The label pair alone is row 0 of the edge table, whatever min_count is.
        edge_table.add(np.full(min_count, self.extractor.bias_key, dtype=np.uint64))
        self.clock, self._kept, self._kept_bytes = 0, {}, 0
        for sequence in sequences:
            key = _fingerprint(sequence)
            nodes = node_table.add(self.extractor.keys(self.extractor.nodes, sequence))
            edges = edge_table.add(self.extractor.keys(self.extractor.edges, sequence))
            self._keep(key, Rows(nodes, edges))
        node_rows, edge_rows = node_table.prune(min_count), edge_table.prune(min_count)
        for rows in self._kept.values():
            rows.node[...] = node_rows[rows.node]
            rows.edge[...] = edge_rows[rows.edge]
        self._set_tables(node_table, edge_table)

    def rows(self, sequence: Encoded) -> Rows:
        """RETURNS (Rows): The features of a sequence; those of a sequence seen before are not computed again."""
        key = _fingerprint(sequence)
        rows = self._kept.get(key)
        if rows is None:
            rows = Rows(
                self.node.table.find(self.extractor.keys(self.extractor.nodes, sequence)),
                self.edge.table.find(self.extractor.keys(self.extractor.edges, sequence)),
            )
            self._keep(key, rows)
        return rows

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
        if self._scratch is None:
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
        self._set_tables(self.node.table, self.edge.table)

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): Everything that going on with training needs."""
        return {
            "clock": np.array([self.clock], dtype=np.int64),
            "node.keys": self.node.table.keys(),
            "edge.keys": self.edge.table.keys(),
            **pack_sparse("node.w", self.node.w),
            **pack_sparse("node.u", self.node.u),
            **pack_sparse("edge.w", self.edge.w),
            **pack_sparse("edge.u", self.edge.u),
        }

    def set_state(self, arrays: Arrays, source: str) -> None:
        self.clock = int(arrays["clock"][0])
        self._kept, self._kept_bytes = {}, 0
        self._set_tables(KeyTable(arrays["node.keys"]), KeyTable(arrays["edge.keys"]))
        for name, part in (("node", self.node), ("edge", self.edge)):
            part.w = unpack_sparse(f"{name}.w", arrays, part.w.shape[1], source)
            part.u = unpack_sparse(f"{name}.u", arrays, part.u.shape[1], source)


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


def _fingerprint(sequence: Encoded) -> bytes:
    digest = hashlib.blake2b(sequence.orths.tobytes(), digest_size=16)
    digest.update(sequence.tokens.tobytes())
    return digest.digest()
