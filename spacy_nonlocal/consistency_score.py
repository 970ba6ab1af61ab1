"""Whether the same name gets the same label in a document: a score beside F1.

A phrase counts if it is a mention somewhere in a document and stands in it at least twice, as a mention or outside of
all mentions (within a longer one, it is no name of its own). It is consistent if it has one and the same label at all
places; to be no mention is a label, too. The score is the share of phrases that are consistent, over all documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .changes import Mention, unmarked


def count_consistent(words: NDArray[np.uint64], mentions: Iterable[Mention]) -> tuple[int, int]:
    """Count the repeated phrases of a document.

    words (ndarray): uint64[T], equal numbers for words that count as the same.
    mentions (Iterable[Tuple[int, int, str]]): Start, end and label of what is labelled; none overlap.
    RETURNS (Tuple[int, int]): How many are consistent, and how many there are.
    """
    labels: dict[bytes, list[str]] = defaultdict(list)
    marked = np.zeros(len(words), dtype=bool)
    for start, end, label in mentions:
        labels[words[start:end].tobytes()].append(label)
        marked[start:end] = True
    for start, end in unmarked(words, marked, labels):
        labels[words[start:end].tobytes()].append("")
    repeated = [each for each in labels.values() if len(each) > 1]
    return sum(len(set(each)) == 1 for each in repeated), len(repeated)
