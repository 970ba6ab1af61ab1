"""`nbest`: the best labellings of a document."""

from itertools import product

import numpy as np
import pytest

from spacy_nonlocal.analyses import best_sums

from .util import ENTS, NAME, TAGS, label, learner, make_doc, tags, trained

MADF = learner("MADF", l2=0.1, alpha=10.0)
TEXT = "Anna went to Rome ."


def tagger_of(nlp):
    return nlp.get_pipe(NAME)


def as_text(analysis):
    return [(span.text, span.label_) for span in analysis.annotations]


@pytest.mark.parametrize("config", [MADF, learner("AveragedPerceptron")], ids=["MADF", "AP"])
@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "IO"])
def test_the_best_is_what_is_predicted(config, scheme):
    nlp = trained(ENTS, scheme=scheme, **config)
    for text, _ in ENTS:
        best, *others = tagger_of(nlp).nbest(make_doc(nlp, text), 5)
        doc = label(nlp, text)
        assert as_text(best) == [(ent.text, ent.label_) for ent in doc.ents]
        assert all(best.score >= other.score for other in others)


def test_documents_are_not_changed():
    nlp = trained(ENTS, **MADF)
    doc = make_doc(nlp, TEXT)
    before = doc.to_bytes()
    tagger_of(nlp).nbest(doc, 3)
    assert doc.to_bytes() == before


@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "IO"])
def test_all_labellings_of_a_short_document(scheme):
    """With n large enough all legal labellings come, once each, and their probabilities add up to 1."""
    nlp = trained(ENTS, scheme=scheme, **MADF)
    tagger = tagger_of(nlp)
    analyses = tagger.nbest(make_doc(nlp, "Anna left Rome"), 100_000)
    probabilities = [each.probability for each in analyses]
    assert sum(probabilities) == pytest.approx(1, abs=1e-5)
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({tuple(each.labels.tolist()) for each in analyses}) == len(analyses)
    # Marginals are sums over them.
    table = np.zeros((3, len(tagger.label_names)))
    for each in analyses:
        table[np.arange(3), each.labels] += each.probability
    marginals = tagger.marginals(make_doc(nlp, "Anna left Rome"))
    np.testing.assert_allclose(table, marginals, atol=1e-5)


def test_confidence_is_a_sum_over_labellings():
    nlp = trained(ENTS, **MADF)
    for ent in label(nlp, TEXT).ents:
        analyses = tagger_of(nlp).nbest(make_doc(nlp, TEXT), 100_000)
        with_it = [
            each.probability
            for each in analyses
            if (ent.start, ent.end, ent.label_)
            in {(span.start, span.end, span.label_) for span in each.annotations}
        ]
        assert sum(with_it) == pytest.approx(ent._.confidence, abs=1e-5)


def test_tags():
    nlp = trained(TAGS, "tags", target="tag", **MADF)
    text = TAGS[0][0]
    best, second = tagger_of(nlp).nbest(make_doc(nlp, text), 2)
    assert " ".join(best.annotations) == tags(label(nlp, text))
    assert best.annotations != second.annotations


def test_sentences():
    """The n best of a document are combinations of those of its sentences."""
    nlp = trained(ENTS, **MADF)
    tagger = tagger_of(nlp)
    tagger.cfg["unit"] = "sent"

    def cut():
        doc = make_doc(nlp, "Anna left Rome")
        for token in doc:
            token.is_sent_start = token.i in (0, 2)
        return doc

    analyses = tagger.nbest(cut(), 100_000)
    assert sum(each.probability for each in analyses) == pytest.approx(1, abs=1e-5)
    assert len({tuple(each.labels.tolist()) for each in analyses}) == len(analyses)
    few = tagger.nbest(cut(), 4)
    assert [each.score for each in few] == [each.score for each in analyses[:4]]
    # Nothing goes on across a boundary.
    inside = [i for i, name in enumerate(tagger.label_names) if name.startswith("I-")]
    assert not any(each.labels[2] in inside for each in analyses)


def test_perceptrons_have_scores_but_no_probabilities():
    nlp = trained(ENTS, **learner("Perceptron"))
    analyses = tagger_of(nlp).nbest(make_doc(nlp, TEXT), 3)
    assert [each.probability for each in analyses] == [None] * 3


def test_entities_that_are_set_stay():
    nlp = trained(ENTS, **MADF)
    doc = make_doc(nlp, TEXT)
    doc.set_ents([doc.char_span(0, 4, label="LOC")], default="missing")
    for each in tagger_of(nlp).nbest(doc, 50):
        assert ("Anna", "LOC") in as_text(each)


@pytest.mark.parametrize("n", [0, -3])
def test_none_asked_for(n):
    nlp = trained(ENTS, **MADF)
    with pytest.raises(ValueError, match=r"NL425.*'local_tagger'"):
        tagger_of(nlp).nbest(make_doc(nlp, TEXT), n)


def test_more_than_memory_holds():
    nlp = trained(ENTS, **MADF)
    with pytest.raises(ValueError, match=r"NL419.*'local_tagger'.*NL625.*ask for at most"):
        tagger_of(nlp).nbest(make_doc(nlp, " ".join(["Anna"] * 50)), 10**15)


def test_empty_document():
    nlp = trained(ENTS, **MADF)
    (only,) = tagger_of(nlp).nbest(make_doc(nlp, ""), 5)
    assert (only.score, only.probability, only.annotations) == (0, 1, [])


def test_best_sums():
    lists = [np.array(values) for values in ([5.0, 1.0], [3.0, 2.5, 0.0], [1.0], [2.0, 1.5])]
    every = product(*(range(len(values)) for values in lists))
    want = sorted((sum(v[i] for v, i in zip(lists, c, strict=True)) for c in every), reverse=True)
    for n in (1, 2, 5, 12, 100):
        got = best_sums(lists, n)
        assert [total for total, _ in got] == want[:n]
        assert len({chosen for _, chosen in got}) == len(got)
        for total, chosen in got:
            assert total == sum(v[i] for v, i in zip(lists, chosen, strict=True))
    assert best_sums([], 3) == [(0.0, ())]
