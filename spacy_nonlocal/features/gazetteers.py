"""Gazetteers: lists of names that a text is searched for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..kernels.gazetteer import build_table, longest_matches, word_values
from ..kernels.table import KeyTable
from ..text_files import read_lines
from .stored import restore_array, restore_table

__all__ = ["Gazetteer", "word_values"]


class Gazetteer:
    """A list of names, found in a text from left to right, the longest first.

    A name matches a run of tokens whose texts, written without whitespace, are the same: "U.S." is
    found as one token, as two and as four. kernels/gazetteer.pyx says where tokens may be cut.

    The file is read by `load`, not here: a saved pipeline brings the list with it and must work
    where the file does not exist.

    path (Union[str, Path]): A text file, also .gz or .xz, with one name per line.
    lower (bool): Whether to ignore case.
    """

    def __init__(self, path: str | Path, *, lower: bool = False) -> None:
        self.path = path
        self.lower = lower
        self._table: KeyTable | None = None
        self._is_entry: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)

    def load(self) -> None:
        """Read the file."""
        table, is_entry = build_table((line for _, line in read_lines(self.path)), self.lower)
        if len(table) == 0:
            raise ValueError(Errors.NL124.format(path=self.path, what="entries"))
        self._table, self._is_entry = table, is_entry

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): The contents, as a model file stores them."""
        return {
            "keys": self._loaded().keys(),
            "is_entry": self._is_entry.copy(),
            "lower": np.asarray([self.lower], dtype=np.uint8),
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take the contents from a model file.

        state (Mapping[str, ndarray]): What `state` returned.
        """
        owner = f"Gazetteer '{self.path}'"
        table, is_entry = restore_table(owner, state, "is_entry", np.uint8)
        lower = bool(restore_array(owner, state, "lower", np.uint8).any())
        if lower != self.lower:
            raise ValueError(Errors.NL127.format(owner=owner, given=lower, expected=self.lower))
        self._table, self._is_entry = table, is_entry

    def tags(self, hashes: NDArray[np.uint64], powers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Mark the names in a text.

        hashes (ndarray): uint64[T], for each token the first of its `word_values`.
        powers (ndarray): uint64[T], the second.
        RETURNS (ndarray): uint64[T]: 0 outside, 1 where a name begins, 2 where it goes on.
        """
        table = self._loaded()
        return longest_matches(
            np.ascontiguousarray(hashes), np.ascontiguousarray(powers), table, self._is_entry
        )

    def _loaded(self) -> KeyTable:
        if self._table is None:
            raise ValueError(Errors.NL125.format(owner=f"Gazetteer '{self.path}'"))
        return self._table
