"""What features made from files share: reading them, and taking their contents from a model."""

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..kernels.table import KeyTable

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
BOM = "\ufeff"


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read a text file, also .gz or .xz.

    Only "\\n" and "\\r\\n" end a line: other characters that Unicode calls line ends may be text.

    path (Union[str, Path]): The file, in UTF-8.
    YIELDS (Tuple[int, str]): The number of each line, from 1, and its text.
    """
    number = 0
    with _open(Path(path)) as file:
        try:
            for number, line in enumerate(file, start=1):  # noqa: B007 (named in the message)
                text = line.decode("utf8").rstrip("\n").removesuffix("\r")
                yield number, text.removeprefix(BOM) if number == 1 else text
        except UnicodeDecodeError as error:
            raise ValueError(Errors.NL122.format(path=path, line=number, error=error)) from None
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            message = Errors.NL123.format(path=path, line=number + 1, error=error)
            raise ValueError(message) from error


def _open(path: Path) -> io.BufferedReader:
    opener = OPENERS.get(path.suffix.lower(), open)
    try:
        # Without the buffer each line of a compressed file would be a call to Python code.
        return io.BufferedReader(opener(path, "rb"))
    except OSError as error:
        # The class stays: callers may want to tell a missing file from a forbidden one.
        message = Errors.NL121.format(path=path, error=error.strerror)
        raise type(error)(message) from None


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
