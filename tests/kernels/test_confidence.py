import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nonlocal.kernels.confidence import span_probabilities
from spacy_nonlocal.kernels.marginals import log_partition, marginals
from spacy_nonlocal.kernels.viterbi import score_path

from .oracles import (
    INF,
    floats,
    ints,
    labellings,
    lattices,
    path_probabilities,
    path_scores,
    quick,
    span_probability,
    tilted,
    unlikeliest_position,
)

# Below SMALL, a position is done with logarithms; TILT takes any of our lattices there.
SMALL = 1e-30
TILT = 512

# For properties that enumeration has tested already, seen from another side.
few = settings(quick, max_examples=80)

NO_SPANS = np.zeros((0, 4), dtype=np.int32)


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def spans_in(T, L):
    """A few spans, with labels that must not be around them, or -1."""
    label = st.integers(-1, L - 1)
    start = st.integers(0, T - 1)
    span = start.flatmap(lambda s: st.tuples(st.just(s), st.integers(s + 1, T), label, label))
    return st.lists(span, min_size=1, max_size=6)


def agree_with_enumeration(node, edge, data):
    T, L = len(node), edge.shape[1]
    paths = labellings(T, L)
    # Any labelling will do, even one that cannot be.
    path = paths[data.draw(st.integers(0, len(paths) - 1))]
    spans = data.draw(spans_in(T, L))
    if path_scores(node, edge, paths).max() == -INF:
        with pytest.raises(ValueError, match=f"NL616.* {T} tokens .*got -inf"):
            span_probabilities(node, edge, path, ints(spans))
        return
    shares = path_probabilities(node, edge, paths)
    want = [span_probability(paths, shares, path, span) for span in spans]
    got = span_probabilities(node, edge, path, ints(spans))
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)
    assert (got >= 0).all()


# --- All labellings of small lattices ----------------------------------------------------------


@quick
@given(lattices(), st.data())
def test_spans_of_all_labellings(lattice, data):
    assert unlikeliest_position(*lattice) > SMALL
    agree_with_enumeration(*lattice, data)


@quick
@given(lattices(masks=True), st.data())
def test_spans_of_the_legal_labellings(lattice, data):
    agree_with_enumeration(*lattice, data)


@quick
@given(lattices(exact=False), st.data())
def test_huge_scores(lattice, data):
    agree_with_enumeration(*lattice, data)


@quick
@given(lattices(exact=False, masks=True), st.data())
def test_huge_scores_of_the_legal_labellings(lattice, data):
    agree_with_enumeration(*lattice, data)


@quick
@given(lattices(least=2), st.integers(0, 1), st.data())
def test_spans_with_logarithms(lattice, label, data):
    lattice = tilted(*lattice, label, TILT)
    assert unlikeliest_position(*lattice) < SMALL
    agree_with_enumeration(*lattice, data)


@quick
@given(lattices(masks=True, least=2), st.integers(0, 1), st.data())
def test_legal_labellings_with_logarithms(lattice, label, data):
    agree_with_enumeration(*tilted(*lattice, label, TILT), data)


# --- What probabilities have in common ---------------------------------------------------------


@few
@given(lattices(), st.booleans(), st.data())
def test_whole_sequence_is_the_probability_of_the_path(lattice, tilt, data):
    node, edge = tilted(*lattice, 0, TILT) if tilt else lattice
    T, L = len(node), edge.shape[1]
    path = data.draw(st.sampled_from(list(labellings(T, L))))
    # Nothing is around it, so that nothing can be forbidden there.
    around = st.integers(-1, L - 1)
    got = span_probabilities(node, edge, path, ints([[0, T, data.draw(around), data.draw(around)]]))
    want = np.exp(score_path(node, edge, path) - log_partition(node, edge))
    np.testing.assert_allclose(got, want, rtol=1e-10)


