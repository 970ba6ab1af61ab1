import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from spacy.tokens import Doc, Span

from spacy_nonlocal.changes import (
    MAX_MENTIONS,
    RECORD,
    get_changes,
    labelled,
    mentions_before,
    related,
    set_changes,
    unmarked,
)
from spacy_nonlocal.codecs import BEGINS, INSIDE, OUTSIDE, Codec, SpanCodec

from .kernels.oracles import ints, quick, uints

VOCAB = spacy.blank("en").vocab
CLASSES = ["X", "Y"]
SCHEMES = ["BIO", "BILUO", "IO", None]  # None: tags


# --- Stretches ---------------------------------------------------------------------------------


def make_codec(scheme):
    return SpanCodec(CLASSES, scheme) if scheme else Codec(CLASSES)


def labels_of(codec, kinds, breaks):
    """Spans of these classes: one ends where another class comes, and before each break."""
    if not isinstance(codec, SpanCodec):
        return ints(kinds)
    before = np.append(-1, kinds)[: len(kinds)]
    iob = np.where((kinds != before) | breaks, BEGINS, INSIDE)
    return codec.encode(np.where(kinds < 0, OUTSIDE, iob), kinds)


@st.composite
def two_labellings(draw):
    codec, T = make_codec(draw(st.sampled_from(SCHEMES))), draw(st.integers(0, 10))
    least = -1 if isinstance(codec, SpanCodec) else 0
    kinds, other = (draw(hnp.arrays(np.int64, T, elements=st.integers(least, 1))) for _ in range(2))
    breaks, changed = draw(hnp.arrays(bool, (2, T))), draw(hnp.arrays(bool, T))
    before = labels_of(codec, kinds, breaks[0])
    after = labels_of(
        codec, np.where(changed, other, kinds), np.where(changed, breaks[1], breaks[0])
    )
    return codec, before, after


def tokens(spans):
    return {t for start, end, *_ in spans for t in range(start, end)}


@quick
@given(two_labellings())
def test_stretches_cover_exactly_what_differs(labellings):
    codec, before, after = labellings
    found = codec.changed(before, after)
    old, new = codec.mentions(before), codec.mentions(after)
    assert tokens(found) == tokens(set(old) ^ set(new))
    # From left to right, without a token in two of them.
    assert all(a[1] <= b[0] for a, b in zip(found, found[1:], strict=False))
    for start, end, was, is_ in found:
        for mentions, given_ in ((old, was), (new, is_)):
            inside = [list(each) for each in mentions if start <= each[0] and each[1] <= end]
            touching = [list(each) for each in mentions if start < each[1] and each[0] < end]
            assert given_ == inside == touching


@quick
@given(two_labellings())
def test_nothing_differs_from_itself(labellings):
    codec, before, _ = labellings
    assert codec.changed(before, before.copy()) == []


@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "IO"])
def test_stretches_by_hand(scheme):
    codec = make_codec(scheme)
    none = np.zeros(6, dtype=bool)
    # X X . Y Y X  becomes  . X X X Y X
    before, after = (
        labels_of(codec, np.array(kinds), none)
        for kinds in ([0, 0, -1, 1, 1, 0], [-1, 0, 0, 0, 1, 0])
    )
    assert codec.changed(before, after) == [
        (0, 5, [[0, 2, "X"], [3, 5, "Y"]], [[1, 4, "X"], [4, 5, "Y"]])
    ]


def test_stretches_next_to_each_other_stay_apart():
    codec = make_codec("BIO")
    before, after = ints([1, 3, 0]), ints([3, 0, 1])
    assert codec.changed(before, after) == [
        (0, 1, [[0, 1, "X"]], [[0, 1, "Y"]]),
        (1, 2, [[1, 2, "Y"]], []),
        (2, 3, [], [[2, 3, "X"]]),
    ]


# --- What else has to do with a change ---------------------------------------------------------


