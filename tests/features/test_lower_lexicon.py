import numpy as np
import pytest
import spacy
from spacy.strings import get_string_id

from spacy_nonlocal.features.lower_lexicon import LowerLexicon

nlp = spacy.blank("en")

# The : twice lower; Rome : never; May : once each; Apple : once of three.
TEXTS = ["The apple may hit the Apple store", "May the Apple store open in Rome"]


def learned(texts):
    lexicon = LowerLexicon()
    lexicon.learn(nlp.make_doc(text) for text in texts)
    return lexicon


@pytest.mark.parametrize(
    ("word", "lower"),
    [("the", True), ("store", True), ("hit", True), ("rome", False), ("apple", False)],
)
def test_more_often_lower_than_not(word, lower):
    assert (get_string_id(word) in learned(TEXTS)) is lower


def test_as_often_is_not_more_often():
    assert get_string_id("may") not in learned(TEXTS)


def test_words_are_known_in_lower_case():
    lexicon = learned(["the the The"])
    assert get_string_id("the") in lexicon
    assert get_string_id("The") not in lexicon


def test_capitals_within_a_word_count_as_capitals():
    assert get_string_id("nasa") not in learned(["NASA nasa NASA"])


def test_a_new_lexicon_is_empty():
    assert LowerLexicon().words == set()


def test_empty_documents():
    assert learned([]).words == learned(["", ""]).words == set()


def test_learning_again_forgets():
    lexicon = learned(["the"])
    lexicon.learn([nlp.make_doc("store")])
    assert lexicon.words == {get_string_id("store")}


@pytest.mark.parametrize("texts", [[], TEXTS])
def test_state_round_trip(texts):
    lexicon, other = learned(texts), learned(["else"])
    state = lexicon.state()
    assert state["words"].dtype == np.uint64
    other.set_state(state)
    assert other.words == lexicon.words
    assert get_string_id("the") in other or not texts


def test_the_state_does_not_depend_on_the_order_of_documents():
    a, b = learned(TEXTS).state(), learned(TEXTS[::-1]).state()
    assert np.array_equal(a["words"], b["words"])
