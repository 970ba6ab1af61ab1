"""What a component learns and writes: entities, tags, parts of speech, or a span group.

A target reads what is right from an Example as label numbers (-1: unknown), reads what an earlier component has set
already, and writes label numbers back into a Doc.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, ENT_TYPE, IDX, IS_SPACE, LENGTH, ORTH, POS, TAG
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.util import filter_spans

from .codecs import BEGINS, INSIDE, OUTSIDE, UNKNOWN, Codec, SpanCodec
from .confidence import Confidence
from .doc_arrays import read_column, read_columns, write_columns
from .errors import Errors, Warnings
from .extensions import set_span_confidence, set_token_confidence
from .kernels.confidence import span_probabilities
from .kernels.marginals import marginals
from .models.lattice import Lattice

Annotation = tuple[NDArray[np.uint64], NDArray[np.uint64]]  # iob and class hash, [T] each


def make_target(target: str, scheme: str, name: str) -> Target:
    """Find the target that a config names.

    target (str): "ents", "tag", "pos" or "spans:KEY".
    scheme (str): "BIO", "BILUO" or "IO", for targets that are spans.
    name (str): The component's name.
    RETURNS (Target): The target.
    """
    kind, _, key = target.partition(":")
    if target == "ents":
        return EntsTarget(name, scheme)
    if target in ("tag", "pos"):
        return TokenTarget(name, target)
    if kind == "spans" and key:
        return SpansTarget(name, scheme, key)
    raise ValueError(Errors.NL402.format(name=name, target=target))


def describe(doc: Doc) -> str:
    """RETURNS (str): A name for a document that its owner will recognise."""
    source = doc.user_data.get("spacy_nonlocal.source")
    words = " ".join(token.text for token in doc[:6])
    more = " …" if len(doc) > 6 else ""
    return f"document {source} ({words!r}{more})" if source else f"the document {words!r}{more}"


def same_tokens(eg: Example) -> bool:
    """RETURNS (bool): Whether prediction and reference have the same tokens."""
    x, y = eg.predicted, eg.reference
    return len(x) == len(y) and bool((read_column(x, ORTH) == read_column(y, ORTH)).all())


class Target:
    """The base of all targets."""

    nothing: int  # the label of a token that has none

    def __init__(self, name: str) -> None:
        self.name = name

    def codec(self, classes: Iterable[str]) -> Codec:
        """RETURNS (Codec): Label numbers for these classes."""
        raise NotImplementedError

    def classes(self, doc: Doc) -> set[str]:
        """RETURNS (Set[str]): The classes that a reference document uses."""
        raise NotImplementedError

    def gold(self, eg: Example, codec: Any) -> NDArray[np.int32]:
        """RETURNS (ndarray): int32[T], the right label of each predicted token; -1 where nothing is known."""
        raise NotImplementedError

    def fingerprint(self, doc: Doc) -> bytes:
        """RETURNS (bytes): A reference document's annotation: other bytes, other labels."""
        raise NotImplementedError

    def preset(self, doc: Doc, codec: Any) -> NDArray[np.int32] | None:
        """RETURNS (Optional[ndarray]): int32[T], labels that are set already and stay; None if there are none."""
        raise NotImplementedError

    def confidence(self, lattice: Lattice, labels: NDArray[np.int32], codec: Any) -> Confidence:
        """RETURNS (Confidence): How probable each span, or each token's label, is under a lattice."""
        raise NotImplementedError

    def annotations(self, doc: Doc, labels: NDArray[np.int32], codec: Any) -> list[Any]:
        """RETURNS (List[Any]): What labels mean, as `write` would write it: spans, or a tag for each token."""
        raise NotImplementedError

    def write(
        self, doc: Doc, labels: NDArray[np.int32], codec: Any, confidence: Confidence | None = None
    ) -> None:
        """Write labels into a document, and how sure they are; what was set before stays."""
        raise NotImplementedError

    def _class_number(self, label: str, codec: Codec, doc: Doc, text: str) -> int:
        if label not in codec.classes:
            known = ", ".join(codec.classes) or "none"
            where = describe(doc)
            raise ValueError(
                Errors.NL403.format(
                    name=self.name, label=label, text=text, where=where, known=known
                )
            )
        return codec.classes.index(label)


