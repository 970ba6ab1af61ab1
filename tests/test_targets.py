"""What is right, what is set already, and what is written, against spaCy's own reading of an Example."""

import warnings

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nonlocal.targets import describe, make_target

VOCAB = spacy.blank("xx").vocab
NAME = "tagger"
CLASSES = ("LOC", "PER")
TAGS = ("DT", "NN", "VB")


def doc_of(words, ents=None, spaces=None, **kwargs):
    return Doc(VOCAB, words=words, spaces=spaces, ents=ents, **kwargs)


def example(words, ents, predicted=None):
    return Example(doc_of(predicted or words), doc_of(words, ents))


def labels_of(target, eg, classes=CLASSES):
    """Gold labels as strings; None where nothing is known."""
    codec = target.codec(classes)
    gold = target.gold(eg, codec)
    assert gold.dtype == np.int32
    return [None if label < 0 else codec.labels[label] for label in gold]


def annotation_of(doc):
    return [(token.ent_iob_, token.ent_type_) for token in doc]


@st.composite
def retokenized(draw):
    """One text cut into tokens in two ways, with an annotation of the second: entities, outside, unknown."""
    text = draw(st.text("abc", min_size=1, max_size=10))

    def cut():
        ends = draw(st.sets(st.integers(1, len(text) - 1))) if len(text) > 1 else set()
        edges = [0, *sorted(ends), len(text)]
        return [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]

    predicted, reference = cut(), cut()
    ents = []
    while len(ents) < len(reference):
        room = len(reference) - len(ents)
        kind = draw(st.sampled_from(["O", "", *CLASSES]))
        if kind in CLASSES:
            length = draw(st.integers(1, min(3, room)))
            ents += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
        else:
            ents.append(kind)
    return predicted, reference, ents


@settings(derandomize=True, deadline=None, max_examples=300)
@given(data=retokenized())
def test_entities_are_read_as_spacy_aligns_them(data):
    predicted, reference, ents = data
    eg = Example(
        doc_of(predicted, spaces=[False] * len(predicted)),
        doc_of(reference, ents, spaces=[False] * len(reference)),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = labels_of(make_target("ents", "BILUO", NAME), eg)
    expected = eg.get_aligned_ner()
    assert found == expected
    lost = len(eg.reference.ents) - sum(1 for tag in expected if tag and tag[0] in "BU")
    assert [str(each.message)[:7] for each in caught] == ["[NL452]"] * lost


@settings(derandomize=True, deadline=None, max_examples=200)
@given(data=retokenized(), tags=st.lists(st.sampled_from(["", *TAGS]), min_size=10, max_size=10))
def test_tags_are_read_as_spacy_aligns_them(data, tags):
    predicted, reference, _ = data
    tags = tags[: len(reference)]
    eg = Example(
        doc_of(predicted, spaces=[False] * len(predicted)),
        doc_of(reference, spaces=[False] * len(reference), tags=tags),
    )
    found = labels_of(make_target("tag", "BIO", NAME), eg, TAGS)
    assert found == [tag or None for tag in eg.get_aligned("TAG", as_string=True)]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("BIO", ["B-PER", "I-PER", "I-PER", "B-PER", None, "O", "B-LOC"]),
        ("BILUO", ["B-PER", "I-PER", "L-PER", "U-PER", None, "O", "U-LOC"]),
        ("IO", ["I-PER", "I-PER", "I-PER", "I-PER", None, "O", "I-LOC"]),
    ],
)
def test_entities_of_the_same_tokens(scheme, expected):
    ents = ["B-PER", "I-PER", "I-PER", "B-PER", "", "O", "B-LOC"]
    eg = example(["a", "b", "c", "d", "e", "f", "g"], ents)
    assert labels_of(make_target("ents", scheme, NAME), eg) == expected


def test_documents_without_annotation_teach_nothing():
    words = ["a", "b"]
    eg = Example(doc_of(words), doc_of(words))
    for target, classes in (
        ("ents", CLASSES),
        ("tag", TAGS),
        ("pos", ("NOUN",)),
        ("spans:x", CLASSES),
    ):
        assert labels_of(make_target(target, "BIO", NAME), eg, classes) == [None, None]


def test_blocked_tokens_are_certainly_outside():
    eg = Example(doc_of(["a", "b", "c"]), doc_of(["a", "b", "c"]))
    eg.reference.set_ents([], blocked=[eg.reference[0:2]], default="missing")
    assert labels_of(make_target("ents", "BIO", NAME), eg) == ["O", "O", None]


def test_parts_of_speech():
    words = ["dogs", "bark", "x"]
    eg = Example(doc_of(words), doc_of(words, pos=["NOUN", "VERB", ""]))
    assert make_target("pos", "BIO", NAME).classes(eg.reference) == {"NOUN", "VERB"}
    assert labels_of(make_target("pos", "BIO", NAME), eg, ("NOUN", "VERB")) == [
        "NOUN",
        "VERB",
        None,
    ]


