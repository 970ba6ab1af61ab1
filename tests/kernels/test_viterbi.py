import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.viterbi import check_path, score_path, viterbi

from .oracles import (
    INF,
    best_path,
    floats,
    ints,
    labellings,
    lattices,
    path_scores,
    quick,
    viterbi64,
)


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def agree_with_enumeration(node, edge):
    want, top = best_path(node, edge)
    if top == -INF:
        with pytest.raises(ValueError, match=f"NL616.* {len(node)} tokens .*got -inf"):
            viterbi(node, edge)
        return
    path, score = viterbi(node, edge)
    assert path.dtype == np.int32
    assert tuple(path.tolist()) == want
    assert score == top


@quick
@given(lattices())
def test_best_of_all_labellings(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(masks=True))
def test_best_of_the_legal_labellings(lattice):
    agree_with_enumeration(*lattice)


@quick
@given(lattices(exact=False))
def test_no_labelling_is_better_by_more_than_rounding(lattice):
    node, edge = lattice
    path, score = viterbi(node, edge)
    paths = labellings(len(node), edge.shape[1])
    assert score >= path_scores(node, edge, paths).max() - 0.01
    assert score == pytest.approx(path_scores(node, edge, path[None])[0], abs=1e-9)


@quick
@given(lattices(masks=True))
def test_score_path_of_every_labelling(lattice):
    node, edge = lattice
    paths = labellings(len(node), edge.shape[1])
    got = [score_path(node, edge, path) for path in paths]
    assert got == path_scores(node, edge, paths).tolist()


@quick
@given(lattices(), st.sampled_from([np.nan, INF]), st.data())
def test_scores_that_are_not_numbers_are_refused(lattice, bad, data):
    node, edge = lattice
    assume(len(node))
    t = data.draw(st.integers(0, len(node) - 1))
    node[t, data.draw(st.integers(0, edge.shape[1] - 1))] = bad
    with pytest.raises(ValueError, match="NL620"):
        viterbi(node, edge)


def test_edges_that_are_not_numbers_are_refused():
    edge = zeros(1, 4, 4)
    edge[0, 2, 1] = np.nan
    with pytest.raises(ValueError, match="NL620"):
        viterbi(zeros(3, 4), edge)


@quick
@given(lattices(), st.integers(-4000, 4000))
def test_a_constant_does_not_change_the_path(lattice, constant):
    node, edge = lattice
    assume(np.isfinite(best_path(node, edge)[1]))
    path, score = viterbi(node, edge)
    again, higher = viterbi(node + np.float32(constant), edge)
    assert np.array_equal(again, path)
    assert higher == score + constant * len(node)


@pytest.mark.parametrize("width", [3, 4, 8])
def test_lowest_label_wins_ties(width):
    node = np.full((6, width), -INF, dtype=np.float32)
    node[:, :3] = 0
    path, score = viterbi(node, zeros(1, 3, width))
    assert path.tolist() == [0] * 6
    assert score == 0
    # A tie is decided where it ends: labels 1 and 2 lead equally well to the last label.
    node[0, 0] = -1
    assert viterbi(node, zeros(6, 3, width))[0].tolist() == [1, 0, 0, 0, 0, 0]
    node[-1, 0] = -1
    assert viterbi(node, zeros(1, 3, width))[0].tolist() == [1, 0, 0, 0, 0, 1]


def test_first_table_of_edges_is_not_used():
    node, edge = zeros(3, 2), zeros(3, 2, 2)
    edge[0] = [[-INF, np.nan], [1000, INF]]
    edge[1, 1, 0] = edge[2, 0, 1] = 1
    path, score = viterbi(node, edge)
    assert path.tolist() == [1, 0, 1]
    assert score == score_path(node, edge, path) == 2


def test_each_position_has_its_own_edges():
    node, edge = zeros(3, 4), zeros(3, 4, 4)
    edge[1, 2, 3] = edge[2, 3, 1] = 5
    edge[1, 3, 1] = edge[2, 2, 3] = 6  # better each, but they do not join
    assert viterbi(node, edge)[0].tolist() == [2, 3, 1]


def test_start_and_transitions_can_be_forbidden():
    # I (2) only after B (1) or I, and not at the start.
    node = floats([[0, 0, 9], [0, 0, 9], [0, 0, 9]])
    edge = zeros(1, 3, 3)
    edge[0, 0, 2] = -INF
    node[0, 2] = -INF
    path, score = viterbi(node, edge)
    assert path.tolist() == [1, 2, 2]
    assert score == 18


