"""Scores for `spacy evaluate`, by target: spaCy's own, so that they print as its own components' do; and, if there are
confidences, whether they can be believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, IS_SPACE, ORTH, POS, TAG
from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..calibration import expected_calibration_error, reliability
from ..changes import Mention, labelled, mentions_before
from ..consistency_score import count_consistent
from ..doc_arrays import read_column
from ..extensions import token_confidences
from ..targets import same_tokens


def labeller_score(examples: Iterable[Example], *, target: str, **kwargs: Any) -> dict[str, Any]:
    """Score what a component predicts.

    examples (Iterable[Example]): Predictions and references.
    target (str): The component's target.
    RETURNS (Dict[str, Any]): ents_p, ents_r, ents_f …; tag_acc; pos_acc; or spans_KEY_p, …. If predictions have
        confidences, also ents_ece, the expected calibration error, and ents_calibration, the table it comes from;
        or tag_ece, and so on. For spans, also ents_consistency, the share of repeated phrases that have one label in
        their document; and, if non-local features have had a say, ents_p_local, ents_r_local, ents_f_local and
        ents_consistency_local: what the scores would be without them.
    """
    examples = list(examples)
    scores = {**_accuracy(examples, target), **_calibration(examples, target)}
    if target in ("tag", "pos"):
        return scores
    return {**scores, **_consistency(examples, target), **_local(examples, target)}


def _accuracy(examples: list[Example], target: str) -> dict[str, Any]:
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


def _consistency(examples: list[Example], target: str) -> dict[str, Any]:
    counts = np.zeros(2, dtype=np.int64)
    for eg in examples:
        doc = eg.predicted
        counts += count_consistent(read_column(doc, ORTH), labelled(doc, target))
    same, repeated = counts.tolist()
    return {f"{_prefix(target)}_consistency": same / repeated if repeated else None}


def _local(examples: list[Example], target: str) -> dict[str, Any]:
    """The same scores for what the local model alone would have labelled."""
    local = []
    for eg in examples:
        doc, after = eg.predicted, labelled(eg.predicted, target)
        before = mentions_before(doc, after)
        if before is None:
            return {}
        # The documents in which nothing has changed need not be copied.
        changed = before != sorted(after)
        local.append(Example(_with_mentions(doc, before, target), eg.reference) if changed else eg)
    scores = {**_accuracy(local, target), **_consistency(local, target)}
    names = [f"{_prefix(target)}_{what}" for what in ("p", "r", "f", "consistency")]
    return {f"{name}_local": scores[name] for name in names if name in scores}


def _with_mentions(doc: Doc, mentions: list[Mention], target: str) -> Doc:
    other = doc.copy()
    spans = [Span(other, start, end, label) for start, end, label in mentions]
    if target == "ents":
        other.ents = spans
    else:
        other.spans[target.partition(":")[2]] = spans
    return other


def _prefix(target: str) -> str:
    return target.replace(":", "_", 1)


def _calibration(examples: list[Example], target: str) -> dict[str, Any]:
    found = [each for each in (compare(eg, target) for eg in examples) if len(each.confidence)]
    if not found:
        return {}
    confidence = np.concatenate([each.confidence for each in found])
    table = reliability(confidence, np.concatenate([each.correct for each in found]))
    prefix = _prefix(target)
    return {f"{prefix}_ece": expected_calibration_error(table), f"{prefix}_calibration": table}


class Comparison(NamedTuple):
    """The predictions in a document that have a confidence, and whether they are right."""

    spans: NDArray[np.uint64]  # [S, 3] start and end in tokens of the prediction; the label's hash
    confidence: NDArray[np.float64]  # [S]
    correct: NDArray[np.bool_]  # [S]
    gold: int  # how much there was to find, apart from what had been found without a confidence


def compare(eg: Example, target: str) -> Comparison:
    """Compare what was predicted with a confidence with the reference.

    A span is right if the reference has the same, with the same label; a tag, if the reference has the same. Where the
    reference says nothing, a prediction is neither right nor wrong, and left out.

    eg (Example): The prediction and the reference.
    target (str): "ents", "tag", "pos" or "spans:KEY".
    RETURNS (Comparison): The predictions.
    """
    if target in ("tag", "pos"):
        return _compare_tags(eg, TAG if target == "tag" else POS)
    if target == "ents":
        if not eg.reference.has_annotation("ENT_IOB"):
            return _comparison([], 0)
        unknown = read_column(eg.reference, ENT_IOB) == 0
        return _compare_spans(eg, _entities(eg.predicted), eg.reference.ents, unknown)
    key = target.partition(":")[2]
    if key not in eg.reference.spans:
        return _comparison([], 0)
    unknown = np.zeros(len(eg.reference), dtype=bool)
    return _compare_spans(eg, _group(eg.predicted, key), list(eg.reference.spans[key]), unknown)


def _entities(doc: Doc) -> Iterator[tuple[Span, float | None]]:
    # What `ent._.confidence` reads, unless somebody else has an attribute of this name.
    stored: dict[Any, Any] = doc.user_data
    for ent in doc.ents:
        value = stored.get(("._.", "confidence", ent.start_char, ent.end_char))
        yield ent, value if isinstance(value, float) else None


def _group(doc: Doc, key: str) -> Iterator[tuple[Span, float | None]]:
    if key not in doc.spans:
        return
    spans = list(doc.spans[key])
    scores = doc.spans[key].attrs.get("scores")
    # Spans may have been added or removed since.
    known = scores is not None and len(scores) == len(spans)
    values = np.asarray(scores, dtype=np.float64).tolist() if known else [None] * len(spans)
    yield from zip(spans, values, strict=True)


def _compare_spans(
    eg: Example,
    found: Iterable[tuple[Span, float | None]],
    reference: Sequence[Span],
    unknown: NDArray[np.bool_],
) -> Comparison:
    """unknown: bool[T], of the reference's tokens."""
    gold = {(span.start, span.end, span.label) for span in reference}
    right = gold
    if not same_tokens(eg):
        aligned = eg.get_aligned_spans_y2x(reference, allow_overlap=True)
        right = {(span.start, span.end, span.label) for span in aligned}
    before = 0  # found without a confidence
    to_y, gaps = eg.alignment.x2y, bool(unknown.any())
    rows = []
    for span, confidence in found:
        key = (span.start, span.end, span.label)
        if confidence is None:
            before += key in right
        elif not gaps or not unknown[to_y[span.start : span.end]].any():
            rows.append((key, confidence, key in right))
    return _comparison(rows, len(gold) - before)


