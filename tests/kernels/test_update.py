import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.update import move_edges, move_nodes, squared_distance

from .oracles import Labelled, edge_counts, eighths, ints, labelled, node_counts, quick

NO_SUMS = np.zeros((0, 0))

steps = st.integers(-32, 32).map(lambda n: n / 8)
clocks = st.integers(0, 1000)


def move(kind, example, step, w, u, clock):
    """move_nodes or move_edges."""
    arguments = (example.rows, example.gold, example.guess, step, w, u, clock, example.n_labels)
    if kind == "nodes":
        move_nodes(*arguments)
    else:
        move_edges(*arguments, example.width)


def columns(kind, example):
    return example.width * (example.n_labels if kind == "edges" else 1)


def difference(kind, example, shape):
    """Φ(gold) - Φ(guess)"""
    if kind == "nodes":
        gold, guess = (node_counts(example.rows, y, shape) for y in (example.gold, example.guess))
    else:
        gold, guess = (
            edge_counts(example.rows, y, shape, example.width)
            for y in (example.gold, example.guess)
        )
    return gold - guess


both = pytest.mark.parametrize("kind", ["nodes", "edges"])


@both
@quick
@given(labelled(), steps, clocks, st.data())
def test_weights_move_by_the_difference_of_counts(kind, example, step, clock, data):
    shape = (example.n_rows, columns(kind, example))
    w = data.draw(eighths(shape))
    u = data.draw(eighths(shape)).astype(np.float64)
    delta = step * difference(kind, example, shape)
    w_want, u_want = w + delta, u + clock * delta
    move(kind, example, step, w, u, clock)
    # Multiples of 1/8: exact, to the last weight that must not change.
    assert np.array_equal(w, w_want)
    assert np.array_equal(u, u_want)


@both
@quick
@given(labelled(), steps)
def test_weights_without_averaging(kind, example, step):
    shape = (example.n_rows, columns(kind, example))
    w = np.zeros(shape, dtype=np.float32)
    move(kind, example, step, w, NO_SUMS, 7)
    assert np.array_equal(w, step * difference(kind, example, shape))


@both
@quick
@given(st.lists(st.tuples(labelled(n_rows=3, n_labels=3), steps), min_size=1, max_size=8))
def test_averaged_weights_equal_the_explicit_mean(kind, examples):
    width = 3 * (6 if kind == "edges" else 2)
    w, u = np.zeros((3, width), dtype=np.float32), np.zeros((3, width))
    after_each = []
    for clock, (example, step) in enumerate(examples):
        move(kind, example._replace(width=6), step, w, u, clock)
        after_each.append(w.astype(np.float64))
    mean = w - u / len(examples)
    np.testing.assert_allclose(mean, np.mean(after_each, axis=0), rtol=0, atol=1e-9)


def test_averaging_over_many_random_updates():
    # Sums are double precision: 3,000 examples with updates of any size.
    rng = np.random.default_rng(0)
    w, u, total = np.zeros((50, 4), dtype=np.float32), np.zeros((50, 4)), np.zeros((50, 4))
    n = 3000
    for clock in range(n):
        rows = rng.integers(-1, 50, size=(6, 5), dtype=np.int32)
        gold, guess = rng.integers(0, 3, size=(2, 6), dtype=np.int32)
        if rng.random() < 0.5:
            move_nodes(rows, gold, guess, rng.random(), w, u, clock, 3)
        total += w
    np.testing.assert_allclose(w - u / n, total / n, rtol=0, atol=1e-3)
    assert np.abs(total / n).max() > 5


@both
@quick
@given(labelled())
def test_squared_distance_is_that_of_the_counts(kind, example):
    shape = (example.n_rows, columns(kind, example))
    count = np.zeros(shape, dtype=np.float32)
    width = example.width if kind == "edges" else 0
    got = squared_distance(
        example.rows, example.gold, example.guess, count, example.n_labels, width
    )
    assert got == np.square(difference(kind, example, shape)).sum()
    assert not count.any()


def test_repeated_features_count_double():
    rows, gold, guess = ints([[0, 0], [0, -1]]), ints([1, 1]), ints([0, 0])
    w, count = np.zeros((1, 4), dtype=np.float32), np.zeros((1, 4), dtype=np.float32)
    move_nodes(rows, gold, guess, 1, w, NO_SUMS, 0, 2)
    assert w.tolist() == [[-3, 3, 0, 0]]
    assert squared_distance(rows, gold, guess, count, 2, 0) == 18


def test_edge_features_need_a_label_before():
    # One label differs, at position 1: the pairs that end and begin there fire, the start does not.
    rows, gold, guess = ints([[0], [1], [2], [3]]), ints([0, 1, 0, 0]), ints([0, 0, 0, 0])
    w, count = np.zeros((4, 8), dtype=np.float32), np.zeros((4, 8), dtype=np.float32)
    move_edges(rows, gold, guess, 1, w, NO_SUMS, 0, 2, 4)
    want = np.zeros((4, 8))
    want[1, 1] = want[2, 4] = 1  # 0 → 1, 1 → 0
    want[1, 0] = want[2, 0] = -1  # 0 → 0
    assert np.array_equal(w, want)
    assert squared_distance(rows, gold, guess, count, 2, 4) == 4


