"""Extension attributes: where users find how sure a component is.

`span._.confidence` holds the probability of an entity, `token._.confidence` that of a tag. They are part of
`doc.user_data`, so `Doc.to_bytes` keeps them, and so does a DocBin with `store_user_data=True`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, Token

_TAGS = "spacy_nonlocal.confidence"


def register() -> None:
    """Make the attributes known to spaCy; one that a user has already is left alone."""
    if not Span.has_extension("confidence"):
        Span.set_extension("confidence", default=None)
    if not Token.has_extension("confidence"):
        Token.set_extension("confidence", getter=_token_confidence)


def set_span_confidence(
    doc: Doc, starts: NDArray[np.int64], ends: NDArray[np.int64], values: NDArray[np.float64]
) -> None:
    """Store the probabilities of spans.

    starts, ends (ndarray): int64[S], as characters of the text.
    values (ndarray): float64[S].
    """
    user_data: dict[Any, Any] = doc.user_data
    for start, end, value in zip(starts.tolist(), ends.tolist(), values.tolist(), strict=True):
        # What `span._.confidence = value` does, without making the span.
        user_data["._.", "confidence", start, end] = value


def set_token_confidence(doc: Doc, values: NDArray[np.float64]) -> None:
    """Store the probabilities of tags: float64[T], NaN where there is none."""
    doc.user_data[_TAGS] = values.astype(np.float32)


def _token_confidence(token: Token) -> float | None:
    values = token.doc.user_data.get(_TAGS)
    # After a retokenization, nobody knows which value belongs to which token.
    if values is None or len(values) != len(token.doc) or np.isnan(values[token.i]):
        return None
    return float(values[token.i])
