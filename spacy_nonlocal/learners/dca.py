"""Dual coordinate ascent for conditional random fields (Martins et al. 2010; He & Wang 2012, 2.2).

step = min(C, loss / ‖gradient‖²),    C = 1 / (λ sequences)

No rate has to be found: each example says how far to go. As in the paper, steps of earlier passes are not taken back,
so C bounds each step and not the weights; the loss reported is that of the examples alone.
"""

from typing import ClassVar

from ..models.lattice import Gradient
from ..models.rules import Rule
from .crf import CRFLearner
from .learner import check_positive


class DCA(CRFLearner):
    """Move as far as the example's loss asks for, and never further than C allows.

    C (float): The largest step.
    average (bool): Whether to predict with the mean of the weights.
    """

    name: ClassVar[str] = "DCA"

    def __init__(self, C: float = 1.0, average: bool = True) -> None:  # noqa: N803
        super().__init__()
        check_positive(self.name, "C", C)
        self.C = C
        self.rule = Rule(average)

    def direct(self, gradient: Gradient, loss: float) -> Gradient:
        period = self.period if self.ends_period else 0
        return gradient._replace(step=self.C, reach=loss, period=period)
