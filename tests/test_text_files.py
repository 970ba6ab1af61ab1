import gzip
import lzma

import pytest

from spacy_nonlocal.text_files import read_lines

COMPRESSORS = {".gz": gzip.compress, ".xz": lzma.compress}


def write(path, data):
    path.write_bytes(data)
    return path


def test_lines_are_numbered_from_one(tmp_path):
    path = write(tmp_path / "list.txt", b"a\n\nb\n")
    assert list(read_lines(path)) == [(1, "a"), (2, ""), (3, "b")]
    assert list(read_lines(str(path))) == [(1, "a"), (2, ""), (3, "b")]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".XZ"])
def test_compressed_files_are_read(tmp_path, suffix):
    data = COMPRESSORS[suffix.lower()]("Zürich\nРим\n".encode())
    path = write(tmp_path / f"list.txt{suffix}", data)
    assert list(read_lines(path)) == [(1, "Zürich"), (2, "Рим")]


def test_empty_file_has_no_lines(tmp_path):
    assert list(read_lines(write(tmp_path / "list.txt", b""))) == []
    assert list(read_lines(write(tmp_path / "list.gz", gzip.compress(b"")))) == []


def test_last_line_needs_no_end(tmp_path):
    assert list(read_lines(write(tmp_path / "list.txt", b"a\nb"))) == [(1, "a"), (2, "b")]


def test_bom_and_carriage_returns_are_removed(tmp_path):
    path = write(tmp_path / "list.txt", b"\xef\xbb\xbfa\r\nb \r\n\xef\xbb\xbfc\r")
    assert list(read_lines(path)) == [(1, "a"), (2, "b "), (3, "\ufeffc")]


def test_only_newlines_end_lines(tmp_path):
    path = write(tmp_path / "list.txt", "a\u2028b\x0cc\x85d\re\n".encode())
    assert list(read_lines(path)) == [(1, "a\u2028b\x0cc\x85d\re")]


@pytest.mark.parametrize("name", ["list.txt", "list.txt.gz", "list.txt.xz"])
def test_missing_file_is_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=rf"^\[NL121\] .*{name}: .*No such file"):
        list(read_lines(tmp_path / name))


def test_directory_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"\[NL121\]"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_line_that_is_not_utf8_is_named(tmp_path, suffix):
    data = COMPRESSORS.get(suffix, bytes)("Genf\nZürich\n".encode("latin-1"))
    path = write(tmp_path / f"list.txt{suffix}", data)
    with pytest.raises(ValueError, match=rf"\[NL122\] .*list\.txt{suffix}:2: "):
        list(read_lines(path))


def test_utf16_is_not_utf8(tmp_path):
    path = write(tmp_path / "list.txt", "Rome\n".encode("utf-16"))
    with pytest.raises(ValueError, match=r"\[NL122\] .*list\.txt:1: "):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_file_cut_off_is_refused_where_it_ends(tmp_path, suffix):
    # Long enough for whole lines to come out of what is left.
    text = "".join(f"entry {i * 7919 % 10007}\n" for i in range(20_000)).encode()
    path = write(tmp_path / f"list.txt{suffix}", COMPRESSORS[suffix](text)[:-2000])
    lines = []
    with pytest.raises(ValueError, match=rf"\[NL123\] .*list\.txt{suffix}:\d+: ") as raised:
        lines.extend(number for number, _ in read_lines(path))
    assert f":{len(lines) + 1}: " in str(raised.value)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_damaged_file_is_refused(tmp_path, suffix):
    data = bytearray(COMPRESSORS[suffix](bytes(range(32, 127)) * 50))
    data[len(data) // 2] ^= 0xFF
    path = write(tmp_path / f"list.txt{suffix}", bytes(data))
    with pytest.raises(ValueError, match=rf"\[NL123\] .*list\.txt{suffix}:1: "):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_text_with_the_name_of_a_compressed_file_is_refused(tmp_path, suffix):
    path = write(tmp_path / f"list{suffix}", b"Rome\nParis\n")
    with pytest.raises(ValueError, match=rf"\[NL123\] .*list{suffix}:1: "):
        list(read_lines(path))
