import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.kernels.update import (
    add_rows,
    clip_rows,
    gather,
    move_edges,
    move_nodes,
    squared_distance,
)

from .oracles import Labelled, edge_counts, eighths, floats, ints, labelled, node_counts, quick

NO_SUMS = np.zeros((0, 0))
NO_RATES = np.zeros((0, 0), dtype=np.float32)

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


# --- Whole rows --------------------------------------------------------------------------------

# All numbers are small multiples of 1/8: products of three and sums of a few are exact.


@quick
@given(st.data())
def test_gather_sums_beliefs_up(data):
    T, K, n, columns = (data.draw(st.integers(0, top)) for top in (6, 4, 4, 9))
    numbers = data.draw(hnp.arrays(np.int32, (T, K), elements=st.integers(-1, n - 1)))
    beliefs = data.draw(eighths((T, columns)))
    out = data.draw(eighths((n, columns)))
    want = out.copy()
    t, k = np.nonzero(numbers >= 0)
    np.add.at(want, numbers[t, k], beliefs[t])
    gather(numbers, beliefs, out)
    assert np.array_equal(out, want)


def test_gather_by_hand():
    # Feature 1 fires twice at one token; nobody has feature 2.
    out = np.ones((3, 2), dtype=np.float32)
    gather(ints([[1, 0, 1], [0, -1, -1]]), floats([[1, 2], [10, 20]]), out)
    assert out.tolist() == [[12, 23], [3, 5], [1, 1]]


@st.composite
def changes(draw, columns=None):
    """Distinct places among R rows, in any order, and a change for each."""
    R = draw(st.integers(0, 5))
    columns = draw(st.integers(0, 9)) if columns is None else columns
    places = ints(draw(st.lists(st.integers(0, R - 1), unique=True)) if R else [])
    return R, places, draw(eighths((len(places), columns)))


@quick
@given(changes(), steps, clocks, st.sampled_from(["none", "rows", "weights"]), st.data())
def test_add_rows(change, step, clock, kind, data):
    R, places, delta = change
    shape = (R, delta.shape[1])
    w, u = data.draw(eighths(shape)), data.draw(eighths(shape)).astype(np.float64)
    rates = {
        "none": NO_RATES,
        "rows": data.draw(eighths((R, 1))),
        "weights": data.draw(eighths(shape)),
    }[kind]
    moved = step * delta.astype(np.float64)
    if len(rates):
        moved *= rates[places]
    w_want, u_want, alone = w.copy(), u.copy(), w.copy()
    np.add.at(w_want, places, moved.astype(np.float32))
    np.add.at(u_want, places, clock * moved)
    # With sums for averaging and without.
    add_rows(places, delta, step, w, u, clock, rates)
    add_rows(places, delta, step, alone, NO_SUMS, clock, rates)
    assert np.array_equal(w, w_want)
    assert np.array_equal(u, u_want)
    assert np.array_equal(alone, w_want)


def test_add_rows_by_hand():
    places, delta = ints([2, 0]), floats([[1, 2], [3, 4]])
    w, u = np.zeros((3, 2), dtype=np.float32), np.zeros((3, 2))
    add_rows(places, delta, 0.5, w, u, 10, floats([[1], [100], [2]]))
    assert w.tolist() == [[1.5, 2], [0, 0], [1, 2]]
    assert u.tolist() == [[15, 20], [0, 0], [10, 20]]
    add_rows(places, delta, 0.5, w, u, 10, floats([[-1, 0], [100, 100], [-1, -1]]))
    assert w.tolist() == [[0, 2], [0, 0], [0.5, 1]]
    assert u.tolist() == [[0, 20], [0, 0], [5, 10]]


@quick
@given(st.lists(st.tuples(changes(columns=2), steps), min_size=1, max_size=8))
def test_added_rows_average_to_the_explicit_mean(history):
    w, u = np.zeros((5, 2), dtype=np.float32), np.zeros((5, 2))
    after_each = []
    for clock, ((_, places, delta), step) in enumerate(history):
        add_rows(places, delta, step, w, u, clock, NO_RATES)
        after_each.append(w.astype(np.float64))
    mean = w - u / len(history)
    np.testing.assert_allclose(mean, np.mean(after_each, axis=0), rtol=0, atol=1e-9)