def find_related(words, mentions, stretch, changed, connectives=()):
    marks = np.isin(np.arange(len(words)), connectives)
    return related(uints(words), mentions, stretch, changed, marks)


def test_other_mentions_of_the_same_words():
    words = [1, 2, 9, 1, 2, 9, 1, 9, 2]
    mentions = [(0, 2, "X"), (3, 5, "Y"), (6, 7, "X"), (8, 9, "Y")]
    # "1 2" is another one's now.
    assert find_related(words, mentions, (3, 5), [[3, 5, "X"], [3, 5, "Y"]]) == [
        [0, 2, "X", "same"],
        [6, 7, "X", "shorter"],
        [8, 9, "Y", "shorter"],
    ]
    # "1" has changed.
    assert find_related(words, mentions, (6, 7), [[6, 7, "Y"]]) == [
        [3, 5, "Y", "longer"],
        [0, 2, "X", "longer"],
    ]


def test_words_that_are_no_mention():
    words = [1, 2, 1, 2, 1, 3, 2, 1, 2]
    # At 2, where another mention begins in the middle, it is none of both.
    found = find_related(words, [(0, 2, "X"), (3, 4, "Y")], (0, 2), [[0, 2, "X"]])
    assert found == [[3, 4, "Y", "shorter"], [7, 9, "", "same"]]


def test_places_in_the_stretch_are_not_listed():
    assert find_related([1, 1, 1], [(0, 1, "X"), (1, 2, "X")], (0, 2), [[0, 1, "X"]]) == [
        [2, 3, "", "same"]
    ]
    assert find_related([1, 1, 1], [], (0, 2), [[0, 1, "X"], [1, 2, "Y"]]) == [[2, 3, "", "same"]]


@pytest.mark.parametrize(
    ("connectives", "neighbours"),
    [([1, 3, 4], [0, 5]), ([1], [0]), ([3, 4], [5]), ([3], []), ([4], []), ([], [])],
)
def test_neighbours_in_a_list(connectives, neighbours):
    # A , B , and C: "B" has changed.
    mentions = [(0, 1, "X"), (2, 3, "Y"), (5, 6, "Z")]
    found = find_related([1, 9, 2, 9, 8, 3], mentions, (2, 3), [[2, 3, "Y"]], connectives)
    assert [start for start, *_ in found] == neighbours
    assert all(how == "list" for *_, how in found)


def test_neighbours_have_words_between_them_but_not_many():
    mentions = [(0, 1, "X"), (1, 2, "Y"), (5, 6, "Z")]
    every = range(7)
    assert find_related([1, 2, 9, 9, 9, 3, 9], mentions, (1, 2), [[1, 2, "Y"]], every) == []


def test_part_of_a_word_is_no_part_of_a_phrase():
    # As bytes, the first word is in the middle of the two others.
    inner, outer = uints([0x0102030405060708]), uints([0x0506070800000000, 0x01020304])
    assert inner.tobytes() in outer.tobytes()
    words = [*inner, 9, *outer]
    mentions = [(0, 1, "X"), (2, 4, "X")]
    assert find_related(words, mentions, (0, 1), [[0, 1, "X"]]) == []
    assert find_related(words, mentions, (2, 4), [[2, 4, "X"]]) == []


def test_nearest_come_first_and_the_others_not_at_all():
    n = 2 * MAX_MENTIONS
    mentions = [(t, t + 1, "X") for t in range(n)]
    found = find_related([1] * n, mentions, (n - 1, n), [[n - 1, n, "Y"]])
    assert [start for start, *_ in found] == [*range(n - 2, n - 2 - MAX_MENTIONS, -1)]


@quick
@given(st.data())
def test_unmarked_places_are_all_there_are(data):
    T = data.draw(st.integers(0, 10))
    words = data.draw(hnp.arrays(np.uint64, T, elements=st.integers(0, 2)))
    marked = data.draw(hnp.arrays(bool, T))
    # Some of them are longer than the text.
    wanted = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), max_size=3))
    found = unmarked(words, marked, {uints(each).tobytes() for each in wanted})
    assert len(set(found)) == len(found)
    assert set(found) == {
        (start, start + len(each))
        for each in wanted
        for start in range(T - len(each) + 1)
        if words[start : start + len(each)].tolist() == each
        and not marked[start : start + len(each)].any()
    }


