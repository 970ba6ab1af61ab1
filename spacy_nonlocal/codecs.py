"""Labels: how spans and tags become label numbers, and which label may follow which.

Spans travel as two arrays, in spaCy's own numbering: `iob` (0 unknown, 1 inside, 2 outside, 3 begins) and
`kind`, the number of the span's class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Errors

UNKNOWN, INSIDE, OUTSIDE, BEGINS = 0, 1, 2, 3
SCHEMES = {"BIO": "BI", "BILUO": "BILU", "IO": "I"}


class Codec:
    """Labels that may follow each other freely: tags.

    classes (Sequence[str]): What is told apart.
    """

    def __init__(self, classes: Sequence[str]) -> None:
        self.classes = tuple(classes)
        self.labels: tuple[str, ...] = self.classes
        # For kernels: the class that each label belongs to, -1 for none, and whether a mention surely begins with it.
        self.kinds = np.arange(len(self.labels), dtype=np.int32)
        self.begins = np.ones(len(self.labels), dtype=np.uint8)
        self._set_free()

    def _set_free(self) -> None:
        L = len(self.labels)
        self.transitions = np.ones((L, L), dtype=bool)  # [from, to]
        self.start = np.ones(L, dtype=bool)
        self.end = np.ones(L, dtype=bool)

    def allowed(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which labels agree with what is known.

        labels (ndarray): int32[T], -1 where nothing is known.
        RETURNS (ndarray): bool[T, L].
        """
        allowed = np.ones((len(labels), len(self.labels)), dtype=bool)
        known = np.flatnonzero(labels >= 0)
        allowed[known] = False
        allowed[known, labels[known]] = True
        return allowed

    def mentions(self, labels: NDArray[np.int32]) -> list[tuple[int, int, str]]:
        """RETURNS (List[Tuple[int, int, str]]): Start, end and class of all that is labelled, from left to right."""
        classes = (self.classes[label] for label in labels.tolist())
        return [(t, t + 1, name) for t, name in enumerate(classes)]

    def changed(
        self, before: NDArray[np.int32], after: NDArray[np.int32]
    ) -> list[tuple[int, int, list[list[Any]], list[list[Any]]]]:
        """Find what two labellings label differently. For few differences, in plain Python.

        before, after (ndarray): int32[T], legal sequences.
        RETURNS (List[Tuple[int, int, List, List]]): Stretches that hold all mentions that only one has, from left to
            right: start, end, and the mentions there, [start, end, class] each, of the one and of the other.
        """
        out: list[tuple[int, int, list[list[Any]], list[list[Any]]]] = []
        kinds, begins = self.kinds.tolist(), self.begins.tolist()
        both = (before.tolist(), after.tolist())

        def goes_on(labels: list[int], t: int) -> bool:
            if not 0 < t < len(labels) or begins[labels[t]] or kinds[labels[t]] < 0:
                return False
            return bool(kinds[labels[t - 1]] == kinds[labels[t]])

        def mentions(labels: list[int], start: int, end: int) -> list[list[Any]]:
            found: list[list[Any]] = []
            for t in range(start, end):
                if t > start and goes_on(labels, t):
                    found[-1][1] = t + 1
                elif kinds[labels[t]] >= 0:
                    found.append([t, t + 1, self.classes[kinds[labels[t]]]])
            return found

        end = 0
        for t in np.flatnonzero(before != after).tolist():
            if t < end:
                continue
            start, end = t, t + 1
            while goes_on(both[0], start) or goes_on(both[1], start):
                start -= 1
            while goes_on(both[0], end) or goes_on(both[1], end):
                end += 1
            was, is_ = (mentions(labels, start, end) for labels in both)
            out.append((start, end, was, is_))
        return out

    def crossing(self, labels: NDArray[np.int32], boundaries: list[int]) -> list[tuple[int, int]]:
        """Find spans that lie across boundaries, which no labels can express.

        labels (ndarray): int32[T], -1 where nothing is known.
        boundaries (List[int]): Positions where a sequence ends and the next one starts.
        RETURNS (List[Tuple[int, int]]): Start and end of each.
        """
        return []


