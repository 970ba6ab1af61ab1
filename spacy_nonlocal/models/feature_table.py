"""Which features there are: those seen often enough, numbered in order of arrival."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.table import KeyTable
from .storage import Arrays


class FeatureTable:
    """Give a feature a row as soon as it has been seen often enough.

    min_count (int): How often is enough.
    """

    def __init__(self, min_count: int) -> None:
        self.min_count = min_count
        self.table = KeyTable()
        self._rare = KeyTable()  # seen, but not often enough; counts say how often

    def __len__(self) -> int:
        return len(self.table)

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """RETURNS (ndarray): The rows of features, -1 for those without one."""
        return self.table.find(keys)

    def add(self, keys: NDArray[np.uint64]) -> None:
        """Give features a row at once, however rare they are."""
        self.table.add(keys)

    def count(self, keys: NDArray[np.uint64]) -> None:
        """Count features that were seen, each as often as it is given."""
        if self.min_count == 1:
            self.table.add(keys)
            return
        unknown = keys[self.table.find(keys) < 0]
        counts = self._rare.counts_of(self._rare.add(unknown))
        self.table.add(unknown[counts >= self.min_count])

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): Keys in order, and the rare ones with their counts."""
        rows = np.arange(len(self._rare), dtype=np.int32)
        return {
            "keys": self.table.keys(),
            "rare": self._rare.keys(),
            "counts": self._rare.counts_of(rows),
        }

    @classmethod
    def from_state(cls, arrays: Arrays, prefix: str, min_count: int) -> FeatureTable:
        out = cls(min_count)
        out.table = KeyTable(arrays[f"{prefix}.keys"])
        out._rare = KeyTable(arrays[f"{prefix}.rare"], arrays[f"{prefix}.counts"])
        return out