def _compare_tags(eg: Example, attr: int) -> Comparison:
    x, y, to_y = eg.predicted, eg.reference, eg.alignment.x2y
    got = read_column(x, attr)
    values = token_confidences(x, "tag" if attr == TAG else "pos")
    if values is None:
        values = np.full(len(x), np.nan)
    lengths = np.asarray(to_y.lengths)
    # As spaCy does it: a token that is part of one reference token, or the same, may have its tag.
    (at,) = np.nonzero((lengths == 1) & (read_column(x, IS_SPACE) == 0))
    tags = read_column(y, attr)
    want = np.zeros(len(x), dtype=np.uint64)
    want[at] = tags[np.asarray(to_y.data)[to_y.starts[at]]]
    sure = ~np.isnan(values)
    (i,) = np.nonzero(sure & (want != 0))
    spans = np.stack([i.astype(np.uint64), i.astype(np.uint64) + np.uint64(1), got[i]], axis=1)
    gold = (tags != 0) & (read_column(y, IS_SPACE) == 0)
    before = ~sure & (want != 0) & (got != 0)
    gold_count = int(gold.sum() - before.sum())
    return Comparison(spans, values[i].astype(np.float64), got[i] == want[i], gold_count)


def _comparison(rows: list[tuple[tuple[int, int, int], float, bool]], gold: int) -> Comparison:
    spans = np.array([key for key, _, _ in rows], dtype=np.uint64).reshape(-1, 3)
    confidence = np.array([value for _, value, _ in rows], dtype=np.float64)
    return Comparison(spans, confidence, np.array([ok for _, _, ok in rows], dtype=bool), gold)


def make_labeller_scorer() -> Callable[..., dict[str, Any]]:
    """RETURNS (Callable): The scorer, for the config."""
    return labeller_score
