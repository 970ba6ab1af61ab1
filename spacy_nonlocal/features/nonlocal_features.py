"""Features of a whole labelled document: what every block of them has to give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..candidates import Candidates
from ..codecs import Codec


class Differences(NamedTuple):
    """The features of candidates, all less the same: only differences between candidates mean anything.

    Candidate i has the features keys[first[i]:first[i + 1]]; the same one may come more than once.
    """

    first: NDArray[np.int64]  # [m + 1]
    keys: NDArray[np.uint64]  # [E]
    values: NDArray[np.float64]  # [E]

    def of(self, i: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """RETURNS (Tuple[ndarray, ndarray]): The features of one candidate."""
        part = slice(self.first[i], self.first[i + 1])
        return self.keys[part], self.values[part]

    def between(self, i: int, k: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """RETURNS (Tuple[ndarray, ndarray]): Φ(i) - Φ(k): distinct features, and by how much they differ."""
        (keys, values), (others, less) = self.of(i), self.of(k)
        distinct, where = np.unique(np.concatenate([keys, others]), return_inverse=True)
        sums = np.bincount(where, np.concatenate([values, -less]), minlength=len(distinct))
        return distinct[sums != 0], sums[sums != 0]

    def dot(self, weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Add up what each candidate's features weigh.

        weights (ndarray): [E], one for each feature.
        RETURNS (ndarray): float64[m].
        """
        # Each on its own: equal candidates get equal scores, to the last bit.
        sums = np.add.reduceat(np.append(self.values * weights, 0.0), self.first[:-1])
        return np.where(self.first[1:] > self.first[:-1], sums, 0.0)

    @classmethod
    def join(cls, parts: Sequence[Differences], m: int) -> Differences:
        """RETURNS (Differences): The features of all blocks together, for m candidates."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(np.zeros(m + 1, dtype=np.int64), np.zeros(0, np.uint64), np.zeros(0))
        owner = np.concatenate([np.repeat(np.arange(m), np.diff(part.first)) for part in parts])
        order = np.argsort(owner, kind="stable")
        return cls(
            np.sum([part.first for part in parts], axis=0),
            np.concatenate([part.keys for part in parts])[order],
            np.concatenate([part.values for part in parts])[order],
        )


class NonlocalFeatures:
    """The base of all blocks of features that look at a document and one complete labelling of it."""

    def compare(self, doc: Doc, candidates: Candidates, codec: Codec) -> Differences:
        """Find the features of candidates.

        doc (Doc): The document; it is not changed.
        candidates (Candidates): Its labellings.
        codec (Codec): What labels mean.
        RETURNS (Differences): Their features.
        """
        raise NotImplementedError

    def names(self, keys: NDArray[np.uint64]) -> list[str | None]:
        """RETURNS (List[Optional[str]]): What features that `compare` has found are called, None for others."""
        raise NotImplementedError
