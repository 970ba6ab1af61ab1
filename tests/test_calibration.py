"""Whether confidences can be believed: the arithmetic, and the scores that components give."""

import json

import numpy as np
import pytest
import spacy
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_nonlocal.calibration import THRESHOLDS, curve, expected_calibration_error, reliability
from spacy_nonlocal.corpus import ColumnCorpus
from spacy_nonlocal.pipeline.scoring import compare, labeller_score

from .pipeline.util import (
    CONFIG,
    ENTS,
    TAGS,
    columns,
    learner,
    make_doc,
    make_examples,
    run,
    trained,
    write_config,
)

quick = settings(deadline=None, derandomize=True, max_examples=250)

MADF = learner("MADF", l2=1.0)
UNSEEN = (("Anna Rome flew to Smith .", "B-PER O O O B-LOC O"), *ENTS)

# Edges of bins and thresholds, and what rounding makes of certainty, are likely.
confidences = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.7, 1.0, 1 + 1e-7]) | st.floats(0, 1)
predictions = st.lists(st.tuples(confidences, st.booleans()), max_size=40)


def error_of(values, right, bins=10):
    return expected_calibration_error(reliability(values, right, bins))


# --- the table and the error ---------------------------------------------------------------------


def test_two_bins_by_hand():
    table = reliability([0.2, 0.4, 0.9, 0.7, 0.8], [False, True, True, True, False], bins=2)
    assert [(each["low"], each["high"], each["count"]) for each in table] == [
        (0.0, 0.5, 2),
        (0.5, 1.0, 3),
    ]
    assert [each["confidence"] for each in table] == pytest.approx([0.3, 0.8])
    assert [each["accuracy"] for each in table] == pytest.approx([1 / 2, 2 / 3])
    # 2/5 · |0.5 - 0.3| + 3/5 · |2/3 - 0.8|
    assert expected_calibration_error(table) == pytest.approx(0.08 + 0.08)


def test_values_on_edges_belong_to_the_bin_above_and_1_to_the_last():
    edges = [i / 10 for i in range(11)]
    counts = [each["count"] for each in reliability(edges, [True] * 11)]
    assert counts == [1] * 9 + [2]
    assert reliability([0.29], [True], bins=100)[29]["count"] == 1


def test_nothing_predicted():
    table = reliability([], [])
    assert len(table) == 10
    assert all(each["count"] == 0 for each in table)
    assert all(each["confidence"] is each["accuracy"] is None for each in table)
    assert expected_calibration_error(table) is None
    assert expected_calibration_error([]) is None


@pytest.mark.parametrize(
    ("values", "right", "want"),
    [
        ([1.0] * 4, [True] * 4, 0.0),
        ([1.0] * 4, [False] * 4, 1.0),
        ([0.75] * 4, [True, True, True, False], 0.0),
        ([0.25] * 4, [True] * 4, 0.75),
    ],
)
def test_errors_of_extreme_cases(values, right, want):
    assert error_of(values, right) == pytest.approx(want)


def test_different_lengths():
    with pytest.raises(ValueError, match="length"):
        reliability([0.5], [True, False])


@quick
@given(predictions, st.integers(1, 20))
def test_table_loses_nothing(found, bins):
    values, right = [p for p, _ in found], [ok for _, ok in found]
    table = reliability(values, right, bins)
    assert len(table) == bins
    assert (table[0]["low"], table[-1]["high"]) == (0, 1)
    assert all(a["high"] == b["low"] for a, b in zip(table, table[1:], strict=False))
    assert sum(each["count"] for each in table) == len(found)
    hits = sum(each["count"] * (each["accuracy"] or 0) for each in table)
    total = sum(each["count"] * (each["confidence"] or 0) for each in table)
    assert hits == pytest.approx(sum(right))
    assert total == pytest.approx(sum(values))
    for each in table:
        inside = [p for p in values if each["low"] <= p < each["high"]]
        if each is not table[-1]:
            assert each["count"] == len(inside)
    assert json.loads(json.dumps(table)) == table


