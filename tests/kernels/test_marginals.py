import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nonlocal.kernels.marginals import log_partition, marginals

from .oracles import (
    INF,
    beliefs,
    bits,
    floats,
    forward64,
    labellings,
    lattices,
    log_sum_exp,
    path_scores,
    quick,
    tilted,
    unlikeliest_position,
)

# Below this, a position is done with logarithms; see marginals.pyx.
SMALL = 1e-30
# A tilt that takes any of our lattices far below.
TILT = 512

# For properties that enumeration has tested already, seen from another side.
few = settings(quick, max_examples=80)


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def near(value):
    """Double precision, for log Z of up to a few thousand."""
    return pytest.approx(value, rel=1e-12, abs=1e-10)


def agree_with_enumeration(node, edge):
    T, L = len(node), edge.shape[1]
    log_z = log_sum_exp(path_scores(node, edge, labellings(T, L)))
    if log_z == -INF:
        message = f"NL616.* {T} tokens .*got -inf"
        with pytest.raises(ValueError, match=message):
            log_partition(node, edge)
        with pytest.raises(ValueError, match=message):
            marginals(node, edge)
        return
    got, labels, pairs = marginals(node, edge)
    assert got == log_partition(node, edge) == near(log_z)
    want_labels, want_pairs = beliefs(node, edge)
    if len(edge) != T:
        want_pairs = want_pairs.sum(axis=0, keepdims=True)
    assert labels.shape == node.shape
    assert pairs.shape == edge.shape
    assert labels.dtype == pairs.dtype == np.float32
    np.testing.assert_allclose(labels, want_labels, rtol=0, atol=1e-6)
    np.testing.assert_allclose(pairs, want_pairs, rtol=0, atol=1e-6)


# --- All labellings of small lattices ----------------------------------------------------------


@quick
@given(lattices())
def test_beliefs_of_all_labellings(lattice):
    assert unlikeliest_position(*lattice) > SMALL
    agree_with_enumeration(*lattice)


@quick
@given(lattices(masks=True))
def test_beliefs_of_the_legal_labellings(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(exact=False))
def test_huge_scores(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(exact=False, masks=True))
def test_huge_scores_of_the_legal_labellings(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(least=2), st.integers(0, 1))
def test_beliefs_with_logarithms(lattice, label):
    lattice = tilted(*lattice, label, TILT)
    assert unlikeliest_position(*lattice) < SMALL
    agree_with_enumeration(*lattice)


@quick
@given(lattices(masks=True, least=2), st.integers(0, 1))
def test_legal_labellings_with_logarithms(lattice, label):
    agree_with_enumeration(*tilted(*lattice, label, TILT))


