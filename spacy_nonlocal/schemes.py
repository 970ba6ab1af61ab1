"""Read the label schemes of column files (IOB1, IOB2, BILUO, BIOES, BMES) as one: IOB2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

# As in `Token.ent_iob`.
MISSING, INSIDE, OUTSIDE, BEGIN = 0, 1, 2, 3

_LABEL = re.compile(r"([BILUESM])-(.+)")
_BEGINS = frozenset("BUS")
_ENDS = frozenset("LEUS")
# What a scheme has beyond B, I and O.
_FAMILIES = {"BILUO": frozenset("LU"), "BIOES": frozenset("ES"), "BMES": frozenset("M")}


class LabelReader:
    """Turn labels of any scheme into IOB2, and remember what tells the schemes apart."""

    def __init__(self) -> None:
        self._parsed: dict[str, tuple[str, str]] = {
            "O": ("O", ""),
            "-": ("?", ""),
            "?": ("?", ""),
        }
        # (prefix, whether it goes on from an entity of the same class)
        self._seen: set[tuple[str, bool]] = set()

    def read(self, labels: Sequence[str], starts: Sequence[int]) -> tuple[list[int], list[str]]:
        """Read the labels of one document.

        labels (Sequence[str]): One label per token.
        starts (Sequence[int]): Where sentences start: no entity goes on beyond one.
        RETURNS (Tuple[List[int], List[str]]): For each token IOB as spaCy counts it, and the class.
        RAISES (KeyError): With the first label that belongs to no scheme.
        """
        iobs: list[int] = []
        classes: list[str] = []
        for start, end in pairwise([*starts, len(labels)]):
            self._read_sentence(labels[start:end], iobs, classes)
        return iobs, classes

    def _read_sentence(self, labels: Sequence[str], iobs: list[int], classes: list[str]) -> None:
        # One rule reads all schemes: an entity begins where its prefix says so, or where none of
        # its class is open. That is IOB1's own reading of I-, and it repairs an L-, E- or M- that
        # has lost its beginning.
        parsed = self._parsed
        open_class = ""
        for label in labels:
            prefix, class_ = parsed.get(label) or self._parse(label)
            classes.append(class_)
            if not class_:
                iobs.append(OUTSIDE if prefix == "O" else MISSING)
                open_class = ""
                continue
            goes_on = class_ == open_class
            self._seen.add((prefix, goes_on))
            iobs.append(INSIDE if goes_on and prefix not in _BEGINS else BEGIN)
            open_class = "" if prefix in _ENDS else class_

    def _parse(self, label: str) -> tuple[str, str]:
        match = _LABEL.fullmatch(label)
        if match is None:
            raise KeyError(label)
        self._parsed[label] = parsed = (match[1], match[2])
        return parsed

    @property
    def scheme(self) -> str:
        """RETURNS (str): The scheme that all labels read so far agree with, else "mixed"."""
        prefixes = {prefix for prefix, _ in self._seen}
        families = [name for name, letters in _FAMILIES.items() if prefixes & letters]
        if "BMES" in families and "BILUO" not in families:
            families = ["BMES"]  # its E and S are those of BIOES
        orphans = any((prefix, False) in self._seen for prefix in "ILEM")
        # IOB1 writes B- only between two entities of one class.
        needless = ("B", False) in self._seen
        if not prefixes:
            return "no entities"
        if families:
            return "mixed" if orphans or len(families) > 1 else families[0]
        if orphans:
            return "mixed" if needless else "IOB1"
        return "IOB2"


def iob_to_spans(iobs: Sequence[int], classes: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, class) for each entity.

    iobs (Sequence[int]): IOB2, as `LabelReader.read` returns it.
    classes (Sequence[str]): The class of each token.
    YIELDS (Tuple[int, int, str]): First token, token after the last, class.
    """
    for start, iob in enumerate(iobs):
        if iob == BEGIN:
            end = start + 1
            while end < len(iobs) and iobs[end] == INSIDE:
                end += 1
            yield start, end, classes[start]
