import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.kernels.lattice import check_rows, padded, score_rows

from .oracles import INF, bits, floats, ints, quick


@st.composite
def scorings(draw):
    """rows [T, K], groups [G + 1], weights [R, width], base [width]."""
    T, K, R = draw(st.integers(0, 5)), draw(st.integers(0, 12)), draw(st.integers(0, 4))
    width = 4 * draw(st.integers(1, 3))
    cuts = draw(st.lists(st.integers(0, K), max_size=4)) if K else []
    groups = ints([0, *sorted(cuts), K])
    rows = draw(hnp.arrays(np.int32, (T, K), elements=st.integers(-1, R - 1)))
    values = st.floats(-1e6, 1e6, width=32)
    weights = draw(hnp.arrays(np.float32, (R, width), elements=values))
    base = draw(hnp.arrays(np.float32, width, elements=values | st.just(-INF)))
    return rows, groups, weights, base


def scored(rows, groups, weights, base):
    out = np.full((len(rows), len(base)), np.nan, dtype=np.float32)
    score_rows(rows, groups, weights, base, out)
    return out


def scored_by_numpy(rows, groups, weights, base):
    """The same additions in the same order, one numpy operation each."""
    out = np.tile(base, (len(rows), 1))
    for t in range(len(rows)):
        for first, last in zip(groups[:-1], groups[1:], strict=True):
            part = np.zeros_like(base)
            for row in rows[t, first:last]:
                if row >= 0:
                    part += weights[row]
            out[t] += part
    return out


@quick
@given(scorings())
def test_scores_match_numpy_bit_for_bit(example):
    # + 0.0: numpy and the kernel may differ in the sign of a zero where there is nothing to add.
    assert np.array_equal(bits(scored(*example) + 0.0), bits(scored_by_numpy(*example) + 0.0))


@quick
@given(scorings())
def test_scores_are_the_sum_of_weights(example):
    rows, _, weights, base = example
    table = np.vstack([weights.astype(np.float64), np.zeros((1, len(base)))])  # -1 is the last
    np.testing.assert_allclose(scored(*example), base + table[rows].sum(axis=1), rtol=1e-5, atol=20)


def test_wide_rows_and_many_tokens():
    # Edge scores: rows of L * width weights.
    rng = np.random.default_rng(0)
    rows = rng.integers(-1, 500, size=(300, 23), dtype=np.int32)
    weights = rng.normal(size=(500, 9 * 12)).astype(np.float32)
    base = rng.normal(size=9 * 12).astype(np.float32)
    groups = ints([0, 9, 9, 16, 23])
    got = scored(rows, groups, weights, base)
    assert np.array_equal(bits(got), bits(scored_by_numpy(rows, groups, weights, base)))


def test_each_group_is_summed_on_its_own():
    weights = np.repeat(floats([[1], [1e8], [-1e8]]), 4, axis=1)
    rows, base = ints([[0, 1, 2]]), floats([0] * 4)
    assert np.all(scored(rows, ints([0, 1, 3]), weights, base) == 1)  # 1 + (1e8 - 1e8)
    assert np.all(scored(rows, ints([0, 3]), weights, base) == 0)  # (1 + 1e8) - 1e8


def test_missing_features_add_nothing():
    weights = floats([[1, 2, 3, 4]])
    base = floats([10, 20, 30, -INF])
    rows = ints([[-1, -1], [0, -1], [-1, 0], [0, 0]])
    want = [[10, 20, 30, -INF], [11, 22, 33, -INF], [11, 22, 33, -INF], [12, 24, 36, -INF]]
    assert scored(rows, ints([0, 2]), weights, base).tolist() == want


