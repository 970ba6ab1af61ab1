"""What a learner is: it is handed a lattice and the right labelling, and says how to move. It never sees a feature."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..kernels.viterbi import viterbi
from ..models.lattice import Gradient, Lattice, Move
from ..models.rules import Rule

# ‖Φ(gold) - Φ(guess)‖², for learners whose step depends on it
Distance = Callable[[NDArray[np.int32], NDArray[np.int32]], float]

# Beyond this, a setting is a slip of the pen.
ABSURD = 1e6


class Verdict(NamedTuple):
    """What a learner makes of an example."""

    move: Move | Gradient | None
    loss: float


class Learner:
    """The base of all update rules. Subclasses define `judge` and, if they keep any state, `state` and `set_state`."""

    name: ClassVar[str]
    probabilistic: ClassVar[bool] = False  # whether scores are logarithms of probabilities
    rule: Rule  # how weights follow
    step_setting: ClassVar[str] = "C"  # what to lower if training diverges

    @property
    def averaged(self) -> bool:
        """RETURNS (bool): Whether prediction uses the mean of the weights over all examples."""
        return self.rule.averaged

    @property
    def wants_rate(self) -> bool:
        """RETURNS (bool): Whether a rate has to be found before training begins."""
        return False

    @property
    def ended_pass(self) -> bool:
        """RETURNS (bool): Whether it is time to add the penalty to the loss."""
        return False

    def begin(self, sequences: int, sample: int | None = None) -> None:
        """Get ready to learn from the start.

        sequences (int): How many there are to learn from.
        sample (Optional[int]): How many of them make a pass, if it is a trial on a sample.
        """

    def restart(self) -> None:
        """Begin again with the same data."""

    def judge(self, lattice: Lattice, gold: NDArray[np.int32], distance: Distance) -> Verdict:
        """Compare what the weights say with what is right.

        lattice (Lattice): Scores under the raw weights.
        gold (ndarray): int32[T], the right labels.
        distance (Callable): Squared distance of two labellings' features.
        RETURNS (Verdict): A change of the weights, if one is needed, and the loss.
        """
        raise NotImplementedError

    def judge_partly(self, lattice: Lattice, known: Lattice, distance: Distance) -> Verdict:
        """The same where not all is known. Here: the best labelling that agrees with what is known is right.

        known (Lattice): The same scores, where only what agrees with what is known is allowed.
        """
        gold, _ = viterbi(known.node, known.edge)
        return self.judge(lattice, gold, distance)

    def penalty(self, size: float, squares: float) -> float:
        """What the objective has beside the losses, once in a pass.

        size (float): Sum of the sizes of all weights.
        squares (float): Sum of their squares.
        RETURNS (float): The penalty.
        """
        return 0.0

    def state(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): What has to be saved to go on training, for JSON."""
        return {"name": self.name, "averaged": self.averaged}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over a saved state."""


def token_errors(gold: NDArray[np.int32], guess: NDArray[np.int32]) -> int:
    """RETURNS (int): At how many tokens two labellings differ."""
    return int(np.count_nonzero(gold != guess))


def check_positive(learner: str, setting: str, value: float) -> None:
    """Raise unless a setting is a positive number of a size that makes sense."""
    if not (math.isfinite(value) and 0 < value <= ABSURD):
        raise ValueError(
            Errors.NL501.format(learner=learner, setting=setting, value=value, limit=ABSURD)
        )


def check_not_negative(learner: str, setting: str, value: float) -> None:
    """Raise unless a setting is zero or a positive, finite number."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(Errors.NL502.format(learner=learner, setting=setting, value=value))


def check_share(learner: str, setting: str, value: float) -> None:
    """Raise unless a setting is above 0 and not above 1."""
    if not (math.isfinite(value) and 0 < value <= 1):
        raise ValueError(Errors.NL503.format(learner=learner, setting=setting, value=value))


def check_order(learner: str, more: str, more_value: float, less: str, less_value: float) -> None:
    """Raise if a setting is less than another that it has to reach."""
    if more_value < less_value:
        raise ValueError(
            Errors.NL504.format(
                learner=learner, more=more, value=more_value, less=less, other=less_value
            )
        )
