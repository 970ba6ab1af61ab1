import gzip
import lzma
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import spacy

from spacy_nonlocal.features.gazetteers import Gazetteer, word_values

TEXT = "Rome\nNew York\n\n  New York Times \nSão Paulo\n"
TOKENS = ["The", "New", "York", "Times", "in", "Rome"]
TAGS = [0, 1, 2, 2, 0, 1]

DATA = os.environ.get("SPACY_NONLOCAL_DATA")
needs_data = pytest.mark.skipif(
    DATA is None, reason="SPACY_NONLOCAL_DATA does not name a directory with gazetteers"
)


def make_gazetteer(tmp_path, text=TEXT, **settings):
    path = tmp_path / "names.txt"
    path.write_text(text, encoding="utf8")
    return Gazetteer(path, **settings)


def find(gazetteer, tokens):
    values = [word_values(token, gazetteer.lower) for token in tokens]
    hashes, powers = np.array(values, dtype=np.uint64).reshape(-1, 2).T
    return gazetteer.tags(hashes, powers).tolist()


def test_entries_are_found(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    assert find(gazetteer, TOKENS) == TAGS
    assert find(gazetteer, ["São", "Paulo", "\n", "ROME"]) == [1, 2, 0, 0]
    assert find(gazetteer, []) == []


def test_case_is_ignored_if_asked(tmp_path):
    gazetteer = make_gazetteer(tmp_path, lower=True)
    gazetteer.load()
    assert find(gazetteer, ["SÃO", "paulo", "new", "Rome"]) == [1, 2, 0, 1]


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open)])
def test_compressed_files_are_read(tmp_path, suffix, opener):
    path = tmp_path / f"names.txt{suffix}"
    with opener(path, "wt", encoding="utf8") as file:
        file.write(TEXT)
    gazetteer = Gazetteer(str(path))
    gazetteer.load()
    assert find(gazetteer, TOKENS) == TAGS


def test_file_is_not_read_before_load(tmp_path):
    gazetteer = Gazetteer(tmp_path / "missing.txt")
    with pytest.raises(FileNotFoundError, match=r"\[NL121\] .*missing\.txt"):
        gazetteer.load()


def test_config_takes_a_path_that_does_not_exist():
    spacy.registry.misc.register("spacy-nonlocal-test.Gazetteer", func=Gazetteer)
    block = {"@misc": "spacy-nonlocal-test.Gazetteer", "path": "missing.txt", "lower": True}
    gazetteer = spacy.registry.resolve({"names": block})["names"]
    assert isinstance(gazetteer, Gazetteer)
    assert (gazetteer.path, gazetteer.lower) == ("missing.txt", True)


@pytest.mark.parametrize("text", ["", "\n \n\t\n"])
def test_file_without_entries_is_refused(tmp_path, text):
    with pytest.raises(ValueError, match=r"\[NL124\] .*names\.txt: the file has no entries"):
        make_gazetteer(tmp_path, text).load()


def test_line_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "names.txt"
    path.write_bytes("Rom\nZürich\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"\[NL122\] .*names\.txt:2: "):
        Gazetteer(path).load()


def test_failed_load_leaves_what_was_there(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    gazetteer.path.write_bytes(b"Paris\n\xff\n")
    with pytest.raises(ValueError, match="NL122"):
        gazetteer.load()
    assert find(gazetteer, [*TOKENS, "Paris"]) == [*TAGS, 0]


def test_use_before_load_is_refused(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    with pytest.raises(ValueError, match=r"\[NL125\] Gazetteer '.*names\.txt' is used before"):
        find(gazetteer, TOKENS)
    with pytest.raises(ValueError, match=r"\[NL125\]"):
        gazetteer.state()


def test_state_replaces_the_file(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    state = gazetteer.state()
    assert all(isinstance(array, np.ndarray) for array in state.values())
    restored = Gazetteer("missing.txt")
    restored.set_state(state)
    assert find(restored, TOKENS) == TAGS
    for name, array in restored.state().items():
        np.testing.assert_array_equal(array, state[name])


def test_state_is_a_copy(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    state = gazetteer.state()
    restored = Gazetteer("missing.txt")
    restored.set_state(state)
    state["is_entry"][:] = 0
    assert find(gazetteer, TOKENS) == find(restored, TOKENS) == TAGS


def test_pickle(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    assert find(pickle.loads(pickle.dumps(gazetteer)), TOKENS) == TAGS  # noqa: S301 (our own)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("keys", None, "there is no 'keys'"),
        ("is_entry", None, "there is no 'is_entry'"),
        ("lower", None, "there is no 'lower'"),
        ("keys", lambda keys: keys.astype(np.int64), r"'keys' is int64\[\d\], not uint64\[R\]"),
        ("keys", lambda keys: keys[:, None], r"'keys' is uint64\[\d, 1\]"),
        ("is_entry", lambda marks: marks.astype(bool), r"'is_entry' is bool"),
        ("is_entry", lambda marks: marks[:-1], r"there are 4 keys and 3 'is_entry'"),
        ("keys", lambda keys: np.full_like(keys, 7), "NL602"),
        ("keys", lambda keys: keys * np.uint64(0), "NL603"),
    ],
)
def test_state_that_does_not_fit_is_refused(tmp_path, name, change, message):
    gazetteer = make_gazetteer(tmp_path, "Rome\nNew York Times\n")
    gazetteer.load()
    state = gazetteer.state()
    array = state.pop(name)
    if change is not None:
        state[name] = change(array)
    with pytest.raises(ValueError, match=r"\[NL126\] Gazetteer '.*names\.txt': .*" + message):
        gazetteer.set_state(state)
    assert find(gazetteer, TOKENS) == TAGS


def test_state_made_with_other_case_is_refused(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    with pytest.raises(ValueError, match=r"\[NL127\] .*lower = False, but the config says True"):
        Gazetteer("missing.txt", lower=True).set_state(gazetteer.state())


def test_columns_of_a_larger_array_are_taken(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    values = np.array([word_values(token, False) for token in TOKENS], dtype=np.uint64)
    assert gazetteer.tags(values[:, 0], values[:, 1]).tolist() == TAGS


def test_arrays_of_different_lengths_are_refused(tmp_path):
    gazetteer = make_gazetteer(tmp_path)
    gazetteer.load()
    with pytest.raises(ValueError, match=r"\[NL128\]"):
        gazetteer.tags(np.zeros(2, dtype=np.uint64), np.ones(3, dtype=np.uint64))


@needs_data
@pytest.mark.parametrize(
    ("name", "entries"), [("WikiLocations", 211_000), ("people.person.lastnames", 404_000)]
)
def test_entries_of_real_lists_are_found_as_spacy_cuts_them(name, entries):
    path = Path(DATA) / "gazetteers" / f"{name}.txt.xz"
    gazetteer = Gazetteer(path)
    gazetteer.load()
    assert gazetteer.state()["is_entry"].sum() > entries
    with lzma.open(path, "rt", encoding="utf8") as file:
        lines = [line.strip() for line in file][::200]
    tokenizer = spacy.blank("en").tokenizer
    found = [find(gazetteer, [token.text for token in tokenizer(line)]) for line in lines]
    whole = sum(tags == [1] + [2] * (len(tags) - 1) for tags in found)
    # What is missing: "im" and its like, which spaCy takes for a contraction.
    assert whole > 0.998 * len(lines)
