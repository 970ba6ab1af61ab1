import gzip
import pickle

import numpy as np
import pytest
import spacy

from spacy_nonlocal.features.clusters import MAX_BITS, Clusters, lexeme_code

TEXT = "0\tthe\t100\n010\tRome\t3\n0111\tParis\n1\tfoo bar\n\n00\tNOUN\n"


def make_clusters(tmp_path, text=TEXT):
    path = tmp_path / "paths.txt"
    path.write_text(text, encoding="utf8")
    return Clusters(path)


def load_clusters(tmp_path, text=TEXT):
    clusters = make_clusters(tmp_path, text)
    clusters.load()
    return clusters


def test_prefixes_of_paths(tmp_path):
    clusters = load_clusters(tmp_path)
    assert [clusters.code("Paris", bits) for bits in (1, 2, 3, 4)] == [0b10, 0b101, 0b1011, 0b10111]
    assert clusters.code("Rome", 2) == clusters.code("Paris", 2)
    assert clusters.code("Rome", 3) != clusters.code("Paris", 3)


def test_short_path_is_taken_whole(tmp_path):
    clusters = load_clusters(tmp_path)
    assert clusters.code("Rome", 4) == clusters.code("Rome", 100) == 0b1010
    assert clusters.code("the", 20) == 0b10


def test_unknown_word_has_code_zero(tmp_path):
    clusters = load_clusters(tmp_path)
    assert clusters.code("rome", 4) == clusters.code("", 4) == clusters.code("bar", 4) == 0


def test_words_are_taken_as_they_are_written(tmp_path):
    clusters = load_clusters(tmp_path)
    assert clusters.code("foo bar", 4) == 0b11
    # spaCy numbers this string by a list of its own, which may change.
    assert clusters.code("NOUN", 4) == 0b100


def test_different_prefixes_have_different_codes(tmp_path):
    paths = [f"{i:0{n}b}" for n in range(1, 9) for i in range(2**n)]
    clusters = load_clusters(tmp_path, "".join(f"{path}\tw{path}\n" for path in paths))
    codes = {clusters.code(f"w{path}", 8) for path in paths}
    assert len(codes) == len(paths)
    assert 0 not in codes


def test_longest_path(tmp_path):
    path = "10" * (MAX_BITS // 2)
    clusters = load_clusters(tmp_path, f"{path}\tRome\n")
    assert clusters.code("Rome", MAX_BITS) == int("1" + path, 2)
    with pytest.raises(ValueError, match=r"\[NL133\] .*paths\.txt:1: .* 63 bits"):
        load_clusters(tmp_path, f"{path}1\tRome\n")


def test_compressed_file_is_read(tmp_path):
    path = tmp_path / "paths.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    clusters = Clusters(str(path))
    clusters.load()
    assert clusters.code("Rome", 3) == 0b1010


@pytest.mark.parametrize("line", ["0101 Rome", "0101", "0101\t", "\tRome", "0\tRome\t3\tx"])
def test_bad_line_is_named(tmp_path, line):
    with pytest.raises(ValueError, match=r"\[NL131\] .*paths\.txt:2: "):
        load_clusters(tmp_path, f"0\tthe\n{line}\n")


@pytest.mark.parametrize("bits", ["Rome", "012", " 01", "0_1", "٠١", "-1"])
def test_path_of_other_characters_is_named(tmp_path, bits):
    with pytest.raises(ValueError, match=r"\[NL132\] .*paths\.txt:3: "):
        load_clusters(tmp_path, f"0\tthe\n\n{bits}\tRome\n")


def test_word_in_two_clusters_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"\[NL134\] .*paths\.txt:3: the word 'Rome'"):
        load_clusters(tmp_path, "01\tRome\n1\tthe\n00\tRome\n")


def test_same_line_twice_is_harmless(tmp_path):
    assert load_clusters(tmp_path, "01\tRome\n01\tRome\n").code("Rome", 2) == 0b101


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_file_without_words_is_refused(tmp_path, text):
    with pytest.raises(ValueError, match=r"\[NL124\] .*paths\.txt: the file has no words"):
        load_clusters(tmp_path, text)


