"""`python -m spacy nonlocal calibration`: whether confidences can be believed, as tables and as a page."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import spacy
import typer
from spacy.language import Language
from spacy.training import Corpus, Example
from tqdm import tqdm
from wasabi import msg

from ..calibration import Bin, Point, curve, expected_calibration_error, reliability
from ..errors import Errors
from ..pipeline.labeller import SequenceLabeller
from ..pipeline.scoring import Comparison, compare
from .app import nonlocal_cli, plain_errors

AROUND = 60  # letters on each side of a mistake
NOTHING = "-"
BIN_HEADER = ("confidence", "count", "mean", "right")
POINT_HEADER = ("threshold", "kept", "P", "R", "F")


@nonlocal_cli.command("calibration")
def calibration_cli(
    model: Annotated[str, typer.Argument(help="A trained pipeline: name or directory")],
    data_path: Annotated[
        Path, typer.Argument(help="A .spacy file with the right annotation, or a directory of them")
    ],
    output_path: Annotated[
        Path | None, typer.Option("--output", "-o", help="An HTML page to write, with diagrams")
    ] = None,
    component: Annotated[
        str, typer.Option(help="Only this component; else all that give confidences")
    ] = "",
    bins: Annotated[int, typer.Option(help="How many bins of confidence", min=1, max=100)] = 10,
    mistakes: Annotated[
        int, typer.Option(help="How many mistakes to list on the page", min=0)
    ] = 25,
) -> None:
    """Compare how sure a pipeline is with how often it is right.

    Confidences are good if, of all that is predicted with about 80 %, four in five are right. The calibration error
    (ECE) is the mean distance from that: 0.02 means that confidences are off by 2 points. The second table shows
    precision, recall and F for settings of `threshold`. It is best measured on data that was not trained on. Thresholds
    that are set in the pipeline are not applied here. Example:

    python -m spacy nonlocal calibration training/model-best corpus/dev.spacy -o page.html
    """
    with plain_errors():
        nlp = spacy.load(model)
        targets = prepare(nlp, model, component)
        examples = label_examples(nlp, data_path)
        reports = [
            make_report(examples, target, ", ".join(names), data_path, bins, mistakes)
            for target, names in targets.items()
        ]
        for report in reports:
            print_report(report)
        if output_path is not None:
            output_path.parent.mkdir(parents=True, exist_ok=True)
            output_path.write_text(render(reports, model, data_path), encoding="utf8")
            msg.good(f"{len(examples):,} documents: {output_path}")


# --- predictions ---------------------------------------------------------------------------------


def prepare(nlp: Language, model: str, component: str) -> dict[str, list[str]]:
    """Find the components that give confidences, and make them give all: no threshold applies.

    RETURNS (Dict[str, List[str]]): Their names by target. Components of one target work on the same annotation.
    """
    ours = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, SequenceLabeller)}
    able = {name: pipe for name, pipe in ours.items() if pipe.learner.probabilistic}
    if component in ours and component not in able:
        learner = ours[component].learner.name
        raise ValueError(Errors.NL417.format(name=component, learner=learner, what="confidence"))
    if not able:
        names = ", ".join(nlp.pipe_names) or "none"
        raise ValueError(Errors.NL421.format(model=model, names=names))
    if component and component not in able:
        known = ", ".join(able)
        raise ValueError(Errors.NL422.format(model=model, name=component, known=known))
    targets: dict[str, list[str]] = {}
    for name, pipe in able.items():
        pipe.confidence = component in ("", name)
        if pipe.confidence:
            pipe.threshold = None
            targets.setdefault(pipe.cfg["target"], []).append(name)
    return targets


def label_examples(nlp: Language, data_path: Path) -> list[Example]:
    """Read documents as `spacy evaluate` does, and run a pipeline over them.

    RETURNS (List[Example]): Predictions and references.
    """
    if not data_path.exists():
        raise FileNotFoundError(Errors.NL314.format(path=data_path))
    if data_path.is_file() and data_path.suffix != ".spacy":
        error = "its name does not end in .spacy"
        raise ValueError(Errors.NL424.format(path=data_path, error=error))
    if data_path.is_dir() and not any(data_path.rglob("*.spacy")):
        raise ValueError(Errors.NL315.format(path=data_path))
    try:
        examples = list(Corpus(data_path)(nlp))
    except (zlib.error, ValueError) as error:
        raise ValueError(Errors.NL424.format(path=data_path, error=error)) from None
    docs = nlp.pipe([eg.predicted for eg in examples])
    progress = tqdm(docs, total=len(examples), desc="labelling", disable=None)
    for eg, doc in zip(examples, progress, strict=True):
        eg.predicted = doc
    return examples


# --- reports -------------------------------------------------------------------------------------


class Mistake(NamedTuple):
    """A wrong prediction, with the text around it."""

    confidence: float
    label: str
    before: str
    text: str
    after: str
    reference: str  # what is right there


class Report(NamedTuple):
    """What confidences are worth, for one target."""

    title: str
    table: list[Bin]
    error: float | None  # of calibration
    points: list[Point]
    mistakes: list[Mistake]  # the most confident ones first
    predicted: int
    gold: int


def make_report(
    examples: list[Example], target: str, names: str, data_path: Path, bins: int, mistakes: int
) -> Report:
    """RETURNS (Report): What confidences are worth."""
    found = [compare(eg, target) for eg in examples]
    gold = sum(each.gold for each in found)
    confidence = np.concatenate([np.zeros(0), *(each.confidence for each in found)])
    correct = np.concatenate([np.zeros(0, dtype=bool), *(each.correct for each in found)])
    if not gold and not len(confidence):
        raise ValueError(Errors.NL423.format(path=data_path, target=target))
    table = reliability(confidence, correct, bins)
    return Report(
        title=f"{names} ({target})",
        table=table,
        error=expected_calibration_error(table),
        points=curve(confidence, correct, gold),
        mistakes=find_mistakes(examples, found, target, mistakes),
        predicted=len(confidence),
        gold=gold,
    )


def find_mistakes(
    examples: list[Example], found: list[Comparison], target: str, limit: int
) -> list[Mistake]:
    """RETURNS (List[Mistake]): The wrong predictions of which the pipeline was surest."""
    wrong = [
        (float(each.confidence[i]), n, i)
        for n, each in enumerate(found)
        for i in np.flatnonzero(~each.correct).tolist()
    ]
    wrong.sort(key=lambda item: -item[0])
    return [
        _describe(examples[n], found[n].spans[i].tolist(), confidence, target)
        for confidence, n, i in wrong[:limit]
    ]


def _describe(eg: Example, where: list[int], confidence: float, target: str) -> Mistake:
    start, end, label = where
    doc = eg.predicted
    span, text = doc[start:end], doc.text
    first, last = span.start_char, span.end_char
    name = doc.vocab.strings[label] if label else NOTHING
    before, after = text[max(0, first - AROUND) : first], text[last : last + AROUND]
    right = _reference(eg, start, end, target) or NOTHING
    return Mistake(confidence, name, before, span.text, after, right)


def _reference(eg: Example, start: int, end: int, target: str) -> str:
    """What the reference says about tokens of the prediction."""
    at = set(eg.alignment.x2y[start:end].tolist())
    if target in ("tag", "pos"):
        return " ".join(getattr(eg.reference[i], f"{target}_") for i in sorted(at))
    reference = eg.reference
    spans = reference.ents if target == "ents" else reference.spans[target.partition(":")[2]]
    near = [span for span in spans if at.intersection(range(span.start, span.end))]
    return "; ".join(f"{span.label_}: {span.text}" for span in near)


# --- tables --------------------------------------------------------------------------------------


def print_report(report: Report) -> None:
    """Print the tables."""
    msg.divider(report.title)
    msg.text(summary(report))
    msg.table(bin_rows(report.table), header=BIN_HEADER, aligns="r", divider=True)
    msg.table(point_rows(report.points), header=POINT_HEADER, aligns="r", divider=True)
    if not report.predicted:
        msg.warn("Nothing was predicted, so there is nothing to say about confidences.")


def summary(report: Report) -> str:
    """RETURNS (str): The calibration error, and what it was measured on."""
    error = NOTHING if report.error is None else f"{report.error:.4f}"
    return (
        f"Expected calibration error (ECE): {error}, {report.predicted:,} predictions, "
        f"{report.gold:,} in the reference"
    )


def bin_rows(table: Iterable[Bin]) -> list[list[str]]:
    """RETURNS (List[List[str]]): Cells."""
    return [
        [
            f"{each['low']:.2f} - {each['high']:.2f}",
            f"{each['count']:,}",
            _percent(each["confidence"]),
            _percent(each["accuracy"]),
        ]
        for each in table
    ]


def point_rows(points: Iterable[Point]) -> list[list[str]]:
    """RETURNS (List[List[str]]): Cells."""
    return [
        [f"{each['threshold']:.2f}", f"{each['kept']:,}"]
        + [_percent(value) for value in (each["p"], each["r"], each["f"])]
        for each in points
    ]


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.2f}"


# --- the page ------------------------------------------------------------------------------------

# In SVG units: the square that diagrams are drawn in, the histogram below it, and what is around them.
SIDE, LOW, LEFT, TOP, GAP = 360, 80, 50, 25, 55
WIDTH = LEFT + SIDE + 20
LINES = (("p", "precision", "8 4"), ("r", "recall", "2 4"), ("f", "F", "none"))
STYLE = """
body { font: 15px/1.5 sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em; }
figure { display: inline-block; margin: 0 1.5em 1em 0; vertical-align: top; width: 430px; }
figcaption { font-size: 90%; color: #444; }
table { border-collapse: collapse; display: inline-table; margin: 0 3em 1.5em 0; vertical-align: top; }
th, td { padding: .1em .7em; text-align: right; border-bottom: 1px solid #ddd; }
.mistakes th, .mistakes td { text-align: left; }
mark { background: #fbd9c5; }
svg { width: 100%; height: auto; font-size: 12px; fill: #444; }
.axis, .diagonal { stroke: #888; fill: none; } .diagonal { stroke-dasharray: 4 4; }
.bar { fill: #a9cce8; stroke: #fff; } .count { fill: #cfcfcf; stroke: #fff; } .dot { fill: #14507e; }
.line { fill: none; stroke-width: 2.2; }
.line.p, .key.p { stroke: #c05a00; } .line.r, .key.r { stroke: #14507e; } .line.f, .key.f { stroke: #222; }
.key { stroke-width: 2.2; }
"""
BINS_CAPTION = (
    "How many are right (bars) of those predicted with this confidence; points are at the mean confidence of a bin. On "
    "the dashed line, confidences are as they should be. Below it, the pipeline is too sure; above it, not sure "
    "enough. The lower part shows how many predictions there are."
)
CURVE_CAPTION = (
    "What is left, and right, if predictions below a threshold are removed. Recall and F count what is removed as "
    "missed."
)


def render(reports: Sequence[Report], model: str, data_path: Path) -> str:
    """RETURNS (str): An HTML page that needs nothing else. It is well-formed XML, too."""
    title = f"Calibration of {escape(model)} on {escape(str(data_path))}"
    parts = [f"<h1>{title}</h1>", *map(_section, reports)]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>{title}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{chr(10).join(parts)}\n</body>\n</html>\n"
    )


def _section(report: Report) -> str:
    figures = _figure(draw_bins(report.table), BINS_CAPTION)
    figures += _figure(draw_curve(report.points), CURVE_CAPTION)
    tables = _html_table(BIN_HEADER, bin_rows(report.table))
    tables += _html_table(POINT_HEADER, point_rows(report.points))
    return (
        f"<h2>{escape(report.title)}</h2>\n<p>{summary(report)}</p>\n<div>{figures}</div>\n"
        f"<div>{tables}</div>\n<h3>Most confident mistakes</h3>\n{_mistake_table(report.mistakes)}"
    )


def _figure(drawing: str, caption: str) -> str:
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>\n"


def _html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return _rows("", header, ([escape(cell) for cell in row] for row in rows))


def _mistake_table(mistakes: Sequence[Mistake]) -> str:
    if not mistakes:
        return "<p>None.</p>"
    rows = [
        [
            f"{each.confidence:.4f}",
            _plain(each.label),
            f"{_plain(each.before)}<mark>{_plain(each.text)}</mark>{_plain(each.after)}",
            _plain(each.reference),
        ]
        for each in mistakes
    ]
    return _rows("mistakes", ("confidence", "predicted", "text", "reference"), rows)


def _rows(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>\n" for row in rows)
    return f'<table class="{name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n'


def _plain(text: str) -> str:
    """Text for the page, without line breaks and what else XML does not know."""
    return escape("".join(c if c.isprintable() else " " for c in text))


def draw_bins(table: Sequence[Bin]) -> str:
    """Draw a reliability diagram, with a histogram of counts below.

    RETURNS (str): An SVG element.
    """
    most = max([1, *(each["count"] for each in table)])
    floor = TOP + SIDE + GAP + LOW
    parts, dots = [], []
    for each in table:
        x, width = _x(each["low"]), _x(each["high"]) - _x(each["low"])
        size = LOW * each["count"] / most
        note = f"<title>{each['count']:,} predictions</title>"
        parts.append(_bar("count", x, floor - size, width, size, note))
        if len(table) <= 12:
            parts.append(_text(x + width / 2, floor - size - 3, f"{each['count']:,}"))
        if each["accuracy"] is not None and each["confidence"] is not None:
            y = _y(each["accuracy"])
            note = f"<title>{_percent(each['accuracy'])} % right of {each['count']:,}</title>"
            parts.append(_bar("bar", x, y, width, TOP + SIDE - y, note))
            cx = _x(min(each["confidence"], 1.0))
            dots.append(f'<circle class="dot" cx="{cx:.1f}" cy="{y:.1f}" r="4"/>')
    parts.append(f'<path class="diagonal" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>')
    parts += [
        _axes("confidence", "right"),
        f'<path class="axis" d="M{_x(0)} {floor}H{_x(1)}"/>',
        *dots,
    ]
    parts.append(_text(LEFT + SIDE / 2, floor + 18, "number of predictions"))
    return _svg(floor + 30, parts)


def draw_curve(points: Sequence[Point]) -> str:
    """Draw precision, recall and F against the threshold.

    RETURNS (str): An SVG element.
    """
    values: dict[str, list[float | None]] = {
        "p": [each["p"] for each in points],
        "r": [each["r"] for each in points],
        "f": [each["f"] for each in points],
    }
    parts = [_axes("threshold", "")]
    for n, (key, name, dashes) in enumerate(LINES):
        known = [
            f"{_x(each['threshold']):.1f} {_y(value):.1f}"
            for each, value in zip(points, values[key], strict=True)
            if value is not None
        ]
        dash = f'stroke-dasharray="{dashes}"'
        if known:
            parts.append(f'<path class="line {key}" {dash} d="M{"L".join(known)}"/>')
        x, y = LEFT + 20 + 110 * n, TOP + SIDE + GAP + 5
        parts.append(f'<path class="key {key}" {dash} d="M{x} {y}h30"/>')
        parts.append(_text(x + 36, y + 4, name, "start"))
    return _svg(TOP + SIDE + GAP + 20, parts)


def _axes(across: str, up: str) -> str:
    numbers = [i / 5 for i in range(6)]
    path = f'<path class="axis" d="M{_x(0)} {_y(1)}V{_y(0)}H{_x(1)}"/>'
    labels = [_text(_x(v), TOP + SIDE + 16, f"{v:.1f}") for v in numbers]
    labels += [_text(LEFT - 6, _y(v) + 4, f"{100 * v:.0f} %", "end") for v in numbers]
    names = _text(LEFT + SIDE / 2, TOP + SIDE + 32, across) + _text(LEFT, TOP - 9, up)
    return path + "".join(labels) + names


def _bar(name: str, x: float, y: float, width: float, height: float, note: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{name}" {place}>{note}</rect>'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _svg(height: float, parts: Iterable[str]) -> str:
    space = 'xmlns="http://www.w3.org/2000/svg" role="img"'
    return f'<svg {space} viewBox="0 0 {WIDTH} {height}">{"".join(parts)}</svg>'


def _x(value: float) -> float:
    return LEFT + SIDE * value


def _y(value: float) -> float:
    return TOP + SIDE * (1 - value)
