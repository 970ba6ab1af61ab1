"""ADF, online descent with rates that adapt to feature frequency (Sun et al. 2012; He & Wang 2012, 2.3.2).

Each feature has its own rate. After every tenth of the corpus, with u the share of those examples that have it,
rate *= upper - u (upper - lower): what is frequent has learned enough, what is rare goes on learning.
"""

from typing import ClassVar

from ..models.rules import FrequencyDecay
from .learner import check_order, check_share
from .sgd import SGD


class ADF(SGD):
    """Follow the gradient at rates that decay with the frequency of features.

    l2 (float): The strength of the penalty, over the whole corpus.
    rate (Optional[float]): The first rate of all features; found on a sample if it is not given.
    upper (float): What is left of a rate after each period, for features that never occur in it.
    lower (float): The same, for features that occur in all its examples.
    average (bool): Whether to predict with the mean of the weights.
    seed (int): How the sample is drawn.
    """

    name: ClassVar[str] = "ADF"

    def __init__(
        self,
        l2: float = 1.0,
        rate: float | None = None,
        upper: float = 0.995,
        lower: float = 0.6,
        average: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(l2, rate, average, seed)
        check_share(self.name, "upper", upper)
        check_share(self.name, "lower", lower)
        check_order(self.name, "upper", upper, "lower", lower)
        self.rule = FrequencyDecay(average, upper, lower)

    def step(self) -> float:
        return self.rate
