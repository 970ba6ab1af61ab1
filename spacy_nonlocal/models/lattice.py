"""What a model says about a sequence, before anything is decided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Lattice(NamedTuple):
    """Scores of labels and label pairs. Labels are padded to `width`; padding has node score -inf."""

    node: NDArray[np.float32]  # [T, width]
    edge: NDArray[np.float32]  # [1, L, width] or [T, L, width]: from label, to label

    @property
    def n_labels(self) -> int:
        return self.edge.shape[1]

    def restrict(self, allowed: NDArray[np.bool_]) -> Lattice:
        """Leave only some labels at each position.

        allowed (ndarray): bool[T, L].
        RETURNS (Lattice): A lattice of its own, -inf where a label is not allowed.
        """
        node = self.node.copy()
        node[:, : self.n_labels][~allowed] = -np.inf
        return Lattice(node, self.edge)


class Move(NamedTuple):
    """A change of the weights: w += step * (Φ(gold) - Φ(guess))."""

    gold: NDArray[np.int32]  # [T]
    guess: NDArray[np.int32]  # [T]
    step: float
