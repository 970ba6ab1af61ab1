"""Confidence against trying everything: every labelling of a short document, with its probability."""

import pickle
from functools import cache, partial

import numpy as np
import pytest
import spacy
from spacy.lang.en import English
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from .util import (
    ENTS,
    LEARNERS,
    NAME,
    TAGS,
    features,
    iob,
    label,
    learner,
    make_doc,
    make_examples,
    make_nlp,
    tags,
    trained,
    update,
)

CRF = {"MADF": {"rate": 0.5}, "SGD": {"rate": 0.1}, "DCA": {"C": 0.5}}
SCHEMES = ("BIO", "BILUO", "IO")
# Short, and not sure: words that the training data have in other places.
TEXTS = (
    "Anna Paris York New .",
    "Bob Smith in Rome and",
    "York met Anna Smith .",
    "New York Anna",
    "Rome",
)
POS = (("the dog sees a cat", "DET NOUN VERB DET NOUN"), ("small dogs run", "ADJ NOUN VERB"))
# Edge weights that depend on the text.
EDGES = features("orth[-1..1]", "shape[0]", "suffix2[0]", edges=["bias", "lower[0]"])


@pytest.fixture(autouse=True, scope="module")
def _plain_tokenizer():
    """Documents here come in words: hundreds of pipelines need not learn the exceptions of English each."""
    with pytest.MonkeyPatch.context() as patch:
        make = partial(English, create_tokenizer=lambda nlp: Tokenizer(nlp.vocab))
        patch.setattr(spacy, "blank", lambda lang: make())
        yield


def crf(name="MADF", **settings):
    return learner(name, **(settings or CRF[name]))


def tagger_of(nlp):
    return nlp.get_pipe(NAME)


@cache
def unsure(scheme="BIO", name="MADF", edges=False, unit="doc", target="ents"):
    """A pipeline that has not learned enough to be certain. Shared: tests must not change it."""
    config = {"scheme": scheme, "unit": unit, **crf(name), **(EDGES if edges else {})}
    if target == "ents":
        nlp = make_nlp(**config)
        examples = make_examples(nlp)
        for eg in examples:
            for token in eg.predicted:
                token.is_sent_start = token.i == 0
        nlp.initialize(lambda: examples)
        update(nlp, examples, passes=4)
        return nlp
    nlp = make_nlp(**config, target=target)
    examples = span_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples, passes=4)
    return nlp


def span_examples(nlp, key="x"):
    """The entities, as a span group."""
    examples = make_examples(nlp)
    for eg in examples:
        eg.reference.spans[key] = list(eg.reference.ents)
        eg.reference.ents = []
    return examples


@cache
def tagging(attr="tag", name="MADF"):
    data, column = (TAGS, "tags") if attr == "tag" else (POS, "pos")
    return trained(data, column, passes=4, target=attr, **crf(name))


def in_sentences(nlp, *texts):
    """A document of these sentences."""
    starts = [t == 0 for text in texts for t in range(len(text.split()))]
    return Doc(nlp.vocab, words=" ".join(texts).split(), sent_starts=starts)


# --- the oracle ----------------------------------------------------------------------------------


def spans_of(names):
    """(start, end, class) of each span, read from the names of a legal labelling."""
    out = []
    for t, name in enumerate(names):
        part, _, kind = name.partition("-")
        if part in "IL" and out and out[-1][1:] == (t, kind):
            out[-1] = (out[-1][0], t + 1, kind)
        elif part != "O":
            out.append((t, t + 1, kind))
    return out


def legal_paths(codec, length):
    if not length:
        return
    paths = [(y,) for y in np.flatnonzero(codec.start).tolist()]
    for _ in range(length - 1):
        follows = [np.flatnonzero(row).tolist() for row in codec.transitions]
        paths = [(*path, y) for path in paths for y in follows[path[-1]]]
    yield from (path for path in paths if codec.end[path[-1]])


def labellings(nlp, text):
    """Every legal labelling of a sequence: names, and exp(score)."""
    tagger = tagger_of(nlp)
    codec = tagger._codec
    (lattice,) = tagger.model.predict([make_doc(nlp, text)])
    node, edge = lattice.node.astype(np.float64), lattice.edge.astype(np.float64)
    out = []
    for path in legal_paths(codec, len(node)):
        score = node[0, path[0]]
        for t in range(1, len(path)):
            score += node[t, path[t]] + edge[t if len(edge) > 1 else 0, path[t - 1], path[t]]
        out.append((tuple(codec.labels[y] for y in path), np.exp(score)))
    return out


