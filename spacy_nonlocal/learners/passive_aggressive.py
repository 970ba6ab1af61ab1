"""The passive-aggressive learner PA-I (Crammer et al. 2006), with Hamming cost.

guess = argmax_y  score(y) + #{t: y_t != gold_t}
loss  = score(guess) + #{t: guess_t != gold_t} - score(gold)
step  = min(C, loss / ‖Φ(gold) - Φ(guess)‖²)
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.viterbi import score_path, viterbi
from ..models.lattice import Lattice, Move
from ..models.rules import Rule
from .learner import Distance, Learner, Verdict, check_positive, token_errors


class PassiveAggressive(Learner):
    """Move just as far as the example needs, and never further than C allows.

    C (float): The largest step.
    average (bool): Whether to predict with the mean of the weights.
    """

    name: ClassVar[str] = "PassiveAggressive"

    def __init__(self, C: float = 1.0, average: bool = True) -> None:  # noqa: N803
        check_positive(self.name, "C", C)
        self.C = C
        self.rule = Rule(average)

    def judge(self, lattice: Lattice, gold: NDArray[np.int32], distance: Distance) -> Verdict:
        guess, score = viterbi(*lattice.with_costs(gold))
        errors = token_errors(gold, guess)
        loss = score - score_path(lattice.node, lattice.edge, gold)
        if errors == 0 or loss <= 0:
            return Verdict(None, 0)
        squared = distance(gold, guess)
        if squared == 0:
            return Verdict(None, errors)
        return Verdict(Move(gold, guess, min(self.C, loss / squared)), errors)
