"""The passive-aggressive learner PA-I with non-local features: steps as long as a document needs.

guess = argmax over candidates:  total(y) + #{t: y_t != gold_t}; candidates are the n best by local(y) + #{…}
loss  = total(guess) + #{t: guess_t != gold_t} - total(gold) > 0:    move all weights                           (A)
else the same with local(y) alone:                                   move local weights, "proposed" only        (B)
step  = min(C, loss / ‖Φ(gold) - Φ(guess)‖²)

Algorithm 4.2 of Kazama & Torisawa (2007) with the costs of `PassiveAggressive` in place of its margins.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..models.lattice import Lattice
from .joint_perceptron import Choice, JointPerceptron
from .learner import check_positive


class JointPassiveAggressive(JointPerceptron):
    """Learn both kinds of weights as PassiveAggressive does: move just as far as a document needs.

    Candidates come from scores to which a cost of 1 is added for every wrong token, so that the right labelling has to
    be ahead of each by the number of tokens that differ.

    C (float): The largest step.
    algorithm (str), n_best (int), n_best_predict (int), nonlocal_step (float), average (bool): As in JointPerceptron.
    """

    name: ClassVar[str] = "JointPassiveAggressive"

    def __init__(
        self,
        C: float = 1.0,  # noqa: N803
        algorithm: str = "proposed",
        n_best: int = 20,
        n_best_predict: int = 100,
        nonlocal_step: float = 0.03,
        average: bool = True,
    ) -> None:
        check_positive(self.name, "C", C)
        self._set(algorithm, n_best, n_best_predict, nonlocal_step, average)
        self.C = C

    def search(self, lattice: Lattice, gold: NDArray[np.int32]) -> Lattice:
        return lattice.with_costs(gold)

    def choose(
        self, local: NDArray[np.float64], total: NDArray[np.float64], m: int, gold: int
    ) -> Choice | None:
        guess = int(np.argmax(total[:m]))
        if guess != gold and total[guess] > total[gold]:
            return Choice(guess, True, total[guess] - total[gold])
        if self.algorithm == "proposed" and gold != 0 and local[0] > local[gold]:
            return Choice(0, False, local[0] - local[gold])
        return None

    def length(self, choice: Choice, squared: Callable[[], float]) -> float:
        distance = squared()
        return min(self.C, choice.loss / distance) if distance else 0.0
