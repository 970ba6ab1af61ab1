"""Collins' (2002) word flag: is this word written in lower case more often than with a capital?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc


class LowerLexicon:
    """The words that the training documents write in lower case more often than not."""

    def __init__(self) -> None:
        self.words: set[int] = set()

    def learn(self, docs: Iterable[Doc]) -> None:
        """Count how words are written.

        docs (Iterable[Doc]): Documents. Their annotations do not matter.
        """
        balance: Counter[int] = Counter()
        for doc in docs:
            for orth, lower in doc.to_array(["ORTH", "LOWER"]).tolist():
                balance[lower] += 1 if orth == lower else -1
        self.words = {word for word, surplus in balance.items() if surplus > 0}

    def __contains__(self, lower: int) -> bool:
        return lower in self.words

    def state(self) -> dict[str, NDArray[np.uint64]]:
        return {"words": np.array(sorted(self.words), dtype=np.uint64)}

    def set_state(self, state: dict[str, NDArray[np.uint64]]) -> None:
        self.words = set(state["words"].tolist())
