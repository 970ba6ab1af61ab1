"""Stochastic gradient descent with an L1 penalty, which makes most weights zero (Tsuruoka, Tsujii & Ananiadou 2009).

objective = Σ_i -log p(gold_i)  +  l1 Σ_k |w_k|
step_t    = rate * decay^(t / sequences)

Each weight is pulled to zero by what all examples so far would have taken from it, less what it has paid already.
"""

from typing import Any, ClassVar

from ..models.lattice import Gradient
from ..models.rules import CumulativeL1
from .learner import check_positive, check_share
from .sgd import SGD


class L1SGD(SGD):
    """Follow the gradient, and keep only weights that are worth their penalty.

    l1 (float): The strength of the penalty, over the whole corpus.
    rate (Optional[float]): The first step; found on a sample if it is not given.
    decay (float): What is left of the step after each pass.
    seed (int): How the sample is drawn.
    """

    name: ClassVar[str] = "L1SGD"

    def __init__(
        self, l1: float = 0.1, rate: float | None = None, decay: float = 0.97, seed: int = 0
    ) -> None:
        check_positive(self.name, "l1", l1)
        super().__init__(1.0, rate, False, seed)
        check_share(self.name, "decay", decay)
        self.l1 = l1
        self.decay = decay
        self.rule = CumulativeL1(averaged=False)
        self._total = 0.0  # what the penalty could have taken from each weight by now

    def begin(self, sequences: int, sample: int | None = None) -> None:
        super().begin(sequences, sample)
        self._total = 0.0

    def step(self) -> float:
        return float(self.rate * self.decay ** (self.time / self.sequences))

    def direct(self, gradient: Gradient, loss: float) -> Gradient:
        step = self.step()
        self._total += step * self.l1 / self.sequences
        period = self.period if self.ends_period else 0
        return gradient._replace(step=step, penalty=self._total, period=period)

    def penalty(self, size: float, squares: float) -> float:
        return self.l1 * size

    def state(self) -> dict[str, Any]:
        return {**super().state(), "total": self._total}

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        self._total = state.get("total", 0.0)