class SpanCodec(Codec):
    """Labels that say where spans begin and end.

    classes (Sequence[str]): The classes of spans.
    scheme (str): "BIO", "BILUO" or "IO".
    """

    def __init__(self, classes: Sequence[str], scheme: str = "BIO") -> None:
        if scheme not in SCHEMES:
            raise ValueError(Errors.NL401.format(scheme=scheme, known=", ".join(SCHEMES)))
        self.classes = tuple(classes)
        self.scheme = scheme
        self._parts = SCHEMES[scheme]
        self.labels = ("O", *(f"{part}-{name}" for name in classes for part in self._parts))
        # For each label: which part of a span it is, and of which class.
        self._part = np.array(["O", *(part for _ in classes for part in self._parts)])
        n_parts = len(self._parts)
        self._class = np.array([-1, *np.repeat(np.arange(len(classes)), n_parts)], dtype=np.int64)
        begins, inside = np.isin(self._part, ["B", "U"]), np.isin(self._part, ["I", "L"])
        self.kinds, self.begins = self._class.astype(np.int32), begins.astype(np.uint8)
        self._iob = np.select([begins, inside], [BEGINS, INSIDE], OUTSIDE).astype(np.uint64)
        self._set_free()
        if scheme != "IO":
            self._forbid()

    def _forbid(self) -> None:
        opens = np.isin(self._part, ["B", "I"])  # a span may (BIO) or must (BILUO) go on after it
        continues = np.isin(self._part, ["I", "L"])
        same = self._class[:, None] == self._class[None, :]
        into = continues[None, :]
        self.transitions = np.where(into, opens[:, None] & same, True)
        self.start = ~continues
        if self.scheme == "BILUO":
            self.transitions &= np.where(opens[:, None], into & same, True)
            self.end = ~opens

    def encode(self, iob: NDArray[np.integer], kind: NDArray[np.integer]) -> NDArray[np.int32]:
        """Turn spans into labels.

        iob (ndarray): [T], 0 unknown, 1 inside, 2 outside, 3 begins.
        kind (ndarray): [T], the number of the class; it only matters within spans.
        RETURNS (ndarray): int32[T], -1 where nothing is known.
        """
        within = (iob == INSIDE) | (iob == BEGINS)
        goes_on = np.append(iob[1:] == INSIDE, False)[: len(iob)]
        if self.scheme == "IO":
            part = np.zeros(len(iob), dtype=np.int64)
        elif self.scheme == "BIO":
            part = (iob == INSIDE).astype(np.int64)
        else:
            # B 0, I 1, L 2, U 3
            begins = iob == BEGINS
            part = np.where(begins, np.where(goes_on, 0, 3), np.where(goes_on, 1, 2))
        labels = np.where(within, 1 + len(self._parts) * kind.astype(np.int64) + part, 0)
        return np.where(iob == UNKNOWN, -1, labels).astype(np.int32)

    def decode(self, labels: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Turn labels into spans.

        labels (ndarray): int32[T], a legal sequence.
        RETURNS (Tuple[ndarray, ndarray]): iob and kind, [T] each; kind is -1 outside.
        """
        iob, kind = self._iob[labels], self._class[labels]
        if self.scheme == "IO" and len(labels):
            before = np.append(-1, kind[:-1])
            iob[(kind >= 0) & (kind != before)] = BEGINS
        return iob, kind

    def spans(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Find the spans of a labelling.

        labels (ndarray): int32[T], a legal sequence.
        RETURNS (ndarray): int32[S, 4]: start, end, and the labels that would make it longer if they came right before
            or right after it; -1 for none.
        """
        iob, kind = self.decode(labels)
        starts = np.flatnonzero(iob == BEGINS)
        # A span ends where the next token is not inside one.
        ends = np.flatnonzero((kind >= 0) & np.append(iob[1:] != INSIDE, True)[: len(iob)]) + 1
        out = np.full((len(starts), 4), -1, dtype=np.int32)
        out[:, 0], out[:, 1] = starts, ends
        longer = 1 + len(self._parts) * kind[starts] + (1 if self.scheme == "BIO" else 0)
        if self.scheme == "IO":
            out[:, 2] = longer
        if self.scheme != "BILUO":
            out[:, 3] = longer
        return out

    def mentions(self, labels: NDArray[np.int32]) -> list[tuple[int, int, str]]:
        spans = self.spans(labels)[:, :2]
        kinds = self._class[labels[spans[:, 0]]]
        return [
            (start, end, self.classes[kind])
            for (start, end), kind in zip(spans.tolist(), kinds.tolist(), strict=True)
        ]

    def allowed(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        allowed = super().allowed(labels)
        unknown = labels < 0
        # A known span has ended where it ends: what is unknown after it must not go on with it.
        after = np.flatnonzero(unknown[1:] & ~unknown[:-1]) + 1
        if self.scheme == "BIO":
            allowed[np.ix_(after, self._part == "I")] = False
        elif self.scheme == "IO":
            before = np.flatnonzero(unknown[:-1] & ~unknown[1:])
            for position, neighbour in (
                *((t, t - 1) for t in after),
                *((t, t + 1) for t in before),
            ):
                if labels[neighbour] > 0:
                    allowed[position, labels[neighbour]] = False
        return allowed

    def crossing(self, labels: NDArray[np.int32], boundaries: list[int]) -> list[tuple[int, int]]:
        found = []
        for boundary in boundaries:
            if not self._goes_on(labels, boundary):
                continue
            start, end = boundary, boundary + 1
            while start > 0 and self._goes_on(labels, start):
                start -= 1
            while end < len(labels) and self._goes_on(labels, end):
                end += 1
            found.append((start, end))
        return found

    def _goes_on(self, labels: NDArray[np.int32], t: int) -> bool:
        """Whether the span at t - 1 goes on at t."""
        if self.scheme == "IO":
            return bool(labels[t] > 0 and labels[t] == labels[t - 1])
        return bool(labels[t] > 0 and self._iob[labels[t]] == INSIDE)