def probability(possible, holds):
    """The share of those labellings of which something holds."""
    return sum(p for names, p in possible if holds(names)) / sum(p for _, p in possible)


def span_probability(possible, span):
    return probability(possible, lambda names: span in spans_of(names))


def close(value):
    return pytest.approx(value, rel=2e-4, abs=1e-6)


def found(doc):
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


def confidences(doc):
    return [ent._.confidence for ent in doc.ents]


# --- entities ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", CRF)
@pytest.mark.parametrize("edges", [False, True])
def test_confidence_of_entities(scheme, name, edges):
    nlp = unsure(scheme, name, edges)
    (lattice,) = tagger_of(nlp).model.predict([make_doc(nlp, TEXTS[0])])
    assert len(lattice.edge) == (5 if edges else 1)
    seen = []
    for text in TEXTS:
        doc, possible = label(nlp, text), labellings(nlp, text)
        for span, value in zip(found(doc), confidences(doc), strict=True):
            assert value == close(span_probability(possible, span))
            seen.append(value)
    assert len(seen) >= 5
    assert any(0.05 < value < 0.95 for value in seen)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_are_the_best_labelling(scheme):
    nlp = unsure(scheme)
    for text in TEXTS:
        best, _ = max(labellings(nlp, text), key=lambda each: each[1])
        assert found(label(nlp, text)) == spans_of(best)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", CRF)
@pytest.mark.parametrize("edges", [False, True])
def test_confidence_within_sentences(scheme, name, edges):
    nlp = unsure(scheme, name, edges, unit="sent")
    expected, shift = [], 0
    for text in TEXTS:
        possible = labellings(nlp, text)
        for start, end, kind in found(nlp(in_sentences(nlp, text))):
            value = close(span_probability(possible, (start, end, kind)))
            expected.append((start + shift, end + shift, kind, value))
        shift += len(text.split())
    doc = nlp(in_sentences(nlp, *TEXTS))
    given = [(*span, p) for span, p in zip(found(doc), confidences(doc), strict=True)]
    assert given == expected
    assert len(expected) >= 5


# Text, entities that are set already (start, end, class), blocked tokens.
PRESET = (
    ("Anna Paris York New .", [(1, 2, "LOC")], []),
    ("Anna Paris York New .", [(0, 1, "LOC")], []),
    ("Anna Paris York New .", [(1, 3, "PER")], []),
    ("Bob Smith in Rome and", [(4, 5, "PER")], []),
    ("Bob Smith in Rome and", [(2, 3, "ORG")], []),
    ("Bob Smith in Rome and", [(1, 2, "ORG"), (3, 4, "PER")], []),
    ("York met Anna Smith .", [(0, 1, "LOC")], [3]),
    ("York met Anna Smith .", [], [0]),
    ("New York Anna", [(0, 3, "LOC")], []),
)


def preset_doc(nlp, text, spans, blocked):
    doc = make_doc(nlp, text)
    entities = [Span(doc, start, end, label=kind) for start, end, kind in spans]
    doc.set_ents(entities, blocked=[doc[t : t + 1] for t in blocked], default="missing")
    return doc


