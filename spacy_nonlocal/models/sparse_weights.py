"""Weights for those features that a learner has moved."""

from __future__ import annotations

from collections import ChainMap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.slots import claim, look_up, renumber
from .feature_table import FeatureTable
from .rules import Rule
from .storage import Arrays, pack_sparse, unpack_sparse


class SparseWeights:
    """Weights, and sums for averaging, that have a place only for features that need one.

    features (FeatureTable): The features; the table may grow.
    columns (int): Weights per feature.
    rule (Rule): How they move: it says what is kept beside them.
    """

    def __init__(self, features: FeatureTable, columns: int, rule: Rule) -> None:
        self.features = features
        self.columns = columns
        self.rule = rule
        self.averaged = rule.averaged
        self.used = 0
        self.w = np.zeros((0, columns), dtype=np.float32)
        self.u = np.zeros((0, columns if self.averaged else 0), dtype=np.float64)
        self.beside = {
            name: np.zeros((0, width), dtype=np.float32)
            for name, (width, _) in rule.beside(columns).items()
        }
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
            for name, (width, value) in self.rule.beside(self.columns).items():
                array = self.beside[name]
                before = len(array)
                array.resize((room, width), refcheck=False)
                array[before:] = value

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

    def mean(self, clock: int, penalty: float) -> NDArray[np.float32]:
        """RETURNS (ndarray): The mean of the weights over all examples, or the weights if they are not averaged."""
        return self._mean(slice(0, self.used), clock, penalty)

    def mean_of(
        self, rows: NDArray[np.int32], clock: int, penalty: float
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The same for a few features only, where the mean of all would take longer.

        rows (ndarray): int32[T, K], -1 for none.
        RETURNS (Tuple[ndarray, ndarray]): Where the weights of each are now, and the weights.
        """
        used, where = np.unique(self.places(rows), return_inverse=True)
        none = int(len(used) > 0 and used[0] < 0)
        return (where.reshape(rows.shape) - none).astype(np.int32), self._mean(
            used[none:], clock, penalty
        )

    def _mean(self, places: Any, clock: int, penalty: float) -> NDArray[np.float32]:
        """w - u / clock, or w itself if there are no sums"""
        out = self.w[places].copy()
        if self.averaged and clock:
            u = self.u[places]
            # In slices: another matrix of 64-bit floats would be the largest thing in memory.
            for start in range(0, len(out), 65536):
                part = slice(start, start + 65536)
                out[part] -= u[part] / clock
        return self.rule.settled(self, places, out, penalty)

    def add_to(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """RETURNS (ndarray): The total with the weights added, larger if there are more weights now."""
        grown = np.zeros_like(self.w, dtype=np.float64)
        grown[: len(total)] = total
        return grown + self.w

    def reset(self) -> None:
        """Set all weights to zero."""
        self.w[...] = 0
        self.u[...] = 0
        self.rule.reset(self)

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): The features, and which of them have which weights."""
        n = self.used
        weights: dict[str, NDArray[Any]] = {"w": self.w, "u": self.u, **self.beside}
        packed = [pack_sparse(name, array[:n]) for name, array in weights.items()]
        return {**self.features.state(), "rows": self._rows(), **dict(ChainMap(*packed))}

    @classmethod
    def from_state(
        cls, arrays: Arrays, prefix: str, columns: int, rule: Rule, min_count: int, source: str
    ) -> SparseWeights:
        out = cls(FeatureTable.from_state(arrays, prefix, min_count), columns, rule)
        rows = arrays[f"{prefix}.rows"]
        out._follow()
        out._slots[rows] = np.arange(len(rows), dtype=np.int32)
        out.used = len(rows)
        out.w = unpack_sparse(f"{prefix}.w", arrays, columns, source)
        out.u = unpack_sparse(f"{prefix}.u", arrays, columns if rule.averaged else 0, source)
        for name, (width, _) in rule.beside(columns).items():
            out.beside[name] = unpack_sparse(f"{prefix}.{name}", arrays, width, source)
        return out
