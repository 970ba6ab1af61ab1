"""What a learner is: it is handed a lattice and the right labelling, and says how to move. It never sees a feature."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..models.lattice import Lattice, Move

# ‖Φ(gold) - Φ(guess)‖², for learners whose step depends on it
Distance = Callable[[NDArray[np.int32], NDArray[np.int32]], float]


class Verdict(NamedTuple):
    """What a learner makes of an example."""

    move: Move | None
    loss: float


class Learner:
    """The base of all update rules. Subclasses define `judge` and, if they keep any state, `state` and `set_state`."""

    name: ClassVar[str]
    averaged: bool

    def judge(self, lattice: Lattice, gold: NDArray[np.int32], distance: Distance) -> Verdict:
        """Compare what the weights say with what is right.

        lattice (Lattice): Scores under the raw weights.
        gold (ndarray): int32[T], the right labels.
        distance (Callable): Squared distance of two labellings' features.
        RETURNS (Verdict): A change of the weights, if one is needed, and the loss.
        """
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): What has to be saved to go on training, for JSON."""
        return {"name": self.name, "averaged": self.averaged}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over a saved state."""


def token_errors(gold: NDArray[np.int32], guess: NDArray[np.int32]) -> int:
    """RETURNS (int): At how many tokens two labellings differ."""
    return int(np.count_nonzero(gold != guess))


def check_positive(learner: str, setting: str, value: float) -> None:
    """Raise unless a setting is a positive, finite number."""
    if not (math.isfinite(value) and value > 0):
        raise ValueError(Errors.NL501.format(learner=learner, setting=setting, value=value))


def check_not_negative(learner: str, setting: str, value: float) -> None:
    """Raise unless a setting is zero or a positive, finite number."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(Errors.NL502.format(learner=learner, setting=setting, value=value))
