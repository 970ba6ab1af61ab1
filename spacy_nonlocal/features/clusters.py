"""Word clusters in a binary tree: the shorter the prefix of a path, the coarser the cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.strings import hash_string  # type: ignore[attr-defined]

from ..errors import Errors
from ..kernels.table import KeyTable
from ..text_files import read_lines
from .stored import restore_table

# A path is kept as a number, with a 1 in front of it that shows where it begins ("01" is 0b101), so
# that paths and prefixes of different lengths never are the same number.
MAX_BITS = 62


class Clusters:
    """Brown clusters, or others like them.

    The file is read by `load`, not here: a saved pipeline brings the clusters with it and must work
    where the file does not exist.

    path (Union[str, Path]): A text file, also .gz or .xz, with a path (such as 0110), a tab and a
        word on each line. A third column, the count, is passed over.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self._table: KeyTable | None = None
        self._codes: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)

    def load(self) -> None:
        """Read the file."""
        codes: dict[int, int] = {}
        code_of_path: dict[str, int] = {}
        for number, line in read_lines(self.path):
            if not line.strip():
                continue
            bits, word = self._split(number, line)
            code = code_of_path.get(bits)
            if code is None:
                code = code_of_path[bits] = self._parse(number, bits)
            if codes.setdefault(hash_string(word), code) != code:
                raise ValueError(Errors.NL134.format(path=self.path, line=number, word=word))
        if not codes:
            raise ValueError(Errors.NL124.format(path=self.path, what="words"))
        self._table = KeyTable(np.fromiter(codes.keys(), dtype=np.uint64, count=len(codes)))
        self._codes = np.fromiter(codes.values(), dtype=np.uint64, count=len(codes))

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): The contents, as a model file stores them."""
        return {"keys": self._loaded().keys(), "codes": self._codes.copy()}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take the contents from a model file.

        state (Mapping[str, ndarray]): What `state` returned.
        """
        owner = f"Clusters '{self.path}'"
        table, codes = restore_table(owner, state, "codes", np.uint64)
        if not codes.all():
            raise ValueError(Errors.NL126.format(owner=owner, error="a code is 0"))
        self._table, self._codes = table, codes

    def code(self, word: str, bits: int) -> int:
        """The cluster of a word, as coarse as wanted.

        word (str): The word, as it is written in the file.
        bits (int): How much of its path to take: a shorter path is taken whole.
        RETURNS (int): A number for this prefix of the path, 0 if the word is not known.
        """
        _check_bits(bits)
        table = self._loaded()
        row = int(table.find(np.asarray([hash_string(word)], dtype=np.uint64))[0])
        if row < 0:
            return 0
        code = int(self._codes[row])
        length = code.bit_length() - 1
        return code >> max(length - bits, 0)

    def _split(self, number: int, line: str) -> tuple[str, str]:
        columns = line.split("\t")
        if len(columns) not in (2, 3) or not columns[0] or not columns[1]:
            raise ValueError(Errors.NL131.format(path=self.path, line=number, text=line))
        return columns[0], columns[1]

    def _parse(self, number: int, bits: str) -> int:
        if bits.strip("01"):
            raise ValueError(Errors.NL132.format(path=self.path, line=number, bits=bits))
        if len(bits) > MAX_BITS:
            raise ValueError(
                Errors.NL133.format(
                    path=self.path, line=number, bits=bits, length=len(bits), limit=MAX_BITS
                )
            )
        return int("1" + bits, 2)

    def _loaded(self) -> KeyTable:
        if self._table is None:
            raise ValueError(Errors.NL125.format(owner=f"Clusters '{self.path}'"))
        return self._table


def lexeme_code(cluster: int, bits: int) -> int:
    """The cluster that spaCy has for a word, as coarse as wanted.

    cluster (int): `lexeme.cluster`, a path written backwards: its low bits are the prefix. How long
        the path is it does not say: zeros are read after its end.
    bits (int): How much of the path to take.
    RETURNS (int): A number for this prefix of the path, 0 if the cluster is 0 (not known).
    """
    _check_bits(bits)
    if cluster == 0:
        return 0
    mark = 1 << min(bits, MAX_BITS)
    return mark | (cluster & (mark - 1))


def _check_bits(bits: int) -> None:
    if bits < 1:
        raise ValueError(Errors.NL135.format(bits=bits))