@quick
@given(lattices(least=2), st.integers(0, 1))
def test_products_and_logarithms_believe_the_same(lattice, label):
    # Here nothing else differs: all labellings keep their scores, to the last bit.
    products = marginals(*lattice)
    logarithms = marginals(*tilted(*lattice, label, TILT))
    assert products[0] == near(logarithms[0])
    for one, other in zip(products[1:], logarithms[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-30)


def test_huge_scores_take_both_ways():
    # What hypothesis draws for the tests above is not in our hands; this is.
    mild, harsh = floats([[999, -999], [1000, -1000]]), floats([[999, -999], [-1000, 1000]])
    assert unlikeliest_position(mild, zeros(1, 2, 2)) > SMALL
    agree_with_enumeration(mild, zeros(1, 2, 2))
    edge = floats([[[0, -1000], [-1000, 0]]])
    assert unlikeliest_position(harsh, edge) < SMALL
    agree_with_enumeration(harsh, edge)


@pytest.mark.parametrize("share", [2e-30, 0.5e-30])
def test_around_the_border_of_the_two_ways(share):
    # One label, from which everything else leads to is better: the share is that of the only edge.
    edge = floats([[[np.log(share), -INF], [0, 0]]])
    node = floats([[0, -INF], [0, 0], [0, -1]])
    assert (unlikeliest_position(floats([[0, -200], [0, 0]]), edge) > SMALL) == (share > SMALL)
    agree_with_enumeration(node, edge)
    agree_with_enumeration(node, np.repeat(edge, 3, axis=0))


# --- What beliefs have in common ---------------------------------------------------------------


@few
@given(lattices(), st.booleans(), st.integers(0, 3))
def test_beliefs_add_up(lattice, tilt, label):
    node, edge = lattice
    T, L = len(node), edge.shape[1]
    if tilt:
        node, edge = tilted(node, edge, label % L, TILT)
    _, labels, pairs = marginals(node, edge)
    np.testing.assert_allclose(labels.sum(axis=1), 1, rtol=0, atol=1e-6)
    # Padding is no label.
    assert not labels[:, L:].any()
    assert not pairs[:, :, L:].any()
    if len(edge) == T:
        assert not pairs[0].any()
        np.testing.assert_allclose(pairs[1:].sum(axis=2), labels[:-1, :L], rtol=0, atol=1e-6)
        np.testing.assert_allclose(pairs[1:].sum(axis=1), labels[1:], rtol=0, atol=1e-6)
    else:
        before, after = labels[:-1, :L].sum(axis=0), labels[1:].sum(axis=0)
        np.testing.assert_allclose(pairs[0].sum(axis=1), before, rtol=0, atol=2e-6)
        np.testing.assert_allclose(pairs[0].sum(axis=0), after, rtol=0, atol=2e-6)


def slopes(node, edge, array):
    """∂ log Z / ∂ array, which is one of the two, from central differences."""
    # 2^-10 added to a multiple of 1/8 is exact.
    step, out = np.float32(2**-10), np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        score = array[place]
        if score == -INF:
            continue
        array[place] = score + step
        above = log_partition(node, edge)
        array[place] = score - step
        below = log_partition(node, edge)
        array[place] = score
        out[place] = (above - below) / (2 * step)
    return out


@few
@given(lattices(), st.booleans())
def test_beliefs_are_the_gradient(lattice, tilt):
    node, edge = tilted(*lattice, 0, TILT) if tilt else lattice
    _, labels, pairs = marginals(node, edge)
    np.testing.assert_allclose(labels, slopes(node, edge, node), rtol=0, atol=2e-6)
    np.testing.assert_allclose(pairs, slopes(node, edge, edge), rtol=0, atol=2e-6)


@few
@given(lattices(), st.data())
def test_clamped_labels(lattice, data):
    node, edge = lattice
    T, L = len(node), edge.shape[1]
    allowed = data.draw(
        st.lists(st.sets(st.integers(0, L - 1), min_size=1), min_size=T, max_size=T)
    )
    clamped = np.full_like(node, -INF)
    for t, labels in enumerate(allowed):
        clamped[t, list(labels)] = node[t, list(labels)]
    paths = [path for path in labellings(T, L) if all(y in allowed[t] for t, y in enumerate(path))]
    log_z = log_partition(clamped, edge)
    assert log_z == near(log_sum_exp(path_scores(node, edge, np.array(paths))))
    assert log_z <= log_partition(node, edge) + 1e-12


@few
@given(lattices(), st.data())
def test_belief_is_what_clamping_leaves(lattice, data):
    node, edge = lattice
    t = data.draw(st.integers(0, len(node) - 1))
    y = data.draw(st.integers(0, edge.shape[1] - 1))
    log_z, labels, _ = marginals(node, edge)
    clamped = node.copy()
    clamped[t] = -INF
    clamped[t, y] = node[t, y]
    assert labels[t, y] == pytest.approx(np.exp(log_partition(clamped, edge) - log_z), abs=1e-6)


@few
@given(lattices(masks=True))
def test_pairs_that_are_not_wanted(lattice):
    node, edge = lattice
    try:
        log_z, labels, _ = marginals(node, edge)
    except ValueError:
        with pytest.raises(ValueError, match="NL616"):
            marginals(node, edge, pairs=False)
        return
    again, same, none = marginals(node, edge, pairs=False)
    assert again == log_z
    assert np.array_equal(bits(same), bits(labels))
    assert none.shape == (0, *edge.shape[1:])


# --- The exponential function ------------------------------------------------------------------


def test_two_labels_of_any_distance():
    for distance in np.arange(0, 800, 0.37, dtype=np.float32):
        want = np.logaddexp(0, -float(distance))
        assert log_partition(floats([[0, -distance]]), zeros(1, 2, 2)) == pytest.approx(
            want, rel=0, abs=1e-13
        )
        assert log_partition(floats([[0, distance]]), zeros(1, 2, 2)) == pytest.approx(
            want + distance, rel=1e-14, abs=1e-13
        )


def test_small_beliefs_have_all_digits_of_a_float():
    distances = np.arange(0, 87, 0.37, dtype=np.float32)
    node = np.stack([distances * 0, -distances], axis=1)
    _, labels, _ = marginals(node, zeros(1, 2, 2))
    want = 1 / (1 + np.exp(distances.astype(np.float64)))
    np.testing.assert_allclose(labels[:, 1], want, rtol=2e-7)


@pytest.mark.parametrize("score", [-3e38, -1e6, 1e6, 3e38])
def test_scores_as_large_as_floats_are(score):
    node = floats([[score, score], [-score, 0]])
    log_z, labels, _ = marginals(node, zeros(1, 2, 2))
    best = max(-score, 0) + score
    assert log_z == pytest.approx(best + np.log(2), rel=1e-7)
    np.testing.assert_allclose(labels, [[0.5, 0.5], [score < 0, score > 0]], rtol=0, atol=1e-6)


# --- By hand, and short ------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("width", [3, 4, 6, 8])
def test_all_labels_alike(width, steps):
    node = np.full((3, width), -INF, dtype=np.float32)
    node[:, :3] = 1
    log_z, labels, pairs = marginals(node, np.full((steps, 3, width), 2, dtype=np.float32))
    assert log_z == near(3 + 2 * 2 + 3 * np.log(3))
    np.testing.assert_allclose(labels[:, :3], 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(pairs.sum(axis=0)[:, :3], 2 / 9, rtol=1e-6)


@pytest.mark.parametrize("tables", [0, 1])
def test_no_tokens(tables):
    node, edge = zeros(0, 4), zeros(tables, 2, 4)
    assert log_partition(node, edge) == 0
    log_z, labels, pairs = marginals(node, edge)
    assert log_z == 0
    assert labels.shape == (0, 4)
    assert pairs.shape == edge.shape
    assert not pairs.any()
    assert marginals(node, edge, pairs=False)[2].shape == (0, 2, 4)


def test_one_token():
    # No edge is used, whatever it is.
    node, edge = floats([[1, 3, 2, -INF]]), np.full((1, 3, 4), np.nan, dtype=np.float32)
    log_z, labels, pairs = marginals(node, edge)
    assert log_z == log_partition(node, edge) == near(log_sum_exp(np.array([1, 3, 2])))
    np.testing.assert_allclose(labels[0], np.exp(node[0] - log_z), rtol=1e-6)
    assert not pairs.any()


@pytest.mark.parametrize("width", [1, 4])
def test_one_label(width):
    node = np.full((5, width), -INF, dtype=np.float32)
    node[:, 0] = [1, 2, 3, 4, 5]
    log_z, labels, pairs = marginals(node, np.full((1, 1, width), 0.5, dtype=np.float32))
    assert log_z == near(17)
    assert labels[:, 0].tolist() == [1] * 5
    assert pairs[0, 0, 0] == 4


def test_padding_is_never_believed():
    # Whatever edges lead there.
    node = np.full((4, 8), -INF, dtype=np.float32)
    node[:, :5] = -100
    edge = np.full((1, 5, 8), 1000, dtype=np.float32)
    edge[:, :, :5] = -100
    log_z, labels, pairs = marginals(node, edge)
    assert log_z == near(-700 + 4 * np.log(5))
    assert not labels[:, 5:].any()
    assert not pairs[:, :, 5:].any()


def test_first_table_of_edges_is_not_used():
    node, edge = zeros(3, 2), zeros(3, 2, 2)
    edge[0] = [[-INF, np.nan], [1000, INF]]
    edge[1, 1, 0] = edge[2, 0, 1] = 1
    log_z, _, pairs = marginals(node, edge)
    edge[0] = 0
    again, _, same = marginals(node, edge)
    assert log_z == again
    assert np.array_equal(pairs, same)


def test_arrays_may_be_read_only():
    node, edge = floats([[0, 1]]), zeros(1, 2, 2)
    for array in (node, edge):
        array.setflags(write=False)
    assert log_partition(node, edge) == marginals(node, edge)[0]


def test_scores_are_left_alone():
    rng = np.random.default_rng(0)
    node, edge = floats(rng.normal(size=(5, 4))), floats(rng.normal(size=(5, 3, 4)))
    before = node.copy(), edge.copy()
    marginals(node, edge)
    marginals(*tilted(node, edge, 0, TILT))
    assert np.array_equal(node, before[0])
    assert np.array_equal(edge, before[1])


# --- Long sequences ----------------------------------------------------------------------------


def long_lattice(T, L=7, width=8):
    """Scores of a million tokens cannot be enumerated, but cut into pieces."""
    rng = np.random.default_rng(0)
    node = np.full((T, width), -INF, dtype=np.float32)
    node[:, :L] = rng.normal(scale=3, size=(T, L))
    edge = zeros(1, L, width)
    edge[0, :, :L] = rng.normal(scale=2, size=(L, L))
    edge[0, 1, 2] = -INF
    return node, edge


@pytest.mark.parametrize("tilt", [0, TILT])
@pytest.mark.parametrize("tables", ["one", "many"])
def test_two_thousand_tokens(tables, tilt):
    node, edge = long_lattice(2000)
    if tables == "many":
        edge = floats(edge + np.random.default_rng(1).normal(size=(2000, 1, 1)))
    node, edge = tilted(node, edge, 0, tilt)
    log_z = log_sum_exp(forward64(node, edge)[-1])
    assert log_z > 5000
    assert log_partition(node, edge) == pytest.approx(log_z, rel=1e-12)


def test_million_tokens_are_the_sum_of_their_pieces():
    # Every 2,000th token has one label only: what lies between two of them is independent.
    T, size = 1_000_000, 2000
    node, edge = long_lattice(T + 1)
    node[::size, 1:] = -INF
    pieces = [log_partition(node[t : t + size + 1], edge) for t in range(0, T, size)]
    assert pieces[7] == pytest.approx(
        log_sum_exp(forward64(node[7 * size : 8 * size + 1], edge)[-1]), rel=1e-12
    )
    twice = node[size:T:size, 0].astype(np.float64).sum()
    log_z, labels, pairs = marginals(node, edge)
    assert log_z == pytest.approx(np.sum(pieces) - twice, rel=1e-11)
    assert log_z > 4e6
    np.testing.assert_allclose(labels.sum(axis=1), 1, rtol=0, atol=1e-6)
    assert pairs.sum(dtype=np.float64) == pytest.approx(T, rel=1e-6)
    np.testing.assert_allclose(pairs[0].sum(axis=0), labels[1:].sum(axis=0, dtype=np.float64), 1e-5)


def test_million_tokens_without_edges():
    scores = floats([3, -2, 0.5, 1, 1, -7, 2.25, -INF])
    node = np.tile(scores, (1_000_000, 1))
    want = 1_000_000 * log_sum_exp(scores.astype(np.float64))
    # A million roundings to the same side, of sums that have 16 digits.
    assert log_partition(node, zeros(1, 7, 8)) == pytest.approx(want, rel=1e-10)


def test_many_tokens_with_logarithms():
    node, edge = long_lattice(20_000)
    log_z, labels, pairs = marginals(node, edge)
    log_z_again, labels_again, pairs_again = marginals(*tilted(node, edge, 0, TILT))
    # Tilting rounds the scores to what floats of 500 can tell apart.
    assert log_z_again == pytest.approx(log_z, rel=1e-6)
    np.testing.assert_allclose(labels_again, labels, rtol=0, atol=1e-3)
    np.testing.assert_allclose(pairs_again, pairs, rtol=1e-3)


ABSORBING = floats([[[0, -INF], [-INF, 0]]])
NEVER_BACK = floats([[[0, 0], [-INF, 0]]])


def test_label_that_comes_back_from_below_the_smallest_number():
    # Unlikely at first, by more than doubles can express; then better by a little at each position.
    # No position is unlikely, yet all digits of the better labelling are lost.
    node = zeros(14, 2)
    node[1, 0] = -750
    node[2:, 0] = 65
    agree_with_enumeration(node, ABSORBING)


def test_label_that_many_unlikely_positions_leave_behind():
    # The same, but no single score is out of reach.
    node = zeros(60, 2)
    node[:30, 1] = 30
    node[30:, 0] = 31
    log_z, labels, _ = marginals(node, ABSORBING)
    assert log_z == near(31 * 30)
    np.testing.assert_allclose(labels[:, 0], 1, rtol=0, atol=1e-6)


@pytest.mark.parametrize("edge", [ABSORBING, NEVER_BACK])
def test_good_label_out_of_reach(edge):
    # Label 0 would be better by far, but nothing leads there.
    node = zeros(90, 2)
    node[:, 0] = 10
    node[0, 0] = -INF
    log_z, labels, pairs = marginals(node, edge)
    assert log_z == near(0)
    assert labels.tolist() == [[0, 1]] * 90
    assert pairs.tolist() == [[[0, 0], [0, 89]]]


# --- What is refused ---------------------------------------------------------------------------


def refused(code, node, edge):
    for call in (log_partition, marginals, lambda *both: marginals(*both, pairs=False)):
        with pytest.raises(ValueError, match=code):
            call(node, edge)


@few
@given(lattices(), st.sampled_from([np.nan, INF]), st.data())
def test_scores_that_are_not_numbers_are_refused(lattice, bad, data):
    node, edge = lattice
    array = node if len(node) == 1 or data.draw(st.booleans()) else edge[-1]
    place = data.draw(st.tuples(*(st.integers(0, n - 1) for n in array.shape)))
    array[place] = bad
    refused("NL620", node, edge)


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("place", [0, -1])
def test_contradicting_constraints(length, place):
    node = zeros(length, 4)
    node[place] = -INF
    refused(f"NL616.* {length} tokens .*got -inf", node, zeros(1, 3, 4))


@pytest.mark.parametrize("tables", [1, 2])
def test_forbidden_transitions_everywhere(tables):
    edge = np.full((tables, 3, 4), -INF, dtype=np.float32)
    refused("NL616.* 2 tokens", zeros(2, 4), edge)


def test_constraints_that_contradict_in_the_middle():
    # Labels 0 and 1 are dead ends by turns: each position has a label, but no path goes through.
    refused("NL616", floats([[0, -INF], [0, 0], [-INF, 0]]), ABSORBING)


@pytest.mark.parametrize(
    ("node", "edge"),
    [
        ((3, 4), (2, 2, 4)),  # neither one table nor one per position
        ((3, 4), (0, 2, 4)),
        ((0, 4), (2, 2, 4)),
        ((3, 4), (1, 2, 8)),
        ((3, 4), (1, 2, 2)),
        ((3, 4), (1, 5, 4)),  # more labels than columns
        ((3, 4), (1, 0, 4)),
        ((3, 0), (1, 0, 0)),
        ((0, 0), (0, 0, 0)),
    ],
)
def test_scores_of_different_lattices(node, edge):
    refused(r"NL615.*\(\d, \d\).*\(\d, \d, \d\)", zeros(*node), zeros(*edge))
