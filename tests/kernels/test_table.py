import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.table import KeyTable

from .oracles import U64, pickled, quick, uints

# Keys that all want the same slots of a small table, and keys from anywhere.
crowded = st.builds(lambda high, low: (high << 40) + low, st.integers(1, 20), st.integers(14, 16))
some_keys = st.lists(st.integers(1, 40) | crowded | st.integers(1, U64 - 1), max_size=60)
few_keys = st.lists(st.integers(1, 6), max_size=20)  # seen again and again
operations = st.tuples(st.sampled_from(["add", "find", "pickle"]), some_keys | few_keys)


class DictTable:
    """What KeyTable is, as a dict."""

    def __init__(self):
        self.counts = {}  # in order of rows

    def find(self, keys):
        rows = {key: row for row, key in enumerate(self.counts)}
        return [rows.get(key, -1) for key in keys]

    def add(self, keys):
        for key in keys:
            self.counts[key] = self.counts.get(key, 0) + 1
        return self.find(keys)


def all_counts(table):
    return table.counts_of(np.arange(len(table), dtype=np.int32)).tolist()


def random_keys(n, seed=0):
    keys = np.random.default_rng(seed).integers(1, U64, size=n, dtype=np.uint64)
    assert len(np.unique(keys)) == n
    return keys


@quick
@given(st.lists(operations, max_size=8))
def test_table_behaves_like_a_dict(steps):
    table, oracle = KeyTable(), DictTable()
    for name, keys in steps:
        if name == "pickle":
            table = pickled(table)
        else:
            rows = getattr(table, name)(uints(keys))
            assert rows.dtype == np.int32
            assert rows.tolist() == getattr(oracle, name)(keys)
        assert len(table) == len(oracle.counts)
        assert table.keys().tolist() == list(oracle.counts)
        assert all_counts(table) == list(oracle.counts.values())


@quick
@given(st.lists(st.integers(1, U64 - 1) | crowded, unique=True))
def test_table_from_keys_numbers_them_in_order(keys):
    table = KeyTable(uints(keys))
    assert len(table) == len(keys)
    assert table.keys().dtype == np.uint64
    assert table.keys().tolist() == keys
    assert table.find(uints(keys)).tolist() == list(range(len(keys)))


def test_growth_keeps_every_key():
    keys, absent = np.split(random_keys(110_000), [100_000])
    table = KeyTable()
    for chunk in np.array_split(keys, 37):
        first = len(table)
        assert table.add(chunk).tolist() == list(range(first, first + len(chunk)))
    order = np.random.default_rng(1).permutation(len(keys))
    assert np.array_equal(table.find(keys[order]), order)
    assert np.array_equal(table.add(keys[order]), order)
    assert np.all(table.find(absent) == -1)
    assert np.array_equal(table.keys(), keys)


def test_every_size_on_the_way_is_sound():
    keys = random_keys(300)
    table = KeyTable()
    for n in range(len(keys)):
        assert table.find(keys[n : n + 1]).tolist() == [-1]
        assert table.add(keys[n : n + 1]).tolist() == [n]
        assert table.find(keys[: n + 1]).tolist() == list(range(n + 1))


@pytest.mark.parametrize("low", [0, 5, 2**32 - 1])
def test_keys_with_equal_low_bits_are_told_apart(low):
    # All probe from one slot; with all low bits set, from the last slot and over the end.
    keys = uints([(high << 32) + low for high in range(1, 2001)])
    table = KeyTable()
    assert table.add(keys).tolist() == list(range(2000))
    assert table.find(keys[::-1]).tolist() == list(range(2000))[::-1]
    assert table.find(uints([(2001 << 32) + low])).tolist() == [-1]


def test_keys_of_any_shape_and_stride():
    keys = random_keys(24).reshape(2, 3, 4)
    table = KeyTable()
    assert np.array_equal(table.add(keys), np.arange(24).reshape(2, 3, 4))
    assert np.array_equal(table.find(keys[:, ::-1, ::2]), table.find(keys)[:, ::-1, ::2])
    assert np.array_equal(table.find(keys.T), table.find(keys).T)
    assert table.find(keys[:0]).shape == (0, 3, 4)
    keys.setflags(write=False)
    assert np.array_equal(table.find(keys), np.arange(24).reshape(2, 3, 4))


