import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.features import attributes
from spacy_nonlocal.models.lattice import Move
from spacy_nonlocal.models.predictor import Predictor

from .toy import (
    DOCS,
    EDGES,
    NODES,
    UNSEEN,
    begin,
    documents,
    make_doc,
    make_shim,
    nlp,
    predicted_lattice,
    quick,
    random_paths,
    random_weights,
    rows_of,
    same_bits,
    trained_lattice,
)

EVERYTHING = [*DOCS, *UNSEEN[:2]]


def weighted(nodes=NODES, edges=EDGES, *, labels=3, seed=0, averaged=False, min_count=1):
    shim = begin(make_shim(nodes, edges, min_count=min_count), labels=labels, averaged=averaged)
    random_weights(shim, seed)
    return shim


def reloaded(shim):
    """The predictor that a saved model gives."""
    arrays = shim.predictor.state()
    return Predictor.from_state(shim.extractor, shim._transitions, arrays, "here")


# --- The same scores as in training, bit for bit -----------------------------------------------


@pytest.mark.parametrize("edges", [[], ["bias"], ["orth[0]"], EDGES])
@pytest.mark.parametrize("labels", [1, 3, 4, 9])
@pytest.mark.parametrize("min_count", [1, 2])
def test_trainer_and_predictor_agree(edges, labels, min_count):
    shim = weighted(edges=edges, labels=labels, min_count=min_count)
    for doc in EVERYTHING:
        assert same_bits(predicted_lattice(shim, doc), trained_lattice(shim, doc))


@quick
@given(
    st.lists(st.sampled_from([*NODES, "lower[3]", "tag[-3]", "is_title[0]"]), unique=True),
    st.lists(st.sampled_from([*EDGES, "form[-1]"]), unique=True),
    st.lists(documents, max_size=3),
    st.lists(documents, max_size=3),
    st.integers(1, 6),
)
def test_trainer_and_predictor_agree_whatever_the_templates(nodes, edges, train, test, labels):
    if not nodes and not edges:
        nodes = ["bias"]
    shim = begin(make_shim(nodes, edges), train, labels=labels, averaged=False)
    random_weights(shim, labels)
    for doc in [*train, *test]:
        lattice = trained_lattice(shim, doc)
        assert same_bits(predicted_lattice(shim, doc), lattice)
        assert same_bits(reloaded(shim).lattice(shim.encode(doc)), lattice)


def test_parts_of_documents():
    shim = weighted()
    sequence = shim.encode(DOCS[1])
    for start, end in ((0, 1), (0, 3), (2, 7), (6, 7)):
        part = sequence.part(start, end)
        trained = shim.trainer.lattice(shim.trainer.rows(part, learn=False))
        assert same_bits(shim.predictor.lattice(part), trained)


def test_forbidden_transitions():
    transitions = np.array([[True, True, False], [False, True, True], [True, False, True]])
    for edges in (["bias"], EDGES):
        shim = begin(make_shim(NODES, edges), transitions=transitions, averaged=False)
        random_weights(shim)
        for doc in EVERYTHING:
            assert same_bits(predicted_lattice(shim, doc), trained_lattice(shim, doc))


def test_an_empty_sequence():
    shim = weighted(edges=["bias"])
    lattice = predicted_lattice(shim, make_doc([]))
    assert same_bits(lattice, trained_lattice(shim, make_doc([])))
    assert lattice.node.shape == (0, 4)


def test_an_empty_sequence_with_edge_features():
    shim = weighted()
    assert predicted_lattice(shim, make_doc([])).edge.shape == (0, 3, 4)
    assert trained_lattice(shim, make_doc([])).edge.shape == (0, 3, 4)


# --- With the mean of the weights --------------------------------------------------------------


def test_prediction_uses_the_mean():
    shim = begin(make_shim())
    gold, guess = random_paths(np.random.default_rng(0), 5, 3)
    rows = rows_of(shim, DOCS[0])
    shim.learn(rows, Move(gold, guess, 1.0))
    once = shim.predictor.lattice(shim.encode(DOCS[0]))
    # The weights of the first example alone.
    assert same_bits(once, shim.trainer.lattice(rows))
    for _ in range(3):
        shim.learn(rows, None)
    # The same weights after each of four examples.
    assert same_bits(shim.predictor.lattice(shim.encode(DOCS[0])), once)
    shim.learn(rows, Move(guess, gold, 1.0))
    mean = shim.predictor.lattice(shim.encode(DOCS[0])).node[:, :3]
    assert np.allclose(mean, once.node[:, :3] * 4 / 5)
    assert not shim.trainer.lattice(rows).node[:, :3].any()


