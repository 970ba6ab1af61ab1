"""The joint perceptron (Kazama & Torisawa 2007, algorithms 4.1 and 4.2): local and non-local weights, learned together.

Candidates are the n best of the local model; y', y'' are the best and second best of them by all features, y1, y2 by
local ones. The first line that holds counts:

y'  != gold and total(gold) - total(y')  <= Ca:    move all weights from y' to gold       (A)
y'' != gold and total(gold) - total(y'') <= Ca:    move all weights from y'' to gold      (A)
y1  != gold:                                       move local weights from y1 to gold     (B, "proposed" only)
local(gold) - local(y2) <= Cl:                     move local weights from y2 to gold     (B, "proposed" only)

A non-local feature is one number for a whole document, and its weight moves whenever the document is wrong, so it soon
weighs more than all that is local. Its steps are shorter, therefore: a step of s is the same as features of √s times
the size, and all that is proven of the algorithm still holds.
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..models.lattice import Lattice
from ..models.rules import Rule
from .learner import Learner, check_not_negative, check_positive

ALGORITHMS = ("proposed", "candidate")


class Choice(NamedTuple):
    """From which candidate to move to the right one."""

    guess: int
    everything: bool  # or only local weights
    loss: float  # how far the right one is behind, at least


class JointPerceptron(Learner):
    """Learn until the right labelling is ahead of all other candidates by a margin.

    algorithm (str): "proposed" is the paper's algorithm 4.2; "candidate" is 4.1, without (B).
    n_best (int): How many labellings of the local model to choose from while training.
    n_best_predict (int): The same for prediction.
    margin_local (float): Cl, in units of feature counts.
    margin_total (float): Ca.
    nonlocal_step (float): How far non-local weights move where local ones move by 1. The paper has 1.
    average (bool): Whether to predict with the mean of the weights.
    """

    name: ClassVar[str] = "JointPerceptron"

    def __init__(
        self,
        algorithm: str = "proposed",
        n_best: int = 20,
        n_best_predict: int = 100,
        margin_local: float = 100.0,
        margin_total: float = 100.0,
        nonlocal_step: float = 0.03,
        average: bool = True,
    ) -> None:
        check_not_negative(self.name, "margin_local", margin_local)
        check_not_negative(self.name, "margin_total", margin_total)
        self._set(algorithm, n_best, n_best_predict, nonlocal_step, average)
        self.margin_local, self.margin_total = margin_local, margin_total

    def _set(
        self, algorithm: str, n_best: int, n_best_predict: int, step: float, average: bool
    ) -> None:
        """What all joint learners have."""
        if algorithm not in ALGORITHMS:
            raise ValueError(Errors.NL507.format(learner=self.name, algorithm=algorithm))
        for setting, value in (("n_best", n_best), ("n_best_predict", n_best_predict)):
            if value < 1:
                message = Errors.NL508.format(learner=self.name, setting=setting, value=value)
                raise ValueError(message)
        check_positive(self.name, "nonlocal_step", step)
        self.algorithm = algorithm
        self.n_best, self.n_best_predict = n_best, n_best_predict
        self.nonlocal_step = step
        self.rule = Rule(average)

    def search(self, lattice: Lattice, gold: NDArray[np.int32]) -> Lattice:
        """RETURNS (Lattice): Where candidates come from, given the scores and what is right."""
        return lattice

    def choose(
        self, local: NDArray[np.float64], total: NDArray[np.float64], m: int, gold: int
    ) -> Choice | None:
        """Find what to move away from.

        local (ndarray): float64, scores of m candidates, the best first, and of the right labelling if it is not one.
        total (ndarray): float64, the same with non-local features.
        gold (int): Which of them is right.
        RETURNS (Optional[Choice]): None if all is well.
        """
        for guess in np.argsort(-total[:m], kind="stable")[:2].tolist():
            if guess != gold and total[gold] - total[guess] <= self.margin_total:
                return Choice(guess, True, total[guess] - total[gold])
        if self.algorithm == "candidate":
            return None
        if gold != 0:
            return Choice(0, False, local[0] - local[gold])
        if m > 1 and local[0] - local[1] <= self.margin_local:
            return Choice(1, False, local[1] - local[0])
        return None

    def length(self, choice: Choice, squared: Callable[[], float]) -> float:
        """RETURNS (float): The length of the step, for features that are so far apart."""
        return 1.0
