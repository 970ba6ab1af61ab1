"""How weights follow a gradient: alike, each at its own rate, or pulled to zero on the way.

A learner names its rule; the weights of node and of edge features each follow it. What a rule has to remember for
every feature lies in arrays beside the weights (`SparseWeights.beside`), so that it grows, and is saved, with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.update import add_rows, clip_rows

if TYPE_CHECKING:
    from .sparse_weights import SparseWeights

_NO_RATES = np.zeros((0, 0), dtype=np.float32)
_SLICE = (
    65536  # rows at a time: a second matrix of all weights would be the largest thing in memory
)


class Rule:
    """w += step * gradient: all weights alike.

    averaged (bool): Whether prediction uses the mean of the weights over all examples.
    """

    name: ClassVar[str] = "plain"
    knows_first: ClassVar[bool] = False  # whether all features must be known before training begins
    top_rate: float = 1.0  # no rate is above it

    def __init__(self, averaged: bool) -> None:
        self.averaged = averaged

    def settings(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): Name and arguments, for JSON."""
        return {"name": self.name, **vars(self)}

    def beside(self, columns: int) -> dict[str, tuple[int, float]]:
        """RETURNS (Dict[str, Tuple[int, float]]): Arrays beside the weights: columns, and what new rows hold."""
        return {}

    def rates(self, part: SparseWeights) -> NDArray[np.float32]:
        """RETURNS (ndarray): float32[R, 1 or columns], or [0, 0] if all weights have the rate 1."""
        return _NO_RATES

    def meet(
        self, part: SparseWeights, places: NDArray[np.int32], counts: NDArray[np.float32]
    ) -> None:
        """Learn, before training begins, how often features come with each label.

        places (ndarray): int32[n], where their weights are.
        counts (ndarray): float32[n, columns], how often, in one sequence.
        """

    def end_meeting(self, part: SparseWeights, tokens: int) -> None:
        """Take note that all features have been met, in so many tokens."""

    def meet_late(
        self,
        part: SparseWeights,
        places: NDArray[np.int32],
        firings: NDArray[np.int64],
        tokens: int,
    ) -> None:
        """Learn that features have come up only now, so often in a sequence of so many tokens."""

    def move(
        self,
        part: SparseWeights,
        places: NDArray[np.int32],
        change: NDArray[np.float32],
        step: float,
        clock: int,
        penalty: float,
    ) -> None:
        """Change the weights of features.

        places (ndarray): int32[n], where they are.
        change (ndarray): float32[n, columns], their gradient.
        penalty (float): What L1 could have taken from each weight by now.
        """
        add_rows(places, change, step, part.w, part.u, clock, self.rates(part))
        self.after_move(part, places, penalty)

    def after_move(self, part: SparseWeights, places: NDArray[np.int32], penalty: float) -> None:
        """Take note of features that have moved."""

    def shrink(self, part: SparseWeights, amount: float, clock: int) -> None:
        """The L2 penalty of a whole period as one example: w *= exp(-amount * rate)."""
        rates = self.rates(part)
        for start in range(0, part.used, _SLICE):
            rows = slice(start, min(start + _SLICE, part.used))
            # A factor of at most 1, however large the step: the penalty never overshoots.
            lost = (
                np.expm1(-amount * (rates[rows] if len(rates) else np.ones((1, 1)))) * part.w[rows]
            )
            part.w[rows] += lost.astype(np.float32)
            if self.averaged:
                part.u[rows] += clock * lost

    def end_period(self, part: SparseWeights, examples: int, penalty: float) -> None:
        """Take note that so many examples have passed since the last time."""

    def reset(self, part: SparseWeights) -> None:
        """Forget what was learned beside the weights."""
        for name, (_, value) in self.beside(part.columns).items():
            part.beside[name][...] = value

    def settled(
        self, part: SparseWeights, places: Any, weights: NDArray[np.float32], penalty: float
    ) -> NDArray[np.float32]:
        """RETURNS (ndarray): A copy of some weights, with all that is still due to them."""
        return weights


