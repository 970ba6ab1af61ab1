"""The best analyses of a document, from those of its sequences."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Analysis(NamedTuple):
    """One labelling of a whole document."""

    labels: NDArray[np.int32]  # [T]
    score: float
    probability: float | None  # of this labelling among all; None if scores are not probabilities
    annotations: list[Any]  # its spans, or a tag for each token


def best_sums(lists: Sequence[NDArray[np.float64]], n: int) -> list[tuple[float, tuple[int, ...]]]:
    """Choose one number from each list so that the sum is largest, in the n best ways.

    lists (Sequence[ndarray]): Numbers, the largest first; none is empty.
    n (int): How many ways.
    RETURNS (List[Tuple[float, Tuple[int, ...]]]): Sums, the largest first, and what was chosen from each list.
    """
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for values in lists:
        best = _best_pairs(best, values.tolist(), n)
    return best


def _best_pairs(
    left: list[tuple[float, tuple[int, ...]]], right: list[float], n: int
) -> list[tuple[float, tuple[int, ...]]]:
    # Row by row, sums fall; the next one is always at the front of some row that was begun.
    queue = [(-(left[0][0] + right[0]), 0, 0)]
    found: list[tuple[float, tuple[int, ...]]] = []
    while queue and len(found) < n:
        total, i, j = heapq.heappop(queue)
        found.append((-total, (*left[i][1], j)))
        if j + 1 < len(right):
            heapq.heappush(queue, (-(left[i][0] + right[j + 1]), i, j + 1))
        if j == 0 and i + 1 < len(left):
            heapq.heappush(queue, (-(left[i + 1][0] + right[0]), i + 1, 0))
    return found