def test_part_of_speech_that_is_not_universal():
    with pytest.raises(ValueError, match=r"\[NL404\].*'tagger'.*'NNP'"):
        make_target("pos", "BIO", NAME).codec(("NNP",))


def test_span_groups_are_read_and_written():
    words = ["a", "b", "c", "d"]
    target = make_target("spans:chunks", "BIO", NAME)
    eg = Example(doc_of(words), doc_of(words))
    eg.reference.spans["chunks"] = [
        Span(eg.reference, 2, 4, label="PER"),
        Span(eg.reference, 0, 1, label="LOC"),
    ]
    assert target.classes(eg.reference) == {"LOC", "PER"}
    assert labels_of(target, eg) == ["B-LOC", "O", "B-PER", "I-PER"]
    codec = target.codec(CLASSES)
    eg.predicted.spans["chunks"] = [eg.predicted[0:4]]  # written anew each time
    target.write(eg.predicted, target.gold(eg, codec), codec)
    written = [(span.start, span.end, span.label_) for span in eg.predicted.spans["chunks"]]
    assert written == [(0, 1, "LOC"), (2, 4, "PER")]


def test_empty_span_group_means_all_outside():
    eg = Example(doc_of(["a", "b"]), doc_of(["a", "b"]))
    eg.reference.spans["x"] = []
    assert labels_of(make_target("spans:x", "BIO", NAME), eg) == ["O", "O"]


def test_overlapping_spans_leave_the_longest():
    words = ["a", "b", "c", "d", "e"]
    eg = Example(doc_of(words), doc_of(words))
    eg.reference.spans["x"] = [
        Span(eg.reference, 0, 3, label="PER"),
        Span(eg.reference, 2, 4, label="LOC"),
    ]
    target = make_target("spans:x", "BIO", NAME)
    with pytest.warns(
        UserWarning,
        match=r"\[NL453\].*'tagger'.*'c d' \(tokens 2 to 4\) in the document 'a b c d e'",
    ):
        labels = labels_of(target, eg)
    assert labels == ["B-PER", "I-PER", "I-PER", None, "O"]


def test_the_same_span_twice_is_one_span():
    eg = Example(doc_of(["a", "b"]), doc_of(["a", "b"]))
    eg.reference.spans["x"] = [Span(eg.reference, 0, 1, label="PER")] * 2
    assert labels_of(make_target("spans:x", "BIO", NAME), eg) == ["B-PER", "O"]


@pytest.mark.parametrize("length", [1, 2])
def test_spans_without_a_label_are_left_out(length):
    eg = Example(doc_of(["a", "b", "c"]), doc_of(["a", "b", "c"]))
    eg.reference.spans["x"] = [Span(eg.reference, 0, length)]
    with pytest.warns(UserWarning, match=rf"NL456.*'tagger'.*tokens 0 to {length}.*no label"):
        labels = labels_of(make_target("spans:x", "BIO", NAME), eg)
    assert labels == [None] * length + ["O"] * (3 - length)


def test_whitespace_only_spans_are_left_out():
    words = ["Anna", "\n", " ", "Rome"]
    eg = Example(doc_of(words), doc_of(words, ["B-PER", "B-PER", "I-PER", "B-LOC"]))
    target = make_target("ents", "BIO", NAME)
    with pytest.warns(
        UserWarning, match=r"(?s)\[NL451\].*'tagger'.*\(tokens 1 to 3\) in the document"
    ):
        assert labels_of(target, eg) == ["B-PER", None, None, "B-LOC"]


def test_whitespace_within_a_span_stays():
    words = ["New", "\n", "York"]
    eg = Example(doc_of(words), doc_of(words, ["B-LOC", "I-LOC", "I-LOC"]))
    assert labels_of(make_target("ents", "BIO", NAME), eg) == ["B-LOC", "I-LOC", "I-LOC"]


def test_extra_whitespace_tokens_of_the_prediction_do_not_cut_a_span():
    eg = Example(
        doc_of(["New", " ", "York", "rocks"], spaces=[True, False, True, False]),
        doc_of(["New", "York", "rocks"], ["B-LOC", "I-LOC", "O"]),
    )
    assert labels_of(make_target("ents", "BIO", NAME), eg) == ["B-LOC", "I-LOC", "I-LOC", "O"]


def test_misaligned_spans_are_reported_by_document_and_span():
    eg = Example(
        doc_of(["Anna", "went", "toParis", "."], spaces=[True, True, False, False]),
        doc_of(
            ["Anna", "went", "to", "Paris", "."],
            ["B-PER", "O", "O", "B-LOC", "O"],
            spaces=[True, True, False, False, False],
        ),
    )
    eg.reference.user_data["spacy_nonlocal.source"] = "train.txt:7"
    target = make_target("ents", "BIO", NAME)
    with pytest.warns(
        UserWarning, match=r"\[NL452\].*'tagger'.*'Paris' \(tokens 3 to 4.*train\.txt:7"
    ):
        assert labels_of(target, eg) == ["B-PER", "O", None, "O"]