class FrequencyDecay(Rule):
    """Rates that fall with time, the faster the more often a feature fires (ADF: Sun et al. 2012).

    rate *= upper - share * (upper - lower),    share: of the examples of a period that have the feature
    """

    name = "frequency decay"
    knows_first = True

    def __init__(self, averaged: bool, upper: float, lower: float) -> None:
        super().__init__(averaged)
        self.upper = upper
        self.lower = lower

    def beside(self, columns: int) -> dict[str, tuple[int, float]]:
        return {"rate": (1, 1.0), "fired": (1, 0.0)}

    def rates(self, part: SparseWeights) -> NDArray[np.float32]:
        return part.beside["rate"]

    def after_move(self, part: SparseWeights, places: NDArray[np.int32], penalty: float) -> None:
        part.beside["fired"][places] += 1

    def end_period(self, part: SparseWeights, examples: int, penalty: float) -> None:
        # Not beyond: a feature that gets weights later begins anew, whether there was room for it or not.
        rate, fired = (part.beside[name][: part.used] for name in ("rate", "fired"))
        rate *= self.upper - fired / examples * (self.upper - self.lower)
        fired[...] = 0


class FrequencyScale(Rule):
    """Rates that are low for frequent features, and stay (MADF: He & Wang 2012).

    rate = 1 / (least + (most - least) * share),    share: occurrences of feature and label, per token
    """

    name = "frequency scale"
    knows_first = True

    def __init__(self, averaged: bool, most: float, least: float) -> None:
        super().__init__(averaged)
        self.most = most
        self.least = least

    @property
    def top_rate(self) -> float:  # type: ignore[override]
        return 1 / self.least

    def beside(self, columns: int) -> dict[str, tuple[int, float]]:
        # Counts, until `end_meeting` turns them into rates.
        return {"rate": (columns, 0.0)}

    def rates(self, part: SparseWeights) -> NDArray[np.float32]:
        return part.beside["rate"]

    def reset(self, part: SparseWeights) -> None:
        """Rates come from counting, not from learning: they stay."""

    def meet(
        self, part: SparseWeights, places: NDArray[np.int32], counts: NDArray[np.float32]
    ) -> None:
        part.beside["rate"][places] += counts

    def end_meeting(self, part: SparseWeights, tokens: int) -> None:
        self._set_rates(part.beside["rate"], tokens)

    def meet_late(
        self,
        part: SparseWeights,
        places: NDArray[np.int32],
        firings: NDArray[np.int64],
        tokens: int,
    ) -> None:
        rates = np.repeat(firings[:, None].astype(np.float32), part.columns, axis=1)
        self._set_rates(rates, tokens)
        part.beside["rate"][places] = rates

    def _set_rates(self, counts: NDArray[np.float32], tokens: int) -> None:
        """Turn counts into rates, in place."""
        counts *= (self.most - self.least) / max(tokens, 1)
        counts += self.least
        np.reciprocal(counts, out=counts)


class CumulativeL1(Rule):
    """w += step * gradient, and then towards zero by what L1 has not taken yet (Tsuruoka et al. 2009)."""

    name = "cumulative L1"

    def beside(self, columns: int) -> dict[str, tuple[int, float]]:
        return {"applied": (columns, 0.0)}

    def after_move(self, part: SparseWeights, places: NDArray[np.int32], penalty: float) -> None:
        clip_rows(places, part.w, part.beside["applied"], penalty)

    def end_period(self, part: SparseWeights, examples: int, penalty: float) -> None:
        # Nothing that is due gets lost by waiting, but the size of the weights is known only when all have paid.
        places = np.arange(part.used, dtype=np.int32)
        clip_rows(places, part.w, part.beside["applied"], penalty)

    def settled(
        self, part: SparseWeights, places: Any, weights: NDArray[np.float32], penalty: float
    ) -> NDArray[np.float32]:
        applied = part.beside["applied"][places].copy()
        clip_rows(np.arange(len(weights), dtype=np.int32), weights, applied, penalty)
        return weights


_RULES = {rule.name: rule for rule in (Rule, FrequencyDecay, FrequencyScale, CumulativeL1)}


def make_rule(settings: dict[str, Any]) -> Rule:
    """RETURNS (Rule): The rule whose `settings` these are."""
    arguments = {key: value for key, value in settings.items() if key != "name"}
    return _RULES[settings["name"]](**arguments)
