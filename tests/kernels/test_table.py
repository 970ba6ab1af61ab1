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
operations = st.one_of(
    st.tuples(st.sampled_from(["add", "find"]), some_keys | few_keys),
    st.tuples(st.just("prune"), st.integers(0, 4)),
)


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

    def prune(self, min_count):
        before = list(self.counts)
        self.counts = {key: n for key, n in self.counts.items() if n >= min_count}
        return self.find(before)


def random_keys(n, seed=0):
    keys = np.random.default_rng(seed).integers(1, U64, size=n, dtype=np.uint64)
    assert len(np.unique(keys)) == n
    return keys


@quick
@given(st.lists(operations, max_size=8))
def test_table_behaves_like_a_dict(steps):
    table, oracle = KeyTable(), DictTable()
    for name, argument in steps:
        given = argument if name == "prune" else uints(argument)
        rows = getattr(table, name)(given)
        assert rows.dtype == np.int32
        assert rows.tolist() == getattr(oracle, name)(argument)
        assert len(table) == len(oracle.counts)
        assert table.keys().tolist() == list(oracle.counts)


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
    assert table.prune(1).shape == (0,)
    assert len(KeyTable(uints([]))) == 0


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


def test_prune_keeps_keys_seen_often_enough():
    table = KeyTable()
    table.add(uints([10, 20, 20, 30, 30, 30, 20, 40, 30]))
    assert table.prune(3).tolist() == [-1, 0, 1, -1]
    assert table.keys().tolist() == [20, 30]
    assert table.find(uints([10, 20, 30, 40])).tolist() == [-1, 0, 1, -1]
    # The counts moved along with their keys, and what comes back is new.
    assert table.prune(3).tolist() == [0, 1]
    assert table.add(uints([30, 40])).tolist() == [1, 2]
    assert table.prune(5).tolist() == [-1, 0, -1]
    assert table.keys().tolist() == [30]


def test_prune_to_nothing_leaves_a_usable_table():
    keys = random_keys(1000)
    table = KeyTable(keys)
    assert np.all(table.prune(2**32 - 1) == -1)
    assert len(table) == 0
    assert np.all(table.find(keys) == -1)
    assert table.add(keys[::-1]).tolist() == list(range(1000))


@pytest.mark.parametrize("min_count", [0, 1])
def test_prune_without_effect(min_count):
    keys = random_keys(1000)
    table = KeyTable(keys)
    assert table.prune(min_count).tolist() == list(range(1000))
    assert np.array_equal(table.keys(), keys)
    assert table.find(keys).tolist() == list(range(1000))


def test_prune_leaves_room_whatever_remains():
    # A table without an empty slot would search for ever.
    keys = random_keys(200)
    for n in range(70):
        table = KeyTable(keys[:150])
        table.add(keys[:n])
        table.prune(2)
        assert len(table) == n
        assert table.find(keys).tolist() == [*range(n), *[-1] * (200 - n)]


def test_prune_among_colliding_keys():
    keys = uints([(high << 32) + 15 for high in range(1, 501)])
    table = KeyTable(keys)
    table.add(keys[::3])
    table.prune(2)
    assert table.find(keys[::3]).tolist() == list(range(167))
    assert np.all(table.find(keys[1::3]) == -1)


def test_prune_refuses_a_negative_count():
    with pytest.raises(OverflowError):
        KeyTable().prune(-1)


def test_pickle_keeps_keys_and_rows():
    keys = random_keys(5000)
    table = pickled(KeyTable(keys))
    assert isinstance(table, KeyTable)
    assert np.array_equal(table.keys(), keys)
    assert table.find(keys).tolist() == list(range(5000))
    assert table.add(uints([keys[17], 3, keys[0]])).tolist() == [17, 5000, 0]
    assert len(pickled(KeyTable())) == 0