# --- The record --------------------------------------------------------------------------------


def make_doc(text="Ann saw ann , and Bob"):
    return Doc(VOCAB, words=text.split())


def change(start, end, before, after):
    return {"start": start, "end": end, "before": before, "after": after, "gain": 1.0}


# "ann" was nothing.
CHANGE = change(2, 3, [], [[2, 3, "PER"]])
ENTS = [(0, 1, "PER"), (2, 3, "PER"), (5, 6, "LOC")]
RELATED = [[0, 1, "PER", "same"], [5, 6, "LOC", "list"]]


def set_spans(doc, target, spans=ENTS):
    spans = [Span(doc, start, end, label=label) for start, end, label in spans]
    if target == "ents":
        doc.ents = spans
    else:
        doc.spans[target.removeprefix("spans:")] = spans


def test_without_a_record_nothing_has_changed():
    doc = make_doc()
    assert get_changes(doc) == []
    assert mentions_before(doc, ENTS) is None


def test_record_of_no_changes():
    doc = make_doc()
    set_changes(doc, [], "ents")
    assert get_changes(doc) == []
    assert mentions_before(doc, ENTS) == ENTS


@pytest.mark.parametrize("target", ["ents", "spans:names"])
def test_mentions_are_found_when_somebody_asks(target):
    doc = make_doc()
    set_changes(doc, [CHANGE], target, [",", "and"])
    set_spans(doc, target)
    assert get_changes(doc) == [{**CHANGE, "mentions": RELATED}]
    # Of what is there then.
    set_spans(doc, target, ENTS[1:])
    assert get_changes(doc)[0]["mentions"] == [[0, 1, "", "same"], RELATED[1]]
    assert doc.user_data[RECORD]["changes"] == [CHANGE]


def test_without_connectives_there_are_no_lists():
    doc = make_doc()
    set_changes(doc, [CHANGE], "ents")
    set_spans(doc, "ents")
    assert get_changes(doc)[0]["mentions"] == RELATED[:1]


@pytest.mark.parametrize("target", ["tag", "pos"])
def test_tags_are_mentions(target):
    doc = make_doc("run to run")
    for token, tag in zip(doc, ["NOUN", "PART", "VERB"], strict=True):
        setattr(token, f"{target}_", tag)
    assert labelled(doc, target) == [(0, 1, "NOUN"), (1, 2, "PART"), (2, 3, "VERB")]
    set_changes(doc, [change(2, 3, [[2, 3, "NOUN"]], [[2, 3, "VERB"]])], target)
    assert get_changes(doc)[0]["mentions"] == [[0, 1, "NOUN", "same"]]


def test_group_of_spans_that_is_not_there_has_no_mentions():
    assert labelled(make_doc(), "spans:names") == []


def test_record_is_kept_with_the_document():
    doc = make_doc()
    set_changes(doc, [CHANGE], "ents", (",", "and"))
    set_spans(doc, "ents")
    restored = Doc(VOCAB).from_bytes(doc.to_bytes())
    assert get_changes(restored) == get_changes(doc)


def test_mentions_before_are_those_without_the_changes():
    doc = make_doc("a b c d e f")
    now = [(0, 2, "X"), (3, 4, "Y")]
    changes = [
        change(0, 3, [[0, 1, "Y"], [1, 3, "X"]], [[0, 2, "X"]]),
        change(4, 6, [[4, 6, "Z"]], []),
    ]
    set_changes(doc, changes, "ents")
    assert mentions_before(doc, now) == [(0, 1, "Y"), (1, 3, "X"), (3, 4, "Y"), (4, 6, "Z")]
