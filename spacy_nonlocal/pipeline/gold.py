"""What is right, read from an example once and not again in every pass."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example

from ..codecs import Codec
from ..targets import Target


class _Known(NamedTuple):
    words: bytes  # of the prediction
    annotation: bytes  # of the reference
    labels: NDArray[np.int32]


class GoldLabels:
    """Right labels by reference document. `spacy train` keeps the references from epoch to epoch.

    A document that has changed is read again; one that is gone is forgotten.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Doc, _Known] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return (GoldLabels, ())

    def read(
        self, eg: Example, target: Target, codec: Codec, orths: NDArray[np.uint64]
    ) -> NDArray[np.int32]:
        """Find the right labels of an example.

        eg (Example): The example.
        target (Target): Where labels are.
        codec (Codec): What they are.
        orths (ndarray): uint64[T], the words of the prediction.
        RETURNS (ndarray): int32[T], -1 where nothing is known; not to be changed.
        """
        words, annotation = orths.tobytes(), target.fingerprint(eg.reference)
        known = self._known.get(eg.reference)
        if known is None or known.words != words or known.annotation != annotation:
            known = _Known(words, annotation, target.gold(eg, codec))
            self._known[eg.reference] = known
        return known.labels
