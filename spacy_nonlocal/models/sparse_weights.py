"""Weights for those features that a learner has moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.slots import claim, look_up, renumber
from .feature_table import FeatureTable
from .storage import Arrays, pack_sparse, unpack_sparse


class SparseWeights:
    """Weights, and sums for averaging, that have a place only for features that need one.

    features (FeatureTable): The features; the table may grow.
    columns (int): Weights per feature.
    averaged (bool): Whether to keep the sums that averaging needs.
    """

    def __init__(self, features: FeatureTable, columns: int, averaged: bool) -> None:
        self.features = features
        self.columns = columns
        self.averaged = averaged
        self.used = 0
        self.w = np.zeros((0, columns), dtype=np.float32)
        self.u = np.zeros((0, columns if averaged else 0), dtype=np.float64)
        self._slots = np.full(0, -1, dtype=np.int32)  # where the weights of each feature are
        self._numbers = np.full(0, -1, dtype=np.int32)

    @property
    def slots(self) -> NDArray[np.int32]:
        """RETURNS (ndarray): int32[features], where the weights of each are, -1 for none."""
        self._follow()
        return self._slots

    def places(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """RETURNS (ndarray): Where the weights of features are, -1 for features without any."""
        self._follow()
        return look_up(rows, self._slots)

    def claim(self, rows: NDArray[np.int32], wanted: NDArray[np.bool_]) -> None:
        """Make sure that features have weights.

        rows (ndarray): int32[T, K], features.
        wanted (ndarray): bool[T], the tokens whose features are meant.
        """
        self._follow()
        self.used = claim(rows, wanted.view(np.uint8), self._slots, self.used)
        if self.used > len(self.w):
            room = max(self.used, len(self.w) + len(self.w) // 4)
            # In place: for a moment, a copy would take as much memory again. New rows are zero.
            self.w.resize((room, self.columns), refcheck=False)
            if self.averaged:
                self.u.resize((room, self.columns), refcheck=False)

    def distinct(self, rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """RETURNS (Tuple[ndarray, ndarray]): The features, numbered from 0, and which they are."""
        if len(self._numbers) < len(self.features):
            self._numbers = np.full(len(self.features), -1, dtype=np.int32)
        return renumber(rows, self._numbers)

    def _follow(self) -> None:
        """Catch up with a table that has grown."""
        new = len(self.features) - len(self._slots)
        if new > 0:
            self._slots = np.append(self._slots, np.full(new, -1, dtype=np.int32))

    def keys(self) -> NDArray[np.uint64]:
        """RETURNS (ndarray): uint64, the keys of the features that have weights, in the order of their places."""
        return self.features.table.keys()[self._rows()]

    def _rows(self) -> NDArray[np.int32]:
        rows = np.empty(self.used, dtype=np.int32)
        taken = np.flatnonzero(self._slots >= 0)
        rows[self._slots[taken]] = taken
        return rows

    def mean(self, clock: int) -> NDArray[np.float32]:
        """RETURNS (ndarray): The mean of the weights over all examples, or the weights if they are not averaged."""
        return self._mean(slice(0, self.used), clock)

    def mean_of(
        self, rows: NDArray[np.int32], clock: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The same for a few features only, where the mean of all would take longer.

        rows (ndarray): int32[T, K], -1 for none.
        RETURNS (Tuple[ndarray, ndarray]): Where the weights of each are now, and the weights.
        """
        used, where = np.unique(self.places(rows), return_inverse=True)
        none = int(len(used) > 0 and used[0] < 0)
        return (where.reshape(rows.shape) - none).astype(np.int32), self._mean(used[none:], clock)

    def _mean(self, places: Any, clock: int) -> NDArray[np.float32]:
        """w - u / clock, or w itself if there are no sums"""
        out = self.w[places].copy()
        if self.averaged and clock:
            u = self.u[places]
            # In slices: another matrix of 64-bit floats would be the largest thing in memory.
            for start in range(0, len(out), 65536):
                part = slice(start, start + 65536)
                out[part] -= u[part] / clock
        return out

    def add_to(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """RETURNS (ndarray): The total with the weights added, larger if there are more weights now."""
        grown = np.zeros_like(self.w, dtype=np.float64)
        grown[: len(total)] = total
        return grown + self.w

    def reset(self) -> None:
        """Set all weights to zero."""
        self.w[...] = 0
        self.u[...] = 0

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): The features, and which of them have which weights."""
        n = self.used
        weights = {**pack_sparse("w", self.w[:n]), **pack_sparse("u", self.u[:n])}
        return {**self.features.state(), "rows": self._rows(), **weights}

    @classmethod
    def from_state(
        cls, arrays: Arrays, prefix: str, columns: int, averaged: bool, min_count: int, source: str
    ) -> SparseWeights:
        out = cls(FeatureTable.from_state(arrays, prefix, min_count), columns, averaged)
        rows = arrays[f"{prefix}.rows"]
        out._follow()
        out._slots[rows] = np.arange(len(rows), dtype=np.int32)
        out.used = len(rows)
        out.w = unpack_sparse(f"{prefix}.w", arrays, columns, source)
        out.u = unpack_sparse(f"{prefix}.u", arrays, columns if averaged else 0, source)
        return out
