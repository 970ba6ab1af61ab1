from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nonlocal.features.words import affix, short_shape, word_form

quick = settings(deadline=None, derandomize=True)

# Kazama & Torisawa (2007), table 1
FORMS = {
    "two-digits": ["97", "00", "٣٤"],
    "four-digits": ["1997", "0000"],
    "digits-letters": ["B2B", "2nd", "A4", "747s", "mp3", "3é"],
    "digits-hyphen": ["1990-91", "F-16", "-5", "5-", "1-2-3", "mid-1990s"],
    "digits-slash": ["1/2", "24/7", "9/11", "/5", "km/2"],
    "digits-comma": ["1,000", "1,000.50", "23,", ",5"],
    "digits-period": ["3.14", "1.2.3", ".5", "5."],
    "number": ["1", "123", "12345", "$5", "5%", "10:30", "1-2/3", "+1", "²", "5\n", "a 1", "_1"],
    "capital-period": ["M.", "É."],
    "all-capitals": ["UN", "U.S.", "AT&T", "ÖVP", "A-B"],
    "one-capital": ["I", "A", "É"],
    "initial-capital": ["Rome", "McDonald", "Mr.", "Al-Qaeda", "Ünal", "I'm"],
    "lower": ["rome", "e.g.", "a", "é", "ice-cream"],
    "other": ["", ".", "--", "iPhone", "\n", " ", "'s Air", "東京", "&"],
}

SHAPES = {
    "G.M.": "A.A.",
    "Animal": "Aa",
    "": "",
    "a": "a",
    "IBM": "A",
    "McDonald": "AaAa",
    "iPhone": "aAa",
    "F-16": "A-0",
    "1,000.50": "0,0.0",
    "AT&T": "A&A",
    "...": ".",
    "?!?": "?!?",
    "Élan": "Aa",
    "東京都": "a",
    "x²": "a0",
    "A a": "A a",
}


@pytest.mark.parametrize("form", FORMS)
def test_word_forms(form):
    assert {word: word_form(word) for word in FORMS[form]} == dict.fromkeys(FORMS[form], form)


@quick
@given(st.text())
def test_every_text_has_a_form(text):
    assert word_form(text) in FORMS


@quick
@given(st.text(alphabet="aZ19-/,._ $\n²", max_size=8))
def test_forms_of_digits_are_for_words_with_digits(text):
    digits = {form for form in FORMS if "digit" in form} | {"number"}
    assert (word_form(text) in digits) == any(char.isdigit() for char in text)


@pytest.mark.parametrize("word", SHAPES)
def test_short_shapes(word):
    assert short_shape(word) == SHAPES[word]


def kind(char):
    if char.isdigit():
        return "0"
    return ("A" if char.isupper() else "a") if char.isalpha() else char


@quick
@given(st.text(alphabet=st.sampled_from("aéZÉ19²-.,' 東ß\n")))
def test_short_shapes_second_implementation(text):
    assert short_shape(text) == "".join(letter for letter, _ in groupby(text, kind))


@quick
@given(st.text())
def test_no_two_neighbours_of_a_short_shape_are_the_same(text):
    shape = short_shape(text)
    assert all(a != b for a, b in zip(shape, shape[1:], strict=False))
    assert len(shape) <= len(text)


def test_affixes():
    assert [affix("Rome", "prefix", n) for n in (1, 2, 3, 4)] == ["R", "Ro", "Rom", "Rome"]
    assert [affix("Rome", "suffix", n) for n in (1, 2, 3, 4)] == ["e", "me", "ome", "Rome"]


def test_a_word_that_is_too_short_has_no_affix():
    assert affix("Rome", "prefix", 5) == affix("Rome", "suffix", 5) == affix("", "prefix", 1) == ""


@quick
@given(st.text(max_size=8), st.integers(1, 10))
def test_affixes_of_any_text(text, length):
    prefix, suffix = affix(text, "prefix", length), affix(text, "suffix", length)
    if length > len(text):
        assert prefix == suffix == ""
    else:
        assert text.startswith(prefix)
        assert text.endswith(suffix)
        assert len(prefix) == len(suffix) == length
