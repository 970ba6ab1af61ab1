"""`python -m spacy nonlocal changes`: a page with documents before and after the non-local choice."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import spacy
import typer
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, POS, TAG
from spacy.displacy.render import DEFAULT_LABEL_COLORS
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg

from ..changes import Mention, get_changes, labelled, mentions_before
from ..doc_arrays import read_column
from ..errors import Errors
from ..pipeline.nonlocal_reranker import NonlocalReranker
from ..targets import describe
from .app import nonlocal_cli, plain_errors
from .documents import label_documents, read_documents

Change = dict[str, Any]
FIXED, BROKEN, WRONG, UNKNOWN = "fixed", "broken", "wrong", "unknown"
VERDICTS = {
    FIXED: "made right",
    BROKEN: "made wrong",
    WRONG: "wrong before and after",
    UNKNOWN: "nothing known",
}
HOW = {
    "same": "same words",
    "longer": "longer name",
    "shorter": "shorter name",
    "list": "next in a list",
}


@nonlocal_cli.command("changes")
def changes_cli(
    model: Annotated[str, typer.Argument(help="A trained pipeline: name or directory")],
    data_path: Annotated[
        Path, typer.Argument(help="A .spacy file, or a text file with one document per line")
    ],
    output_path: Annotated[Path, typer.Argument(help="The HTML page to write")],
    limit: Annotated[int, typer.Option(help="How many documents to show", min=1)] = 25,
    everything: Annotated[
        bool, typer.Option("--all", help="Show also documents in which nothing has changed")
    ] = False,
) -> None:
    """Draw a page that shows documents before and after the non-local choice, and why it was made.

    All documents are labelled and counted; --limit says how many are shown. If a .spacy file has the right annotation,
    the page says which changes made it right and which made it wrong. Example:

    python -m spacy nonlocal changes training/model-best corpus/test.spacy page.html
    """
    with plain_errors():
        nlp = spacy.load(model)
        target = find_target(nlp, model)
        stored = read_documents(nlp, data_path)
        docs = label_documents(nlp, stored)
        cases = [judge(doc, right, target) for doc, right in zip(docs, stored, strict=True)]
        page = render(cases, model, data_path, limit, everything)
        output_path.parent.mkdir(parents=True, exist_ok=True)
        output_path.write_text(page, encoding="utf8")
    msg.good(f"{summary(cases)}: {output_path}")


def find_target(nlp: Language, model: str) -> str:
    """RETURNS (str): What the component that reranks annotates. Of several, the last writes the record."""
    found = [pipe.cfg["target"] for _, pipe in nlp.pipeline if isinstance(pipe, NonlocalReranker)]
    if not found:
        names = ", ".join(nlp.pipe_names) or "none"
        raise ValueError(Errors.NL428.format(model=model, names=names))
    return found[-1]


# --- changes and what is right -------------------------------------------------------------------


class Case(NamedTuple):
    """A document, what it looks like before and after, and what its changes are worth."""

    title: str
    doc: Doc
    changes: list[Change]
    before: list[Mention]
    after: list[Mention]
    verdicts: list[str]  # for each change; empty if nothing is known about the document
    right: list[Mention]  # what the reference has


def judge(doc: Doc, reference: Doc, target: str) -> Case:
    """Compare a document with its reference.

    doc (Doc): The document, with a record of changes.
    reference (Doc): The same tokens; it may have the right annotation.
    target (str): "ents", "tag", "pos" or "spans:KEY".
    RETURNS (Case): The document and its changes.
    """
    changes, after = get_changes(doc), sorted(labelled(doc, target))
    before = mentions_before(doc, after) or []
    if target in ("tag", "pos"):
        # Every token has a tag: only those that a change has to do with are marked.
        places = {
            start for change in changes for start, *_ in [*change["after"], *change["mentions"]]
        }
        before, after = ([each for each in side if each[0] in places] for side in (before, after))
    known = known_tokens(reference, target)
    right = sorted(labelled(reference, target)) if known is not None else []
    verdicts = [] if known is None else [_verdict(change, right, known) for change in changes]
    return Case(describe(reference), doc, changes, before, after, verdicts, right)


def known_tokens(doc: Doc, target: str) -> NDArray[np.bool_] | None:
    """RETURNS (Optional[ndarray]): bool[T], for which tokens a reference says what is right; None: for none."""
    if target.startswith("spans:"):
        known = np.full(len(doc), target.partition(":")[2] in doc.spans)
    else:
        known = read_column(doc, {"ents": ENT_IOB, "tag": TAG, "pos": POS}[target]) != 0
    return known if known.any() else None


def _verdict(change: Change, right: list[Mention], known: NDArray[np.bool_]) -> str:
    start, end = change["start"], change["end"]
    if not known[start:end].all():
        return UNKNOWN
    want = _right_here(change, right)
    if [tuple(each) for each in change["after"]] == want:
        return FIXED
    return BROKEN if [tuple(each) for each in change["before"]] == want else WRONG


def _right_here(change: Change, right: list[Mention]) -> list[Mention]:
    return [each for each in right if each[0] < change["end"] and each[1] > change["start"]]


def summary(cases: Sequence[Case]) -> str:
    """RETURNS (str): How many changes there are, and what they are worth."""
    total = sum(len(case.changes) for case in cases)
    changed = sum(bool(case.changes) for case in cases)
    text = f"{_count(total, 'change')} in {changed:,} of {_count(len(cases), 'document')}"
    if not any(case.verdicts for case in cases):
        return text
    found = Counter(verdict for case in cases for verdict in case.verdicts)
    counts = [f"{found[FIXED]:,} fixed", f"{found[BROKEN]:,} broken"]
    if found[WRONG]:
        counts.append(f"{found[WRONG]:,} {VERDICTS[WRONG]}")
    # Some documents may have no annotation at all.
    unknown = total - found[FIXED] - found[BROKEN] - found[WRONG]
    if unknown:
        counts.append(f"{unknown:,} without annotation to compare with")
    return f"{text}, {', '.join(counts)}"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


# --- the page ------------------------------------------------------------------------------------

STYLE = """
body { font: 15px/1.5 sans-serif; color: #222; max-width: 90em; margin: 2em auto; padding: 0 1em; }
section { border-top: 1px solid #ccc; margin-top: 2em; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(22em, 1fr)); gap: 0 2.5em; }
h3 { margin: 0; color: #555; font-size: 100%; }
.text { line-height: 2.3; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: #ddd; color: inherit; padding: .25em .45em; margin: 0 .15em; border-radius: .35em; }
mark b { font-size: 75%; margin-left: .5em; }
mark.none { background: none; border: 1px dashed #999; }
mark.changed { box-shadow: 0 0 0 2px #222; }
mark a { font-size: 75%; vertical-align: super; margin-left: .3em; color: #14507e; }
mark:hover, mark:target, li:target { outline: 3px solid #d0342c; outline-offset: 2px; }
li { margin-bottom: .8em; }
.fixed { color: #1a6e2e; font-weight: bold; } .broken { color: #b3201a; font-weight: bold; }
.wrong, .unknown, .note { color: #666; }
table { border-collapse: collapse; margin: .3em 0; }
th, td { padding: .1em .7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
"""
# What XML, and so a page, cannot hold.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FEATURE_HEADER = ("feature", "value", "weight", "product")


def render(
    cases: Sequence[Case], model: str, data_path: Path, limit: int, everything: bool = False
) -> str:
    """Draw the page.

    cases (Sequence[Case]): All documents, for the totals.
    limit (int): How many are shown.
    everything (bool): Whether to show also those in which nothing has changed.
    RETURNS (str): An HTML page that needs nothing else. It is well-formed XML, too.
    """
    title = f"Changes by {plain(model)} on {plain(str(data_path))}"
    chosen = [case for case in cases if everything or case.changes]
    drawings = [Drawing(case, f"d{n}") for n, case in enumerate(chosen[:limit], start=1)]
    labels = {label for case in chosen[:limit] for label in _labels(case)}
    style = STYLE + _colours(sorted(labels)) + "".join(each.rules() for each in drawings)
    note = ""
    if len(chosen) > limit:
        note = f'<p class="note">The first {limit:,} of {len(chosen):,} are shown.</p>\n'
    parts = [each.section() for each in drawings] or ["<p>Nothing has changed.</p>"]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>{title}</title>'
        f"<style>{style}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f'<p id="totals">{summary(cases)}.</p>\n{note}{"".join(parts)}</body>\n</html>\n'
    )


def plain(text: str) -> str:
    """RETURNS (str): Text for the page, escaped, without what a page cannot hold."""
    return escape(FORBIDDEN.sub("\ufffd", text))


def colour(label: str) -> str:
    """RETURNS (str): displaCy's colour for a label; for others, always the same one."""
    known = {"PER": DEFAULT_LABEL_COLORS["PERSON"], **DEFAULT_LABEL_COLORS}
    return known.get(label) or f"hsl({zlib.crc32(label.encode()) % 360}, 75%, 80%)"


def _labels(case: Case) -> set[str]:
    return {label for _, _, label in (*case.before, *case.after, *case.right)}


def _class_of(label: str) -> str:
    # Labels may have any characters; names of classes may not.
    return f"l{zlib.crc32(label.encode()):08x}"


def _colours(labels: Iterable[str]) -> str:
    return "".join(f".{_class_of(label)} {{ background: {colour(label)}; }}\n" for label in labels)


class Drawing:
    """Draw one document.

    case (Case): The document.
    name (str): What its ids start with.
    """

    def __init__(self, case: Case, name: str) -> None:
        self.case, self.name = case, name
        stretches = [(change["start"], change["end"]) for change in case.changes]
        silent = [
            (start, end)
            for change in case.changes
            for start, end, label, _ in change["mentions"]
            if not label
        ]
        self.before = _add_unmarked(case.before, stretches)
        self.after = _add_unmarked(case.after, [*stretches, *silent])
        self.ids = {(s, e): f"{name}-m{i}" for i, (s, e, _) in enumerate(self.after, start=1)}

    def section(self) -> str:
        """RETURNS (str): Both sides and the changes."""
        before = self._text(self.before, self._mark_before)
        after = self._text(self.after, self._mark_after)
        loss = ""
        if self.case.changes:
            loss = (
                f'<p class="note">The local model alone gives the text before '
                f"{self.case.changes[0]['loss']:.4g} more than the text after.</p>\n"
            )
        items = "".join(map(self._change, range(len(self.case.changes))))
        changes = f"<ol>\n{items}</ol>" if items else '<p class="note">No changes.</p>'
        title = plain(self.case.title[:1].upper() + self.case.title[1:])
        return (
            f'<section id="{self.name}">\n<h2>{title}</h2>\n<div class="sides">'
            f'<div><h3>Before</h3><div class="text">{before}</div></div>'
            f'<div><h3>After</h3><div class="text">{after}</div></div></div>\n'
            f"{changes}\n{loss}</section>\n"
        )

    def rules(self) -> str:
        """RETURNS (str): Style: who points at a change sees what spoke for it."""
        out = []
        for i, change in enumerate(self.case.changes):
            ids = [self._id_of(change), *(self.ids.get((s, e)) for s, e, *_ in change["mentions"])]
            marks = ", ".join(f"#{each}" for each in ids if each)
            out.append(
                f"body:has(#{self.name}-c{i + 1}:hover) :is({marks}) {{ outline: 3px solid #d0342c; }}\n"
            )
        return "".join(out)

    def _text(self, marks: list[Mention], draw: Callable[[Mention], str]) -> str:
        doc, at, parts = self.case.doc, 0, []
        text = doc.text
        for mark in marks:
            span = doc[mark[0] : mark[1]]
            parts += [plain(text[at : span.start_char]), draw(mark)]
            at = span.end_char
        return "".join(parts) + plain(text[at:])

    def _mark_before(self, mark: Mention) -> str:
        return self._mark(mark, "" if self._changed(mark) is None else " changed", "", "")

    def _mark_after(self, mark: Mention) -> str:
        number, place = self._changed(mark), f' id="{self.ids[mark[:2]]}"'
        if number is None:
            return self._mark(mark, "", place, "")
        link = f'<a href="#{self.name}-c{number + 1}">{number + 1}</a>'
        return self._mark(mark, " changed", place, link)

    def _mark(self, mark: Mention, more: str, place: str, link: str) -> str:
        start, end, label = mark
        kind = _class_of(label) if label else "none"
        name = f"<b>{plain(label)}</b>" if label else ""
        words = plain(self.case.doc[start:end].text)
        return f'<mark class="{kind}{more}"{place}>{words}{name}{link}</mark>'

    def _changed(self, mark: Mention) -> int | None:
        """Which change a mark belongs to."""
        start, end, _ = mark
        for i, change in enumerate(self.case.changes):
            if change["start"] <= start and end <= change["end"]:
                return i
        return None

    def _id_of(self, change: Change) -> str | None:
        """The first mark of a change in the text after."""
        inside = [
            mark for mark in self.after if change["start"] <= mark[0] and mark[1] <= change["end"]
        ]
        return self.ids[inside[0][:2]] if inside else None

    def _change(self, i: int) -> str:
        change = self.case.changes[i]
        was, is_ = self._list(change["before"]), self._list(change["after"])
        place = self._id_of(change)
        where = f' <a href="#{place}">in the text</a>' if place else ""
        return (
            f'<li id="{self.name}-c{i + 1}">{was} → {is_}{where}{self._worth(i)}\n'
            f"{self._speakers(change)}{_feature_table(change)}</li>\n"
        )

    def _list(self, mentions: Sequence[Any]) -> str:
        """Mentions without ids: one by one, or that there are none."""
        return " ".join(self._mark((s, e, label), "", "", "") for s, e, label in mentions) or "none"

    def _worth(self, i: int) -> str:
        if not self.case.verdicts:
            return ""
        verdict = self.case.verdicts[i]
        text = f': <span class="{verdict}">{VERDICTS[verdict]}</span>'
        if verdict in (FIXED, UNKNOWN):
            return text
        return f"{text}; right is: {self._list(_right_here(self.case.changes[i], self.case.right))}"

    def _speakers(self, change: Change) -> str:
        """Links to mentions that are labelled as what has changed, and to others that have to do with it."""
        labels = {label for *_, label in change["after"]} or {""}
        alike = [each for each in change["mentions"] if each[2] in labels]
        others = [each for each in change["mentions"] if each[2] not in labels]
        return self._links("Spoke for it", alike) + self._links("Others", others)

    def _links(self, title: str, mentions: Sequence[Any]) -> str:
        links = []
        for start, end, label, how in mentions:
            words = f"{plain(self.case.doc[start:end].text)} {plain(label) or '(no mention)'}"
            place = self.ids.get((start, end))
            link = f'<a href="#{place}">{words}</a>' if place else words
            links.append(f"{link} ({HOW.get(how, plain(how))})")
        return f"<div>{title}: {', '.join(links)}</div>\n" if links else ""


def _add_unmarked(marks: list[Mention], places: Iterable[tuple[int, int]]) -> list[Mention]:
    """Add places that have no mark, so that there is something to point at."""
    out: list[Mention] = []
    taken: set[int] = set()
    for start, end, label in (*marks, *((start, end, "") for start, end in places)):
        # Later components may have set other entities since, so marks may overlap, too.
        if taken.isdisjoint(range(start, end)):
            out.append((start, end, label))
            taken.update(range(start, end))
    return sorted(out)


def _feature_table(change: Change) -> str:
    rows = [
        (plain(name), f"{value:g}", f"{weight:.4f}", f"{value * weight:+.4f}")
        for name, value, weight in change["features"]
    ]
    # The strongest are listed; the sum is that of all.
    rows.append(("all together", "", "", f"{change['gain']:+.4f}"))
    head = "".join(f"<th>{cell}</th>" for cell in FEATURE_HEADER)
    body = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>\n" for row in rows)
    return (
        "<details><summary>What decided</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details>"
    )