@quick
@given(predictions.filter(bool), st.integers(1, 20), st.randoms(use_true_random=False))
def test_error_is_a_distance_and_order_does_not_matter(found, bins, rng):
    values, right = [p for p, _ in found], [ok for _, ok in found]
    error = error_of(values, right, bins)
    # |mean of differences| <= mean over bins <= 1
    assert abs(np.mean(values) - np.mean(right)) - 1e-9 <= error <= 1 + 1e-6
    mixed = rng.sample(found, len(found))
    assert error_of(*zip(*mixed, strict=True), bins) == pytest.approx(error)
    if bins > 1:  # in one bin, mistakes cancel out
        assert error_of([1 - p for p in right], right, bins) == 1.0


# --- the curve -----------------------------------------------------------------------------------


def test_curve_by_hand():
    points = curve([0.2, 0.5, 0.9], [False, True, True], 4, (0.0, 0.5, 0.9, 0.95))
    assert [each["kept"] for each in points] == [3, 2, 1, 0]
    assert [each["p"] for each in points] == [2 / 3, 1.0, 1.0, None]
    assert [each["r"] for each in points] == [0.5, 0.5, 0.25, 0.0]
    assert [each["f"] for each in points] == [4 / 7, 4 / 6, 2 / 5, 0.0]


def test_curve_of_nothing():
    for each in curve([], [], 0):
        assert each["kept"] == 0
        assert each["p"] is each["r"] is each["f"] is None
    assert curve([0.5], [False], 0)[0]["f"] == 0.0


def test_thresholds_are_those_that_people_write():
    assert len(THRESHOLDS) == 21
    assert THRESHOLDS[3] == 0.15
    assert curve([0.15], [True], 1)[3]["kept"] == 1


@quick
@given(predictions, st.integers(0, 10))
def test_curve_falls_and_agrees_with_the_definition(found, missed):
    values, right = [p for p, _ in found], [ok for _, ok in found]
    points = curve(values, right, sum(right) + missed)
    assert points[0]["kept"] == len(found)
    for a, b in zip(points, points[1:], strict=False):
        assert a["kept"] >= b["kept"]
        assert (a["r"] or 0) >= (b["r"] or 0)
    for each in points:
        if each["p"] and each["r"]:
            assert each["f"] == pytest.approx(2 * each["p"] * each["r"] / (each["p"] + each["r"]))
    assert json.loads(json.dumps(points)) == points


# --- scores of components ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "attr", "data", "prefix"),
    [("ents", "ents", UNSEEN, "ents"), ("tag", "tags", TAGS, "tag"), ("pos", "pos", None, "pos")],
)
def test_scores_of_a_crf(target, attr, data, prefix):
    data = data or (("the dog sleeps", "DET NOUN VERB"), ("a dog runs", "DET NOUN VERB"))
    nlp = trained(data[1:], attr, passes=5, target=target, **MADF)
    scores = nlp.evaluate(make_examples(nlp, data, attr))
    assert 0 <= scores[f"{prefix}_ece"] <= 1
    table = scores[f"{prefix}_calibration"]
    assert expected_calibration_error(table) == scores[f"{prefix}_ece"]
    assert sum(each["count"] for each in table) > 0
    assert json.loads(json.dumps(scores)) == scores
    srsly.json_dumps(scores)


def test_error_is_that_of_the_entities():
    nlp = trained(passes=5, **MADF)
    examples = make_examples(nlp, UNSEEN)
    values, right = [], []
    for eg in examples:
        doc = nlp(eg.predicted.copy())
        gold = {(ent.start, ent.end, ent.label) for ent in eg.reference.ents}
        values += [ent._.confidence for ent in doc.ents]
        right += [(ent.start, ent.end, ent.label) in gold for ent in doc.ents]
    assert 0 < sum(right) < len(right)
    assert nlp.evaluate(examples)["ents_ece"] == pytest.approx(error_of(values, right))


@pytest.mark.parametrize("key", ["x", "x:y"])
def test_scores_of_a_span_group(key):
    plain = spacy.blank("en")
    examples = make_examples(plain)
    for eg in examples:
        eg.reference.spans[key] = list(eg.reference.ents)
    nlp = spacy.blank("en")
    nlp.add_pipe("local_tagger", config={"target": f"spans:{key}", **MADF})
    nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples)
    scores = nlp.evaluate(examples)
    assert scores[f"spans_{key}_f"] > 0
    assert 0 <= scores[f"spans_{key}_ece"] <= 1
    assert json.loads(json.dumps(scores)) == scores