@few
@given(lattices(), st.booleans(), st.data())
def test_single_labels_and_pairs_are_the_marginals(lattice, tilt, data):
    node, edge = tilted(*lattice, 0, TILT) if tilt else lattice
    T, L = len(node), edge.shape[1]
    path = data.draw(st.sampled_from(list(labellings(T, L))))
    edge = np.repeat(edge, T, axis=0) if len(edge) < T else edge
    _, labels, pairs = marginals(node, edge)
    at = np.arange(T)
    singles = np.stack([at, at + 1, at * 0 - 1, at * 0 - 1], axis=1)
    got = span_probabilities(node, edge, path, ints(singles))
    np.testing.assert_allclose(got, labels[at, path], rtol=1e-6, atol=1e-30)
    doubles = singles[:-1] + ints([0, 1, 0, 0])
    got = span_probabilities(node, edge, path, ints(doubles))
    np.testing.assert_allclose(got, pairs[at[1:], path[:-1], path[1:]], rtol=1e-6, atol=1e-30)


@few
@given(lattices(least=2), st.booleans(), st.data())
def test_what_may_follow_and_what_must_not_make_one(lattice, tilt, data):
    node, edge = tilted(*lattice, 0, TILT) if tilt else lattice
    T, L = len(node), edge.shape[1]
    path = data.draw(st.sampled_from(list(labellings(T, L))))
    start = data.draw(st.integers(0, T - 2))
    end = data.draw(st.integers(start + 1, T - 1))
    alone, goes_on, ends = span_probabilities(
        node,
        edge,
        path,
        ints([[start, end, -1, -1], [start, end + 1, -1, -1], [start, end, -1, path[end]]]),
    )
    assert goes_on + ends == pytest.approx(alone, abs=1e-12)
    began, begins = span_probabilities(
        node, edge, path, ints([[start, end + 1, -1, -1], [start + 1, end + 1, path[start], -1]])
    )
    (alone,) = span_probabilities(node, edge, path, ints([[start + 1, end + 1, -1, -1]]))
    assert began + begins == pytest.approx(alone, abs=1e-12)


@few
@given(lattices(), st.booleans(), st.data())
def test_spans_do_not_depend_on_each_other(lattice, tilt, data):
    # Scratch memory is shared between them.
    node, edge = tilted(*lattice, 0, TILT) if tilt else lattice
    path = data.draw(st.sampled_from(list(labellings(len(node), edge.shape[1]))))
    spans = ints(data.draw(spans_in(len(node), edge.shape[1])))
    together = span_probabilities(node, edge, path, spans)
    alone = [span_probabilities(node, edge, path, span[None])[0] for span in spans]
    assert together.tolist() == alone
    assert span_probabilities(node, edge, path, spans[::-1].copy()).tolist() == alone[::-1]


# --- By hand, and at the ends ------------------------------------------------------------------


def test_four_labellings_by_hand():
    # Scores log 1, log 2, log 3, log 4 for 00, 01, 10, 11.
    node, edge = zeros(2, 2), floats([np.log([[1, 2], [3, 4]])])
    spans = ints(
        [
            [0, 2, -1, -1],  # 10
            [0, 1, -1, -1],  # 10, 11
            [1, 2, -1, -1],  # 00, 10
            [0, 1, -1, 0],  # 11
            [0, 1, -1, 1],  # 10
            [1, 2, 0, -1],  # 10
            [1, 2, 1, -1],  # 00
            [0, 2, 1, 0],  # 10: the labels around it are those of other tokens
        ]
    )
    got = span_probabilities(node, edge, ints([1, 0]), spans)
    np.testing.assert_allclose(got, [0.3, 0.7, 0.4, 0.4, 0.3, 0.3, 0.1, 0.3], rtol=1e-6)


def test_borders_of_the_sequence_forbid_nothing():
    rng = np.random.default_rng(0)
    node, edge = floats(rng.normal(size=(4, 4))), floats(rng.normal(size=(1, 3, 4)))
    node[:, 3] = -INF
    path = ints([0, 1, 2, 0])
    free, *bound = span_probabilities(
        node, edge, path, ints([[0, 4, -1, -1], [0, 4, 0, -1], [0, 4, -1, 2], [0, 4, 1, 1]])
    )
    assert bound == [free] * 3
    # Inside, they do.
    free, *bound = span_probabilities(
        node, edge, path, ints([[1, 3, -1, -1], [1, 3, 0, -1], [1, 3, -1, 0], [1, 3, 0, 0]])
    )
    assert max(bound) < free
    assert bound[2] < min(bound[:2])


