"""How sure a labelling is: the probability of each span, or of each token's label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Confidence(NamedTuple):
    """Probabilities of what a labelling says."""

    spans: NDArray[
        np.int32
    ]  # [S, 4] start and end in tokens, and two columns that only kernels read
    values: NDArray[np.float64]  # [S]

    @classmethod
    def join(cls, parts: list[Confidence]) -> Confidence:
        """RETURNS (Confidence): That of a whole document, from those of its sequences."""
        if len(parts) == 1:
            return parts[0]
        spans = np.concatenate([np.zeros((0, 4), dtype=np.int32), *(p.spans for p in parts)])
        return cls(spans, np.concatenate([np.zeros(0), *(part.values for part in parts)]))

    def drop(self, labels: NDArray[np.int32], threshold: float, nothing: int) -> Confidence:
        """Take back what is not probable enough.

        labels (ndarray): int32[T], the labelling; it is changed in place.
        threshold (float): What is less probable goes.
        nothing (int): The label of tokens that lose theirs.
        RETURNS (Confidence): That of what is left.
        """
        low = self.values < threshold
        for start, end in self.spans[low, :2].tolist():
            labels[start:end] = nothing
        return Confidence(self.spans[~low], self.values[~low])


class Labelling(NamedTuple):
    """What a component predicts for a document."""

    labels: NDArray[np.int32]  # [T]; -1: none
    confidence: Confidence | None