def test_lengths():
    weights, base = floats([[1, 1, 1, 1]]), floats([1, 2, 3, 4])
    assert scored(ints([]).reshape(0, 3), ints([0, 3]), weights, base).shape == (0, 4)
    nothing = ints([]).reshape(2, 0)
    for groups in ([0], [0, 0], [0, 0, 0]):
        assert scored(nothing, ints(groups), weights, base).tolist() == [[1, 2, 3, 4]] * 2
    assert scored(ints([[0]]), ints([0, 1]), weights, base).tolist() == [[2, 3, 4, 5]]
    assert scored(ints([[-1]]), ints([0, 1]), weights[:0], base).tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("weights", "base", "out"),
    [
        ((3, 6), 6, (2, 6)),  # not whole blocks
        ((3, 8), 4, (2, 4)),
        ((3, 4), 8, (2, 8)),
        ((3, 4), 4, (2, 8)),
        ((3, 4), 4, (1, 4)),
        ((3, 4), 4, (3, 4)),
    ],
)
def test_shapes_that_do_not_fit(weights, base, out):
    arrays = [np.zeros(shape, dtype=np.float32) for shape in (weights, base, out)]
    with pytest.raises(ValueError, match="NL611.* 2 tokens"):
        score_rows(ints([[0], [1]]), ints([0, 1]), *arrays)


@pytest.mark.parametrize("groups", [[], [0], [3], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [0, -1, 3]])
def test_groups_that_do_not_cut_the_columns(groups):
    with pytest.raises(ValueError, match="NL612.* 3 columns"):
        scored(ints([[0, 0, 0]]), ints(groups), floats([[1] * 4]), floats([0] * 4))


@pytest.mark.parametrize("row", [-2, 3, -(2**31), 2**31 - 1])
def test_row_out_of_range(row):
    rows = ints([[0, -1], [2, row]])
    with pytest.raises(ValueError, match=f"NL610.*Token 1 .* row {row}, .* 3 rows"):
        check_rows(rows, 3)
    out = np.ones((2, 4), dtype=np.float32)
    with pytest.raises(ValueError, match=f"NL610.*Token 1 .* row {row}, .* 3 rows"):
        score_rows(rows, ints([0, 2]), np.zeros((3, 4), np.float32), floats([0] * 4), out)
    with pytest.raises(ValueError, match=f"NL610.*Token 1 .* row {row}, .* 3 rows"):
        score_rows(
            rows, ints([0, 2]), np.zeros((9, 4), np.float32), floats([0] * 4), out, ints([0, 1, 2])
        )


def test_slots_out_of_range():
    out = np.zeros((1, 4), dtype=np.float32)
    with pytest.raises(ValueError, match="NL610.*row 5, .* 3 rows"):
        score_rows(
            ints([[1]]),
            ints([0, 1]),
            np.zeros((3, 4), np.float32),
            floats([0] * 4),
            out,
            ints([0, 5]),
        )


def test_slots_say_where_the_weights_are():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(6, 8)).astype(np.float32)
    slots = ints([4, -1, 0, 5, -1, 2])
    rows = rng.integers(-1, 6, size=(20, 7)).astype(np.int32)
    groups, base = ints([0, 3, 7]), rng.normal(size=8).astype(np.float32)
    places = np.where(rows < 0, -1, slots[rows]).astype(np.int32)
    want, got = np.empty((2, 20, 8), dtype=np.float32)
    score_rows(places, groups, weights, base, want)
    score_rows(rows, groups, weights, base, got, slots)
    assert np.array_equal(want, got)


def test_slots_without_any_feature():
    out = np.zeros((2, 4), dtype=np.float32)
    weights = np.zeros((0, 4), dtype=np.float32)
    score_rows(ints([[-1], [-1]]), ints([0, 1]), weights, floats([1, 2, 3, 4]), out, ints([]))
    assert out.tolist() == [[1, 2, 3, 4]] * 2


def test_rows_in_range():
    check_rows(ints([[-1, 0], [2, 1]]), 3)
    check_rows(ints([[-1]]), 0)
    check_rows(ints([]).reshape(0, 2), 0)
    check_rows(ints([]).reshape(2, 0), 0)


def test_padded_rounds_up_to_blocks_of_four():
    assert [padded(n) for n in range(10)] == [0, 4, 4, 4, 4, 8, 8, 8, 8, 12]
