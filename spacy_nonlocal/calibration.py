"""Whether confidences can be believed: of all that is predicted with 80 %, four in five should be right.

calibration error = Σ_b n_b / n · |share of right ones in bin b - mean confidence in bin b|
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

THRESHOLDS = tuple(i / 20 for i in range(21))


class Bin(TypedDict):
    """Predictions whose confidence is at least `low` and less than `high`, or, in the last bin, at most 1."""

    low: float
    high: float
    count: int
    confidence: float | None  # the mean; None if there are no predictions
    accuracy: float | None  # the share of right ones


class Point(TypedDict):
    """What is right of the predictions whose confidence is at least `threshold`."""

    threshold: float
    kept: int
    p: float | None  # None if nothing is kept
    r: float | None  # None if there is nothing to find
    f: float | None  # None if there is neither


def reliability(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> list[Bin]:
    """Sort predictions into bins of equal width by their confidence.

    confidences (ArrayLike): float[S], from 0 to 1.
    correct (ArrayLike): bool[S], whether each prediction is right.
    bins (int): How many bins.
    RETURNS (List[Bin]): The bins from low to high, empty ones too.
    """
    values, right = np.asarray(confidences, np.float64), np.asarray(correct, np.float64)
    edges = np.arange(bins + 1) / bins
    # 1 belongs to the last bin, and so does what rounding has put above it.
    where = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    counts = np.bincount(where, minlength=bins)
    sums = np.bincount(where, values, bins), np.bincount(where, right, bins)
    return [
        Bin(low=low, high=high, count=n, confidence=_share(total, n), accuracy=_share(hits, n))
        for low, high, n, total, hits in zip(
            edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), *map(np.ndarray.tolist, sums),
            strict=True,
        )
    ]  # fmt: skip


def expected_calibration_error(table: list[Bin]) -> float | None:
    """Find how far confidences are from the truth, on average.

    table (List[Bin]): What `reliability` returns.
    RETURNS (Optional[float]): From 0 (as it should be) to 1; None if nothing was predicted.
    """
    gaps = [
        each["count"] * abs(each["accuracy"] - each["confidence"])
        for each in table
        if each["accuracy"] is not None and each["confidence"] is not None
    ]
    return _share(sum(gaps), sum(each["count"] for each in table))


def curve(
    confidences: ArrayLike,
    correct: ArrayLike,
    gold: int,
    thresholds: tuple[float, ...] = THRESHOLDS,
) -> list[Point]:
    """Find what is gained and lost by keeping only predictions that are probable enough.

    confidences (ArrayLike): float[S], from 0 to 1.
    correct (ArrayLike): bool[S], whether each prediction is right.
    gold (int): How much there is to find.
    thresholds (Tuple[float, ...]): What is less probable goes.
    RETURNS (List[Point]): Precision, recall and F at each threshold.
    """
    values, right = np.asarray(confidences, np.float64), np.asarray(correct, bool)
    points = []
    for threshold in thresholds:
        keep = values >= threshold
        kept, hits = int(keep.sum()), int(right[keep].sum())
        # F = 2 p r / (p + r), without the gaps of p and r
        p, r, f = _share(hits, kept), _share(hits, gold), _share(2 * hits, kept + gold)
        points.append(Point(threshold=threshold, kept=kept, p=p, r=r, f=f))
    return points


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
