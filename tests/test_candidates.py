from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.candidates import Candidates
from spacy_nonlocal.kernels.nbest import n_best
from spacy_nonlocal.models.lattice import Lattice

from .kernels.oracles import floats, ints, lattices, quick

REFERENCE = [0, 1, 2, 0]
# The reference itself, one change, two changes elsewhere, and two at the same places.
LABELLINGS = [[0, 1, 2, 0], [0, 1, 0, 0], [1, 1, 2, 3], [2, 1, 2, 3]]


def make_candidates(reference=REFERENCE, labellings=LABELLINGS):
    nothing, first = ints([]), np.zeros(1, dtype=np.int64)
    out = Candidates(ints(reference), first, nothing, nothing, np.zeros(0))
    for i, labels in enumerate(labellings):
        out = out.add(ints(labels), -float(i))
    return out


def whole(candidates):
    return [candidates.labelling(i).tolist() for i in range(len(candidates))]


def kinds(candidates):
    arrays = (candidates.reference, candidates.first, candidates.positions, candidates.labels)
    return [*(array.dtype for array in arrays), candidates.scores.dtype]


KINDS = [np.int32, np.int64, np.int32, np.int32, np.float64]


@quick
@given(lattices(), st.sampled_from([1, 2, 5, 1000]))
def test_best_of_a_lattice(lattice, n):
    candidates = Candidates.best(Lattice(*lattice), n)
    paths, scores = n_best(*lattice, n)
    assert len(candidates) == len(paths)
    assert whole(candidates) == paths.tolist()
    assert candidates.scores.tolist() == scores.tolist()
    assert kinds(candidates) == KINDS
    # None comes twice, so each is found where it is.
    assert [candidates.find(path) for path in paths] == [*range(len(paths))]


def test_best_of_an_empty_lattice():
    lattice = Lattice(np.zeros((0, 4), np.float32), np.zeros((1, 4, 4), np.float32))
    candidates = Candidates.best(lattice, 3)
    assert whole(candidates) == [[]]
    assert candidates.find(ints([])) == 0


def test_fewer_than_asked_for():
    lattice = Lattice(floats([[0, 1], [0, -np.inf]]), np.zeros((1, 2, 2), np.float32))
    assert whole(Candidates.best(lattice, 100)) == [[1, 0], [0, 0]]


def test_labellings_are_those_that_were_added():
    candidates = make_candidates()
    assert len(candidates) == 4
    assert whole(candidates) == LABELLINGS
    assert candidates.first.tolist() == [0, 0, 1, 3, 5]
    assert candidates.positions.tolist() == [2, 0, 3, 0, 3]
    assert candidates.labels.tolist() == [0, 1, 3, 2, 3]
    assert candidates.scores.tolist() == [0, -1, -2, -3]
    assert kinds(candidates) == KINDS


def test_labelling_is_a_copy():
    candidates = make_candidates()
    for i in range(len(candidates)):
        candidates.labelling(i)[:] = 9
    assert whole(candidates) == LABELLINGS
    assert candidates.reference.tolist() == REFERENCE


def test_one_more_leaves_the_others_as_they_were():
    before = make_candidates()
    after = before.add(ints([3, 3, 3, 3]), 7.5)
    assert whole(before) == LABELLINGS
    assert whole(after) == [*LABELLINGS, [3, 3, 3, 3]]
    assert after.scores.tolist() == [*before.scores, 7.5]


@pytest.mark.parametrize("i", range(4))
def test_candidate_is_found(i):
    assert make_candidates().find(ints(LABELLINGS[i])) == i


@pytest.mark.parametrize(
    "labels",
    [
        [1, 1, 1, 1],  # no other has so many changes
        [0, 1, 1, 0],  # another label in the same place
        [0, 1, 2, 3],  # the same number of changes, elsewhere
        [1, 1, 0, 0],
        [2, 1, 2, 1],
    ],
)
def test_labelling_that_is_no_candidate(labels):
    assert make_candidates().find(ints(labels)) == -1


def test_reference_need_not_be_a_candidate():
    candidates = make_candidates(labellings=LABELLINGS[1:])
    assert candidates.find(ints(REFERENCE)) == -1
    assert candidates.add(ints(REFERENCE), 0.0).find(ints(REFERENCE)) == 3


def test_first_of_equal_candidates_is_found():
    candidates = make_candidates(labellings=[LABELLINGS[1], LABELLINGS[2], LABELLINGS[1]])
    assert candidates.find(ints(LABELLINGS[1])) == 0


@quick
@given(st.data())
def test_random_labellings(data):
    T = data.draw(st.integers(0, 4))
    labellings = st.lists(st.integers(0, 2), min_size=T, max_size=T)
    reference, wanted = data.draw(labellings), data.draw(labellings)
    several = data.draw(st.lists(labellings, max_size=6))
    candidates = make_candidates(reference, several)
    assert whole(candidates) == several
    assert candidates.find(ints(wanted)) == (several.index(wanted) if wanted in several else -1)


# --- Changes taken back ------------------------------------------------------------------------


def test_changes_taken_back():
    before, after = ints([0, 0, 1, 0, 2]), ints([1, 0, 2, 1, 2])
    candidates = Candidates.taken_back(before, after, [(0, 1), (2, 4)])
    assert whole(candidates) == [[1, 0, 2, 1, 2], [0, 0, 2, 1, 2], [1, 0, 1, 0, 2]]
    assert candidates.scores.tolist() == [0, 0, 0]
    assert kinds(candidates) == KINDS


def test_nothing_to_take_back():
    for labels in (ints([]), ints([0, 1])):
        assert whole(Candidates.taken_back(labels, labels, [])) == [labels.tolist()]


@quick
@given(st.data())
def test_changes_taken_back_are_as_before(data):
    T = data.draw(st.integers(0, 8))
    labels = hnp.arrays(np.int32, T, elements=st.integers(0, 2))
    before, after = data.draw(labels), data.draw(labels)
    # Stretches in which nothing has changed do no harm, and some changes may lie in none.
    bounds = sorted(data.draw(st.sets(st.integers(0, T))))
    stretches = list(pairwise(bounds))[:: data.draw(st.integers(1, 2))]
    candidates = Candidates.taken_back(before, after, stretches)
    t = np.arange(T)
    want = [np.where((t >= start) & (t < end), before, after).tolist() for start, end in stretches]
    assert whole(candidates) == [after.tolist(), *want]
    assert kinds(candidates) == KINDS
