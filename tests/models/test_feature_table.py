from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.models.feature_table import FeatureTable

from ..kernels.oracles import uints
from .toy import quick

keys = st.lists(st.integers(1, 8) | st.integers(1, 2**64 - 1), max_size=12)
steps = st.lists(
    st.tuples(st.sampled_from(["count", "count", "add", "find", "save"]), keys), max_size=10
)


class Oracle:
    """What FeatureTable is, as a dict and a Counter."""

    def __init__(self, min_count):
        self.min_count = min_count
        self.rows = {}
        self.counts = Counter()

    def add(self, given):
        for key in given:
            self.rows.setdefault(key, len(self.rows))

    def count(self, given):
        unknown = [key for key in given if key not in self.rows]
        self.counts.update(unknown)
        self.add(key for key in unknown if self.counts[key] >= self.min_count)

    def find(self, given):
        return [self.rows.get(key, -1) for key in given]


def saved(table):
    state = {f"node.{name}": array for name, array in table.state().items()}
    return FeatureTable.from_state(state, "node", table.min_count)


def same_state(a, b):
    a, b = a.state(), b.state()
    return a.keys() == b.keys() and all(
        a[name].dtype == b[name].dtype and np.array_equal(a[name], b[name]) for name in a
    )


@quick
@given(st.integers(1, 4), steps)
def test_table_behaves_like_a_dict(min_count, steps):
    table, oracle = FeatureTable(min_count), Oracle(min_count)
    for name, given_keys in steps:
        if name == "save":
            before, table = table, saved(table)
            assert same_state(before, table)
        elif name == "find":
            assert table.find(uints(given_keys)).tolist() == oracle.find(given_keys)
        else:
            assert getattr(table, name)(uints(given_keys)) is None
            getattr(oracle, name)(given_keys)
        assert len(table) == len(oracle.rows)
        assert table.table.keys().tolist() == list(oracle.rows)
        assert table.find(uints(range(1, 9))).tolist() == oracle.find(range(1, 9))


@pytest.mark.parametrize("min_count", [1, 2, 3, 5])
def test_a_feature_gets_its_row_as_soon_as_it_was_seen_often_enough(min_count):
    table = FeatureTable(min_count)
    for seen in range(1, 8):
        table.count(uints([7]))
        assert table.find(uints([7])).tolist() == [0 if seen >= min_count else -1]
    assert len(table) == 1


def test_each_is_counted_as_often_as_it_is_given():
    table = FeatureTable(3)
    table.count(uints([5, 6, 5, 6, 6, 5, 4]))
    assert table.find(uints([4, 5, 6])).tolist() == [-1, 0, 1]
    table.count(uints([[4, 9], [9, 4]]))
    assert table.find(uints([4, 9])).tolist() == [2, -1]


def test_what_is_added_is_there_at_once():
    table = FeatureTable(100)
    table.add(uints([3, 2]))
    assert table.find(uints([2, 3, 4])).tolist() == [1, 0, -1]
    # And it is not counted on top of that.
    table.count(uints([2] * 200))
    assert len(table) == 2
    assert len(table.state()["rare"]) == 0


def test_looking_counts_nothing():
    table = FeatureTable(2)
    for _ in range(5):
        assert table.find(uints([1])).tolist() == [-1]
    table.count(uints([1]))
    assert len(table) == 0


def test_rows_never_change():
    rng = np.random.default_rng(0)
    table, rows = FeatureTable(2), {}
    for _ in range(200):
        table.count(rng.integers(1, 3000, size=50).astype(np.uint64))
        known = table.table.keys().tolist()
        found = table.find(uints(known)).tolist()
        assert found == list(range(len(known)))
        assert all(found[row] == row and known[row] == key for key, row in rows.items())
        rows = {key: row for row, key in enumerate(known)}
    assert len(rows) > 1000


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_nothing_to_count(min_count, shape):
    table = FeatureTable(min_count)
    table.count(np.zeros(shape, dtype=np.uint64))
    assert len(table) == 0
    assert table.find(np.zeros(shape, dtype=np.uint64)).shape == shape


def test_keys_of_any_stride():
    given_keys = np.arange(1, 25, dtype=np.uint64).reshape(4, 6)
    for view in (given_keys[:, ::2], given_keys.T, given_keys[:, [True, False] * 3]):
        for min_count in (1, 2):
            table = FeatureTable(min_count)
            for _ in range(min_count):
                table.count(view)
            assert table.find(view).tolist() == np.arange(view.size).reshape(view.shape).tolist()


@pytest.mark.parametrize("min_count", [1, 3])
def test_key_zero_is_refused(min_count):
    table = FeatureTable(min_count)
    with pytest.raises(ValueError, match="NL603"):
        table.count(uints([4, 0]))
    assert len(table) == 0


@quick
@given(st.integers(1, 4), st.lists(keys, max_size=6), st.lists(keys, max_size=6))
def test_going_on_is_like_never_having_stopped(min_count, first, second):
    straight = FeatureTable(min_count)
    for given_keys in first:
        straight.count(uints(given_keys))
    stopped = saved(straight)
    assert same_state(straight, stopped)
    for given_keys in second:
        straight.count(uints(given_keys))
        stopped.count(uints(given_keys))
        assert same_state(straight, stopped)


def test_a_copy_goes_its_own_way():
    table = FeatureTable(2)
    table.count(uints([1, 2, 2]))
    copy = saved(table)
    copy.count(uints([1, 3, 3]))
    assert (len(table), len(copy)) == (1, 3)
    assert table.find(uints([1, 2, 3])).tolist() == [-1, 0, -1]


def test_the_state_has_the_rare_ones_with_their_counts():
    table = FeatureTable(3)
    table.add(uints([9]))
    table.count(uints([4, 5, 5, 6, 6, 6]))
    state = table.state()
    assert state["keys"].tolist() == [9, 6]
    rare = dict(zip(state["rare"].tolist(), state["counts"].tolist(), strict=True))
    assert {key: n for key, n in rare.items() if n < 3} == {4: 1, 5: 2}