def possible_beside(nlp, text, spans, blocked):
    """The labellings that have the spans that are set already, if they are ours, and nothing else at their tokens."""
    ours = {span for span in spans if span[2] in tagger_of(nlp).labels}
    outside = {t for start, end, kind in spans if kind == "ORG" for t in range(start, end)}
    outside |= set(blocked)
    return [
        (names, p)
        for names, p in labellings(nlp, text)
        if ours <= set(spans_of(names)) and all(names[t] == "O" for t in outside)
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("edges", [False, True])
def test_entities_set_before_have_none_and_constrain_the_rest(scheme, edges):
    nlp = unsure(scheme, edges=edges)
    new, differs = 0, False
    for text, spans, blocked in PRESET:
        doc = nlp(preset_doc(nlp, text, spans, blocked))
        possible = possible_beside(nlp, text, spans, blocked)
        free = labellings(nlp, text)
        for span, value in zip(found(doc), confidences(doc), strict=True):
            if span in spans:
                assert value is None
                continue
            assert value == close(span_probability(possible, span))
            differs |= value != close(span_probability(free, span))
            new += 1
        assert set(spans) <= set(found(doc))
    assert new >= 5
    assert differs


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_across_sentences_are_outside_for_both(scheme):
    nlp = unsure(scheme, unit="sent")
    first, second = "Bob Anna York", "Smith met Rome"
    doc = in_sentences(nlp, first, second)
    doc.set_ents([Span(doc, 2, 4, label="PER")], default="missing")
    doc = nlp(doc)
    expected = {(2, 4, "PER"): None}
    for text, shift, outside in ((first, 0, 2), (second, 3, 0)):
        possible = [(names, p) for names, p in labellings(nlp, text) if names[outside] == "O"]
        best, _ = max(possible, key=lambda each: each[1])
        for start, end, kind in spans_of(best):
            value = close(span_probability(possible, (start, end, kind)))
            expected[start + shift, end + shift, kind] = value
    assert dict(zip(found(doc), confidences(doc), strict=True)) == expected
    assert len(expected) > 1


def test_entities_keep_what_was_said_of_them():
    nlp = unsure()
    doc = label(nlp, TEXTS[0])
    before = confidences(doc)
    assert confidences(nlp(doc)) == before
    assert None not in before


def test_confidence_goes_with_the_characters():
    """Extension attributes of spans are kept by characters; tokens may touch, and be of any alphabet."""
    nlp = unsure()
    words = ["\U0001f600", "Anna", "é\u0301", "Rome", "."]
    spaced = nlp(Doc(nlp.vocab, words=words))
    doc = nlp(Doc(nlp.vocab, words=words, spaces=[False] * 5))
    assert found(doc) == found(spaced)
    assert doc.ents
    assert confidences(doc) == confidences(spaced)
    assert None not in confidences(doc)


def test_confidence_is_a_probability():
    words = sorted({word for text, _ in ENTS for word in text.split()})
    rng = np.random.default_rng(0)
    # Certain of everything: rounding must not lead beyond 1.
    certain = trained(passes=200, **crf("DCA", C=100.0))
    for nlp in (unsure(), certain, unsure("IO"), unsure("BILUO")):
        for _ in range(20):
            doc = label(nlp, " ".join(rng.choice(words, size=30)))
            assert all(0 < value <= 1 for value in confidences(doc))
            beliefs = tagger_of(nlp).marginals(make_doc(nlp, doc.text))
            assert ((beliefs >= 0) & (beliefs <= 1)).all()
    assert max(confidences(label(certain, ENTS[0][0]))) > 0.999


# --- span groups ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("edges", [False, True])
def test_scores_of_span_groups(scheme, edges):
    nlp = unsure(scheme, edges=edges, target="spans:x")
    seen = 0
    for text in TEXTS:
        doc, possible = label(nlp, text), labellings(nlp, text)
        group = doc.spans["x"]
        scores = group.attrs["scores"]
        assert scores.dtype == np.float32
        expected = [
            close(span_probability(possible, (span.start, span.end, span.label_))) for span in group
        ]
        assert scores.tolist() == expected
        assert doc.ents == ()
        seen += len(group)
    assert seen >= 5


def test_span_groups_without_spans():
    nlp = unsure(target="spans:x")
    for text in ("", "met in and"):
        group = label(nlp, text).spans["x"]
        assert len(group) == 0
        assert group.attrs["scores"].shape == (0,)


def test_entities_say_nothing_of_span_groups():
    """The group is written anew, whatever entities there are."""
    nlp = unsure(target="spans:x")
    free = label(nlp, TEXTS[0])
    doc = nlp(preset_doc(nlp, TEXTS[0], [(0, 2, "LOC")], []))
    assert doc.spans["x"].attrs["scores"].tolist() == free.spans["x"].attrs["scores"].tolist()
    assert confidences(doc) == [None]


# --- tags ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("attr", ["tag", "pos"])
@pytest.mark.parametrize("name", CRF)
def test_confidence_of_tags(attr, name):
    nlp = tagging(attr, name)
    tagger = tagger_of(nlp)
    unsure_of = 0
    for text in ("the cat sees", "small dogs see the house", "runs a", "zzz"):
        doc, possible = label(nlp, text), labellings(nlp, text)
        beliefs = tagger.marginals(make_doc(nlp, text))
        for t, token in enumerate(doc):
            y = tagger.label_names.index(getattr(token, f"{attr}_"))
            assert token._.confidence == pytest.approx(beliefs[t, y], abs=1e-7)
            expected = [
                probability(possible, lambda names, t=t, y=y: names[t] == y)
                for y in tagger.label_names
            ]
            assert beliefs[t].tolist() == pytest.approx(expected, abs=1e-5)
            unsure_of += token._.confidence < 0.95
    assert unsure_of


def test_tags_set_before_have_none_and_constrain_the_rest():
    nlp = tagging()
    text = "the cat sees a"
    doc = nlp(make_doc(nlp, text, tags=["", "VBZ", "", "XX"]))
    assert [t.tag_ for t in doc][1::2] == ["VBZ", "XX"]
    assert (doc[1]._.confidence, doc[3]._.confidence) == (None, None)
    # What is no label of ours says nothing about its neighbours.
    possible = [(names, p) for names, p in labellings(nlp, text) if names[1] == "VBZ"]
    for t in (0, 2):
        expected = probability(possible, lambda names, t=t: names[t] == doc[t].tag_)
        assert doc[t]._.confidence == close(expected)
    beliefs = tagger_of(nlp).marginals(make_doc(nlp, text, tags=["", "VBZ", "", "XX"]))
    assert beliefs[1].tolist() == [name == "VBZ" for name in tagger_of(nlp).label_names]


def test_other_tokens_have_none():
    doc = make_doc(unsure(), "nobody has labelled this")
    assert [token._.confidence for token in doc] == [None] * 4
    assert doc[0:2]._.confidence is None
    assert [token._.confidence for token in label(unsure(), TEXTS[0])] == [None] * 5


def test_a_retokenized_document_has_no_confidence_of_tokens():
    doc = label(tagging(), "the dog sees a cat")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert [token._.confidence for token in doc] == [None] * 4


@pytest.mark.filterwarnings("ignore:.*W102")
def test_parts_and_joined_documents_never_have_the_values_of_others():
    docs = [label(tagging(), text) for text, _ in TAGS]
    part = docs[0][1:3].as_doc(copy_user_data=True)
    assert [token._.confidence for token in part] == [None, None]
    joined = Doc.from_docs(docs[:2])
    known = [token._.confidence for doc in docs[:2] for token in doc]
    assert all(t._.confidence in (None, value) for t, value in zip(joined, known, strict=True))


# --- marginals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("edges", [False, True])
def test_marginals(scheme, edges):
    nlp = unsure(scheme, edges=edges)
    tagger = tagger_of(nlp)
    for text in TEXTS:
        beliefs, possible = tagger.marginals(make_doc(nlp, text)), labellings(nlp, text)
        assert beliefs.dtype == np.float32
        assert beliefs.shape == (len(text.split()), len(tagger.label_names))
        assert beliefs.sum(axis=1).tolist() == pytest.approx([1.0] * len(beliefs), abs=1e-5)
        for t, y in np.ndindex(*beliefs.shape):
            name = tagger.label_names[y]
            expected = probability(possible, lambda names, t=t, name=name: names[t] == name)
            assert beliefs[t, y] == pytest.approx(expected, abs=1e-5)


def test_marginals_of_sentences():
    nlp = unsure(unit="sent")
    tagger = tagger_of(nlp)
    whole = tagger.marginals(in_sentences(nlp, *TEXTS))
    alone = [tagger.marginals(in_sentences(nlp, text)) for text in TEXTS]
    assert whole.tolist() == np.concatenate(alone).tolist()


def test_marginals_under_entities_set_before():
    nlp = unsure()
    tagger = tagger_of(nlp)
    for text, spans, blocked in PRESET:
        beliefs = tagger.marginals(preset_doc(nlp, text, spans, blocked))
        possible = possible_beside(nlp, text, spans, blocked)
        for t, y in np.ndindex(*beliefs.shape):
            name = tagger.label_names[y]
            expected = probability(possible, lambda names, t=t, name=name: names[t] == name)
            assert beliefs[t, y] == pytest.approx(expected, abs=1e-5)


def test_names_of_the_columns():
    assert tagger_of(unsure("BIO")).label_names == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert tagger_of(unsure("IO")).label_names == ("O", "I-LOC", "I-PER")
    assert set(tagger_of(unsure("BILUO")).label_names) == {
        "O", *(f"{part}-{kind}" for part in "BILU" for kind in ("LOC", "PER"))
    }  # fmt: skip
    tagger = tagger_of(tagging())
    assert tagger.label_names == tagger.labels == ("DT", "JJ", "NN", "NNS", "VBP", "VBZ")


@pytest.mark.parametrize("make", [unsure, lambda: unsure(unit="sent"), tagging])
def test_empty_document(make):
    nlp = make()
    tagger = tagger_of(nlp)
    doc = nlp(make_doc(nlp, ""))
    assert len(doc) == 0
    assert tagger.marginals(doc).shape == (0, len(tagger.label_names))


# --- thresholds ----------------------------------------------------------------------------------

LONG = " ".join(TEXTS)


@pytest.fixture
def threshold():
    """Sets the threshold of shared pipelines, and takes it back."""
    changed = []

    def change(nlp, value):
        changed.append(nlp)
        tagger_of(nlp).threshold = value

    yield change
    for nlp in changed:
        tagger_of(nlp).threshold = None


def limits(values):
    """Thresholds below, between, at and above values."""
    values = sorted(set(values))
    assert len(values) >= 3
    between = [(a + b) / 2 for a, b in zip(values, values[1:], strict=False)]
    return [0.0, *values, *between, 1.0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_threshold_for_entities(scheme, threshold):
    nlp = unsure(scheme)
    doc = label(nlp, LONG)
    everything = list(zip(found(doc), confidences(doc), strict=True))
    for limit in limits(confidences(doc)):
        threshold(nlp, limit)
        left = label(nlp, LONG)
        expected = [(span, p) for span, p in everything if p >= limit]
        assert list(zip(found(left), confidences(left), strict=True)) == expected
        # Those that are gone leave no trace.
        assert len(left.user_data) == len(expected)
        assert {t.ent_iob_ for t in left if not t.ent_type_} == {"O"}


def test_threshold_for_span_groups(threshold):
    nlp = unsure(target="spans:x")

    def scored():
        doc = label(nlp, LONG)
        group = doc.spans["x"]
        scores = group.attrs["scores"].tolist()
        return [(s.start, s.end, s.label_, p) for s, p in zip(group, scores, strict=True)]

    everything = scored()
    scores = [p for *_, p in everything]
    # The scores are rounded: thresholds at exactly their values may fall on either side.
    for limit in set(limits(scores)) - set(scores):
        threshold(nlp, limit)
        assert scored() == [each for each in everything if each[3] >= limit]


@pytest.mark.parametrize("attr", ["tag", "pos"])
def test_threshold_for_tags(attr, threshold):
    nlp = tagging(attr)
    text = "the small cat sees dogs run zzz house"
    everything = [(getattr(t, f"{attr}_"), t._.confidence) for t in label(nlp, text)]
    for limit in limits([p for _, p in everything]):
        threshold(nlp, limit)
        left = [(getattr(t, f"{attr}_"), t._.confidence) for t in label(nlp, text)]
        assert left == [(tag, p) if p >= limit else ("", None) for tag, p in everything]


def test_threshold_leaves_what_was_set_before(threshold):
    nlp = unsure()
    threshold(nlp, 1.0)
    assert found(nlp(preset_doc(nlp, TEXTS[0], [(0, 2, "LOC")], []))) == [(0, 2, "LOC")]
    nlp = tagging()
    threshold(nlp, 1.0)
    assert tags(nlp(make_doc(nlp, "the cat", tags=["NN", ""]))) == "NN "


def test_threshold_of_one_keeps_what_is_certain():
    nlp = trained((("a b", "NN NN"), ("c", "NN")), "tags", target="tag", threshold=1.0, **crf())
    doc = label(nlp, "x y z")
    assert tags(doc) == "NN NN NN"
    assert [token._.confidence for token in doc] == [1.0] * 3


@pytest.mark.parametrize("number", [np.float32, np.float64, lambda value: value])
def test_numbers_that_are_thresholds(number, threshold, tmp_path):
    nlp = unsure()
    threshold(nlp, number(0.5))
    assert tagger_of(nlp).threshold == tagger_of(nlp).cfg["threshold"] == 0.5
    assert type(tagger_of(nlp).cfg["threshold"]) is float
    assert all(p >= 0.5 for p in confidences(label(nlp, LONG)))
    for whole in (0, 1):
        threshold(nlp, whole)
        assert tagger_of(nlp).threshold == whole
    nlp.to_disk(tmp_path)  # what is no JSON would show here


def test_threshold_at_run_time(threshold):
    nlp = unsure()
    tagger = tagger_of(nlp)
    everything = found(label(nlp, LONG))
    assert tagger.threshold is None
    assert tagger.cfg["threshold"] is None
    threshold(nlp, 1.0)
    assert found(label(nlp, LONG)) == []
    threshold(nlp, None)
    assert found(label(nlp, LONG)) == everything
    # As with spaCy's own components.
    tagger.cfg["threshold"] = 1.0
    assert tagger.threshold == 1.0
    assert found(label(nlp, LONG)) == []
    assert [found(doc) for doc in nlp.pipe([make_doc(nlp, LONG)])] == [[]]


def test_threshold_from_the_config():
    nlp = trained(passes=4, threshold=0.5, **crf())
    free = trained(passes=4, **crf())
    assert tagger_of(nlp).threshold == 0.5
    everything = label(free, LONG)
    sure = [s for s, p in zip(found(everything), confidences(everything), strict=True) if p >= 0.5]
    assert found(label(nlp, LONG)) == sure != found(everything)


def test_learning_does_not_ask_for_the_threshold():
    nlp, free = trained(threshold=1.0, **crf()), trained(**crf())
    assert tagger_of(nlp).model.shims[0].model_bytes(NAME) == tagger_of(free).model.shims[
        0
    ].model_bytes(NAME)


# --- the switch ----------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [None, True])
def test_confidence_is_on_unless_switched_off(confidence):
    nlp = trained(confidence=confidence, **crf())
    assert None not in confidences(label(nlp, ENTS[0][0]))


def test_no_confidence_for_entities():
    nlp = trained(passes=4, confidence=False, **crf())
    doc, with_it = label(nlp, LONG), label(trained(passes=4, **crf()), LONG)
    assert found(doc) == found(with_it)
    assert set(confidences(doc)) == {None}
    assert doc.user_data == {}
    tagger_of(nlp).threshold = 0.5
    sure = [p >= 0.5 for p in confidences(with_it)]
    assert found(label(nlp, LONG)) == [
        s for s, keep in zip(found(with_it), sure, strict=True) if keep
    ]
    assert label(nlp, LONG).user_data == {}


def test_no_confidence_for_span_groups():
    nlp = make_nlp(confidence=False, target="spans:x", **crf())
    examples = span_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples, passes=4)
    for limit, least in ((None, 3), (0.5, 1)):
        tagger_of(nlp).threshold = limit
        group = label(nlp, LONG).spans["x"]
        assert "scores" not in group.attrs
        assert len(group) >= least


def test_no_confidence_for_tags():
    nlp = trained(TAGS, "tags", passes=4, confidence=False, target="tag", **crf())
    doc = label(nlp, TAGS[0][0])
    assert doc.user_data == {}
    assert [token._.confidence for token in doc] == [None] * 5
    tagger_of(nlp).threshold = 1.0
    assert set(tags(label(nlp, TAGS[0][0])).split(" ")) == {""}


@pytest.mark.parametrize("target", ["ents", "tag", "spans:x"])
def test_predict_changes_nothing(target, threshold):
    nlp = tagging() if target == "tag" else unsure(target=target)
    tagger = tagger_of(nlp)
    doc = make_doc(nlp, TEXTS[0])
    before = doc.to_bytes(), tagger.to_bytes()
    for limit in (None, 0.5):
        threshold(nlp, limit)
        tagger.predict([doc, doc])
        tagger.marginals(doc)
    threshold(nlp, None)
    assert (doc.to_bytes(), tagger.to_bytes()) == before


def test_predictions_can_be_written_later():
    nlp = unsure()
    tagger = tagger_of(nlp)
    docs = [make_doc(nlp, text) for text in TEXTS]
    predictions = tagger.predict(docs)
    tagger.set_annotations(docs, predictions)
    for doc, text in zip(docs, TEXTS, strict=True):
        assert found(doc) == found(label(nlp, text))
        assert confidences(doc) == confidences(label(nlp, text))


# --- travelling ----------------------------------------------------------------------------------


def in_bytes(doc):
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def in_docbin(doc):
    binary = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (again,) = DocBin().from_bytes(binary).get_docs(doc.vocab)
    return again


def in_pickle(doc):
    return pickle.loads(pickle.dumps(doc))  # noqa: S301


@pytest.mark.parametrize("way", [in_bytes, in_docbin, in_pickle, Doc.copy])
def test_confidence_travels_with_the_document(way):
    doc = label(unsure(), LONG)
    assert confidences(way(doc)) == confidences(doc)
    assert None not in confidences(doc)
    doc = label(tagging(), TAGS[0][0])
    assert [t._.confidence for t in way(doc)] == [t._.confidence for t in doc]
    assert None not in [t._.confidence for t in doc]
    doc = label(unsure(target="spans:x"), LONG)
    before, after = (each.spans["x"].attrs["scores"].tolist() for each in (doc, way(doc)))
    assert before == after != []


@pytest.mark.parametrize("target", ["ents", "tag"])
def test_confidence_from_other_processes(target):
    nlp = unsure() if target == "ents" else tagging()
    texts = [*TEXTS, "", "the dog sees"]
    here = list(nlp.pipe(texts))
    there = list(nlp.pipe(texts, n_process=2, batch_size=3))
    for a, b in zip(here, there, strict=True):
        assert confidences(a) == confidences(b)
        assert [t._.confidence for t in a] == [t._.confidence for t in b]
    assert any(doc.user_data for doc in there)


@pytest.mark.parametrize("settings", [{}, {"threshold": 0.5}, {"confidence": False}])
def test_confidence_after_saving(settings, tmp_path):
    nlp = trained(passes=4, **settings, **crf())
    nlp.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), make_nlp(**settings, **crf()).from_bytes(nlp.to_bytes())):
        assert tagger_of(other).threshold == settings.get("threshold")
        assert tagger_of(other).confidence is settings.get("confidence")
        doc, again = label(nlp, LONG), label(other, LONG)
        assert found(doc) == found(again)
        assert confidences(doc) == confidences(again)
        beliefs = (tagger_of(each).marginals(make_doc(nlp, LONG)) for each in (nlp, other))
        assert next(beliefs).tolist() == next(beliefs).tolist()


