"""The structured perceptron (Collins 2002a): if the best labelling is wrong, move towards the right one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.viterbi import viterbi
from ..models.lattice import Lattice, Move
from ..models.rules import Rule
from .learner import Distance, Learner, Verdict, token_errors


class Perceptron(Learner):
    """Learn with the perceptron's rule; predict with the final weights."""

    name: ClassVar[str] = "Perceptron"

    def __init__(self) -> None:
        self.rule = Rule(averaged=False)

    def judge(self, lattice: Lattice, gold: NDArray[np.int32], distance: Distance) -> Verdict:
        best, _ = viterbi(lattice.node, lattice.edge)
        errors = token_errors(gold, best)
        return Verdict(Move(gold, best, 1.0) if errors else None, errors)
