"""Scores for `spacy evaluate`, by target: spaCy's own, so that they print as its own components' do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc
from spacy.training import Example


def labeller_score(examples: Iterable[Example], *, target: str, **kwargs: Any) -> dict[str, Any]:
    """Score what a component predicts.

    examples (Iterable[Example]): Predictions and references.
    target (str): The component's target.
    RETURNS (Dict[str, Any]): ents_p, ents_r, ents_f …; tag_acc; pos_acc; or spans_KEY_p, ….
    """
    if target == "ents":
        return get_ner_prf(examples)
    if target in ("tag", "pos"):
        return Scorer.score_token_attr(examples, target, missing_values={None, "", 0})
    key = target.partition(":")[2]

    def has_group(doc: Doc) -> bool:
        return key in doc.spans

    def group(doc: Doc, attr: str) -> Iterable[Any]:
        return doc.spans.get(key, [])

    return Scorer.score_spans(examples, f"spans_{key}", getter=group, has_annotation=has_group)


def make_labeller_scorer() -> Callable[..., dict[str, Any]]:
    """RETURNS (Callable): The scorer, for the config."""
    return labeller_score