def test_lengths_zero_and_one():
    for edge in (zeros(1, 2, 4), zeros(0, 2, 4)):
        path, score = viterbi(zeros(0, 4), edge)
        assert path.shape == (0,)
        assert path.dtype == np.int32
        assert score == 0
        assert score_path(zeros(0, 4), edge, ints([])) == 0
    path, score = viterbi(floats([[1, 3, 2, -INF]]), np.full((1, 3, 4), np.nan, dtype=np.float32))
    assert path.tolist() == [1]
    assert score == 3


@pytest.mark.parametrize("width", [1, 4])
def test_one_label(width):
    node = np.full((5, width), -INF, dtype=np.float32)
    node[:, 0] = [1, 2, 3, 4, 5]
    path, score = viterbi(node, np.full((1, 1, width), 0.5, dtype=np.float32))
    assert path.tolist() == [0] * 5
    assert score == 17


def test_padding_is_never_taken():
    # Whatever edges lead there.
    node = np.full((4, 8), -INF, dtype=np.float32)
    node[:, :5] = -100
    edge = np.full((1, 5, 8), 1000, dtype=np.float32)
    edge[:, :, :5] = -100
    path, score = viterbi(node, edge)
    assert path.tolist() == [0] * 4
    assert score == -700


def test_arrays_may_be_read_only():
    node, edge, path = floats([[0, 1]]), zeros(1, 2, 2), ints([1])
    for array in (node, edge, path):
        array.setflags(write=False)
    assert viterbi(node, edge)[0].tolist() == [1]
    assert score_path(node, edge, path) == 1


def test_long_sequence_keeps_all_digits():
    # Scores add up to 200 million, where neighbouring float32 are 16 apart; those compared differ
    # by multiples of 1/64. All sums are exact in double precision, so that even ties must agree.
    T, L, width = 200_000, 3, 4
    rng = np.random.default_rng(0)
    node = np.full((T, width), -INF, dtype=np.float32)
    node[:, :L] = 1000 + rng.integers(-100, 101, size=(T, L)) / 64
    edge = zeros(1, L, width)
    edge[0, :, :L] = rng.integers(-100, 101, size=(L, L)) / 64
    edge[0, 0, 2] = -INF
    path, score = viterbi(node, edge)
    want = viterbi64(node[:, :L], edge[0, :, :L])
    assert np.array_equal(path, want)
    assert score == path_scores(node, edge, want[None])[0]
    assert score > 2e8
    assert np.bincount(path).min() > 10_000


@pytest.mark.parametrize("length", [1, 2, 5])
def test_contradicting_constraints(length):
    node = zeros(length, 4)
    node[-1] = -INF
    with pytest.raises(ValueError, match=f"NL616.* {length} tokens .*got -inf"):
        viterbi(node, zeros(1, 3, 4))


def test_forbidden_transitions_everywhere():
    edge = np.full((1, 3, 4), -INF, dtype=np.float32)
    assert viterbi(zeros(1, 4), edge)[0].tolist() == [0]
    with pytest.raises(ValueError, match="NL616"):
        viterbi(zeros(2, 4), edge)


def test_constraints_that_contradict_in_the_middle():
    # Labels 0 and 1 are dead ends by turns: each position has a label, but no path goes through.
    node = floats([[0, -INF], [0, 0], [-INF, 0]])
    edge = floats([[[0, -INF], [-INF, 0]]])
    with pytest.raises(ValueError, match="NL616"):
        viterbi(node, edge)


def test_scores_that_are_no_numbers_at_all():
    with pytest.raises(ValueError, match="NL620"):
        viterbi(np.full((3, 4), np.nan, dtype=np.float32), zeros(1, 4, 4))


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
    with pytest.raises(ValueError, match=r"NL615.*\(\d, \d\).*\(\d, \d, \d\)"):
        viterbi(zeros(*node), zeros(*edge))
    with pytest.raises(ValueError, match="NL615"):
        score_path(zeros(*node), zeros(*edge), ints([0] * node[0]))


@pytest.mark.parametrize("path", [[], [0, 1], [0, 1, 0, 1]])
def test_path_of_another_length(path):
    message = f"NL608.*{len(path)} labels .* 3 tokens"
    with pytest.raises(ValueError, match=message):
        check_path(ints(path), 3, 2)
    with pytest.raises(ValueError, match=message):
        score_path(zeros(3, 4), zeros(1, 2, 4), ints(path))


@pytest.mark.parametrize("label", [-1, 2, 3, 2**31 - 1, -(2**31)])
def test_path_with_an_unknown_label(label):
    message = f"NL617.*Token 1 .* {label}, .* 2 labels"
    with pytest.raises(ValueError, match=message):
        check_path(ints([0, label, 1]), 3, 2)
    with pytest.raises(ValueError, match=message):
        score_path(zeros(3, 4), zeros(1, 2, 4), ints([0, label, 1]))


def test_good_paths():
    check_path(ints([]), 0, 0)
    check_path(ints([0, 2, 1]), 3, 3)
