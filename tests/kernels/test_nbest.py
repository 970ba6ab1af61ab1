import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.nbest import n_best, n_best_changes
from spacy_nonlocal.kernels.viterbi import viterbi

from .oracles import (
    INF,
    best_path,
    floats,
    labellings,
    lattices,
    path_scores,
    quick,
    second_path,
)


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def two_best(node, edge):
    paths, scores = n_best(node, edge, 2)
    return list(zip(paths, scores.tolist(), strict=True))


def plain(paths):
    return [(tuple(path.tolist()), score) for path, score in paths]


def agree_with_enumeration(node, edge):
    first = best_path(node, edge)
    if first[1] == -INF:
        with pytest.raises(ValueError, match=f"NL616.* {len(node)} tokens .*got -inf"):
            two_best(node, edge)
        return
    second = second_path(node, edge, first[0])
    got = two_best(node, edge)
    assert plain(got) == [first] + ([second] if second else [])
    assert all(path.dtype == np.int32 for path, _ in got)


@quick
@given(lattices())
def test_best_two_of_all_labellings(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(masks=True))
def test_best_two_of_the_legal_labellings(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(exact=False))
def test_no_labelling_is_better_by_more_than_rounding(lattice):
    node, edge = lattice
    want = np.sort(path_scores(node, edge, labellings(len(node), edge.shape[1])))[::-1][:2]
    got = two_best(node, edge)
    assert len(got) == len(want)
    np.testing.assert_allclose([score for _, score in got], want, rtol=0, atol=0.01)
    for path, score in got:
        assert score == pytest.approx(path_scores(node, edge, path[None])[0], abs=1e-9)
    assert len({tuple(path) for path, _ in got}) == len(got)


@quick
@given(lattices())
def test_first_is_that_of_viterbi(lattice):
    path, score = viterbi(*lattice)
    assert plain(two_best(*lattice))[0] == (tuple(path.tolist()), score)


def test_ties_are_broken_the_same_way_every_time():
    node, edge = zeros(3, 4), zeros(1, 4, 4)
    want = [((0, 0, 0), 0), ((0, 0, 1), 0)]
    for _ in range(20):
        assert plain(two_best(node, edge)) == want


def test_second_may_differ_in_the_first_label_only():
    node = floats([[1, 0], [9, 0], [9, 0]])
    assert plain(two_best(node, zeros(1, 2, 2))) == [((0, 0, 0), 19), ((1, 0, 0), 18)]


def test_second_may_differ_everywhere():
    node = floats([[1, 0], [0, 0], [0, 0], [0, 0]])
    edge = floats([[[0, -100], [-100, 0]]])
    assert plain(two_best(node, edge)) == [((0, 0, 0, 0), 1), ((1, 1, 1, 1), 0)]


def test_paths_do_not_share_memory():
    (first, _), (second, _) = two_best(floats([[1, 0], [1, 0]]), zeros(1, 2, 2))
    second[:] = 7
    assert first.tolist() == [0, 0]


def test_lengths_zero_and_one():
    for edge in (zeros(1, 2, 4), zeros(0, 2, 4)):
        assert plain(two_best(zeros(0, 4), edge)) == [((), 0)]
    node = floats([[1, 3, 2, -INF]])
    assert plain(two_best(node, zeros(1, 3, 4))) == [((1,), 3), ((2,), 2)]


@pytest.mark.parametrize("width", [1, 4])
def test_one_label_has_no_second_best(width):
    node = np.full((5, width), -INF, dtype=np.float32)
    node[:, 0] = 1
    assert plain(two_best(node, zeros(1, 1, width))) == [((0,) * 5, 5)]


def test_one_legal_labelling_has_no_second_best():
    node = floats([[0, -INF], [0, 0], [0, 0]])
    edge = floats([[[-INF, 0], [0, -INF]]])
    assert plain(two_best(node, edge)) == [((0, 1, 0), 0)]
    # Nor is there one if the other labels lead nowhere.
    node = floats([[0, 0], [0, -INF], [0, 0]])
    edge = floats([[[0, -INF], [-INF, 0]]])
    assert plain(two_best(node, edge)) == [((0, 0, 0), 0)]


