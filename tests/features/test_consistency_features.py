import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.strings import get_string_id
from spacy.tokens import Doc

from spacy_nonlocal.candidates import Candidates
from spacy_nonlocal.codecs import Codec, SpanCodec
from spacy_nonlocal.features.consistency import ConsistencyFeatures

VOCAB = spacy.blank("en").vocab  # an empty Vocab has no lower forms
CODEC = SpanCodec(["LOC", "PER"])
B_LOC, I_LOC, B_PER, I_PER = 1, 2, 3, 4

# Each word of a mention stands in more than one place, and each family has something to say.
WORDS = ["Ann", "Lee", ",", "Ann", "and", "Ann", "Lee", "saw", "Ann"]
LABELS = [B_PER, I_PER, 0, B_LOC, 0, B_PER, I_PER, 0, 0]
FEATURES = {
    "phrase(PER, PER)": 1,
    "phrase(LOC, none)": 1,
    "subphrase(PER, LOC)": 1,
    "majority(PER, PER)": 2,
    "majority(LOC, LOC)": 1,
    "token_majority(PER, PER)": 4,
    "token_majority(LOC, PER)": 1,
    "super_majority(LOC, PER)": 1,
    "first_mention(PER, PER)": 1,
    "first_mention(none, LOC)": 1,
    "conjunction[,](PER, LOC)": 1,
    "conjunction[and](LOC, PER)": 1,
}
SWITCHES = {
    "phrase": ["phrase"],
    "subphrase": ["subphrase"],
    "majority": ["majority", "super_majority"],
    "token_majority": ["token_majority"],
    "first_mention": ["first_mention"],
    "conjunction": ["conjunction"],
}
PRINT_KEYS = f"""
from tests.features.test_consistency_features import ConsistencyFeatures, compare
differences = compare(ConsistencyFeatures(), {WORDS}, {LABELS})
print(*sorted(differences.keys.tolist()))
"""


def make_doc(words):
    return Doc(VOCAB, words=words)


def labels_of(labels):
    return np.array(labels, dtype=np.int32)


def compare(block, words, labels, *, reference=None, codec=CODEC):
    """The features of one labelling; a reference without mentions has none."""
    doc = words if isinstance(words, Doc) else make_doc(words)
    before = labels_of(reference or [0] * len(doc))
    nothing = labels_of([])
    candidates = Candidates(before, np.zeros(1, dtype=np.int64), nothing, nothing, np.zeros(0))
    return block.compare(doc, candidates.add(labels_of(labels), 0.0), codec)


def features(words, labels, *, reference=None, codec=CODEC, **settings):
    # Off by default, but all families are tried here.
    block = ConsistencyFeatures(**{"token_majority": True, **settings})
    differences = compare(block, words, labels, reference=reference, codec=codec)
    names = block.names(differences.keys)
    assert len(set(names)) == len(names)
    return dict(zip(names, differences.values.tolist(), strict=True))


def family(name):
    return name.partition("(")[0].partition("[")[0]


def test_features_have_names():
    assert features(WORDS, LABELS) == FEATURES


def test_pairs_are_counted_if_asked():
    # "Ann" is a part of "Ann Lee" twice.
    assert features(WORDS, LABELS, count="pairs") == FEATURES | {"subphrase(PER, LOC)": 2}


def test_two_classes_that_are_equally_frequent_are_a_tie():
    found = features(["Ann", "Ann"], [B_PER, B_LOC])
    assert found == {
        "phrase(LOC, PER)": 1,
        "majority(LOC, tie)": 1,
        "majority(PER, tie)": 1,
        "token_majority(LOC, tie)": 1,
        "token_majority(PER, tie)": 1,
        "first_mention(PER, LOC)": 1,
    }


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_lengths_of_phrases_are_told_apart_if_asked(n_words):
    words, labels = WORDS[:n_words] * 2, [B_PER, *[I_PER] * (n_words - 1)] * 2
    found = features(words, labels, by_length=True, majority=False, token_majority=False)
    length = {1: "1", 2: "2", 3: "3+", 4: "3+"}[n_words]
    assert found == {f"phrase[{length}](PER, PER)": 1, f"first_mention[{length}](PER, PER)": 1}


def test_words_have_no_length():
    found = features(WORDS, LABELS, by_length=True)
    assert "majority[2](PER, PER)" in found
    assert found["token_majority(PER, PER)"] == 4


@pytest.mark.parametrize("switch", SWITCHES)
def test_switch_turns_off_its_features_only(switch):
    assert features(WORDS, LABELS, **{switch: False}) == {
        name: value for name, value in FEATURES.items() if family(name) not in SWITCHES[switch]
    }


@pytest.mark.parametrize("switch", SWITCHES)
def test_features_of_one_switch(switch):
    others = {name: name == switch for name in SWITCHES}
    assert features(WORDS, LABELS, **others) == {
        name: value for name, value in FEATURES.items() if family(name) in SWITCHES[switch]
    }


def test_without_any_switch_there_is_nothing():
    assert features(WORDS, LABELS, **dict.fromkeys(SWITCHES, False)) == {}