def test_threshold_set_at_run_time_after_saving(tmp_path):
    nlp = trained(passes=4, **crf())
    tagger_of(nlp).threshold = 0.75
    nlp.to_disk(tmp_path)
    assert tagger_of(spacy.load(tmp_path)).threshold == 0.75


def test_confidence_while_training_goes_on():
    """Before the weights stand still, scores take another way through the model."""
    nlp = trained(passes=2, **crf())
    for _ in range(3):
        update(nlp, make_examples(nlp), passes=1)
        doc = label(nlp, TEXTS[0])
        possible = labellings(nlp, TEXTS[0])
        assert confidences(doc) == [close(span_probability(possible, s)) for s in found(doc)]


# --- learners whose scores are no probabilities --------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_perceptrons_say_nothing(name):
    nlp = trained(**learner(name))
    doc = label(nlp, ENTS[0][0])
    assert confidences(doc) == [None, None]
    assert doc.user_data == {}
    nlp = trained(TAGS, "tags", target="tag", **learner(name))
    doc = label(nlp, TAGS[0][0])
    assert [token._.confidence for token in doc] == [None] * 5
    assert doc.user_data == {}
    nlp = make_nlp(target="spans:x", **learner(name))
    examples = span_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    group = label(nlp, ENTS[0][0]).spans["x"]
    assert len(group) == 2
    assert "scores" not in group.attrs