def test_long_sequence_keeps_all_digits():
    # Scores add up to 200 million; the second best path is 1/64 worse, in one label of 200,000.
    T, L, width = 200_000, 3, 4
    rng = np.random.default_rng(0)
    node = np.full((T, width), -INF, dtype=np.float32)
    node[:, :L] = 1000 - rng.integers(2, 100, size=(T, L)) / 64
    best = rng.integers(0, L, size=T)
    node[np.arange(T), best] = 1000
    at, other = 123_456, (best[123_456] + 1) % L
    node[at, other] = 1000 - 1 / 64
    (first, score), (second, lower) = two_best(node, zeros(1, L, width))
    assert np.array_equal(first, best)
    assert np.flatnonzero(second != best).tolist() == [at]
    assert second[at] == other
    assert (score, lower) == (1000 * T, 1000 * T - 1 / 64)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_contradicting_constraints(length):
    node = zeros(length, 4)
    node[0] = -INF
    with pytest.raises(ValueError, match=f"NL616.* {length} tokens .*got -inf"):
        two_best(node, zeros(1, 3, 4))


def test_scores_that_are_no_numbers_at_all():
    with pytest.raises(ValueError, match="NL620"):
        two_best(np.full((3, 4), np.nan, dtype=np.float32), zeros(1, 4, 4))


@pytest.mark.parametrize(
    ("node", "edge"),
    [
        ((3, 4), (2, 2, 4)),
        ((0, 4), (2, 2, 4)),
        ((3, 4), (1, 2, 8)),
        ((3, 4), (1, 5, 4)),
        ((3, 4), (1, 0, 4)),
    ],
)
def test_scores_of_different_lattices(node, edge):
    with pytest.raises(ValueError, match=r"NL615.*\(\d, \d\).*\(\d, \d, \d\)"):
        two_best(zeros(*node), zeros(*edge))


# --- More than two -----------------------------------------------------------------------------


@st.composite
def questions(draw, **kinds):
    """A lattice, and how many labellings to ask for: often more than there are."""
    node, edge = draw(lattices(**kinds))
    return node, edge, draw(st.sampled_from([1, 2, 3, 7, 50, 10_000]))


def all_scores(node, edge):
    scores = path_scores(node, edge, labellings(len(node), edge.shape[1]))
    return np.sort(scores[scores > -INF])[::-1]


@quick
@given(questions(masks=True))
def test_n_best_of_the_legal_labellings(question):
    node, edge, n = question
    want = all_scores(node, edge)[:n]
    if not len(want):
        with pytest.raises(ValueError, match="NL616"):
            n_best(node, edge, n)
        return
    paths, scores = n_best(node, edge, n)
    assert scores.tolist() == want.tolist()
    assert scores.tolist() == path_scores(node, edge, paths).tolist()
    assert len(np.unique(paths, axis=0)) == len(paths) == len(want)
    assert (paths.dtype, scores.dtype) == (np.int32, np.float64)


@quick
@given(questions(exact=False))
def test_n_best_but_for_rounding(question):
    node, edge, n = question
    paths, scores = n_best(node, edge, n)
    np.testing.assert_allclose(scores, all_scores(node, edge)[:n], rtol=0, atol=0.01)
    np.testing.assert_allclose(scores, path_scores(node, edge, paths), rtol=0, atol=1e-6)
    assert len(np.unique(paths, axis=0)) == len(paths)
    assert (np.diff(scores) <= 1e-9 * max(1, abs(scores[0]))).all()


def test_fewer_are_the_first_of_more():
    rng = np.random.default_rng(1)
    node, edge = (rng.normal(size=shape).astype(np.float32) for shape in ((200, 8), (1, 8, 8)))
    paths, scores = n_best(node, edge, 500)
    for n in (1, 2, 20, 499):
        fewer, lower = n_best(node, edge, n)
        assert (fewer == paths[:n]).all()
        assert (lower == scores[:n]).all()


def test_many_of_a_long_sequence():
    rng = np.random.default_rng(2)
    node, edge = (rng.normal(size=shape).astype(np.float32) for shape in ((20_000, 4), (1, 4, 4)))
    paths, scores = n_best(node, edge, 100)
    assert len(np.unique(paths, axis=0)) == 100
    assert (np.diff(scores) <= 1e-4).all()
    np.testing.assert_allclose(scores, path_scores(node, edge, paths), rtol=1e-12)