# --- Words and connectives ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "same"),
    [("exact", {"Ann"}), ("lower", {"Ann", "ANN"}), ("norm", {"Ann", "Anne"})],
)
def test_which_words_are_the_same(match, same):
    for other in ("Ann", "ANN", "Anne"):
        doc = make_doc(["Ann", "and", other])
        # Norms that are nothing but norms: not the lower form, which is spaCy's default.
        for token, norm in zip(doc, ["ann", "and", {"ANN": "A."}.get(other, "ann")], strict=True):
            token.norm_ = norm
        found = features(doc, [B_PER, 0, B_PER], match=match)
        assert ("phrase(PER, PER)" in found) == (other in same)


def conjunctions(words, labels, **settings):
    found = features(words, labels, **settings)
    return {name: value for name, value in found.items() if family(name) == "conjunction"}


def test_connectives_are_found_whatever_their_case():
    words, labels = ["Ann", "AND", "Lee"], [B_PER, 0, B_LOC]
    for match in ("exact", "lower", "norm"):
        assert conjunctions(words, labels, match=match) == {"conjunction[and](PER, LOC)": 1}


def test_two_connectives_in_a_row_are_the_last():
    words, labels = ["Ann", ",", "and", "Lee"], [B_PER, 0, 0, B_LOC]
    assert conjunctions(words, labels) == {"conjunction[and](PER, LOC)": 1}


def test_own_connectives():
    connectives = ["und", "sowie", "c", "d", "e", "f", "oder"]  # as many as there can be
    for word in connectives:
        words, labels = ["Ann", word, "Lee", "and", "Lee"], [B_PER, 0, B_LOC, 0, B_LOC]
        found = conjunctions(words, labels, connectives=connectives)
        assert found == {f"conjunction[{word}](PER, LOC)": 1}


def test_no_connectives():
    found = features(WORDS, LABELS, connectives=[])
    assert found == {name: FEATURES[name] for name in FEATURES if family(name) != "conjunction"}


# --- Targets, keys, settings -------------------------------------------------------------------


def test_tags_are_compared_token_by_token():
    codec = Codec(["NN", "VB"])
    found = features(["run", "and", "run"], [1, 0, 0], reference=[0, 0, 0], codec=codec)
    assert found == {
        "phrase(NN, NN)": -1,
        "phrase(NN, VB)": 1,
        "majority(NN, NN)": -2,
        "majority(NN, tie)": 1,
        "majority(VB, tie)": 1,
        "token_majority(NN, NN)": -2,
        "token_majority(NN, tie)": 1,
        "token_majority(VB, tie)": 1,
        "first_mention(NN, NN)": -1,
        "first_mention(VB, NN)": 1,
    }


@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "IO"])
def test_schemes_agree(scheme):
    codec = SpanCodec(["LOC", "PER"], scheme)
    iob, kind = CODEC.decode(labels_of(LABELS))
    assert features(WORDS, codec.encode(iob, kind).tolist(), codec=codec) == FEATURES


def test_empty_document():
    for codec in (CODEC, Codec(["NN"])):
        assert features([], [], codec=codec) == {}


def test_document_is_not_changed():
    doc = make_doc(WORDS)
    before = doc.to_bytes()
    features(doc, LABELS)
    assert doc.to_bytes() == before


def test_keys_are_hashes_of_names():
    block = ConsistencyFeatures()
    differences = compare(block, WORDS, LABELS)
    assert differences.keys.dtype == np.uint64
    assert differences.keys.tolist() == [get_string_id(n) for n in block.names(differences.keys)]


def test_keys_do_not_depend_on_what_came_before():
    fresh, used = ConsistencyFeatures(), ConsistencyFeatures()
    compare(used, ["Ann", "Ann"], [B_PER, B_LOC])
    compare(used, ["run", "run"], [1, 1], codec=Codec(["NN", "VB"]))
    first, second = (compare(block, WORDS, LABELS) for block in (fresh, used))
    assert first.keys.tolist() == second.keys.tolist()
    assert fresh.names(first.keys) == used.names(first.keys)


def test_keys_are_the_same_in_another_process():
    command, root = [sys.executable, "-c", PRINT_KEYS], Path(__file__).parents[2]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    keys = compare(ConsistencyFeatures(), WORDS, LABELS).keys.tolist()
    assert [int(key) for key in run.stdout.split()] == sorted(keys)


def test_unknown_keys_have_no_name():
    block = ConsistencyFeatures()
    assert block.names(np.array([1, get_string_id("phrase(PER, PER)")], np.uint64)) == [None, None]
    compare(block, WORDS, LABELS)
    known = np.array([1, get_string_id("phrase(PER, PER)")], np.uint64)
    assert block.names(known) == [None, "phrase(PER, PER)"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"match": "lemma"}, r"NL141.*`match` is 'lemma'.*'exact', 'lower', 'norm'"),
        ({"match": ""}, "NL141.*`match` is ''"),
        ({"count": "all"}, r"NL141.*`count` is 'all'.*'mentions', 'pairs'"),
        ({"connectives": list("abcdefgh")}, "NL142.* 8 connectives.* At most 7"),
    ],
)
def test_settings_that_are_unknown(settings, message):
    with pytest.raises(ValueError, match=message):
        ConsistencyFeatures(**settings)
