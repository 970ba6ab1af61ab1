"""Annotations as arrays: the only door through which we read a Doc's tokens and write to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

_Column = NDArray[np.uint64]


def read_column(doc: Doc, attr: int) -> NDArray[np.uint64]:
    """RETURNS (ndarray): uint64[T], one attribute of every token."""
    return cast(_Column, doc.to_array(attr))


def read_columns(doc: Doc, attrs: Sequence[int]) -> NDArray[np.uint64]:
    """RETURNS (ndarray): uint64[T, attributes]; a single attribute is a column, too."""
    return cast(_Column, doc.to_array(list(attrs))).reshape(len(doc), len(attrs))


def write_columns(doc: Doc, attrs: Sequence[int], array: NDArray[np.uint64]) -> None:
    """Set attributes of every token from an array, uint64[T, attributes]."""
    doc.from_array(list(attrs), cast(Any, array))
