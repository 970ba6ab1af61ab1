"""The template language: which attributes of which tokens make a feature.

    orth[0]                 the word itself
    orth[-2..2]             five features, one for each offset
    lower[-1]|lower[0]      one feature from two values
    orth[-1]==orth[0]       one feature: are they the same?
    bias                    a feature that always fires

Node templates look at one label, edge templates at a pair of labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..errors import Errors

_TERM = re.compile(
    r"(?P<attr>(?:_\.)?[A-Za-z_][\w]*(?::[\w.*-]+)?)\[(?P<first>[+-]?\d{1,9})(?:\.\.(?P<last>[+-]?\d{1,9}))?\]"
)
# Beyond this a window is a typing error; it also bounds the work at the edges of a document.
MAX_OFFSET = 50


class Reference(NamedTuple):
    """An attribute at an offset."""

    attr: str
    offset: int

    def __str__(self) -> str:
        return f"{self.attr}[{self.offset}]"


class Term(NamedTuple):
    """A value, or whether two values are the same."""

    value: Reference
    same_as: Reference | None = None

    def __str__(self) -> str:
        return f"{self.value}" if self.same_as is None else f"{self.value}=={self.same_as}"

    @property
    def references(self) -> list[Reference]:
        return [self.value] if self.same_as is None else [self.value, self.same_as]


class Template(NamedTuple):
    """Terms whose values together make one feature; none at all for "bias"."""

    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return "|".join(str(term) for term in self.terms) or "bias"

    @property
    def references(self) -> list[Reference]:
        return [reference for term in self.terms for reference in term.references]


def parse_templates(texts: Iterable[str]) -> list[Template]:
    """Read templates, in order, each only once.

    texts (Iterable[str]): Templates in the language above.
    RETURNS (List[Template]): One for each feature; ranges are written out.
    """
    found: dict[Template, None] = {}
    for text in texts:
        for template in _parse(text):
            found.setdefault(template)
    return list(found)


def expand_names(texts: Sequence[str], prefix: str, names: Iterable[str]) -> list[str]:
    """Write out `prefix:*` for every name there is.

    texts (Sequence[str]): Templates.
    prefix (str): Such as "gazetteer".
    names (Iterable[str]): What the star stands for.
    RETURNS (List[str]): Templates without a star.
    """
    star = re.compile(rf"{prefix}\s*:\s*\*", re.IGNORECASE)
    out = []
    for text in texts:
        written = [star.sub(f"{prefix}:{name}", text) for name in names]
        out += written if star.search(text) else [text]
    return out


def _parse(text: str) -> list[Template]:
    if not isinstance(text, str) or not text.strip():
        raise ValueError(Errors.NL101.format(template=text))
    compact = re.sub(r"\s+", "", text)
    if compact == "bias":
        return [Template(())]
    pieces = compact.split("|")
    if len(pieces) == 1 and "==" not in compact:
        return [Template((Term(reference),)) for reference in _references(compact, text)]
    return [Template(tuple(_term(piece, text) for piece in pieces))]


def _term(piece: str, text: str) -> Term:
    sides = piece.split("==")
    if len(sides) > 2:
        raise ValueError(Errors.NL101.format(template=text))
    references = [_single_reference(side, text) for side in sides]
    return Term(*references)


def _single_reference(piece: str, text: str) -> Reference:
    references = _references(piece, text)
    if len(references) != 1:
        raise ValueError(Errors.NL102.format(template=text))
    return references[0]


def _references(piece: str, text: str) -> list[Reference]:
    match = _TERM.fullmatch(piece)
    if match is None:
        raise ValueError(Errors.NL101.format(template=text))
    first = int(match["first"])
    last = first if match["last"] is None else int(match["last"])
    if last < first or max(abs(first), abs(last)) > MAX_OFFSET:
        raise ValueError(Errors.NL103.format(template=text, limit=MAX_OFFSET))
    attr = match["attr"] if match["attr"].startswith("_.") else match["attr"].lower()
    if ":" in match["attr"]:
        # The name after the colon is the user's own: its case matters.
        attr = attr.partition(":")[0] + ":" + match["attr"].partition(":")[2]
    return [Reference(attr, offset) for offset in range(first, last + 1)]