@pytest.mark.parametrize("tilt", [0, TILT])
def test_impossible_spans(tilt):
    node, edge = zeros(3, 4), zeros(1, 3, 4)
    node[:, 3] = -INF
    node[1, 1] = -INF
    edge[0, 0, 2] = -INF
    node, edge = tilted(node, edge, 1, tilt)
    # A label, then a pair of labels, that cannot be.
    for path, spans in (([0, 1, 0], [[0, 2], [1, 2], [1, 3]]), ([0, 2, 1], [[0, 2], [0, 3]])):
        spans = ints([[*span, before, 0] for span in spans for before in (-1, 0)])
        assert not span_probabilities(node, edge, ints(path), spans).any()


@pytest.mark.parametrize("tilt", [0, TILT])
def test_certain_spans(tilt):
    # Only one labelling is left: it is certain, and so is what it forbids not to be.
    node, edge = np.full((3, 4), -INF, dtype=np.float32), zeros(1, 4, 4)
    path = ints([2, 0, 1])
    node[[0, 1, 2], path] = [4, -700, 90]
    node, edge = tilted(node, edge, 2, tilt)
    spans = ints([[0, 3, -1, -1], [1, 2, -1, -1], [1, 2, 0, 0], [1, 2, 2, -1], [1, 2, -1, 1]])
    got = span_probabilities(node, edge, path, spans)
    np.testing.assert_allclose(got, [1, 1, 1, 0, 0], rtol=0, atol=1e-15)


def test_exponential_function_in_all_its_digits():
    # One token, two labels: what comes back is e^-d / (1 + e^-d), in double precision.
    distances = np.arange(0, 700, 0.37, dtype=np.float32)
    span, path = ints([[0, 1, -1, -1]]), ints([1])
    got = [span_probabilities(floats([[0, -d]]), zeros(1, 2, 2), path, span)[0] for d in distances]
    want = np.exp(-distances.astype(np.float64))
    np.testing.assert_allclose(got, want / (1 + want), rtol=1e-13)
    for d in (800, 3e38, INF):
        assert span_probabilities(floats([[0, -d]]), zeros(1, 2, 2), path, span) == 0


@pytest.mark.parametrize("tilt", [0, TILT])
def test_long_span(tilt):
    # 0.9 for each of 300 labels: far below what a float32 can hold.
    edge = floats([np.log([[0.9, 0.1], [0.1, 0.9]])])
    node, edge = tilted(zeros(500, 2), edge, 0, tilt)
    spans = ints([[0, 500, -1, -1], [100, 400, -1, -1], [100, 400, 1, 1], [100, 400, 0, 0]])
    got = span_probabilities(node, edge, ints([0] * 500), spans)
    inside = 0.5 * 0.9**299
    # Tilting rounds the scores to what floats of 500 can tell apart.
    want = [0.5 * 0.9**499, inside, inside * 0.81, inside * 0.01]
    np.testing.assert_allclose(got, want, rtol=1e-2 if tilt else 1e-4)


def test_no_spans():
    for T in (0, 3):
        got = span_probabilities(zeros(T, 4), zeros(1, 2, 4), ints([0] * T), NO_SPANS)
        assert got.shape == (0,)
        assert got.dtype == np.float64


def test_arrays_may_be_read_only():
    arguments = floats([[0, 0]]), zeros(1, 2, 2), ints([1]), ints([[0, 1, -1, -1]])
    for array in arguments:
        array.setflags(write=False)
    assert span_probabilities(*arguments) == pytest.approx(0.5)


def test_first_table_of_edges_is_not_used():
    node, edge, path = zeros(3, 2), zeros(3, 2, 2), ints([0, 1, 0])
    edge[0] = [[-INF, np.nan], [1000, INF]]
    got = span_probabilities(node, edge, path, ints([[0, 1, 1, 1], [0, 3, -1, -1]]))
    np.testing.assert_allclose(got, [0.25, 0.125])


