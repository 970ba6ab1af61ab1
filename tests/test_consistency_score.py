"""Whether the share of consistent names is counted right, by hand and against a plain-Python count."""

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nonlocal.changes import set_changes
from spacy_nonlocal.consistency_score import count_consistent
from spacy_nonlocal.pipeline.scoring import labeller_score

VOCAB = spacy.blank("en").vocab


def count(text, mentions):
    numbers = {word: i for i, word in enumerate(sorted(set(text.split())))}
    words = np.array([numbers[word] for word in text.split()], dtype=np.uint64)
    return count_consistent(words, mentions)


@pytest.mark.parametrize(
    ("text", "mentions", "expected"),
    [
        ("Kent met Kent", [(0, 1, "PER"), (2, 3, "PER")], (1, 1)),
        ("Kent met Kent", [(0, 1, "PER"), (2, 3, "LOC")], (0, 1)),
        # To be no mention is a label, too.
        ("Kent met Kent", [(0, 1, "PER")], (0, 1)),
        # Once is not repeated.
        ("Kent met Anna", [(0, 1, "PER"), (2, 3, "PER")], (0, 0)),
        # Within a longer name, a word is no name of its own.
        ("Kent met Clare Kent", [(0, 1, "PER"), (2, 4, "PER")], (0, 0)),
        ("Kent met Clare Kent", [(0, 1, "LOC"), (2, 4, "PER")], (0, 0)),
        ("a b a b a", [(0, 2, "X"), (2, 4, "X")], (1, 1)),
        ("a b a b a", [(1, 3, "X")], (0, 1)),
        ("a b", [], (0, 0)),
        ("", [], (0, 0)),
    ],
)
def test_by_hand(text, mentions, expected):
    assert count(text, mentions) == expected


def plain_count(words, mentions):
    inside = {t for start, end, _ in mentions for t in range(start, end)}
    labels = {(start, end): label for start, end, label in mentions}
    same = repeated = 0
    for phrase in {tuple(words[start:end]) for start, end, _ in mentions}:
        n = len(phrase)
        found = [
            labels.get((t, t + n), "")
            for t in range(len(words) - n + 1)
            if tuple(words[t : t + n]) == phrase
            and ((t, t + n) in labels or not inside & set(range(t, t + n)))
        ]
        repeated += len(found) > 1
        same += len(found) > 1 and len(set(found)) == 1
    return same, repeated


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.sampled_from("abc"), max_size=12), st.data())
def test_against_a_plain_count(words, data):
    mentions, start = [], 0
    while start < len(words):
        end = data.draw(st.integers(start, min(start + 2, len(words))))
        if end > start:
            mentions.append((start, end, data.draw(st.sampled_from(["X", "Y"]))))
        start = max(end, start + 1)
    numbers = np.array([ord(word) for word in words], dtype=np.uint64)
    assert count_consistent(numbers, mentions) == plain_count(words, mentions)


def make_example(before, after):
    words = ["Kent", "met", "Kent", "."]
    doc = Doc(VOCAB, words=words)
    doc.ents = [Span(doc, start, end, label) for start, end, label in after]
    gold = Doc(VOCAB, words=words, ents=["B-PER", "O", "B-PER", "O"])
    if before is not None:
        change = {"start": 0, "end": 1, "before": before, "after": [[0, 1, "PER"]], "features": []}
        set_changes(doc, [change], "ents")
    return Example(doc, gold)


def test_scores_with_and_without_nonlocal_features():
    after = [(0, 1, "PER"), (2, 3, "PER")]
    eg = make_example([[0, 1, "LOC"]], after)
    scores = labeller_score([eg], target="ents")
    assert (scores["ents_f"], scores["ents_consistency"]) == (1.0, 1.0)
    assert (scores["ents_f_local"], scores["ents_consistency_local"]) == (0.5, 0.0)
    assert (scores["ents_p_local"], scores["ents_r_local"]) == (0.5, 0.5)
    # What is scored is not changed.
    assert [(ent.start, ent.end, ent.label_) for ent in eg.predicted.ents] == after


def test_no_local_scores_without_a_record():
    scores = labeller_score([make_example(None, [(0, 1, "PER")])], target="ents")
    assert scores["ents_consistency"] == 0.0
    assert not any(name.endswith("_local") for name in scores)


def test_nothing_is_repeated():
    scores = labeller_score([make_example(None, [])], target="ents")
    assert scores["ents_consistency"] is None


def test_span_groups():
    words = ["Kent", "met", "Kent", "."]
    predicted, gold = Doc(VOCAB, words=words), Doc(VOCAB, words=words)
    for doc in (predicted, gold):
        doc.spans["names"] = [Span(doc, 0, 1, "PER"), Span(doc, 2, 3, "PER")]
    change = {"start": 0, "end": 1, "before": [], "after": [[0, 1, "PER"]], "features": []}
    set_changes(predicted, [change], "spans:names")
    scores = labeller_score([Example(predicted, gold)], target="spans:names")
    assert (scores["spans_names_consistency"], scores["spans_names_consistency_local"]) == (1, 0)
    assert scores["spans_names_f_local"] == pytest.approx(2 / 3)