def test_later_learning_does_not_change_a_predictor():
    shim = begin(make_shim(), averaged=False)
    predictor = shim.predictor
    before = predictor.lattice(shim.encode(DOCS[0]))
    gold, guess = random_paths(np.random.default_rng(0), 5, 3)
    shim.learn(rows_of(shim, DOCS[0]), Move(gold, guess, 1.0))
    assert same_bits(predictor.lattice(shim.encode(DOCS[0])), before)
    assert not same_bits(predicted_lattice(shim, DOCS[0]), before)


# --- Words come and go -------------------------------------------------------------------------


def test_words_read_after_the_predictor_was_made():
    shim = weighted()
    for doc in EVERYTHING:
        predicted_lattice(shim, doc)
    many = make_doc([f"w{i}" for i in range(3000)])
    assert same_bits(predicted_lattice(shim, many), trained_lattice(shim, many))
    for doc in EVERYTHING:
        assert same_bits(predicted_lattice(shim, doc), trained_lattice(shim, doc))


@pytest.mark.parametrize("limit", [0, 1, 5, 12])
def test_a_small_table_of_words_changes_nothing(monkeypatch, limit):
    shim = weighted()
    want = [predicted_lattice(shim, doc) for doc in EVERYTHING]
    monkeypatch.setattr(attributes, "MAX_WORDS", limit)
    for _ in range(3):
        for doc, lattice in zip(EVERYTHING, want, strict=True):
            assert same_bits(predicted_lattice(shim, doc), lattice)


def test_a_memory_zone_changes_nothing():
    shim = weighted(["orth[-1..1]", "form[0]", "suffix2[0]", "lower[0]|lower[1]"])
    texts = ["Anna said new things", "Zqxy said Wvut", "the York"]
    want = [predicted_lattice(shim, nlp.make_doc(text)) for text in texts]
    fresh = weighted(["orth[-1..1]", "form[0]", "suffix2[0]", "lower[0]|lower[1]"])
    for _ in range(2):
        with nlp.memory_zone():
            for text, lattice in zip(texts, want, strict=True):
                assert same_bits(predicted_lattice(fresh, nlp.make_doc(text)), lattice)
    for text, lattice in zip(texts, want, strict=True):
        assert same_bits(predicted_lattice(fresh, nlp.make_doc(text)), lattice)


# --- State -------------------------------------------------------------------------------------


@pytest.mark.parametrize("edges", [[], ["bias"], ["orth[0]"], EDGES])
@pytest.mark.parametrize("labels", [1, 3, 5, 8])
def test_state_round_trip(edges, labels):
    shim = weighted(edges=edges, labels=labels)
    copy = reloaded(shim)
    for doc in EVERYTHING:
        assert same_bits(copy.lattice(shim.encode(doc)), predicted_lattice(shim, doc))
    state = copy.state()
    assert all(np.array_equal(array, state[name]) for name, array in shim.predictor.state().items())


def test_features_without_weights_are_not_saved():
    shim = weighted()
    for part in (shim.trainer.node, shim.trainer.edge):
        part.w[1::2] = 0
    state = shim.predictor.state()
    assert state["node.keys"].tolist() == shim.trainer.node.features.table.keys()[::2].tolist()
    assert state["edge.keys"].tolist() == shim.trainer.edge.features.table.keys()[::2].tolist()
    copy = reloaded(shim)
    for doc in EVERYTHING:
        assert same_bits(copy.lattice(shim.encode(doc)), trained_lattice(shim, doc))


def test_a_model_without_any_weight():
    shim = begin(make_shim())
    state = shim.predictor.state()
    assert len(state["node.keys"]) == 0
    # The label pair alone keeps its row.
    assert state["edge.keys"].tolist() == [shim.extractor.bias_key]
    copy = reloaded(shim)
    for doc in EVERYTHING:
        assert same_bits(copy.lattice(shim.encode(doc)), predicted_lattice(shim, doc))


def test_padding_is_not_saved():
    state = weighted(labels=5).predictor.state()
    assert state["node.mask"].shape[1] == 1
    assert state["edge.mask"].shape[1] == 4
    assert len(state["node.values"]) == 5 * len(state["node.keys"])
    assert len(state["edge.values"]) == 25 * len(state["edge.keys"])


@pytest.mark.parametrize("name", ["node", "edge"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(name, value):
    shim = weighted()
    getattr(shim.trainer, name).w[0, 1] = value
    with pytest.raises(ValueError, match="NL207.*'tagger'"):
        shim.predictor.check_finite("tagger")
    with pytest.raises(ValueError, match="NL205.*here"):
        reloaded(shim)


def test_finite_weights_pass():
    weighted().predictor.check_finite("tagger")
