"""Labellings to choose from: each as what it has other than one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .kernels.nbest import n_best_changes
from .models.lattice import Lattice


@dataclass(frozen=True, slots=True)
class Candidates:
    """Labellings of a document, with their scores under the local model, the best first.

    Candidate i has other labels than the reference at positions[first[i]:first[i + 1]].
    """

    reference: NDArray[np.int32]  # [T]
    first: NDArray[np.int64]  # [m + 1]
    positions: NDArray[np.int32]  # [D]
    labels: NDArray[np.int32]  # [D]
    scores: NDArray[np.float64]  # [m]

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def best(cls, lattice: Lattice, n: int) -> Candidates:
        """RETURNS (Candidates): The n best labellings of a lattice, or all, if there are fewer."""
        return cls(*n_best_changes(lattice.node, lattice.edge, n))

    @classmethod
    def taken_back(
        cls,
        before: NDArray[np.int32],
        after: NDArray[np.int32],
        stretches: Sequence[tuple[int, int]],
    ) -> Candidates:
        """RETURNS (Candidates): A labelling, and what it is with each of some changes taken back; without scores."""
        (positions,) = np.nonzero(before != after)
        bounds = np.searchsorted(positions, np.array(stretches).reshape(-1, 2)).tolist()
        parts = [positions[start:end] for start, end in bounds]
        changed = np.concatenate([positions[:0], *parts]).astype(np.int32)
        first = np.cumsum([0, 0, *map(len, parts)])
        return cls(after, first, changed, before[changed], np.zeros(len(parts) + 1))

    def labelling(self, i: int) -> NDArray[np.int32]:
        """RETURNS (ndarray): int32[T], the labels of a candidate."""
        out = self.reference.copy()
        changed = slice(self.first[i], self.first[i + 1])
        out[self.positions[changed]] = self.labels[changed]
        return out

    def find(self, labels: NDArray[np.int32]) -> int:
        """RETURNS (int): Which candidate a labelling is, -1 if none."""
        (positions,) = np.nonzero(labels != self.reference)
        for i in np.flatnonzero(np.diff(self.first) == len(positions)).tolist():
            changed = slice(self.first[i], self.first[i + 1])
            same = self.positions[changed] == positions
            if (same & (self.labels[changed] == labels[positions])).all():
                return i
        return -1

    def add(self, labels: NDArray[np.int32], score: float) -> Candidates:
        """RETURNS (Candidates): The same and one more."""
        (positions,) = np.nonzero(labels != self.reference)
        return Candidates(
            self.reference,
            np.append(self.first, self.first[-1] + len(positions)),
            np.append(self.positions, positions.astype(np.int32)),
            np.append(self.labels, labels[positions]),
            np.append(self.scores, score),
        )
