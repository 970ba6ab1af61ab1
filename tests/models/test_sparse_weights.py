import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.models.feature_table import FeatureTable
from spacy_nonlocal.models.lattice import Move
from spacy_nonlocal.models.rules import Rule
from spacy_nonlocal.models.sparse_weights import SparseWeights

from .toy import (
    DOCS,
    UNSEEN,
    begin,
    by_feature,
    claim_all,
    make_doc,
    make_shim,
    quick,
    random_paths,
    rows_of,
)

COLUMNS = 4


def make(n=0, *, averaged=True):
    """Weights for features with the keys 100, 101, …."""
    part = SparseWeights(FeatureTable(1), COLUMNS, Rule(averaged))
    know(part, n)
    return part


def know(part, n):
    part.features.add(np.arange(100, 100 + n, dtype=np.uint64))


def line(*rows):
    return np.array([rows], dtype=np.int32)


def claim(part, *rows):
    part.claim(line(*rows), np.ones(1, dtype=bool))


def fill(part, seed=0):
    """Give weights and sums to all places."""
    rng = np.random.default_rng(seed)
    part.w[: part.used] = rng.normal(size=(part.used, COLUMNS))
    if part.averaged:
        part.u[: part.used] = rng.normal(size=(part.used, COLUMNS))


def reloaded(part):
    arrays = {f"x.{name}": array for name, array in part.state().items()}
    return SparseWeights.from_state(arrays, "x", part.columns, part.rule, 1, "here")


both = pytest.mark.parametrize("averaged", [True, False])

# --- Who has weights ---------------------------------------------------------------------------


@both
def test_features_that_are_only_known_cost_nothing(averaged):
    part = make(1000, averaged=averaged)
    assert part.places(line(0, 7, 999, -1)).tolist() == [[-1, -1, -1, -1]]
    assert part.used == part.w.size == part.u.size == 0
    assert len(part.keys()) == len(part.mean(3, 0.0)) == 0
    where, weights = part.mean_of(line(0, 7, -1), 3, 0.0)
    assert where.tolist() == [[-1, -1, -1]]
    assert weights.shape == (0, COLUMNS)
    state = part.state()
    assert not any(state[name].size for name in ("rows", "w.mask", "w.values", "u.mask"))


def test_places_are_given_in_order_of_need():
    part = make(10)
    claim(part, 7, -1, 2, 7)
    assert part.places(line(2, 7, 0, -1)).tolist() == [[1, 0, -1, -1]]
    claim(part, 0, 2)
    assert part.places(line(2, 7, 0, -1)).tolist() == [[1, 0, 2, -1]]
    assert part.keys().tolist() == [107, 102, 100]
    assert part.used == 3


def test_only_tokens_that_are_wanted():
    part = make(4)
    part.claim(np.array([[0], [1], [2]], dtype=np.int32), np.array([False, True, False]))
    assert part.keys().tolist() == [101]


def test_a_row_that_no_feature_has():
    part = make(3)
    for call in (part.places, part.distinct, lambda rows: part.claim(rows, np.ones(1, dtype=bool))):
        with pytest.raises(ValueError, match="NL610"):
            call(line(3))
    assert part.used == 0


@quick
@given(st.lists(st.tuples(st.integers(0, 5), st.lists(st.integers(0, 40), max_size=5))))
def test_weights_as_in_a_dictionary(steps):
    """The table grows, features get places, and weights move, in any order."""
    part, want, n = make(), {}, 0
    for grow, chosen in steps:
        n += grow
        know(part, n)
        rows = [row for row in chosen if row < n]
        claim(part, *rows)
        for row in rows:
            (place,) = part.places(line(row))[0]
            part.w[place] += row + 1
            part.u[place] += 2
            w, u = want.get(row, (0, 0))
            want[row] = w + row + 1, u + 2
        assert part.keys().tolist() == [100 + row for row in want]
        assert part.used == len(want) <= len(part.w) == len(part.u)
        assert part.w[: part.used].tolist() == [[w] * COLUMNS for w, _ in want.values()]
        assert part.u[: part.used].tolist() == [[u] * COLUMNS for _, u in want.values()]
        assert not part.w[part.used :].any()
        assert not part.u[part.used :].any()
        assert part.mean(4, 0.0).tolist() == [[w - u / 4] * COLUMNS for w, u in want.values()]
        everything = np.array([[*range(n), -1]], dtype=np.int32)
        where, weights = part.mean_of(everything, 4, 0.0)
        for row, at in zip(everything[0].tolist(), where[0].tolist(), strict=True):
            if row in want:
                assert weights[at, 0] == want[row][0] - want[row][1] / 4
            else:
                assert at == -1
        assert len(weights) == len(want)


# --- Growth ------------------------------------------------------------------------------------


@both
def test_growth_keeps_weights(averaged):
    part = make(5, averaged=averaged)
    claim(part, 4, 1)
    fill(part)
    w, u = part.w[:2].copy(), part.u[:2].copy()
    know(part, 3000)
    claim_all(part)
    assert part.used == 3000 <= len(part.w)
    assert part.keys()[:5].tolist() == [104, 101, 100, 102, 103]
    assert part.w[:2].tobytes() == w.tobytes()
    assert part.u[:2].tobytes() == u.tobytes()
    assert not part.w[2:].any()
    assert not part.u[2:].any()
    assert (part.w.dtype, part.u.dtype) == (np.float32, np.float64)
    assert part.w.flags.c_contiguous
    assert part.u.flags.c_contiguous
    assert part.u.shape == ((len(part.w), COLUMNS) if averaged else (0, 0))