def test_good_label_out_of_reach():
    # Label 0 would be better by far, but nothing leads there.
    node, edge = zeros(90, 2), floats([[[0, 0], [-INF, 0]]])
    node[:, 0] = 10
    node[0, 0] = -INF
    got = span_probabilities(node, edge, ints([1] * 90), ints([[0, 90, -1, -1], [3, 5, 0, 0]]))
    np.testing.assert_allclose(got, 1)


# --- What is refused ---------------------------------------------------------------------------

SPAN = ints([[0, 1, -1, -1]])


def call(node=(3, 4), edge=(1, 2, 4), path=(0, 1, 0), spans=SPAN):
    """Arguments that fit, but for those given: 3 tokens, 2 labels."""
    node, edge = (zeros(*a) if isinstance(a, tuple) else a for a in (node, edge))
    return span_probabilities(node, edge, ints(path), np.asarray(spans, dtype=np.int32))


def test_fitting_arguments_are_accepted():
    assert call().shape == (1,)


@pytest.mark.parametrize("columns", [0, 3, 5])
@pytest.mark.parametrize("n", [0, 2])
def test_spans_need_four_columns(n, columns):
    with pytest.raises(ValueError, match=f"NL621.* {columns} columns"):
        call(spans=np.zeros((n, columns)))


@pytest.mark.parametrize(
    "span",
    [
        [-1, 1, -1, -1],
        [0, 4, -1, -1],
        [3, 4, -1, -1],
        [1, 1, -1, -1],  # empty
        [2, 1, -1, -1],
        [0, 1, -2, -1],
        [0, 1, 2, -1],
        [0, 1, -1, -2],
        [0, 1, -1, 2],
        [0, 2**31 - 1, -1, -1],
        [-(2**31), 1, -1, -1],
        [0, 1, -1, 2**31 - 1],
    ],
)
def test_spans_that_do_not_fit(span):
    message = rf"NL622.*\[{', '.join(map(str, span))}\].* 3 tokens and 2 labels"
    with pytest.raises(ValueError, match=message):
        call(spans=[span])
    # Wherever it stands.
    with pytest.raises(ValueError, match=message):
        call(spans=[SPAN[0], span, SPAN[0]])


def test_spans_of_no_tokens():
    with pytest.raises(ValueError, match="NL622.* 0 tokens"):
        call(node=(0, 4), path=[])


@pytest.mark.parametrize("spans", [SPAN, NO_SPANS])
@pytest.mark.parametrize("path", [[], [0, 1], [0, 1, 0, 1]])
def test_path_of_another_length(path, spans):
    with pytest.raises(ValueError, match=f"NL608.*{len(path)} labels .* 3 tokens"):
        call(path=path, spans=spans)


@pytest.mark.parametrize("spans", [SPAN, NO_SPANS])
@pytest.mark.parametrize("label", [-1, 2, 3, 2**31 - 1])
def test_path_with_an_unknown_label(label, spans):
    # Even outside of the spans, and where the label would be padding.
    with pytest.raises(ValueError, match=f"NL617.*Token 2 .* {label}, .* 2 labels"):
        call(path=[0, 1, label], spans=spans)


@pytest.mark.parametrize("spans", [SPAN, NO_SPANS])
@pytest.mark.parametrize("edge", [(2, 2, 4), (0, 2, 4), (1, 2, 8), (1, 5, 4)])
def test_scores_of_different_lattices(edge, spans):
    with pytest.raises(ValueError, match="NL615"):
        call(edge=edge, spans=spans)


@pytest.mark.parametrize("spans", [SPAN, NO_SPANS])
@pytest.mark.parametrize("bad", [np.nan, INF])
def test_scores_that_are_not_numbers_are_refused(bad, spans):
    node, edge = zeros(3, 4), zeros(1, 2, 4)
    node[2, 1] = edge[0, 1, 1] = bad
    with pytest.raises(ValueError, match="NL620"):
        call(node=node, spans=spans)
    with pytest.raises(ValueError, match="NL620"):
        call(edge=edge, spans=spans)


def test_contradicting_constraints():
    node = zeros(3, 4)
    node[1] = -INF
    with pytest.raises(ValueError, match="NL616.* 3 tokens .*got -inf"):
        call(node=node)
    with pytest.raises(ValueError, match="NL616"):
        call(edge=np.full((1, 2, 4), -INF, dtype=np.float32))
