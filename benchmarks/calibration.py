"""Whether confidences can be believed.

A prediction is an entity with its label, or a token with its tag; it is right if gold has exactly the same.

The calibration error is that of `spacy_nonlocal.calibration`, with 10 bins.

What is gained by keeping only predictions above a threshold is not F1 against all of gold: what was removed on purpose
would count as missed. Here it counts as left to somebody else, together with the gold it stands for:

predicted = predictions with confidence > threshold
gold      = gold that overlaps no removed prediction

Gold that no prediction touches stays, so recall still pays for what was overlooked. For tags this is the accuracy of
the tokens that are kept. Where the component is sure, that is, on the entities that it is sure of and on gold that
overlaps them, is a third number: nothing that it said nothing about counts there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_nonlocal.calibration import expected_calibration_error, reliability

THRESHOLD = 0.9

Annotation = tuple[int, int, str]  # start, end, label


class Prediction(NamedTuple):
    span: Annotation
    confidence: float


def calibrate(examples: Iterable[Example], docs: Iterable[Doc], target: str) -> dict[str, float]:
    """Compare confidences with what is right.

    examples (Iterable[Example]): The references.
    docs (Iterable[Doc]): The same documents, labelled.
    target (str): "ents" or "tag".
    RETURNS (Dict[str, float]): "error" (of calibration); p, r and f of "all" and of "confident" predictions, and
        where it is "sure", as "f_all" and so on; "kept", the share of confident ones. Empty if there are no
        confidences.
    """
    counts = {name: np.zeros(3) for name in ("all", "confident", "sure")}  # right, predicted, gold
    confidences: list[float] = []
    right: list[bool] = []
    for eg, doc in zip(examples, docs, strict=True):
        gold, found = gold_of(eg.reference, target), predictions(doc, target)
        kept = [each for each in found if each.confidence > THRESHOLD]
        removed = [each for each in found if each.confidence <= THRESHOLD]
        counts["all"] += _count(found, gold)
        counts["confident"] += _count(kept, untouched(gold, removed, len(doc)))
        counts["sure"] += _count(kept, gold - untouched(gold, kept, len(doc)))
        confidences += [each.confidence for each in found]
        right += [each.span in gold for each in found]
    if not confidences:
        return {}
    error = expected_calibration_error(reliability(confidences, right))
    results = {"error": error or 0.0}
    for name, each in counts.items():
        results.update({f"{key}_{name}": value for key, value in _prf(*each).items()})
    return {**results, "kept": counts["confident"][1] / counts["all"][1]}


def gold_of(doc: Doc, target: str) -> set[Annotation]:
    if target == "tag":
        return {(token.i, token.i + 1, token.tag_) for token in doc}
    return {(ent.start, ent.end, ent.label_) for ent in doc.ents}


def predictions(doc: Doc, target: str) -> list[Prediction]:
    """RETURNS (List[Prediction]): What was predicted with a confidence."""
    if not (Token if target == "tag" else Span).has_extension("confidence"):
        return []
    if target == "tag":
        found = [((token.i, token.i + 1, token.tag_), token._.confidence) for token in doc]
    else:
        found = [((ent.start, ent.end, ent.label_), ent._.confidence) for ent in doc.ents]
    return [Prediction(span, p) for span, p in found if p is not None and not math.isnan(p)]


def untouched(gold: set[Annotation], found: list[Prediction], length: int) -> set[Annotation]:
    """RETURNS (Set[Tuple[int, int, str]]): Gold that shares no token with some predictions."""
    touched = np.zeros(length, dtype=bool)
    for (start, end, _), _confidence in found:
        touched[start:end] = True
    return {each for each in gold if not touched[each[0] : each[1]].any()}


def _count(found: list[Prediction], gold: set[Annotation]) -> np.ndarray:
    return np.array([sum(each.span in gold for each in found), len(found), len(gold)])


def _prf(right: float, predicted: float, gold: float) -> dict[str, float]:
    p, r = right / max(predicted, 1), right / max(gold, 1)
    return {"p": p, "r": r, "f": 2 * p * r / max(p + r, 1e-9)}
