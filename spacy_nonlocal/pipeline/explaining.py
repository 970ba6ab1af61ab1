"""Why a document is labelled otherwise than its local features alone would have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..candidates import Candidates
from ..changes import MAX_FEATURES

if TYPE_CHECKING:
    from .nonlocal_reranker import NonlocalReranker


def explain_changes(
    reranker: NonlocalReranker, doc: Doc, before: NDArray[np.int32], after: NDArray[np.int32]
) -> list[dict[str, Any]]:
    """Find what has changed, and for each change the features that decided: those that taking it back would cost.

    before, after (ndarray): int32[T], the best labelling by local features and the best by all.
    RETURNS (List[Dict[str, Any]]): The changes, from left to right; see `spacy_nonlocal.changes`.
    """
    places = reranker._codec.changed(before, after)
    candidates = Candidates.taken_back(before, after, [each[:2] for each in places])
    differences = reranker._differences(doc, candidates)
    first, keys, values = (array.tolist() for array in differences)
    weights = reranker._shim.document_weights(differences.keys).tolist()
    names = reranker.feature_names(differences.keys)
    changes = []
    for i, (start, end, was, is_) in enumerate(places):
        # Plain Python: for so few features, arrays would take longer.
        more: dict[int, float] = {}
        about: dict[int, tuple[str, float]] = {}
        for sign, part in ((1, range(first[0], first[1])), (-1, range(first[i + 1], first[i + 2]))):
            for k in part:
                more[keys[k]] = more.get(keys[k], 0.0) + sign * values[k]
                about[keys[k]] = (names[k], weights[k])
        found = [(about[key][0], value, about[key][1]) for key, value in more.items() if value]
        found.sort(key=lambda each: -abs(each[1] * each[2]))
        changes.append(
            {
                "start": start,
                "end": end,
                "before": was,
                "after": is_,
                "features": [list(each) for each in found[:MAX_FEATURES] if each[2]],
                "gain": sum(value * weight for _, value, weight in found),
            }
        )
    return changes
