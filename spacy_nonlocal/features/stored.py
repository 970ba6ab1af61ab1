"""What features made from files share: taking their contents from a model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..kernels.table import KeyTable


def restore_table(
    owner: str, state: Mapping[str, NDArray[Any]], values: str, dtype: type[np.generic]
) -> tuple[KeyTable, NDArray[Any]]:
    """Rebuild a table, and the value of each of its rows, from the arrays of a model file.

    owner (str): Whose table it is, for messages.
    state (Mapping[str, ndarray]): Has uint64[R] "keys", and the values.
    values (str): The name of the values, an array of one number per key.
    dtype (type): Of the values.
    RETURNS (Tuple[KeyTable, ndarray]): The table and a copy of the values.
    """
    keys = restore_array(owner, state, "keys", np.uint64)
    array = restore_array(owner, state, values, dtype)
    if len(keys) != len(array):
        error = f"there are {len(keys)} keys and {len(array)} '{values}'"
        raise ValueError(Errors.NL126.format(owner=owner, error=error))
    try:
        return KeyTable(keys), array
    except ValueError as error:
        raise ValueError(Errors.NL126.format(owner=owner, error=error)) from None


def restore_array(
    owner: str, state: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic]
) -> NDArray[Any]:
    """Take an array of one dimension from a model file.

    owner (str): Whose array it is, for messages.
    state (Mapping[str, ndarray]): Arrays by name.
    name (str): Which of them.
    dtype (type): The type it must have.
    RETURNS (ndarray): A copy of the array.
    """
    if name not in state:
        raise ValueError(Errors.NL126.format(owner=owner, error=f"there is no '{name}'"))
    array = np.asarray(state[name])
    if array.dtype != dtype or array.ndim != 1:
        error = f"'{name}' is {array.dtype}{list(array.shape)}, not {np.dtype(dtype)}[R]"
        raise ValueError(Errors.NL126.format(owner=owner, error=error))
    return array.copy()