def test_line_that_is_not_utf8_is_named(tmp_path):
    clusters = make_clusters(tmp_path)
    clusters.path.write_bytes(b"01\tRome\n01\tZ\xfcrich\n")
    with pytest.raises(ValueError, match=r"\[NL122\] .*paths\.txt:2: "):
        clusters.load()


def test_file_is_not_read_before_load(tmp_path):
    clusters = Clusters(tmp_path / "missing.txt")
    with pytest.raises(FileNotFoundError, match=r"\[NL121\] .*missing\.txt"):
        clusters.load()


def test_config_takes_a_path_that_does_not_exist():
    spacy.registry.misc.register("spacy-nonlocal-test.Clusters", func=Clusters)
    block = {"@misc": "spacy-nonlocal-test.Clusters", "path": "missing.txt"}
    assert spacy.registry.resolve({"paths": block})["paths"].path == "missing.txt"


def test_use_before_load_is_refused(tmp_path):
    clusters = make_clusters(tmp_path)
    with pytest.raises(ValueError, match=r"\[NL125\] Clusters '.*paths\.txt' is used before"):
        clusters.code("Rome", 4)
    with pytest.raises(ValueError, match=r"\[NL125\]"):
        clusters.state()


def test_state_replaces_the_file(tmp_path):
    clusters = load_clusters(tmp_path)
    restored = Clusters("missing.txt")
    restored.set_state(clusters.state())
    for word in ("the", "Rome", "Paris", "foo bar", "unknown"):
        assert restored.code(word, 3) == clusters.code(word, 3)


def test_pickle(tmp_path):
    clusters = load_clusters(tmp_path)
    assert pickle.loads(pickle.dumps(clusters)).code("Rome", 3) == 0b1010  # noqa: S301 (our own)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("keys", None, "there is no 'keys'"),
        ("codes", None, "there is no 'codes'"),
        ("codes", lambda codes: codes.astype(np.int64), r"'codes' is int64\[5\], not uint64\[R\]"),
        ("codes", lambda codes: codes[1:], r"there are 5 keys and 4 'codes'"),
        ("codes", lambda codes: codes * np.uint64(0), "a code is 0"),
        ("keys", lambda keys: keys.reshape(1, -1), r"'keys' is uint64\[1, 5\]"),
        ("keys", lambda keys: np.full_like(keys, 7), "NL602"),
    ],
)
def test_state_that_does_not_fit_is_refused(tmp_path, name, change, message):
    clusters = load_clusters(tmp_path)
    state = clusters.state()
    array = state.pop(name)
    if change is not None:
        state[name] = change(array)
    with pytest.raises(ValueError, match=r"\[NL126\] Clusters '.*paths\.txt': .*" + message):
        clusters.set_state(state)
    assert clusters.code("Rome", 3) == 0b1010


@pytest.mark.parametrize("bits", [0, -1])
def test_number_of_bits_is_positive(tmp_path, bits):
    clusters = load_clusters(tmp_path)
    with pytest.raises(ValueError, match=rf"\[NL135\] .* {bits} bits"):
        clusters.code("Rome", bits)
    with pytest.raises(ValueError, match=rf"\[NL135\] .* {bits} bits"):
        lexeme_code(3, bits)


def test_low_bits_of_a_lexeme_cluster_are_the_prefix():
    assert lexeme_code(0b0110, 2) == 0b110
    assert lexeme_code(0b1110, 2) == lexeme_code(0b0110, 2)
    assert lexeme_code(0b1110, 4) == 0b11110
    assert lexeme_code(0b1000, 3) == 0b1000


def test_lexeme_without_cluster_has_code_zero():
    assert lexeme_code(0, 4) == 0


def test_lexeme_codes_fit_into_64_bits():
    assert lexeme_code(2**64 - 1, 100) == 2 ** (MAX_BITS + 1) - 1
    assert lexeme_code(5, 100) == 2**MAX_BITS + 5


def test_lexeme_codes_of_different_lengths_differ():
    codes = {(bits, lexeme_code(cluster, bits)) for cluster in range(1, 64) for bits in (2, 4, 6)}
    assert len({code for _, code in codes}) == len(codes)