def test_empty_table():
    table = KeyTable()
    assert len(table) == 0
    assert table.keys().shape == (0,)
    assert table.find(uints([1, U64 - 1])).tolist() == [-1, -1]
    assert table.add(uints([])).shape == (0,)
    assert table.counts_of(np.array([], dtype=np.int32)).shape == (0,)
    assert len(KeyTable(uints([]))) == 0
    assert len(KeyTable(uints([]), uints([]))) == 0


def test_key_zero_is_never_found():
    table = KeyTable(uints(range(1, 12)))
    assert table.find(uints([0, 1, 0])).tolist() == [-1, 0, -1]


def test_key_zero_is_refused_and_changes_nothing():
    table = KeyTable(uints([7]))
    with pytest.raises(ValueError, match="NL603"):
        table.add(uints([[8, 9], [0, 7]]))
    assert table.keys().tolist() == [7]
    with pytest.raises(ValueError, match="NL603"):
        KeyTable(uints([1, 0]))


def test_repeated_keys_do_not_make_a_table():
    with pytest.raises(ValueError, match="NL602.*3 keys.*2 of them"):
        KeyTable(uints([4, 5, 4]))


def test_counts_of_rows_in_any_order():
    table = KeyTable()
    table.add(uints([10, 20, 20, 30, 30, 30, 20, 40, 30]))
    counts = table.counts_of(np.array([3, 1, 1, 0, 2], dtype=np.int32))
    assert counts.dtype == np.uint32
    assert counts.tolist() == [1, 3, 3, 1, 4]
    table.find(uints([10, 50]))  # to look is not to count
    assert all_counts(table) == [1, 3, 4, 1]


def test_counts_survive_growth():
    keys = random_keys(20_000)
    table = KeyTable()
    table.add(keys[::3])
    for chunk in np.array_split(keys, 11):
        table.add(chunk)
    counts = table.counts_of(table.find(keys))
    assert counts.tolist() == [2 if i % 3 == 0 else 1 for i in range(len(keys))]


@pytest.mark.parametrize("row", [-1, 3, 2**31 - 1, -(2**31)])
def test_counts_of_rows_that_do_not_exist(row):
    table = KeyTable(uints([4, 5, 6]))
    with pytest.raises(ValueError, match=f"NL610.* 1 .*row {row},.* 3 rows"):
        table.counts_of(np.array([0, row], dtype=np.int32))
    with pytest.raises(ValueError, match="NL610"):
        KeyTable().counts_of(np.array([0], dtype=np.int32))


@quick
@given(st.dictionaries(st.integers(1, U64 - 1) | crowded, st.integers(0, 2**32 - 1)))
def test_table_from_keys_and_counts(counts):
    table = KeyTable(uints(list(counts)), np.array(list(counts.values()), dtype=np.uint32))
    assert table.keys().tolist() == list(counts)
    assert all_counts(table) == list(counts.values())
    assert table.find(uints(list(counts))).tolist() == list(range(len(counts)))


def test_counting_goes_on_from_given_counts():
    table = KeyTable(uints([7, 8, 9]), np.array([4, 0, 2], dtype=np.uint32))
    table.add(uints([9, 8, 9, 5]))
    assert all_counts(table) == [4, 1, 4, 1]


def test_keys_without_counts_were_seen_once():
    assert all_counts(KeyTable(uints([7, 8, 9]))) == [1, 1, 1]


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_one_count_for_each_key(n):
    with pytest.raises(ValueError, match=f"NL608.*{n} counts.* 3 "):
        KeyTable(uints([7, 8, 9]), np.ones(n, dtype=np.uint32))
    with pytest.raises(ValueError, match="NL608"):
        KeyTable(None, np.ones(n + 1, dtype=np.uint32))


@pytest.mark.parametrize("count", [-1, 2**32])
def test_counts_that_do_not_fit(count):
    with pytest.raises(OverflowError):
        KeyTable(uints([7]), [count])


def test_pickle_keeps_counts():
    table = KeyTable()
    table.add(uints([3, 4, 4, 5, 4, 5]))
    table = pickled(table)
    assert all_counts(table) == [1, 3, 2]
    table.add(uints([3, 6]))
    assert all_counts(table) == [2, 3, 2, 1]


def test_pickle_keeps_keys_and_rows():
    keys = random_keys(5000)
    table = pickled(KeyTable(keys))
    assert isinstance(table, KeyTable)
    assert np.array_equal(table.keys(), keys)
    assert table.find(keys).tolist() == list(range(5000))
    assert table.add(uints([keys[17], 3, keys[0]])).tolist() == [17, 5000, 0]
    assert len(pickled(KeyTable())) == 0
