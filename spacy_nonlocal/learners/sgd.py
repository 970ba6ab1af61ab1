"""Stochastic gradient descent for conditional random fields, with an L2 penalty (He & Wang 2012, 2.3).

objective = Σ_i -log p(gold_i)  +  l2/2 ‖w‖²
step_t    = rate / (1 + λ rate t),    λ = l2 / sequences
"""

from typing import Any, ClassVar

from ..models.lattice import Gradient
from ..models.rules import Rule
from .crf import CRFLearner
from .learner import check_positive


class SGD(CRFLearner):
    """Follow the gradient of one example after the other, with steps that become smaller.

    l2 (float): The strength of the penalty, over the whole corpus.
    rate (Optional[float]): The first step; found on a sample if it is not given.
    average (bool): Whether to predict with the mean of the weights.
    seed (int): How the sample is drawn.
    """

    name: ClassVar[str] = "SGD"
    step_setting: ClassVar[str] = "rate"

    def __init__(
        self, l2: float = 1.0, rate: float | None = None, average: bool = False, seed: int = 0
    ) -> None:
        super().__init__()
        check_positive(self.name, "l2", l2)
        if rate is not None:
            check_positive(self.name, "rate", rate)
        self.l2 = l2
        self.given = rate is not None
        self.rate = rate if rate is not None else 0.1
        self.seed = seed
        self.rule = Rule(average)
        self._due = 0.0  # the penalty since the last period ended, as a logarithm

    @property
    def wants_rate(self) -> bool:
        return not self.given

    def begin(self, sequences: int, sample: int | None = None) -> None:
        super().begin(sequences, sample)
        self._due = 0.0

    def step(self) -> float:
        """RETURNS (float): The step to take now."""
        return self.rate / (1 + self.l2 / self.sequences * self.rate * self.time)

    def direct(self, gradient: Gradient, loss: float) -> Gradient:
        step = self.step()
        self._due += step * self.l2 / self.sequences
        if not self.ends_period:
            return gradient._replace(step=step)
        shrink, self._due = self._due, 0.0
        return gradient._replace(step=step, period=self.period, shrink=shrink)

    def penalty(self, size: float, squares: float) -> float:
        return self.l2 / 2 * squares

    def state(self) -> dict[str, Any]:
        return {**super().state(), "rate": self.rate, "due": self._due}

    def set_state(self, state: dict[str, Any]) -> None:
        super().set_state(state)
        self.rate = state.get("rate", self.rate)
        self._due = state.get("due", 0.0)