class TokenTarget(Target):
    """A label for every token: `token.tag` or `token.pos`.

    name (str): The component's name.
    attr (str): "tag" or "pos".
    """

    nothing = -1

    def __init__(self, name: str, attr: str) -> None:
        super().__init__(name)
        self.attr = {"tag": TAG, "pos": POS}[attr]
        self._stored: dict[tuple[str, ...], NDArray[np.uint64]] = {}

    def codec(self, classes: Iterable[str]) -> Codec:
        classes = tuple(classes)
        unknown = [label for label in classes if self.attr == POS and not POS_IDS.get(label)]
        if unknown:
            raise ValueError(Errors.NL404.format(name=self.name, label=unknown[0]))
        return Codec(classes)

    def classes(self, doc: Doc) -> set[str]:
        strings = doc.vocab.strings
        return {
            self._text(value, strings)
            for value in set(read_column(doc, self.attr).tolist())
            if value
        }

    def gold(self, eg: Example, codec: Codec) -> NDArray[np.int32]:
        if same_tokens(eg):
            values = read_column(eg.reference, self.attr)
        else:
            aligned = eg.get_aligned("TAG" if self.attr == TAG else "POS")
            values = np.array([value or 0 for value in aligned], dtype=np.uint64)
        return self._labels(values, codec, eg.predicted, strict=True)

    def fingerprint(self, doc: Doc) -> bytes:
        return read_column(doc, self.attr).tobytes()

    def preset(self, doc: Doc, codec: Codec) -> NDArray[np.int32] | None:
        values = read_column(doc, self.attr)
        return self._labels(values, codec, doc, strict=False) if values.any() else None

    def confidence(self, lattice: Lattice, labels: NDArray[np.int32], codec: Codec) -> Confidence:
        _, beliefs, _ = marginals(lattice.node, lattice.edge, pairs=False)
        at = np.arange(len(labels), dtype=np.int32)
        spans = np.stack([at, at + 1, at, at], axis=1)
        return Confidence(spans, beliefs[at, labels].astype(np.float64))

    def annotations(self, doc: Doc, labels: NDArray[np.int32], codec: Codec) -> list[Any]:
        return [codec.classes[label] for label in labels.tolist()]

    def write(
        self,
        doc: Doc,
        labels: NDArray[np.int32],
        codec: Codec,
        confidence: Confidence | None = None,
    ) -> None:
        # One more, for label -1: none.
        numbers = np.append(self._numbers(codec.classes), np.uint64(0))
        before = read_column(doc, self.attr)
        write_columns(doc, [self.attr], np.where(before != 0, before, numbers[labels])[:, None])
        if confidence is not None:
            values = np.full(len(doc), np.nan)
            values[confidence.spans[:, 0]] = confidence.values
            values[before != 0] = np.nan
            set_token_confidence(doc, "tag" if self.attr == TAG else "pos", values)

    def _labels(
        self, values: NDArray[np.uint64], codec: Codec, doc: Doc, *, strict: bool
    ) -> NDArray[np.int32]:
        """Label numbers for attribute values; -1 for 0, and, unless strict, for what is no label of ours."""
        distinct, where = np.unique(values, return_inverse=True)
        numbers = np.full(len(distinct), -1, dtype=np.int32)
        for i, value in enumerate(distinct.tolist()):
            label = self._text(value, doc.vocab.strings) if value else None
            if label is None or (not strict and label not in codec.classes):
                continue
            first = int(np.argmax(values == value))
            text = doc[first].text
            numbers[i] = self._class_number(label, codec, doc, text)
        return numbers[where]

    def _numbers(self, classes: tuple[str, ...]) -> NDArray[np.uint64]:
        """What spaCy stores for each class, worked out once."""
        if classes not in self._stored:
            find = POS_IDS.__getitem__ if self.attr == POS else get_string_id
            self._stored = {classes: np.array([find(label) for label in classes], dtype=np.uint64)}
        return self._stored[classes]

    def _text(self, value: int, strings: Any) -> str:
        return _POS_NAMES[value] if self.attr == POS else strings[value]


_POS_NAMES: dict[int, str] = {number: label for label, number in POS_IDS.items()}


