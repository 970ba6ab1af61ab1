"""Why a document is labelled otherwise than its local features alone would have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import LOWER
from spacy.tokens import Doc

from ..candidates import Candidates
from ..changes import MAX_FEATURES, inside, related, stretches
from ..doc_arrays import read_column
from ..features.consistency import ConsistencyFeatures

if TYPE_CHECKING:
    from .nonlocal_reranker import NonlocalReranker


def explain_changes(
    reranker: NonlocalReranker, doc: Doc, before: NDArray[np.int32], after: NDArray[np.int32]
) -> list[dict[str, Any]]:
    """Find what has changed, and for each change the features that decided: those that taking it back would cost.

    before, after (ndarray): int32[T], the best labelling by local features and the best by all.
    RETURNS (List[Dict[str, Any]]): The changes, from left to right; see `spacy_nonlocal.changes`.
    """
    codec = reranker._codec
    old, new = codec.mentions(before), codec.mentions(after)
    places = stretches(old, new)
    # The labelling as it is comes first, then what it would be with each of the changes taken back.
    candidates = Candidates.of(
        after, [after, *(_taken_back(before, after, each) for each in places)]
    )
    differences = reranker._differences(doc, candidates)
    words = read_column(doc, LOWER)
    connectives = _connectives(reranker, words)
    changes = []
    for i, (start, end) in enumerate(places):
        was, is_ = inside(old, start, end), inside(new, start, end)
        keys, values = differences.between(0, i + 1)
        weights = reranker._shim.document_weights(keys).astype(np.float64)
        names = reranker.feature_names(keys)
        order = np.argsort(-np.abs(values * weights), kind="stable")[:MAX_FEATURES]
        changes.append(
            {
                "start": start,
                "end": end,
                "before": was,
                "after": is_,
                "features": [
                    [names[k], float(values[k]), float(weights[k])] for k in order if weights[k]
                ],
                "gain": float(values @ weights),
                "mentions": related(words, new, (start, end), [*was, *is_], connectives),
            }
        )
    return changes


def _taken_back(
    before: NDArray[np.int32], after: NDArray[np.int32], stretch: tuple[int, int]
) -> NDArray[np.int32]:
    labels = after.copy()
    labels[slice(*stretch)] = before[slice(*stretch)]
    return labels


def _connectives(reranker: NonlocalReranker, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    found = np.zeros(len(words), dtype=bool)
    for block in reranker.nonlocal_features.values():
        if isinstance(block, ConsistencyFeatures):
            found |= block.connectives_in(words) > 0
    return found
