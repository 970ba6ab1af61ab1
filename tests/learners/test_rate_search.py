import math

import pytest

from spacy_nonlocal.learners.rate_search import HIGHEST, LOWEST, PATIENCE, START, find_rate


class Objective:
    """A function of the logarithm of the rate, that remembers which rates were tried."""

    def __init__(self, function):
        self.function = function
        self.tried = []

    def __call__(self, rate):
        self.tried.append(rate)
        return self.function(round(math.log2(rate)))


def search(function):
    objective = Objective(function)
    rate, value = find_rate(objective)
    assert len({*objective.tried}) == len(objective.tried)
    assert all(LOWEST <= tried <= HIGHEST for tried in objective.tried)
    assert rate in objective.tried
    return math.log2(rate), value, objective.tried


FIRST, LAST, MIDDLE = (round(math.log2(rate)) for rate in (LOWEST, HIGHEST, START))


@pytest.mark.parametrize("best", range(FIRST, LAST + 1))
def test_smooth(best):
    rate, value, tried = search(lambda x: (x - best) ** 2 + 3.5)
    assert (rate, value) == (best, 3.5)
    # No further than it has to.
    assert max(tried) <= 2.0 ** max(best + PATIENCE, MIDDLE + PATIENCE)
    assert min(tried) >= (START if best > MIDDLE else 2.0 ** (best - PATIENCE))


def test_a_best_rate_between_those_that_are_tried():
    assert search(lambda x: abs(x - 2.4))[0] == 2
    assert search(lambda x: abs(x + 14.6))[0] == -15


def test_the_lower_of_equals_upwards():
    rate, _, _ = search(lambda x: max(0, MIDDLE + 3 - x))
    assert rate == MIDDLE + 3


def test_flat():
    rate, value, tried = search(lambda x: 7.0)
    assert (rate, value) == (MIDDLE, 7.0)
    assert len(tried) == 1 + 2 * PATIENCE


def test_jumps_that_patience_bears():
    """Worse, but not as often as that in a row, is not the end."""

    def jumpy(x):
        return 100 - x + (50 if (LAST - x) % PATIENCE else 0)

    assert PATIENCE > 1
    assert search(jumpy)[0] == LAST


def test_jumps_that_patience_does_not_bear():
    values = {MIDDLE: 5.0, MIDDLE + 1: 4.0, MIDDLE + 2 + PATIENCE: 1.0}
    rate, value, tried = search(lambda x: values.get(x, 9.0))
    assert (rate, value) == (MIDDLE + 1, 4.0)
    assert max(tried) == 2.0 ** (MIDDLE + 1 + PATIENCE)


@pytest.mark.parametrize("nothing", [math.inf, math.nan, -math.inf])
def test_never_finite(nothing):
    rate, value, tried = search(lambda x: nothing)
    assert (rate, value) == (MIDDLE, math.inf)
    assert len(tried) == LAST - FIRST + 1


@pytest.mark.parametrize("nothing", [math.inf, math.nan])
@pytest.mark.parametrize("only", [FIRST, MIDDLE - 5, MIDDLE, MIDDLE + 5, LAST])
def test_finite_only_once(only, nothing):
    rate, value, _ = search(lambda x: 2.0 if x == only else nothing)
    assert (rate, value) == (only, 2.0)


def test_diverges_from_somewhere_on():
    assert search(lambda x: -x if x < -4 else math.inf)[0] == -5
    assert search(lambda x: -x if x < MIDDLE - 3 else math.nan)[0] == MIDDLE - 4


def test_monotone():
    assert search(lambda x: -x)[0] == LAST
    assert search(lambda x: x)[0] == FIRST
