"""Text files of any kind, line by line, with errors that name the file and the line."""

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .errors import Errors

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
BOM = b"\xef\xbb\xbf"


def read_lines(path: str | Path, encoding: str = "utf8") -> Iterator[tuple[int, str]]:
    """Read a text file, also .gz or .xz.

    Only "\\n" and "\\r\\n" end a line: other characters that Unicode calls line ends may be text.

    path (Union[str, Path]): The file.
    encoding (str): Any in which ASCII stays as it is.
    YIELDS (Tuple[int, str]): The number of each line, from 1, and its text.
    """
    number = 0
    with _open(Path(path)) as file:
        try:
            for number, line in enumerate(file, start=1):  # noqa: B007 (named in the message)
                if number == 1:
                    line = line.removeprefix(BOM)
                yield number, line.decode(encoding).rstrip("\r\n")
        except UnicodeDecodeError as error:
            message = Errors.NL122.format(
                path=path, line=number, encoding=encoding, error=error.reason
            )
            raise ValueError(message) from None
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
