"""What a model says about a sequence, before anything is decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Lattice(NamedTuple):
    """Scores of labels and label pairs. Labels are padded to `width`; padding has node score -inf."""

    node: NDArray[np.float32]  # [T, width]
    edge: NDArray[np.float32]  # [1, L, width] or [T, L, width]: from label, to label

    @property
    def n_labels(self) -> int:
        return self.edge.shape[1]

    def restrict(self, allowed: NDArray[np.bool_]) -> Lattice:
        """Leave only some labels at each position.

        allowed (ndarray): bool[T, L].
        RETURNS (Lattice): A lattice of its own, -inf where a label is not allowed.
        """
        node = self.node.copy()
        node[:, : self.n_labels][~allowed] = -np.inf
        return Lattice(node, self.edge)

    def with_costs(self, gold: NDArray[np.int32]) -> Lattice:
        """RETURNS (Lattice): The same with 1 added for every label that is wrong."""
        tokens = np.arange(len(gold))
        node = self.node + np.float32(1.0)
        node[tokens, gold] = self.node[tokens, gold]
        return Lattice(node, self.edge)

    @classmethod
    def join(cls, lattices: Sequence[Lattice]) -> Lattice:
        """RETURNS (Lattice): That of sequences one after the other; any label may follow at the start of each."""
        if len(lattices) == 1:
            return lattices[0]
        edges = []
        for node, edge in lattices:
            edges.append(np.repeat(edge, len(node), axis=0) if len(edge) == 1 else edge.copy())
            edges[-1][0] = 0
        return cls(np.concatenate([each.node for each in lattices]), np.concatenate(edges))


class Move(NamedTuple):
    """A change of the weights: w += step * (Φ(gold) - Φ(guess))."""

    gold: NDArray[np.int32]  # [T]
    guess: NDArray[np.int32]  # [T]
    step: float


class Gradient(NamedTuple):
    """A change of the weights by beliefs: w += step * (Φ(gold) - E[Φ]), at each weight's own rate."""

    node: NDArray[np.float32]  # [T, width], of gold less expected
    edge: NDArray[np.float32]  # [1, L, width], summed over positions, or [T, L, width]
    step: float
    reach: float = math.inf  # the step is at most reach / ‖gradient‖²
    penalty: float = 0.0  # what L1 could have taken from each weight by now
    period: int = 0  # this example is the last of so many that make a period; 0: it is not
    shrink: float = 0.0  # at the end of a period: how much L2 takes, as a logarithm


def indicators(
    labels: NDArray[np.int32], n_labels: int, width: int, tables: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The beliefs of one labelling: 1 for each label and label pair that it has.

    labels (ndarray): int32[T], -1 where nothing is known.
    tables (int): 1 to add up pairs over all positions, else T.
    RETURNS (Tuple[ndarray, ndarray]): float32[T, width] and float32[tables, L, width].
    """
    node = np.zeros((len(labels), width), dtype=np.float32)
    known = np.flatnonzero(labels >= 0)
    node[known, labels[known]] = 1
    edge = np.zeros((tables, n_labels, width), dtype=np.float32)
    second = known[known > 0]
    second = second[labels[second - 1] >= 0]
    where = np.zeros_like(second) if tables == 1 else second
    np.add.at(edge, (where, labels[second - 1], labels[second]), 1)
    return node, edge
