"""Extension attributes: where users find how sure a component is.

`span._.confidence` holds the probability of an entity, `token._.confidence` that of a tag (or of a part of speech, if
tags have none; `tag_confidence` and `pos_confidence` say which). They are part of `doc.user_data`, so `Doc.to_bytes`
keeps them, and so does a DocBin with `store_user_data=True`. `doc._.nonlocal_changes` says what non-local features have
changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, Token

from .changes import get_changes

_TOKENS = "spacy_nonlocal.{attr}_confidence"


def register() -> None:
    """Make the attributes known to spaCy; one that a user has already is left alone."""
    if not Span.has_extension("confidence"):
        Span.set_extension("confidence", default=None)
    if not Doc.has_extension("nonlocal_changes"):
        Doc.set_extension("nonlocal_changes", getter=get_changes)
    # No lambdas: processes that are spawned are sent these functions.
    getters = {
        "confidence": _any_confidence,
        "tag_confidence": _tag_confidence,
        "pos_confidence": _pos_confidence,
    }
    for name, getter in getters.items():
        if not Token.has_extension(name):
            Token.set_extension(name, getter=getter)


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


def set_token_confidence(doc: Doc, attr: str, values: NDArray[np.float64]) -> None:
    """Store the probabilities of tags ("tag") or parts of speech ("pos"): float64[T], NaN where there is none."""
    doc.user_data[_TOKENS.format(attr=attr)] = values.astype(np.float32)


def token_confidences(doc: Doc, attr: str) -> NDArray[np.float32] | None:
    """RETURNS (Optional[ndarray]): float32[T], NaN where there is none; None if they do not belong to the tokens."""
    values: NDArray[np.float32] | None = doc.user_data.get(_TOKENS.format(attr=attr))
    # After a retokenization, nobody knows which value belongs to which token.
    return None if values is None or len(values) != len(doc) else values


def _tag_confidence(token: Token) -> float | None:
    return _token_confidence(token, "tag")


def _pos_confidence(token: Token) -> float | None:
    return _token_confidence(token, "pos")


def _any_confidence(token: Token) -> float | None:
    tag = _tag_confidence(token)
    return _pos_confidence(token) if tag is None else tag


def _token_confidence(token: Token, attr: str) -> float | None:
    values = token_confidences(token.doc, attr)
    if values is None or np.isnan(values[token.i]):
        return None
    return float(values[token.i])