@pytest.mark.parametrize("name", LEARNERS)
def test_perceptrons_are_not_asked(name):
    nlp = trained(passes=1, **learner(name))
    tagger = tagger_of(nlp)
    message = rf"\[NL417\].*'local_tagger'.*{name},.*asked for: {{}}.*MADF"
    with pytest.raises(ValueError, match=message.format("marginals")):
        tagger.marginals(make_doc(nlp, ENTS[0][0]))
    for value in (0.0, 0.5):
        with pytest.raises(ValueError, match=message.format("threshold")):
            tagger.threshold = value
        with pytest.raises(ValueError, match=message.format("threshold")):
            make_nlp(threshold=value, **learner(name))
    with pytest.raises(ValueError, match=message.format("confidence")):
        make_nlp(confidence=True, **learner(name))
    assert tagger.threshold is None
    tagger.threshold = None
    assert make_nlp(confidence=False, **learner(name))


# --- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-0.1, 1.1, 50, float("nan"), float("inf"), -float("inf")])
def test_thresholds_that_are_no_probabilities(value):
    # What is no JSON is refused by spaCy.
    message = r"\[NL418\].*'local_tagger'.*from 0 to 1" if np.isfinite(value) else r"\[E961\]"
    with pytest.raises(ValueError, match=message):
        make_nlp(threshold=value, **crf())
    nlp = make_nlp(threshold=0.25, **crf())
    with pytest.raises(ValueError, match=rf"\[NL418\].*'local_tagger'.*threshold is {value}"):
        tagger_of(nlp).threshold = value
    assert tagger_of(nlp).threshold == 0.25


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_thresholds_in_cfg_that_are_no_probabilities(value):
    nlp = trained(passes=1, **crf())
    tagger_of(nlp).cfg["threshold"] = value
    with pytest.raises(ValueError, match=r"\[NL418\].*'local_tagger'"):
        label(nlp, LONG)