@pytest.mark.parametrize(
    ("target", "attr", "data"), [("ents", "ents", ENTS), ("tag", "tags", TAGS)]
)
def test_no_confidences_no_scores(target, attr, data):
    perceptron = trained(data, attr, passes=2, target=target)
    silent = trained(data, attr, passes=2, target=target, confidence=False, **MADF)
    for nlp in (perceptron, silent):
        scores = nlp.evaluate(make_examples(nlp, data, attr))
        assert not [key for key in scores if "ece" in key or "calibration" in key]


def predicted(vocab, words, ents):
    """A document with entities and confidences: (start, end, label, confidence), or None for no confidence."""
    doc = Doc(vocab, words=words.split())
    doc.ents = [Span(doc, start, end, label=label) for start, end, label, _ in ents]
    for ent, (*_, value) in zip(doc.ents, ents, strict=True):
        if value is not None:
            ent._.confidence = value
    return doc


def summary(comparison):
    return comparison.confidence.tolist(), comparison.correct.tolist(), comparison.gold


def test_wrong_boundaries_and_labels_are_wrong():
    (eg,) = make_examples(nlp := spacy.blank("en"), ENTS[:1])
    ents = [(0, 1, "PER", 0.9), (4, 5, "PER", 0.8)]
    eg.predicted = predicted(nlp.vocab, ENTS[0][0], ents)
    assert summary(compare(eg, "ents")) == ([0.9, 0.8], [False, False], 2)
    eg.predicted = predicted(nlp.vocab, ENTS[0][0], [(0, 2, "PER", 0.9), (4, 5, "LOC", 0.8)])
    assert summary(compare(eg, "ents")) == ([0.9, 0.8], [True, True], 2)


def test_entities_of_other_components_do_not_count():
    (eg,) = make_examples(nlp := spacy.blank("en"), ENTS[:1])
    ents = [(0, 2, "PER", None), (4, 5, "LOC", 0.8)]
    eg.predicted = predicted(nlp.vocab, ENTS[0][0], ents)
    assert summary(compare(eg, "ents")) == ([0.8], [True], 1)


def test_what_the_reference_does_not_know_does_not_count():
    (eg,) = make_examples(nlp := spacy.blank("en"), [("Anna saw Rome .", "? O B-LOC O")])
    ents = [(0, 1, "PER", 0.9), (1, 2, "PER", 0.7), (2, 3, "LOC", 0.8)]
    eg.predicted = predicted(nlp.vocab, "Anna saw Rome .", ents)
    assert summary(compare(eg, "ents")) == ([0.7, 0.8], [False, True], 1)
    bare = Example(eg.predicted, make_doc(nlp, "Anna saw Rome ."))
    assert summary(compare(bare, "ents")) == ([], [], 0)
    assert summary(compare(bare, "spans:x")) == ([], [], 0)
    assert summary(compare(bare, "tag")) == ([], [], 0)


def test_other_tokens_than_in_the_reference():
    vocab = spacy.blank("en").vocab
    words, spaces = (
        ["Anna", "saw", "New", "-", "York", "."],
        [True, True, False, False, False, False],
    )
    doc = Doc(vocab, words=words, spaces=spaces)
    doc.ents = [Span(doc, 0, 1, label="PER"), Span(doc, 2, 3, label="LOC")]
    part = [0.9, 0.6]
    for ent, value in zip(doc.ents, part, strict=True):
        ent._.confidence = value
    reference = Doc(
        vocab,
        words=["Anna", "saw", "New-York", "."],
        spaces=[True, True, False, False],
        ents=["B-PER", "O", "B-LOC", "O"],
    )
    # Part of an entity is not the entity.
    assert summary(compare(Example(doc, reference), "ents")) == ([0.9, 0.6], [True, False], 2)
    doc.ents = [doc.ents[0], Span(doc, 2, 5, label="LOC")]
    doc.ents[1]._.confidence = 0.7
    assert summary(compare(Example(doc, reference), "ents")) == ([0.9, 0.7], [True, True], 2)


