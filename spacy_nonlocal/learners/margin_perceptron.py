"""The margin perceptron (Kazama & Torisawa 2007, algorithm 3.1).

best != gold:                              move from best to gold
else, score(gold) - score(second) <= C:    move from second best to gold
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.nbest import n_best
from ..models.lattice import Lattice, Move
from ..models.rules import Rule
from .learner import Distance, Learner, Verdict, check_not_negative, token_errors


class MarginPerceptron(Learner):
    """Learn until the right labelling is ahead of all others by a margin.

    margin (float): C, in units of feature counts.
    average (bool): Whether to predict with the mean of the weights.
    """

    name: ClassVar[str] = "MarginPerceptron"

    def __init__(self, margin: float = 1000.0, average: bool = True) -> None:
        check_not_negative(self.name, "margin", margin)
        self.margin = margin
        self.rule = Rule(average)

    def judge(self, lattice: Lattice, gold: NDArray[np.int32], distance: Distance) -> Verdict:
        paths, scores = n_best(lattice.node, lattice.edge, 2)
        errors = token_errors(gold, paths[0])
        if errors:
            return Verdict(Move(gold, paths[0], 1.0), errors)
        if len(paths) > 1 and scores[0] - scores[1] <= self.margin:
            return Verdict(Move(gold, paths[1], 1.0), 0)
        return Verdict(None, 0)
