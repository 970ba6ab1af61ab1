"""The file format: a header, arrays, a checksum.

    8 bytes   magic
    uint32    format version
    uint32    length of the header
    header    JSON: what kind of file, its settings, and name, type and shape of each array
    arrays    one after the other, little-endian, in the header's order
    32 bytes  SHA-256 of everything before

Weights are stored sparsely: a bit mask of the non-zero ones, row by row, and their values.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors

MAGIC = b"\x93spnl\r\n\x1a"
VERSION = 1
_FIXED = struct.Struct("<8sII")
_DIGEST = hashlib.sha256().digest_size

Arrays = Mapping[str, NDArray[Any]]


def pack(kind: str, settings: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Write settings and arrays into bytes; the same input gives the same bytes.

    kind (str): What the file is: "model" or "training".
    settings (Mapping[str, Any]): Anything JSON can hold.
    arrays (Mapping[str, ndarray]): Arrays by name.
    RETURNS (bytes): The file.
    """
    little = {
        name: np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")) for name, a in arrays.items()
    }
    header = {
        "kind": kind,
        "settings": settings,
        "arrays": [[name, a.dtype.str, list(a.shape)] for name, a in little.items()],
    }
    text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(
        "utf8"
    )
    # Views of the arrays, which may be large: the only copy is the one that is returned.
    parts: list[bytes | memoryview] = [_FIXED.pack(MAGIC, VERSION, len(text)), text]
    parts += [memoryview(cast(Any, a)).cast("B") for a in little.values() if a.size]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, digest.digest()])


def unpack(data: bytes, kind: str, source: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `pack` has written, after checking all of it.

    data (bytes): The file.
    kind (str): What it has to be.
    source (str): Where it comes from, for messages.
    RETURNS (Tuple[Dict[str, Any], Dict[str, ndarray]]): Settings and arrays.
    """
    if len(data) < _FIXED.size or data[: len(MAGIC)] != MAGIC:
        raise ValueError(Errors.NL201.format(source=source))
    _, version, length = _FIXED.unpack_from(data)
    if version > VERSION:
        raise ValueError(Errors.NL202.format(source=source, version=version, known=VERSION))
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ValueError(Errors.NL203.format(source=source))
    header = json.loads(data[_FIXED.size : _FIXED.size + length].decode("utf8"))
    if header["kind"] != kind:
        raise ValueError(Errors.NL204.format(source=source, kind=header["kind"], expected=kind))
    arrays = {}
    start = _FIXED.size + length
    for name, dtype, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype=dtype, count=count, offset=start)
        start += array.nbytes
        # In the machine's own byte order, and writable: kernels take no other.
        arrays[name] = array.reshape(shape).astype(np.dtype(dtype).newbyteorder("="))
    return header["settings"], arrays


def pack_sparse(name: str, matrix: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Keep the non-zero values of a matrix.

    name (str): The name of the matrix.
    matrix (ndarray): [R, columns].
    RETURNS (Dict[str, ndarray]): A bit mask and the values.
    """
    present = matrix != 0
    return {f"{name}.mask": np.packbits(present, axis=1), f"{name}.values": matrix[present]}


def unpack_sparse(name: str, arrays: Arrays, columns: int, source: str) -> NDArray[Any]:
    """RETURNS (ndarray): The matrix, [R, columns]; raises if a value is not finite."""
    mask, values = arrays[f"{name}.mask"], arrays[f"{name}.values"]
    if not np.isfinite(values).all():
        raise ValueError(Errors.NL205.format(source=source))
    matrix = np.zeros((len(mask), columns), dtype=values.dtype)
    matrix[np.unpackbits(mask, axis=1, count=columns).astype(bool)] = values
    return matrix


def write_files(directory: Path, files: Mapping[str, bytes], remove: tuple[str, ...] = ()) -> None:
    """Write files so that a failure leaves those that were there before.

    All are written under temporary names first; only when all are complete are they moved into place.

    directory (Path): Where to; it is made if need be.
    files (Mapping[str, bytes]): Contents by file name.
    remove (Tuple[str, ...]): Files of an earlier save that the new one does not have.
    """
    new = {name: directory / f".{name}.{os.getpid()}.new" for name in files}
    old = {name: directory / f".{name}.{os.getpid()}.old" for name in (*files, *remove)}
    moved: list[str] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            with new[name].open("wb") as file_:
                file_.write(data)
                file_.flush()
                os.fsync(file_.fileno())
        # A second name for what was there before, so that it can come back if a move fails half-way.
        for name, aside in old.items():
            if (directory / name).is_file():
                _link(directory / name, aside)
        for name, path in new.items():
            os.replace(path, directory / name)
            moved.append(name)
        for name in remove:
            (directory / name).unlink(missing_ok=True)
            moved.append(name)
    except BaseException as error:
        for name in moved:
            with suppress(OSError):
                if old[name].is_file():
                    os.replace(old[name], directory / name)
                else:
                    (directory / name).unlink()
        if isinstance(error, OSError):
            raise OSError(Errors.NL206.format(directory=directory, error=error)) from error
        raise
    finally:
        _remove((*new.values(), *old.values()))


def _link(path: Path, name: Path) -> None:
    try:
        os.link(path, name)
    except OSError:  # not every file system has links
        shutil.copyfile(path, name)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        # A temporary file that stays behind does no harm.
        with suppress(OSError):
            path.unlink(missing_ok=True)