def test_tags_on_other_tokens_and_without_a_reference():
    nlp = trained(TAGS, "tags", passes=5, target="tag", **MADF)
    doc = nlp(Doc(nlp.vocab, words=["the", "dog", "sees", "a", "\n", "cat"]))
    reference = Doc(
        nlp.vocab, words=["the", "dog", "sees a", "\n", "cat"], tags=["DT", "NN", "VBZ", "", "X"]
    )
    comparison = compare(Example(doc, reference), "tag")
    at = comparison.spans[:, 0].tolist()
    assert 4 not in at  # white space
    assert {0, 1, 5} <= set(at)
    right = dict(zip(at, comparison.correct.tolist(), strict=True))
    assert (right[0], right[1], right[5]) == (True, True, False)
    assert comparison.confidence.tolist() == pytest.approx([doc[i]._.confidence for i in at])
    assert comparison.gold == 4


def test_tags_that_were_set_before_do_not_count():
    nlp = trained(TAGS, "tags", passes=5, target="tag", **MADF)
    text, tags = TAGS[0]
    doc = nlp(make_doc(nlp, text, tags=["DT", "", "", "", ""]))
    comparison = compare(Example(doc, make_doc(nlp, text, tags=tags.split())), "tag")
    assert comparison.spans[:, 0].tolist() == [1, 2, 3, 4]
    assert comparison.gold == 4


def test_span_group_that_was_changed_has_no_confidences():
    (eg,) = make_examples(nlp := spacy.blank("en"), ENTS[:1])
    eg.reference.spans["x"] = list(eg.reference.ents)
    doc = make_doc(nlp, ENTS[0][0])
    doc.spans["x"] = [Span(doc, 0, 2, label="PER"), Span(doc, 4, 5, label="PER")]
    doc.spans["x"].attrs["scores"] = np.array([0.5, 0.75], dtype=np.float32)
    eg.predicted = doc
    assert summary(compare(eg, "spans:x")) == ([0.5, 0.75], [True, False], 2)
    doc.spans["x"].append(Span(doc, 2, 3, label="PER"))
    assert summary(compare(eg, "spans:x")) == ([], [], 1)


def test_values_of_somebody_elses_attribute_do_not_count():
    (eg,) = make_examples(nlp := spacy.blank("en"), ENTS[:1])
    eg.predicted = predicted(nlp.vocab, ENTS[0][0], [(0, 2, "PER", "high")])
    assert "ents_ece" not in labeller_score([eg], target="ents")


@pytest.mark.parametrize("target", ["ents", "tag", "pos", "spans:x"])
def test_empty_documents_and_no_documents(target):
    nlp = spacy.blank("en")
    eg = Example(make_doc(nlp, ""), make_doc(nlp, ""))
    for examples in ([eg], []):
        scores = labeller_score(iter(examples), target=target)
        assert not any(key.endswith("ece") for key in scores)


def test_spacy_train_and_evaluate(tmp_path):
    corpus, config, out = tmp_path / "corpus.txt", tmp_path / "config.cfg", tmp_path / "out"
    corpus.write_text(columns(ENTS), encoding="utf8")
    text = CONFIG.format(target="ents", score="ents_f")
    block = '[components.local_tagger.learner]\n@misc = "spacy-nonlocal.MADF.v1"\n\n[corpora]'
    write_config(config, text.replace("[corpora]", block, 1))
    paths = ["--paths.train", corpus, "--paths.dev", corpus]
    run("train", config, "--output", out, *paths)
    meta = srsly.read_json(out / "model-last" / "meta.json")
    assert meta["performance"]["ents_f"] > 0
    data, metrics = tmp_path / "dev.spacy", tmp_path / "metrics.json"
    DocBin(
        docs=[eg.reference for eg in ColumnCorpus(corpus, ["orth", "ents"])(spacy.blank("en"))]
    ).to_disk(data)
    run("evaluate", out / "model-last", data, "-o", metrics)
    scores = srsly.read_json(metrics)
    assert 0 <= scores["ents_ece"] <= 1
    assert len(scores["ents_calibration"]) == 10
    trials = run("find-threshold", out / "model-last", data, "local_tagger", "threshold", "ents_f")
    assert "Threshold" in trials
