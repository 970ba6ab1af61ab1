import errno
import hashlib
import os
import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.models import storage
from spacy_nonlocal.models.storage import (
    MAGIC,
    VERSION,
    pack,
    pack_sparse,
    unpack,
    unpack_sparse,
    write_files,
)

quick = settings(deadline=None, derandomize=True)

SETTINGS = {"nodes": ["orth[0]", "_.größe[1]"], "labels": 3, "learner": {"name": "x", "seen": 7}}
ARRAYS = {"keys": np.arange(3, dtype=np.uint64), "w": np.array([[0.5, -1.5]], dtype=np.float32)}
SMALL = pack("model", SETTINGS, ARRAYS)

dtypes = st.sampled_from(
    ["u1", "i1", "<u4", ">u4", "<i8", ">i8", "<u8", "<f4", ">f4", "<f8", ">f8", "?"]
)
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)
    )
)
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


def resigned(body):
    """Bytes with a checksum that fits."""
    return body + hashlib.sha256(body).digest()


# --- pack and unpack ---------------------------------------------------------------------------


@quick
@given(
    st.text(max_size=8),
    st.dictionaries(st.text(max_size=5), json, max_size=4),
    st.dictionaries(st.text(max_size=5), arrays, max_size=4),
)
def test_round_trip(kind, settings_, arrays_):
    data = pack(kind, settings_, arrays_)
    got_settings, got_arrays = unpack(data, kind, "here")
    assert got_settings == settings_
    assert list(got_arrays) == list(arrays_)
    for name, array in arrays_.items():
        got = got_arrays[name]
        assert got.shape == array.shape
        assert got.dtype == array.dtype.newbyteorder("=")
        assert got.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
        assert got.flags.writeable
        assert got.flags.c_contiguous
    assert pack(kind, got_settings, got_arrays) == data


def test_arrays_in_any_layout():
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    for view in (array.T, array[::2], array[:, 1::2], array[::-1], np.asfortranarray(array)):
        _, got = unpack(pack("model", {}, {"a": view}), "model", "here")
        assert np.array_equal(got["a"], view)


def test_the_byte_order_of_a_file_is_one():
    little, big = np.array([1, 2], dtype="<u4"), np.array([1, 2], dtype=">u4")
    assert pack("model", {}, {"a": little}) == pack("model", {}, {"a": big})


def test_the_same_input_gives_the_same_bytes():
    other = {key: SETTINGS[key] for key in reversed(SETTINGS)}
    assert pack("model", other, {name: array.copy() for name, array in ARRAYS.items()}) == SMALL


def test_different_input_gives_different_bytes():
    assert len({SMALL, pack("other", SETTINGS, ARRAYS), pack("model", {}, ARRAYS)}) == 3
    assert pack("model", SETTINGS, {**ARRAYS, "w": -ARRAYS["w"]}) != SMALL


def test_the_layout_of_the_file():
    assert SMALL.startswith(MAGIC + VERSION.to_bytes(4, "little"))
    assert SMALL[-32:] == hashlib.sha256(SMALL[:-32]).digest()
    # The arrays, one after the other, little-endian.
    assert SMALL[:-32].endswith(
        np.arange(3, dtype="<u8").tobytes() + np.array([0.5, -1.5], dtype="<f4").tobytes()
    )


def test_given_arrays_stay_as_they_are():
    array = np.arange(4, dtype=">i4")
    pack("model", {}, {"a": array})
    assert array.dtype == ">i4"
    assert array.tolist() == [0, 1, 2, 3]


# --- Files that are not sound ------------------------------------------------------------------


def test_truncated_at_every_length():
    for length in range(len(SMALL)):
        code = "NL201" if length < 16 else "NL203"
        with pytest.raises(ValueError, match=f"{code}.*here/model"):
            unpack(SMALL[:length], "model", "here/model")


def test_every_flipped_byte_is_noticed():
    for i in range(len(SMALL)):
        for mask in (0x01, 0x80, 0xFF):
            damaged = bytearray(SMALL)
            damaged[i] ^= mask
            # The version stands in bytes 8 to 11, and is looked at before the checksum.
            code = "NL201" if i < 8 else "NL20[23]" if i < 12 else "NL203"
            with pytest.raises(ValueError, match=f"{code}.*here/model"):
                unpack(bytes(damaged), "model", "here/model")


def test_bytes_too_many():
    with pytest.raises(ValueError, match="NL203"):
        unpack(SMALL + b"\0", "model", "here")


def test_two_bytes_swapped():
    at = SMALL.index(b"orth")
    swapped = SMALL[:at] + b"roth" + SMALL[at + 4 :]
    with pytest.raises(ValueError, match="NL203"):
        unpack(swapped, "model", "here")


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"not a model", b"PK\x03\x04" + b"x" * 100, MAGIC, MAGIC[1:] * 30]
)
def test_foreign_file(data):
    with pytest.raises(ValueError, match="NL201.*here/model"):
        unpack(data, "model", "here/model")