@both
def test_equal_labellings_change_nothing(kind):
    labels = ints([0, 1, 1])
    w, u = np.ones((1, 8), dtype=np.float32), np.ones((1, 8))
    arguments = (ints([[0], [0], [0]]), labels, labels)
    tail = (2, 4) if kind == "edges" else (2,)
    (move_edges if kind == "edges" else move_nodes)(*arguments, 5, w, u, 3, *tail)
    assert np.all(w == 1)
    assert np.all(u == 1)
    assert squared_distance(*arguments, w * 0, 2, 4 if kind == "edges" else 0) == 0


@pytest.mark.parametrize("length", [0, 1])
def test_lengths_zero_and_one(length):
    rows, gold, guess = (
        ints([[0]] * length).reshape(length, 1),
        ints([1] * length),
        ints([0] * length),
    )
    w, u = np.zeros((1, 8), dtype=np.float32), np.zeros((1, 8))
    move_edges(rows, gold, guess, 1, w, u, 3, 2, 4)
    assert not w.any()
    assert not u.any()
    assert squared_distance(rows, gold, guess, w, 2, 4) == 0
    assert squared_distance(rows, gold, guess, w, 2, 0) == 2 * length
    move_nodes(rows, gold, guess, 1, w, u, 3, 2)
    assert w[0, :2].tolist() == [-length, length]
    assert u[0, :2].tolist() == [-3 * length, 3 * length]


# --- What is refused ---------------------------------------------------------------------------

ROWS = ints([[0, -1], [1, 0], [2, 2]])
GOLD, GUESS = ints([1, 1, 0]), ints([0, 0, 0])


@pytest.fixture(params=["nodes", "edges", "node distance", "edge distance"])
def door(request):
    """One of the functions, with arguments that fit: 2 labels, width 4 unless told otherwise."""
    edges = request.param.startswith("edge")

    def call(rows=ROWS, gold=GOLD, guess=GUESS, w=None, columns=8 if edges else 2):
        w = np.zeros((3, columns), dtype=np.float32) if w is None else w
        if request.param == "nodes":
            move_nodes(rows, gold, guess, 1, w, NO_SUMS, 0, 2)
        elif request.param == "edges":
            move_edges(rows, gold, guess, 1, w, NO_SUMS, 0, 2, 4)
        else:
            squared_distance(rows, gold, guess, w, 2, 4 if edges else 0)

    call.columns = 8 if edges else 2
    return call


def test_fitting_arguments_are_accepted(door):
    door()


def test_labels_for_another_length(door):
    with pytest.raises(ValueError, match="NL608.*2 labels .* 3 tokens"):
        door(gold=ints([0, 1]))
    with pytest.raises(ValueError, match="NL608.*4 labels .* 3 tokens"):
        door(guess=ints([0, 1, 0, 1]))


@pytest.mark.parametrize("label", [-1, 2])
def test_unknown_label(door, label):
    with pytest.raises(ValueError, match=f"NL617.*Token 2 .* {label}, .* 2 labels"):
        door(gold=ints([0, 0, label]))
    with pytest.raises(ValueError, match=f"NL617.*Token 0 .* {label}, .* 2 labels"):
        door(guess=ints([label, 0, 0]))


@pytest.mark.parametrize("row", [-2, 3])
def test_row_out_of_range(door, row):
    w = np.zeros((3, 8), dtype=np.float32)
    with pytest.raises(ValueError, match=f"NL610.*Token 1 .* row {row}, .* 3 rows"):
        door(rows=ints([[0, 0], [0, row], [0, 0]]), w=w)
    assert not w.any()


def test_weights_too_narrow(door):
    with pytest.raises(ValueError, match=f"NL618.* {door.columns} columns"):
        door(columns=door.columns - 1)


@both
@pytest.mark.parametrize("shape", [(2, 8), (4, 8), (3, 7), (3, 9), (3, 0)])
def test_sums_of_another_shape(kind, shape):
    w, u = np.zeros((3, 8), dtype=np.float32), np.zeros(shape)
    example = Labelled(ROWS, GOLD, GUESS, 2, 4, 3)
    with pytest.raises(ValueError, match="NL618"):
        move(kind, example, 1, w, u, 1)
    assert not w.any()
    assert not u.any()


@pytest.mark.parametrize("width", [-4, 0, 3])
def test_edges_narrower_than_the_labels(width):
    # Label pairs would share columns, and the last ones lie outside of the row.
    rows, gold, guess = ints([[1], [1]]), ints([3, 3]), ints([0, 0])
    w = np.zeros((3, 12), dtype=np.float32)
    with pytest.raises(ValueError, match="NL6"):
        move_edges(rows, gold, guess, 1, w, NO_SUMS, 0, 4, width)
    assert not w.any()
    if width != 0:  # which stands for node features
        with pytest.raises(ValueError, match="NL6"):
            squared_distance(rows, gold, guess, w, 4, width)