@pytest.mark.parametrize("n", [0, -1])
def test_no_labellings_asked_for(n):
    with pytest.raises(ValueError, match="NL624"):
        n_best(zeros(2, 4), zeros(1, 4, 4), n)


@pytest.mark.parametrize("n", [2**31, 2**62])
def test_more_labellings_than_memory_holds(n):
    with pytest.raises(ValueError, match=r"NL625.* at most 21474836\b"):
        n_best(zeros(100, 4), zeros(1, 4, 4), n)


# --- As changes --------------------------------------------------------------------------------


def check_changes(reference, first, positions, labels):
    """What holds for the changes of all labellings."""
    assert [each.dtype for each in (reference, first, positions, labels)] == [
        np.int32,
        np.int64,
        np.int32,
        np.int32,
    ]
    assert (first[0], first[-1]) == (0, len(positions))
    assert (np.diff(first) >= 0).all()
    assert len(labels) == len(positions)
    assert (reference[positions] != labels).all()
    rises = np.diff(positions) > 0
    # From the last change of one labelling to the first of the next, positions may fall.
    starts = first[(first > 0) & (first < len(positions))]
    rises[starts - 1] = True
    assert rises.all()


def applied(reference, first, positions, labels):
    """Every labelling as a whole, [m, T]."""
    out = np.tile(reference, (len(first) - 1, 1))
    out[np.repeat(np.arange(len(out)), np.diff(first)), positions] = labels
    return out


def agree_with_whole_labellings(node, edge, n):
    *changes, scores = n_best_changes(node, edge, n)
    check_changes(*changes)
    paths, same_scores = n_best(node, edge, n)
    np.testing.assert_array_equal(applied(*changes), paths)
    assert scores.tolist() == same_scores.tolist()


@quick
@given(questions())
def test_changes_are_those_of_the_n_best(question):
    agree_with_whole_labellings(*question)


@quick
@given(questions(exact=False))
def test_changes_where_scores_were_rounded(question):
    agree_with_whole_labellings(*question)


@quick
@given(questions(masks=True))
def test_changes_of_the_legal_labellings(question):
    node, edge, n = question
    if len(all_scores(node, edge)):
        agree_with_whole_labellings(node, edge, n)
    else:
        with pytest.raises(ValueError, match="NL616"):
            n_best_changes(node, edge, n)


def test_changes_against_the_best():
    node = floats([[1, 0], [8, 0], [2, 0]])
    reference, first, positions, labels, scores = n_best_changes(node, zeros(1, 2, 2), 4)
    assert reference.tolist() == [0, 0, 0]
    assert first.tolist() == [0, 0, 1, 2, 4]
    assert positions.tolist() == [0, 2, 0, 2]
    assert labels.tolist() == [1, 1, 1, 1]
    assert scores.tolist() == [11, 10, 9, 8]


def test_changes_of_no_tokens():
    reference, first, positions, labels, scores = n_best_changes(zeros(0, 4), zeros(1, 2, 4), 5)
    assert len(reference) == len(positions) == len(labels) == 0
    assert first.tolist() == [0, 0]
    assert scores.tolist() == [0]


def test_changes_of_a_long_sequence_are_few():
    rng = np.random.default_rng(4)
    T, n = 20_000, 6_400
    node, edge = (rng.normal(size=shape).astype(np.float32) for shape in ((T, 4), (1, 4, 4)))
    *changes, scores = n_best_changes(node, edge, n)
    check_changes(*changes)
    reference, first, positions, labels = changes
    assert len(scores) == n
    # Whole labellings would have 128 million labels.
    assert len(positions) < n * T / 1000
    distinct = {
        (positions[start:end].tobytes(), labels[start:end].tobytes())
        for start, end in zip(first[:-1], first[1:], strict=True)
    }
    assert len(distinct) == n
    some = applied(reference, first[:101], positions[: first[100]], labels[: first[100]])
    np.testing.assert_allclose(scores[:100], path_scores(node, edge, some), rtol=1e-12)


@pytest.mark.parametrize("n", [0, -1])
def test_no_changes_asked_for(n):
    with pytest.raises(ValueError, match="NL624"):
        n_best_changes(zeros(2, 4), zeros(1, 4, 4), n)


def test_changes_of_more_labellings_than_memory_holds():
    with pytest.raises(ValueError, match="NL625"):
        n_best_changes(zeros(100, 4), zeros(1, 4, 4), 2**62)