@pytest.mark.parametrize("version", [VERSION + 1, 1000, 2**32 - 1])
def test_newer_version(version):
    body = MAGIC + version.to_bytes(4, "little") + b"whatever a later version writes" * 3
    for data in (body, resigned(body)):
        with pytest.raises(ValueError, match=f"NL202.*here.*version {version},.* up to {VERSION}"):
            unpack(data, "model", "here")


def test_other_kind():
    with pytest.raises(ValueError, match="NL204.*here.*'model'.*'training'"):
        unpack(SMALL, "training", "here")


# --- Sparse matrices ---------------------------------------------------------------------------


@quick
@given(
    st.sampled_from([np.float32, np.float64]).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=20),
            elements=st.sampled_from([0.0, 0.0, 1.0, -0.25, 1e-30]),
        )
    )
)
def test_sparse_round_trip(matrix):
    packed = pack_sparse("w", matrix)
    assert packed["w.values"].tolist() == [value for value in matrix.ravel().tolist() if value]
    got = unpack_sparse("w", packed, matrix.shape[1], "here")
    assert got.dtype == matrix.dtype
    assert np.array_equal(got, matrix)


def test_sparse_matrices_survive_a_file():
    matrix = np.array([[0, 1.5, 0, 0, 0, 0, 0, 0, -2]], dtype=np.float32)
    _, got = unpack(pack("model", {}, pack_sparse("w", matrix)), "model", "here")
    assert np.array_equal(unpack_sparse("w", got, 9, "here"), matrix)


def test_a_sparse_matrix_costs_a_bit_for_each_zero():
    packed = pack_sparse("w", np.eye(100, dtype=np.float32))
    assert sum(array.nbytes for array in packed.values()) == 100 * 13 + 100 * 4


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(value):
    matrix = np.zeros((2, 3), dtype=np.float32)
    matrix[1, 2] = value
    with pytest.raises(ValueError, match="NL205.*here"):
        unpack_sparse("w", pack_sparse("w", matrix), 3, "here")


# --- Writing -----------------------------------------------------------------------------------

OLD = {"cfg": b"old cfg", "model": b"old model", "training": b"old training"}
NEW = {"cfg": b"new cfg", "model": b"new model", "training": b"new training"}


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def fail_at(monkeypatch, owner, name, call, *, for_good=False):
    """Let the so-manieth call of a function fail, as on a full disk; if for good, all after it, too."""
    function, calls = getattr(owner, name), []

    def failing(*args, **kwargs):
        calls.append(args)
        if len(calls) == call or (for_good and len(calls) > call):
            raise OSError(errno.ENOSPC, "No space left on device")
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, failing)
    return calls


def test_files_are_written(tmp_path):
    write_files(tmp_path / "a" / "b", NEW)
    assert contents(tmp_path / "a" / "b") == NEW


def test_files_are_written_over(tmp_path):
    write_files(tmp_path, OLD)
    write_files(tmp_path, NEW)
    assert contents(tmp_path) == NEW


def test_other_files_stay(tmp_path):
    (tmp_path / "mine").write_bytes(b"mine")
    write_files(tmp_path, NEW)
    assert contents(tmp_path) == {**NEW, "mine": b"mine"}


def test_stale_files_are_removed(tmp_path):
    write_files(tmp_path, OLD)
    write_files(tmp_path, {"cfg": b"new"}, remove=("training", "never there"))
    assert contents(tmp_path) == {"cfg": b"new", "model": b"old model"}


def test_nothing_to_write(tmp_path):
    write_files(tmp_path / "new", {})
    assert contents(tmp_path / "new") == {}


# What can fail, if it is used at all.
STAGES = [(Path, "mkdir"), (Path, "open"), (Path, "unlink")]
STAGES += [(os, name) for name in ("fsync", "replace", "rename", "link")]
BEFORE = {"all": OLD, "some": {"cfg": b"old cfg", "stale": b"old"}, "none": {}}


def visible(directory):
    return {name: data for name, data in contents(directory).items() if not name.startswith(".")}


def failures(tmp_path, monkeypatch, owner, name, before, **kwargs):
    """Save with each call of a function failing in turn. YIELDS: The directory, after each failure."""
    for call in count(1):
        directory = tmp_path / str(call)
        write_files(directory, before)
        error = None
        with monkeypatch.context() as patch:
            calls = fail_at(patch, owner, name, call, **kwargs)
            try:
                write_files(directory, NEW, remove=("stale",))
            except OSError as caught:
                error = caught
        if error is None:
            # The failure did no harm, or there was none.
            assert visible(directory) == NEW
        else:
            assert re.search(f"NL206.*{directory}.*No space left", str(error))
            yield directory
        if len(calls) < call:
            return


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(("owner", "name"), STAGES)
def test_a_failure_leaves_the_old_files_and_no_others(tmp_path, monkeypatch, owner, name, before):
    for directory in failures(tmp_path, monkeypatch, owner, name, BEFORE[before]):
        assert contents(directory) == BEFORE[before]


def is_whole(files):
    """Whether there is a file of each name, old or new."""
    return set(files) == set(OLD) and all(files[name] in (OLD[name], NEW[name]) for name in OLD)


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_disk_that_fails_for_good_still_has_every_file(tmp_path, monkeypatch, name):
    for directory in failures(tmp_path, monkeypatch, os, name, OLD, for_good=True):
        assert is_whole(visible(directory))


