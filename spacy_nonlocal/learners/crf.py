"""What learners of conditional random fields share: the likelihood of the right labelling, and its gradient.

loss     = -log p(gold) = log Z - score(gold)
gradient = Φ(gold) - Σ_y p(y) Φ(y),   towards a smaller loss

Where gold is known in parts, both terms are sums over the labellings that agree with it:  log Z - log Z(known), and
the difference of the two expectations.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, LatticeError
from ..kernels.marginals import marginals
from ..kernels.viterbi import score_path
from ..models.lattice import Gradient, Lattice, indicators
from .learner import Distance, Learner, Verdict

# The penalty counts as one example in so many parts of a pass.
PERIODS = 10


class CRFLearner(Learner):
    """The base of learners that follow the gradient of the likelihood. Subclasses define `direct` and `penalty`."""

    probabilistic: ClassVar[bool] = True

    def __init__(self) -> None:
        self.sequences = 1
        self.time = 0  # examples learned from
        self._pass = 1  # examples in a pass

    @property
    def period(self) -> int:
        """RETURNS (int): How many examples make a period."""
        return max(1, self._pass // PERIODS)

    def begin(self, sequences: int, sample: int | None = None) -> None:
        self.sequences = max(1, sequences)
        self._pass = max(1, sequences if sample is None else sample)
        self.time = 0

    def restart(self) -> None:
        self.begin(self.sequences)

    def judge(self, lattice: Lattice, gold: NDArray[np.int32], distance: Distance) -> Verdict:
        score = score_path(lattice.node, lattice.edge, gold)
        if score == -math.inf:
            raise LatticeError(Errors.NL616.format(score=score, length=len(gold)))
        right = indicators(gold, lattice.n_labels, lattice.node.shape[1], len(lattice.edge))
        return self._judge(lattice, score, *right)

    def judge_partly(self, lattice: Lattice, known: Lattice, distance: Distance) -> Verdict:
        return self._judge(lattice, *marginals(known.node, known.edge))

    def _judge(
        self,
        lattice: Lattice,
        right_score: float,
        right_node: NDArray[np.float32],
        right_edge: NDArray[np.float32],
    ) -> Verdict:
        log_z, node, edge = marginals(lattice.node, lattice.edge)
        # Rounding may put log Z below the score of what is all but certain.
        loss = max(0.0, log_z - right_score)
        np.subtract(right_node, node, out=node)
        np.subtract(right_edge, edge, out=edge)
        gradient = self.direct(Gradient(node, edge, 0.0), loss)
        self.time += 1
        return Verdict(gradient, loss)

    def direct(self, gradient: Gradient, loss: float) -> Gradient:
        """RETURNS (Gradient): The gradient with the step to take."""
        raise NotImplementedError

    @property
    def ended_pass(self) -> bool:
        """RETURNS (bool): Whether the example before was the last of a pass."""
        return self.time > 0 and self.time % self.sequences == 0

    @property
    def ends_period(self) -> bool:
        """RETURNS (bool): Whether the example that comes now is the last of a period."""
        return (self.time + 1) % self.period == 0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "sequences": self.sequences, "time": self.time}

    def set_state(self, state: dict[str, Any]) -> None:
        self.sequences = self._pass = state.get("sequences", 1)
        self.time = state.get("time", 0)