# --- The cumulative L1 penalty -----------------------------------------------------------------


def pay(w, applied, total):
    """APPLYPENALTY of Tsuruoka et al. (2009), word for word: z, w, q and u are theirs. RETURNS: w and q."""
    z, q, u = w, applied, total
    if w > 0:
        w = max(0.0, w - (u + q))
    elif w < 0:
        w = min(0.0, w + (u - q))
    return w, q + w - z


@quick
@given(changes(), st.integers(0, 64), st.data())
def test_clip_rows(change, total, data):
    R, places, delta = change
    total /= 8
    shape = (R, delta.shape[1])
    w = data.draw(eighths(shape))
    # No weight has paid more than was due.
    applied = np.clip(data.draw(eighths(shape)), -total, total).astype(np.float32)
    w_want, applied_want = w.copy(), applied.copy()
    for place in np.ndindex(shape):
        if place[0] in places:
            w_want[place], applied_want[place] = pay(float(w[place]), applied[place], total)
    clip_rows(places, w, applied, total)
    assert np.array_equal(w, w_want)
    assert np.array_equal(applied, applied_want)
    # Nothing more is due.
    clip_rows(places, w, applied, total)
    assert np.array_equal(w, w_want)
    assert np.array_equal(applied, applied_want)


def test_clip_rows_by_hand():
    w = floats([[2, 0.5, 0, -0.5, -2], [9, 9, 9, 9, 9]])
    applied = np.zeros_like(w)
    clip_rows(ints([0]), w, applied, 1)
    assert w.tolist() == [[1, 0, 0, 0, -1], [9] * 5]
    assert applied.tolist() == [[-1, -0.5, 0, 0.5, 1], [0] * 5]
    # 0.5 more is due, and 0.5 that those at zero could not pay before.
    w[0] += floats([0, 2, 2, -2, 0])
    clip_rows(ints([0]), w, applied, 1.5)
    assert w.tolist() == [[0.5, 1, 0.5, -1, -0.5], [9] * 5]


penalties = st.integers(0, 8).map(lambda n: n / 8)


@quick
@given(st.lists(st.tuples(changes(columns=3), steps, penalties), min_size=1, max_size=12))
def test_paying_at_every_step_or_when_touched(history):
    w, applied, literal_w, literal_q = (np.zeros((5, 3), dtype=np.float32) for _ in range(4))
    moved, total = np.zeros((5, 3)), 0.0
    for (_, places, delta), step, penalty in history:
        total += penalty
        # Lazily: only those that move, with all that has become due since they last did.
        add_rows(places, delta, step, w, NO_SUMS, 0, NO_RATES)
        clip_rows(places, w, applied, total)
        # At every step, all of them.
        literal_w[places] += np.float32(step) * delta
        for place in np.ndindex(literal_w.shape):
            literal_w[place], literal_q[place] = pay(
                float(literal_w[place]), literal_q[place], total
            )
        moved[places] += step * delta
        assert np.array_equal(w[places], literal_w[places])
    clip_rows(np.arange(5, dtype=np.int32), w, applied, total)
    assert np.array_equal(w, literal_w)
    assert np.array_equal(applied, literal_q)
    # A weight minus what it has paid is the sum of its moves, so that all steps make one: those
    # who would owe more than they have moved are at zero.
    assert np.array_equal(w, np.sign(moved) * np.maximum(0, np.abs(moved) - total))


def test_many_small_penalties_add_up():
    # Each is less than half of what floats of this size can tell apart.
    w, applied = floats([[32, -32]]), np.zeros((1, 2), dtype=np.float32)
    n, penalty = 20_000, 7e-7
    for i in range(n):
        clip_rows(ints([0]), w, applied, (i + 1) * penalty)
    np.testing.assert_allclose(w, [[32 - n * penalty, n * penalty - 32]], rtol=0, atol=1e-5)


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