@pytest.mark.parametrize(("owner", "name"), [(Path, "open"), (os, "fsync"), (os, "replace")])
def test_each_stage_is_gone_through(tmp_path, monkeypatch, owner, name):
    """Else the tests above would pass for want of a failure."""
    assert len(list(failures(tmp_path, monkeypatch, owner, name, OLD))) >= 3


def test_at_no_moment_is_a_file_missing(tmp_path, monkeypatch):
    """Whoever pulls the plug finds a file under each name, old or new, and whole."""
    write_files(tmp_path, OLD)
    moments, replace = [], os.replace

    def watched(*args):
        moments.append(visible(tmp_path))
        replace(*args)
        moments.append(visible(tmp_path))

    monkeypatch.setattr(os, "replace", watched)
    write_files(tmp_path, NEW)
    assert all(map(is_whole, moments))


def test_a_directory_in_the_way_leaves_the_old_files(tmp_path):
    write_files(tmp_path, {"cfg": b"old", "model": b"old"})
    (tmp_path / "training").mkdir()
    with pytest.raises(OSError, match="NL206.*What was saved there before is unchanged"):
        write_files(tmp_path, NEW)
    assert (tmp_path / "cfg").read_bytes() == (tmp_path / "model").read_bytes() == b"old"


def test_a_file_where_the_directory_should_be(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"mine")
    with pytest.raises(OSError, match="NL206.*file"):
        write_files(path, NEW)
    assert path.read_bytes() == b"mine"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_unwritable_directory(tmp_path):
    write_files(tmp_path, OLD)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OSError, match="NL206"):
            write_files(tmp_path, NEW)
        assert contents(tmp_path) == OLD
    finally:
        tmp_path.chmod(0o700)


def test_the_cause_is_kept(tmp_path, monkeypatch):
    fail_at(monkeypatch, storage.os, "replace", 1)
    with pytest.raises(OSError, match="NL206") as error:
        write_files(tmp_path, NEW)
    assert error.value.__cause__.errno == errno.ENOSPC


def test_an_interruption_leaves_no_temporary_files(tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, NEW)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("call", [1, 2, 3, 4])
@pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (os, "link"), (os, "replace")])
def test_an_interruption_leaves_the_old_files(tmp_path, monkeypatch, owner, name, call, before):
    write_files(tmp_path, BEFORE[before])
    function, calls = getattr(owner, name), []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == call:
            raise KeyboardInterrupt
        return function(*args)

    monkeypatch.setattr(owner, name, interrupted)
    try:
        write_files(tmp_path, NEW, remove=("stale",))
    except KeyboardInterrupt:
        assert contents(tmp_path) == BEFORE[before]
    else:
        assert len(calls) < call
        assert contents(tmp_path) == NEW


@pytest.mark.parametrize("before", BEFORE)
def test_a_file_system_without_links(tmp_path, monkeypatch, before):
    def no_links(*args):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    for directory in failures(tmp_path, monkeypatch, os, "replace", BEFORE[before]):
        assert contents(directory) == BEFORE[before]
    write_files(tmp_path / "whole", BEFORE[before])
    write_files(tmp_path / "whole", NEW, remove=("stale",))
    assert contents(tmp_path / "whole") == NEW


def test_old_files_that_cannot_be_put_aside(tmp_path, monkeypatch):
    def no_links(*args):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    for directory in failures(tmp_path, monkeypatch, storage.shutil, "copyfile", OLD):
        assert contents(directory) == OLD


def test_what_a_crash_left_behind_is_in_nobodys_way(tmp_path):
    write_files(tmp_path, OLD)
    for name in OLD:
        for end in ("new", "old"):
            (tmp_path / f".{name}.{os.getpid()}.{end}").write_bytes(b"left behind")
    write_files(tmp_path, NEW)
    assert contents(tmp_path) == NEW


def test_an_old_name_of_a_crash_is_not_mistaken_for_the_old_file(tmp_path, monkeypatch):
    write_files(tmp_path, OLD)
    for name in OLD:
        (tmp_path / f".{name}.{os.getpid()}.old").write_bytes(b"left behind")
    fail_at(monkeypatch, os, "replace", 3)
    with pytest.raises(OSError, match="NL206"):
        write_files(tmp_path, NEW)
    assert contents(tmp_path) == OLD


def test_a_stale_file_that_cannot_be_removed_brings_all_back(tmp_path, monkeypatch):
    before = {"cfg": b"old cfg", "model": b"old model", "training": b"old training"}
    write_files(tmp_path, before)
    unlink = Path.unlink

    def failing(path, *args, **kwargs):
        if path.name == "training":
            raise OSError(errno.EACCES, "Permission denied")
        unlink(path, *args, **kwargs)

    monkeypatch.setattr(Path, "unlink", failing)
    with pytest.raises(OSError, match="NL206"):
        write_files(tmp_path, {"cfg": b"new"}, remove=("model", "training"))
    assert contents(tmp_path) == before