def test_not_trained():
    nlp = make_nlp(**crf())
    tagger, doc = tagger_of(nlp), make_doc(nlp, ENTS[0][0])
    for ask in (tagger.marginals, lambda doc: tagger.predict([doc]), tagger):
        with pytest.raises(ValueError, match=r"\[NL407\].*'local_tagger'"):
            ask(doc)
    tagger.threshold = 0.5
    assert tagger.label_names == ("O",)
    assert doc.user_data == {}


def impossible(labels):
    """A target's method that gives labels that cannot follow each other."""
    return lambda *args: np.array(labels, dtype=np.int32)


@pytest.mark.parametrize("name", ["MADF", "PassiveAggressive"])
def test_contradictory_constraints_in_prediction(name, monkeypatch):
    nlp = trained(passes=2, **(crf() if name == "MADF" else learner(name)))
    tagger = tagger_of(nlp)
    # "I-PER" after "O"
    monkeypatch.setattr(tagger._target, "preset", impossible([0, 4, -1, -1, -1, -1]))
    message = r"\[NL419\].*'local_tagger'.*the document 'Anna Smith lives in Paris \.'.*6 tokens"
    doc = make_doc(nlp, ENTS[0][0])
    with pytest.raises(ValueError, match=message):
        tagger.predict([doc])
    with pytest.raises(ValueError, match=message):
        list(nlp.pipe([doc]))
    if name == "MADF":
        with pytest.raises(ValueError, match=message):
            tagger.marginals(doc)
    assert doc.ents == ()
    assert doc.user_data == {}