def matrix(*shape):
    return np.zeros(shape, dtype=np.float32)


@pytest.mark.parametrize("n", [0, 2, 4])
def test_beliefs_for_another_length(n):
    out = matrix(3, 2)
    with pytest.raises(ValueError, match=f"NL608.*{n} beliefs .* 3 tokens"):
        gather(ROWS, matrix(n, 2) + 1, out)
    assert not out.any()


@pytest.mark.parametrize("row", [-2, 3, 2**31 - 1])
def test_gather_for_unknown_features(row):
    out = matrix(3, 2)
    with pytest.raises(ValueError, match=f"NL610.*Token 1 .* row {row}, .* 3 rows"):
        gather(ints([[0, 0], [0, row], [0, 0]]), matrix(3, 2) + 1, out)
    assert not out.any()


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_gather_into_other_columns(columns):
    out = matrix(3, columns)
    with pytest.raises(ValueError, match=rf"NL623.*weights .*\(3, {columns}\).* 2 columns"):
        gather(ROWS, matrix(3, 2) + 1, out)
    assert not out.any()


def call_add_rows(places=(2, 0), change=(2, 4), w=(3, 4), u=(3, 4), rates=(0, 0)):
    """Arguments that fit, but for the shapes given. Nothing may be written if one does not."""
    w, u = matrix(*w), np.zeros(u)
    try:
        add_rows(ints(places), matrix(*change) + 1, 1, w, u, 1, matrix(*rates) + 1)
    except ValueError:
        assert not w.any()
        assert not u.any()
        raise


@pytest.mark.parametrize("u", [(3, 4), (0, 0)])
@pytest.mark.parametrize("rates", [(0, 0), (3, 1), (3, 4)])
def test_fitting_rows_are_accepted(u, rates):
    call_add_rows(u=u, rates=rates)
    call_add_rows(places=(), change=(0, 4), u=u, rates=rates)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_another_number_of_changes(n):
    with pytest.raises(ValueError, match=f"NL608.*{n} changes .* 2 "):
        call_add_rows(change=(n, 4))


@pytest.mark.parametrize("place", [-(2**31), -1, 3, 2**31 - 1])
def test_place_out_of_range(place):
    message = f"NL610.* row {place}, .* 3 rows"
    with pytest.raises(ValueError, match=message):
        call_add_rows(places=(0, place))
    w, applied = matrix(3, 4) + 1, matrix(3, 4)
    with pytest.raises(ValueError, match=message):
        clip_rows(ints([0, place]), w, applied, 1)
    assert (w == 1).all()
    assert not applied.any()


def test_places_among_no_weights():
    with pytest.raises(ValueError, match="NL610.* 0 rows"):
        call_add_rows(w=(0, 4), u=(0, 0))
    with pytest.raises(ValueError, match="NL610.* 0 rows"):
        clip_rows(ints([0]), matrix(0, 4), matrix(0, 4), 1)


@pytest.mark.parametrize("columns", [0, 3, 5])
def test_changes_with_other_columns(columns):
    with pytest.raises(ValueError, match=rf"NL623.*weights .*\(3, 4\).* {columns} columns"):
        call_add_rows(change=(2, columns))


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3, 3), (3, 5), (3, 0)])
def test_sums_for_other_rows(shape):
    with pytest.raises(ValueError, match="NL618"):
        call_add_rows(u=shape)


@pytest.mark.parametrize("shape", [(2, 1), (2, 4), (3, 0), (3, 2), (3, 5)])
def test_rates_for_other_rows(shape):
    with pytest.raises(ValueError, match=rf"NL623.*rates .*\({shape[0]}, {shape[1]}\).* 4 columns"):
        call_add_rows(rates=shape)


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3, 3), (3, 5), (0, 0)])
def test_penalties_for_other_rows(shape):
    w = matrix(3, 4) + 1
    with pytest.raises(ValueError, match=rf"NL623.*penalties .*\({shape[0]}, {shape[1]}\)"):
        clip_rows(ints([0]), w, matrix(*shape), 1)
    assert (w == 1).all()
