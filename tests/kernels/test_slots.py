import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.slots import claim, look_up, renumber

from .oracles import ints, quick

N_ROWS = 7


def flags(*values):
    return np.array(values, dtype=np.uint8)


def nothing(n):
    return np.full(n, -1, dtype=np.int32)


@st.composite
def features(draw, max_tokens=6):
    """Features of a few tokens, -1 for none; many come more than once."""
    shape = (draw(st.integers(0, max_tokens)), draw(st.integers(0, 4)))
    row = st.integers(-1, N_ROWS - 1)
    size = shape[0] * shape[1]
    return ints(draw(st.lists(row, min_size=size, max_size=size))).reshape(shape)


@st.composite
def slot_tables(draw):
    """Some features have places, from 0 on and in any order. RETURNS: The places, and how many are taken."""
    taken = draw(st.lists(st.integers(0, N_ROWS - 1), unique=True))
    slots = nothing(N_ROWS)
    slots[taken] = np.arange(len(taken))
    return slots, len(taken)


# --- claim -------------------------------------------------------------------------------------


@quick
@given(features(), slot_tables(), st.data())
def test_claim(rows, table, data):
    slots, used = table
    size = len(rows)
    wanted = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    want, n = slots.tolist(), used
    for line, is_wanted in zip(rows.tolist(), wanted, strict=True):
        for row in line:
            if is_wanted and row >= 0 and want[row] < 0:
                want[row], n = n, n + 1
    before = rows.copy()
    assert claim(rows, flags(*wanted), slots, used) == n
    assert slots.tolist() == want
    assert np.array_equal(rows, before)
    # No place is given twice, and none is left out.
    assert sorted(slots[slots >= 0].tolist()) == list(range(n))
    # Who has a place keeps it.
    assert claim(rows, flags(*wanted), slots, n) == n
    assert slots.tolist() == want


def test_claim_by_hand():
    slots = nothing(5)
    rows = ints([[3, -1, 1], [0, 0, 4], [1, 4, 3]])
    assert claim(rows, flags(1, 0, 1), slots, 0) == 3
    assert slots.tolist() == [-1, 1, -1, 0, 2]
    assert claim(rows, flags(0, 1, 0), slots, 3) == 4
    assert slots.tolist() == [3, 1, -1, 0, 2]


def test_nothing_to_claim():
    slots = nothing(0)
    assert claim(np.zeros((0, 3), dtype=np.int32), flags(), slots, 0) == 0
    assert claim(np.zeros((2, 0), dtype=np.int32), flags(1, 1), slots, 0) == 0
    # Features that nobody knows need no table.
    assert claim(ints([[-1, -1]]), flags(1), slots, 0) == 0


@pytest.mark.parametrize("n", [0, 1, 3])
def test_flags_for_another_number_of_tokens(n):
    slots = nothing(3)
    with pytest.raises(ValueError, match=f"NL608.*{n} flags .* 2 tokens"):
        claim(ints([[0], [1]]), np.ones(n, dtype=np.uint8), slots, 0)
    assert slots.tolist() == [-1, -1, -1]


# --- look_up -----------------------------------------------------------------------------------


@quick
@given(features(), slot_tables())
def test_look_up(rows, table):
    slots, _ = table
    before = slots.copy()
    places = look_up(rows, slots)
    want = [[slots[row] if row >= 0 else -1 for row in line] for line in rows.tolist()]
    assert places.tolist() == want
    assert places.shape == rows.shape
    assert places.dtype == np.int32
    assert np.array_equal(slots, before)


@quick
@given(features(), slot_tables(), st.data())
def test_what_was_claimed_is_found(rows, table, data):
    slots, used = table
    size = len(rows)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    used = claim(rows, wanted.view(np.uint8), slots, used)
    places = look_up(rows, slots)
    assert ((places >= 0) == (rows >= 0))[wanted].all()
    assert (places < used).all()


# --- renumber ----------------------------------------------------------------------------------


@quick
@given(features())
def test_renumber(rows):
    scratch, number_of = nothing(N_ROWS), {}
    for row in rows.ravel().tolist():
        if row >= 0:
            number_of.setdefault(row, len(number_of))
    # Twice: the scratch is clean again.
    for _ in range(2):
        numbers, distinct = renumber(rows, scratch)
        # In the order of their first occurrence: a feature's number is its place here.
        assert distinct.tolist() == list(number_of)
        assert distinct.dtype == np.int32
        assert numbers.tolist() == [[number_of.get(row, -1) for row in ln] for ln in rows.tolist()]
        assert numbers.shape == rows.shape
        assert numbers.dtype == np.int32
        assert (scratch == -1).all()


def test_renumber_by_hand():
    numbers, distinct = renumber(ints([[5, 2, -1], [2, 0, 5]]), nothing(6))
    assert numbers.tolist() == [[0, 1, -1], [1, 2, 0]]
    assert distinct.tolist() == [5, 2, 0]


# --- Rows that the table does not have ---------------------------------------------------------


@pytest.mark.parametrize("row", [3, 4, 2**31 - 1])
@pytest.mark.parametrize("rows_in_table", [3, 0])
@pytest.mark.parametrize("call", ["claim", "look_up", "renumber"])
def test_rows_outside_the_table(call, rows_in_table, row):
    table = nothing(rows_in_table)
    first = 0 if rows_in_table else -1
    rows = ints([[first, -1], [first, row]])
    calls = {
        # Refused even if nobody asks for the token.
        "claim": lambda: claim(rows, flags(1, 0), table, 0),
        "look_up": lambda: look_up(rows, table),
        "renumber": lambda: renumber(rows, table),
    }
    with pytest.raises(ValueError, match=f"NL610.*Token 1 .* row {row}, .* {rows_in_table} rows"):
        calls[call]()
    # Nothing was written.
    assert (table == -1).all()