def test_unknown_class():
    eg = example(["Anna", "Smith", "works"], ["B-PER", "I-PER", "O"])
    with pytest.raises(ValueError, match=r"\[NL403\].*'tagger'.*'PER' of 'Anna Smith'.*LOC"):
        labels_of(make_target("ents", "BIO", NAME), eg, ("LOC",))


def test_unknown_tag():
    eg = Example(doc_of(["a", "dog"]), doc_of(["a", "dog"], tags=["DT", "NN"]))
    with pytest.raises(ValueError, match=r"\[NL403\].*'tagger'.*'NN' of 'dog'.*DT"):
        labels_of(make_target("tag", "BIO", NAME), eg, ("DT",))


def test_unknown_tag_of_other_tokens_names_the_right_word():
    eg = Example(
        doc_of(["a", "-", "dog", "x"], spaces=[False] * 4),
        doc_of(["a-", "dog", "x"], spaces=[False] * 3, tags=["DT", "NN", "DT"]),
    )
    with pytest.raises(ValueError, match=r"\[NL403\].*'NN' of 'dog'"):
        labels_of(make_target("tag", "BIO", NAME), eg, ("DT",))


@pytest.mark.parametrize("target", ["", "entities", "spans", "spans:", "ents:x", "tag:x"])
def test_unknown_target(target):
    with pytest.raises(ValueError, match=r"\[NL402\].*'tagger'"):
        make_target(target, "BIO", NAME)


def test_what_is_not_set_is_no_preset():
    doc = doc_of(["a", "b"])
    for target, classes in (("ents", CLASSES), ("tag", TAGS), ("spans:x", CLASSES)):
        target = make_target(target, "BIO", NAME)
        assert target.preset(doc, target.codec(classes)) is None


def test_entities_set_before_are_presets():
    target = make_target("ents", "BIO", NAME)
    codec = target.codec(CLASSES)
    doc = doc_of(["a", "b", "c", "d", "e"])
    doc.set_ents(
        [Span(doc, 0, 2, label="PER"), Span(doc, 2, 3, label="DATE")],
        blocked=[doc[3:4]],
        default="missing",
    )
    preset = target.preset(doc, codec)
    # A class that is not ours and a blocked token are outside; the last token is open.
    names = [None if label < 0 else codec.labels[label] for label in preset]
    assert names == ["B-PER", "I-PER", "O", "O", None]


def test_writing_keeps_entities_and_their_ids():
    target = make_target("ents", "BIO", NAME)
    codec = target.codec(CLASSES)
    doc = doc_of(["a", "b", "c", "d", "e"])
    doc.set_ents(
        [Span(doc, 0, 2, label="DATE", kb_id="Q1", span_id="id1")],
        blocked=[doc[2:3]],
        default="missing",
    )
    labels = np.array([codec.labels.index(x) for x in ("O", "O", "O", "B-PER", "I-PER")], np.int32)
    target.write(doc, labels, codec)
    assert annotation_of(doc) == [
        ("B", "DATE"),
        ("I", "DATE"),
        ("B", ""),
        ("B", "PER"),
        ("I", "PER"),
    ]
    first, second = doc.ents
    assert (first.kb_id_, first.ent_id_, second.kb_id_, second.ent_id_) == ("Q1", "id1", "", "")


def test_writing_marks_everything_else_as_outside():
    target = make_target("ents", "BIO", NAME)
    doc = doc_of(["a", "b"])
    target.write(doc, np.zeros(2, dtype=np.int32), target.codec(CLASSES))
    assert doc.has_annotation("ENT_IOB", require_complete=True)
    assert annotation_of(doc) == [("O", ""), ("O", "")]


@pytest.mark.parametrize("target", ["tag", "pos"])
def test_writing_keeps_tags_that_are_there(target):
    classes = {"tag": TAGS, "pos": ("DET", "NOUN", "VERB")}[target]
    doc = doc_of(["a", "b"], **{"tags" if target == "tag" else target: [classes[2], ""]})
    target_ = make_target(target, "BIO", NAME)
    target_.write(doc, np.array([0, 1], dtype=np.int32), target_.codec(classes))
    assert [getattr(token, f"{target}_") for token in doc] == [classes[2], classes[1]]


@pytest.mark.parametrize("target", ["ents", "tag", "pos", "spans:x"])
def test_empty_documents(target):
    target = make_target(target, "BIO", NAME)
    codec = target.codec(("NOUN",))
    eg = Example(doc_of([]), doc_of([]))
    gold = target.gold(eg, codec)
    assert len(gold) == 0
    assert target.preset(eg.predicted, codec) is None
    target.write(eg.predicted, gold, codec)


def test_documents_are_described_by_their_source_and_first_words():
    doc = doc_of(["one", "two", "three", "four", "five", "six", "seven"])
    assert describe(doc) == "the document 'one two three four five six' …"
    doc.user_data["spacy_nonlocal.source"] = "dev.txt:12"
    assert describe(doc) == "document dev.txt:12 ('one two three four five six' …)"
