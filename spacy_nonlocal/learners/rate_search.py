"""Find the first step of gradient descent: that which gets furthest in one pass over a sample (He & Wang 2012, 3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

# Steps are tried upwards from here, each twice the one before, or, if already this one is too large, downwards.
START = 2.0**-10
LOWEST, HIGHEST = 2.0**-20, 2.0**10
# Beyond the right step the objective jumps up and down: it has to get worse so many times.
PATIENCE = 3


def find_rate(objective: Callable[[float], float]) -> tuple[float, float]:
    """Try steps until it gets worse.

    objective (Callable[[float], float]): The objective on a sample, after one pass over it with a rate.
    RETURNS (Tuple[float, float]): The best rate, and its objective; infinite if no rate has a finite one.
    """
    best = START, _finite(objective(START))
    for factor in (2.0, 0.5):
        worse = 0
        for rate in _rates(factor):
            value = _finite(objective(rate))
            if value < best[1]:
                best, worse = (rate, value), 0
            else:
                worse += 1
            if worse >= PATIENCE and best[1] < math.inf:
                break
        if best[0] > START:
            break
    return best


def _rates(factor: float) -> Iterator[float]:
    rate = START * factor
    while LOWEST <= rate <= HIGHEST:
        yield rate
        rate *= factor


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.inf