class SpanTarget(Target):
    """Spans that do not overlap, wherever they are kept.

    name (str): The component's name.
    scheme (str): "BIO", "BILUO" or "IO".
    """

    nothing = 0

    def __init__(self, name: str, scheme: str) -> None:
        super().__init__(name)
        self.scheme = scheme
        SpanCodec((), scheme)

    def codec(self, classes: Iterable[str]) -> SpanCodec:
        return SpanCodec(tuple(classes), self.scheme)

    def confidence(
        self, lattice: Lattice, labels: NDArray[np.int32], codec: SpanCodec
    ) -> Confidence:
        spans = codec.spans(labels)
        return Confidence(spans, span_probabilities(lattice.node, lattice.edge, labels, spans))

    def annotations(self, doc: Doc, labels: NDArray[np.int32], codec: SpanCodec) -> list[Any]:
        return [Span(doc, start, end, label) for start, end, label in codec.mentions(labels)]

    def annotation(self, doc: Doc) -> Annotation:
        """RETURNS (Tuple[ndarray, ndarray]): The annotation of a document: iob and class hash."""
        raise NotImplementedError

    def classes(self, doc: Doc) -> set[str]:
        iob, kind = self.annotation(doc)
        within = iob == BEGINS
        return {doc.vocab.strings[value] for value in set(kind[within].tolist())}

    def gold(self, eg: Example, codec: SpanCodec) -> NDArray[np.int32]:
        reference = eg.reference
        iob, kind = self.annotation(reference)
        iob = self._without_whitespace(reference, iob)
        numbers = self._numbers(iob, kind, codec, reference)
        if not same_tokens(eg):
            iob, numbers = self._aligned(eg, iob, numbers)
        return codec.encode(iob, numbers)

    def _numbers(
        self, iob: NDArray[np.uint64], kind: NDArray[np.uint64], codec: SpanCodec, doc: Doc
    ) -> NDArray[np.int64]:
        """Class numbers for class hashes."""
        within = (iob == BEGINS) | (iob == INSIDE)
        numbers = np.full(len(iob), -1, dtype=np.int64)
        for value in np.unique(kind[within]).tolist():
            where = within & (kind == value)
            start = int(np.argmax(where))
            text = doc[start : _span_end(iob, start)].text
            numbers[where] = self._class_number(doc.vocab.strings[value], codec, doc, text)
        return numbers

    def _without_whitespace(self, doc: Doc, iob: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Leave out spans that are nothing but white space."""
        space = read_column(doc, IS_SPACE) == 1
        for start in np.flatnonzero(space & (iob == BEGINS)).tolist():
            end = _span_end(iob, start)
            if space[start:end].all():
                self._warn(Warnings.NL451, doc, start, end)
                iob = iob.copy()
                iob[start:end] = UNKNOWN
        return iob

    def _aligned(
        self, eg: Example, iob: NDArray[np.uint64], numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Carry spans from the reference's tokens over to the prediction's; leave out those that do not fit."""
        x, y, to_x = eg.predicted, eg.reference, eg.alignment.y2x
        out = np.full(len(x), UNKNOWN, dtype=np.uint64)
        out_numbers = np.full(len(x), -1, dtype=np.int64)
        for t in np.flatnonzero(iob == OUTSIDE).tolist():
            out[to_x[t]] = OUTSIDE
        for t in np.flatnonzero(iob == UNKNOWN).tolist():
            out[to_x[t]] = UNKNOWN
        for start in np.flatnonzero(iob == BEGINS).tolist():
            end = _span_end(iob, start)
            where = np.unique(np.asarray(to_x[start:end]))
            fits = len(where) > 0 and _letters(x[where[0] : where[-1] + 1]) == _letters(
                y[start:end]
            )
            if fits:
                out[where[0]], out[where[0] + 1 : where[-1] + 1] = BEGINS, INSIDE
                out_numbers[where[0] : where[-1] + 1] = numbers[start]
            else:
                self._warn(Warnings.NL452, y, start, end)
                out[where] = UNKNOWN
        return out, out_numbers

    def _warn(self, message: str, doc: Doc, start: int, end: int) -> None:
        span, where = doc[start:end].text, describe(doc)
        warnings.warn(
            message.format(name=self.name, span=span, start=start, end=end, where=where),
            stacklevel=2,
        )


class EntsTarget(SpanTarget):
    """Entities, `doc.ents`. Entities that are there already stay, and are decoded around."""

    def fingerprint(self, doc: Doc) -> bytes:
        return read_columns(doc, [ENT_IOB, ENT_TYPE]).tobytes()

    def annotation(self, doc: Doc) -> Annotation:
        array = read_columns(doc, [ENT_IOB, ENT_TYPE])
        iob, kind = array[:, 0], array[:, 1]
        # A "blocked" token is certainly no entity.
        return np.where((iob == BEGINS) & (kind == 0), OUTSIDE, iob).astype(np.uint64), kind

    def preset(self, doc: Doc, codec: SpanCodec) -> NDArray[np.int32] | None:
        array = read_columns(doc, [ENT_IOB, ENT_TYPE])
        iob, kind = array[:, 0], array[:, 1]
        set_before = (iob == BEGINS) | (iob == INSIDE)
        if not set_before.any():
            return None
        numbers = {get_string_id(name): i for i, name in enumerate(codec.classes)}
        classes = np.array([numbers.get(value, -1) for value in kind.tolist()], dtype=np.int64)
        # A blocked token, or an entity of a class that is not ours, is "outside" for us.
        ours = set_before & (classes >= 0)
        known = np.where(ours, iob, np.where(set_before, OUTSIDE, UNKNOWN))
        return codec.encode(known, classes)

    def write(
        self,
        doc: Doc,
        labels: NDArray[np.int32],
        codec: SpanCodec,
        confidence: Confidence | None = None,
    ) -> None:
        iob, number = codec.decode(labels)
        # One more, for number -1: outside.
        hashes = np.array([*map(get_string_id, codec.classes), 0], dtype=np.uint64)
        array = np.stack([iob, hashes[number]], axis=1)
        before = read_columns(doc, [ENT_IOB, ENT_TYPE])
        keep = (before[:, 0] == BEGINS) | (before[:, 0] == INSIDE)
        array[keep] = before[keep]
        write_columns(doc, [ENT_IOB, ENT_TYPE], array)
        if confidence is not None:
            spans, values = confidence
            new = ~keep[spans[:, 0]]
            first, last = spans[new, 0], spans[new, 1] - 1
            letters = read_columns(doc, [IDX, LENGTH]).astype(np.int64)
            ends = letters[last].sum(axis=1)
            set_span_confidence(doc, letters[first, 0], ends, values[new])


class SpansTarget(SpanTarget):
    """A span group, `doc.spans[key]`, which is written anew each time.

    key (str): The group's name.
    """

    def __init__(self, name: str, scheme: str, key: str) -> None:
        super().__init__(name, scheme)
        self.key = key

    def fingerprint(self, doc: Doc) -> bytes:
        if self.key not in doc.spans:
            return b""
        spans = [(span.start, span.end, span.label) for span in doc.spans[self.key]]
        return repr(spans).encode("ascii")

    def annotation(self, doc: Doc) -> Annotation:
        iob = np.full(len(doc), UNKNOWN, dtype=np.uint64)
        kind = np.zeros(len(doc), dtype=np.uint64)
        if self.key not in doc.spans:
            return iob, kind
        iob[:] = OUTSIDE
        spans = list(doc.spans[self.key])
        kept = filter_spans([span for span in spans if span.label])
        if len(kept) < len(spans):
            self._leave_out(doc, spans, kept, iob)
        for span in kept:
            iob[span.start], iob[span.start + 1 : span.end] = BEGINS, INSIDE
            kind[span.start : span.end] = span.label
        return iob, kind

    def _leave_out(
        self, doc: Doc, spans: list[Span], kept: list[Span], iob: NDArray[np.uint64]
    ) -> None:
        """Report spans that overlap or have no label; nothing is known of their tokens."""
        chosen = {(span.start, span.end, span.label) for span in kept}
        for span in spans:
            if (span.start, span.end, span.label) not in chosen:
                message = Warnings.NL453 if span.label else Warnings.NL456
                self._warn(message, doc, span.start, span.end)
                iob[span.start : span.end] = UNKNOWN

    def preset(self, doc: Doc, codec: SpanCodec) -> NDArray[np.int32] | None:
        return None

    def write(
        self,
        doc: Doc,
        labels: NDArray[np.int32],
        codec: SpanCodec,
        confidence: Confidence | None = None,
    ) -> None:
        spans = self.annotations(doc, labels, codec)
        # In the same order as the spans: both go from left to right.
        attrs = {} if confidence is None else {"scores": confidence.values.astype(np.float32)}
        doc.spans[self.key] = SpanGroup(doc, name=self.key, spans=spans, attrs=attrs)


def _span_end(iob: NDArray[Any], start: int) -> int:
    """Where the span that begins at start ends."""
    end = start + 1
    while end < len(iob) and iob[end] == INSIDE:
        end += 1
    return end


def _letters(span: Span) -> str:
    return "".join(span.text.split())