def test_contradictory_constraints_name_the_source(monkeypatch):
    nlp = trained(passes=2, **crf())
    doc = make_doc(nlp, ENTS[0][0])
    doc.user_data["spacy_nonlocal.source"] = "corpus.txt:7"
    monkeypatch.setattr(tagger_of(nlp)._target, "preset", impossible([0, 4, 0, 0, 0, 0]))
    with pytest.raises(ValueError, match=r"\[NL419\].*document corpus\.txt:7 \('Anna"):
        nlp(doc)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 4, -1, -1, -1, -1],
        [0, 4, 0, 0, 0, 0],
    ],
)
def test_contradictory_constraints_in_update(labels, monkeypatch):
    nlp = trained(passes=2, **crf())
    tagger = tagger_of(nlp)
    before = tagger.model.shims[0].model_bytes(NAME)
    monkeypatch.setattr(tagger._target, "gold", impossible(labels))
    with pytest.raises(
        ValueError, match=r"\[NL419\].*'local_tagger'.*the document 'Anna Smith lives in Paris \.'"
    ):
        nlp.update(make_examples(nlp, ENTS[:1]))
    assert tagger.model.shims[0].model_bytes(NAME) == before


@pytest.mark.parametrize(
    ("saved", "given", "message"),
    [
        ("MADF", "PassiveAggressive", "scores are probabilities"),
        ("PassiveAggressive", "MADF", "scores are not probabilities"),
        ("DCA", "AveragedPerceptron", "scores are probabilities"),
        ("Perceptron", "SGD", "scores are not probabilities"),
    ],
)
def test_scores_of_another_kind(saved, given, message, tmp_path):
    configs = [crf(name) if name in CRF else learner(name) for name in (saved, given)]
    nlp, other = trained(passes=2, **configs[0]), make_nlp(**configs[1])
    nlp.to_disk(tmp_path)
    for exclude in ([], ["training"]):
        with pytest.raises(ValueError, match=rf"\[NL420\].*{message}") as caught:
            tagger_of(other).from_disk(tmp_path / NAME, exclude=exclude)
        assert str(tmp_path / NAME / "model") in str(caught.value)
        with pytest.raises(ValueError, match=rf"\[NL420\].*{message}"):
            tagger_of(other).from_bytes(tagger_of(nlp).to_bytes(), exclude=exclude)
    assert tagger_of(other).labels == ()
    # The config of a saved pipeline, changed by hand.
    config = spacy.util.load_config(tmp_path / "config.cfg")
    config["components"][NAME]["learner"] = configs[1]["learner"]
    config.to_disk(tmp_path / "config.cfg")
    with pytest.raises(ValueError, match=r"\[NL420\]"):
        spacy.load(tmp_path)


# --- beside other components ---------------------------------------------------------------------


def test_evaluation_with_confidence():
    nlp = trained(**crf())
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["ents_f"] == 1.0


def test_gold_documents_are_not_touched():
    nlp = make_nlp(**crf())
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
    before = [eg.reference.to_bytes() for eg in examples]
    nlp.update(fresh, annotates=[NAME])
    assert [eg.reference.to_bytes() for eg in examples] == before
    assert [iob(eg.reference) for eg in examples] == [labels for _, labels in ENTS]
