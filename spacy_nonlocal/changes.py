"""What non-local features have changed in a document, and why: a record for people and for evaluation.

`doc._.nonlocal_changes` is a list with one entry for each stretch of tokens that is labelled otherwise than the local
model alone would have it:

    start, end     the stretch, in tokens
    before, after  what was and is labelled there: [start, end, label] each
    features       what decided: [name, how much more of it there is, weight], the strongest first
    gain           what the features add up to
    loss           how much the local model lost by it, all changes of the document together
    mentions       others in the document that have to do with it: [start, end, label, how]; how is "same", "longer",
                   "shorter" or "list"; the label is "" for words that are no mention
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import LOWER
from spacy.strings import get_string_id
from spacy.tokens import Doc

from .doc_arrays import read_column

RECORD = "spacy_nonlocal.changes"
Mention = tuple[int, int, str]

_LISTS = ("before", "after", "features")
# Names that come up very often would make long lists.
MAX_MENTIONS = 20
MAX_FEATURES = 10


class Reranked(NamedTuple):
    """What a component that reranks predicts for a document: a Labelling, and what has changed."""

    labels: NDArray[np.int32]  # [T]
    confidence: None
    changes: list[dict[str, Any]]


def set_changes(
    doc: Doc, changes: list[dict[str, Any]], target: str, connectives: Sequence[str] = ()
) -> None:
    """Keep a record with a document.

    changes (List[Dict[str, Any]]): All but their mentions, which are found when somebody asks.
    target (str): Where the labels are.
    connectives (Sequence[str]): What stands between neighbours in a list.
    """
    doc.user_data[RECORD] = {
        "target": target,
        "connectives": list(connectives),
        "changes": changes,
    }


def get_changes(doc: Doc) -> list[dict[str, Any]]:
    """RETURNS (List[Dict[str, Any]]): The record; empty if there is none."""
    record = doc.user_data.get(RECORD)
    if not record or not record["changes"]:
        return []
    words, mentions = read_column(doc, LOWER), labelled(doc, record["target"])
    between = [get_string_id(word) for word in record["connectives"]]
    connectives = np.isin(words, np.array(between, dtype=np.uint64))
    out = []
    for stored in record["changes"]:
        # A saved document has tuples where there were lists.
        lists = {name: [list(each) for each in stored[name]] for name in _LISTS if name in stored}
        change = {**stored, **lists}
        stretch, changed = (change["start"], change["end"]), [*change["before"], *change["after"]]
        others = related(words, mentions, stretch, changed, connectives)
        out.append({**change, "mentions": others})
    return out


def labelled(doc: Doc, target: str) -> list[Mention]:
    """RETURNS (List[Tuple[int, int, str]]): Start, end and label of all that a document has of a target."""
    if target == "ents":
        return [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    if target in ("tag", "pos"):
        return [(token.i, token.i + 1, getattr(token, f"{target}_")) for token in doc]
    spans = doc.spans.get(target.partition(":")[2], [])
    return [(span.start, span.end, span.label_) for span in spans]


def mentions_before(doc: Doc, after: Sequence[Mention]) -> list[Mention] | None:
    """Find what the local model alone would have labelled.

    after (Sequence[Tuple[int, int, str]]): What is labelled now.
    RETURNS (Optional[List[Tuple[int, int, str]]]): What was; None if nobody kept a record.
    """
    if RECORD not in doc.user_data:
        return None
    now = set(after)
    for change in doc.user_data[RECORD]["changes"]:
        now -= {(start, end, label) for start, end, label in change["after"]}
        now |= {(start, end, label) for start, end, label in change["before"]}
    return sorted(now)


def related(
    words: NDArray[np.uint64],
    mentions: Sequence[Mention],
    stretch: tuple[int, int],
    changed: Sequence[list[Any]],
    connectives: NDArray[np.bool_],
) -> list[list[Any]]:
    """Find what else in a document speaks for or against a change.

    words (ndarray): uint64[T], equal numbers for words that count as the same.
    mentions (Sequence[Tuple[int, int, str]]): All that is labelled now.
    stretch (Tuple[int, int]): The stretch that has changed.
    changed (Sequence[List[Any]]): What was or is labelled there.
    connectives (ndarray): bool[T], which tokens stand between neighbours in a list.
    RETURNS (List[List[Any]]): [start, end, label, how], the nearest first.
    """
    phrases = {words[start:end].tobytes() for start, end, _ in changed}
    found: dict[tuple[int, int], tuple[str, str]] = {}
    size = words.itemsize
    for start, end, label in mentions:
        if start < stretch[1] and end > stretch[0]:
            continue
        phrase = words[start:end].tobytes()
        if phrase in phrases:
            found[start, end] = (label, "same")
        elif any(_holds(phrase, each, size) for each in phrases):
            found[start, end] = (label, "longer")
        elif any(_holds(each, phrase, size) for each in phrases):
            found[start, end] = (label, "shorter")
        elif _neighbours((start, end), stretch, connectives):
            found[start, end] = (label, "list")
    marked = np.zeros(len(words), dtype=bool)
    for start, end, _ in mentions:
        marked[start:end] = True
    marked[stretch[0] : stretch[1]] = True
    for start, end in unmarked(words, marked, phrases):
        found[start, end] = ("", "same")
    nearest = sorted(found.items(), key=lambda item: (abs(item[0][0] - stretch[0]), item[0]))
    return [[start, end, label, how] for (start, end), (label, how) in nearest[:MAX_MENTIONS]]


def unmarked(
    words: NDArray[np.uint64], marked: NDArray[np.bool_], phrases: Iterable[bytes]
) -> list[tuple[int, int]]:
    """Find where phrases stand that no mention has anything to do with.

    words (ndarray): uint64[T].
    marked (ndarray): bool[T], which tokens are in a mention.
    phrases (Iterable[bytes]): Words, as bytes.
    RETURNS (List[Tuple[int, int]]): Start and end of each place.
    """
    by_length: dict[int, set[bytes]] = defaultdict(set)
    for phrase in phrases:
        by_length[len(phrase) // words.itemsize].add(phrase)
    found = []
    for length, wanted in by_length.items():
        firsts = b"".join({phrase[: words.itemsize] for phrase in wanted})
        begins = np.isin(words[: len(words) - length + 1], np.frombuffer(firsts, dtype=words.dtype))
        for start in np.flatnonzero(begins & ~marked[: len(begins)]).tolist():
            end = start + length
            if not marked[start:end].any() and words[start:end].tobytes() in wanted:
                found.append((start, end))
    return found


def _holds(longer: bytes, shorter: bytes, size: int) -> bool:
    """Whether one phrase is a part of another, word by word."""
    if len(shorter) >= len(longer):
        return False
    at = longer.find(shorter)
    while at >= 0 and at % size:
        at = longer.find(shorter, at + 1)
    return at >= 0


def _neighbours(
    mention: tuple[int, int], stretch: tuple[int, int], connectives: NDArray[np.bool_]
) -> bool:
    """Whether nothing but one or two connectives stand between a mention and a stretch."""
    start, end = (mention[1], stretch[0]) if mention[1] <= stretch[0] else (stretch[1], mention[0])
    return 1 <= end - start <= 2 and bool(connectives[start:end].all())
