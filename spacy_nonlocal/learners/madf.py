"""MADF, gradient descent scaled by the frequency of features (He & Wang 2012, 2.4).

step_t(k) = B_k rate / (1 + λ rate t),    B_k = 1 / (beta + (alpha - beta) f_k)

f_k is how often a feature comes with a label, per token of the training data; B stays as it is.
"""

from typing import ClassVar

from ..models.rules import FrequencyScale
from .learner import check_order, check_positive
from .sgd import SGD


class MADF(SGD):
    """Follow the gradient with small steps for frequent features and large ones for rare ones.

    l2 (float): The strength of the penalty, over the whole corpus.
    rate (Optional[float]): The first step, times B; found on a sample if it is not given.
    alpha (float): 1 / B of a feature that every token has.
    beta (float): 1 / B of a feature that hardly any token has.
    average (bool): Whether to predict with the mean of the weights.
    seed (int): How the sample is drawn.
    """

    name: ClassVar[str] = "MADF"

    def __init__(
        self,
        l2: float = 1.0,
        rate: float | None = None,
        alpha: float = 1000.0,
        beta: float = 1.0,
        average: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(l2, rate, average, seed)
        check_positive(self.name, "alpha", alpha)
        check_positive(self.name, "beta", beta)
        check_order(self.name, "alpha", alpha, "beta", beta)
        self.rule = FrequencyScale(average, alpha, beta)