def test_sums_of_weights_grow_with_them():
    part = make(10)
    claim(part, 3)
    part.w[0] = 1
    total = part.add_to(np.zeros((0, COLUMNS)))
    claim(part, 8, 0)
    part.w[1] = 5
    total = part.add_to(total)
    assert total.dtype == np.float64
    assert total[: part.used, 0].tolist() == [2, 5, 0]
    assert len(total) == len(part.w)
    assert part.w[:3, 0].tolist() == [1, 5, 0]


@both
def test_reset_keeps_places(averaged):
    part = make(10, averaged=averaged)
    claim(part, 3, 1)
    fill(part)
    part.reset()
    assert not part.w.any()
    assert not part.u.any()
    assert part.keys().tolist() == [103, 101]


def test_distinct_needs_no_places():
    part = make(4)
    rows = np.array([[3, -1], [1, 3]], dtype=np.int32)
    for _ in range(2):
        numbers, features = part.distinct(rows)
        assert (numbers.tolist(), features.tolist()) == ([[0, -1], [1, 0]], [3, 1])
    assert part.used == 0
    know(part, 50)
    numbers, features = part.distinct(line(49, 3, 49))
    assert (numbers.tolist(), features.tolist()) == ([[0, 1, 0]], [49, 3])


# --- State -------------------------------------------------------------------------------------


@both
@quick
@given(chosen=st.lists(st.integers(0, 19), max_size=12), seed=st.integers(0, 9))
def test_the_order_of_places_survives(averaged, chosen, seed):
    part = make(20, averaged=averaged)
    claim(part, *chosen)
    fill(part, seed)
    copy = reloaded(part)
    order = list(dict.fromkeys(chosen))
    assert part.state()["rows"].tolist() == order
    assert copy.keys().tolist() == part.keys().tolist() == [100 + row for row in order]
    assert copy.used == part.used == len(order)
    for name in ("w", "u"):
        a, b = getattr(part, name)[: part.used], getattr(copy, name)
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    assert np.array_equal(by_feature(part), by_feature(copy))
    # Both go on in the same way.
    for each in (part, copy):
        know(each, 30)
        claim(each, 25, 3, 0, 29)
        fill(each, seed + 1)
    a, b = part.state(), copy.state()
    assert {name: x.tobytes() for name, x in a.items()} == {
        name: x.tobytes() for name, x in b.items()
    }


@pytest.mark.parametrize("name", ["w", "u"])
def test_a_state_that_is_not_finite(name):
    part = make(3)
    claim(part, 2)
    getattr(part, name)[0, 1] = np.inf
    with pytest.raises(ValueError, match="NL205.*here"):
        reloaded(part)


# --- In a model --------------------------------------------------------------------------------


def test_a_model_has_weights_only_for_what_was_moved():
    shim = begin(make_shim())
    trainer = shim.trainer
    rng, moved = np.random.default_rng(0), (set(), {0})
    for doc in [*DOCS[:2], DOCS[3], UNSEEN[0]]:
        rows = trainer.rows(shim.encode(doc), learn=True)
        gold, _ = random_paths(rng, len(doc), 3)
        guess = gold.copy()
        wrong = len(doc) // 2
        guess[wrong] = (gold[wrong] + 1) % 3
        shim.learn(rows, Move(gold, guess, 1.0))
        moved[0].update(rows.node[wrong].tolist())
        # A label is part of the pair before it and of the pair after it.
        moved[1].update(rows.edge[wrong : wrong + 2].ravel().tolist())
    for part, rows in zip((trainer.node, trainer.edge), moved, strict=True):
        assert {*part.state()["rows"].tolist()} == rows
        assert 0 < part.used == len(rows) < len(part.features)
        assert (part.w[: part.used] != 0).any(axis=1).all()
    predictor = shim.predictor
    assert len(predictor.node_table) == len(predictor.node_weights) == trainer.node.used
    assert len(predictor.edge_table) == len(predictor.edge_weights) == trainer.edge.used


@pytest.mark.parametrize("words", [["Lee"], ["Lee", "said"]])
def test_no_pair_ends_at_the_first_token(words):
    shim = begin(make_shim())
    doc = make_doc(words)
    gold, guess = np.zeros(len(doc), dtype=np.int32), np.zeros(len(doc), dtype=np.int32)
    guess[0] = 1
    rows = rows_of(shim, doc)
    assert (rows.edge[0] > 0).any()
    shim.learn(rows, Move(gold, guess, 1.0))
    want = {0, *rows.edge[1:].ravel().tolist()} - {-1}
    assert {*shim.trainer.edge.state()["rows"].tolist()} == want


def test_nothing_moves_where_the_guess_is_right():
    shim = begin(make_shim())
    gold = np.zeros(5, dtype=np.int32)
    shim.learn(rows_of(shim, DOCS[0]), Move(gold, gold, 1.0))
    assert (shim.trainer.node.used, shim.trainer.edge.used) == (0, 1)
    assert shim.trainer.edge.keys().tolist() == [shim.extractor.bias_key]


def test_scores_and_distances_claim_nothing():
    shim = begin(make_shim())
    trainer = shim.trainer
    for doc in [*DOCS, make_doc(["never", "seen"])]:
        rows = trainer.rows(shim.encode(doc), learn=True)
        gold, guess = random_paths(np.random.default_rng(1), len(doc), 3)
        trainer.lattice(rows)
        trainer.mean_lattice(rows)
        trainer.distance(rows, gold, guess)
    assert (trainer.node.used, trainer.edge.used) == (0, 1)
    assert (trainer.node.w.size, len(trainer.edge.w)) == (0, 1)
