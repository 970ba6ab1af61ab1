"""Learning curves as a picture: SVG, written by hand, so that nothing has to be installed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import NamedTuple
from xml.sax.saxutils import escape

# Sizes in pixels
PANEL = (520, 440)
LEFT, TOP, GAP, BOTTOM = 64, 56, 56, 56
LEGEND = 270
MARK = 4.5

RANGE = 10.0  # no more points of quality than these are shown, from the best one down
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a3e9d", "#8c6d31", "#a6192e",
)  # fmt: skip
INK, GRID = "#222222", "#e2e2e2"
# Corners of the marks of peers, all of which are black: square, diamond, triangles
SHAPES = (
    ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)),
    ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)),
    ((0.0, -1.2), (1.2, 1.0), (-1.2, 1.0)),
    ((0.0, 1.2), (1.2, -1.0), (-1.2, -1.0)),
)

Shape = tuple[tuple[float, float], ...]


class Point(NamedTuple):
    passes: float
    seconds: float
    quality: float  # in percent


@dataclass
class Curve:
    """One learner.

    name (str): For the legend.
    points (List[Point]): In the order of passes.
    dashed (bool): How the line is drawn.
    peer (bool): Black marks instead of a coloured line.
    level (bool): Also draw the last point's quality across both panels.
    """

    name: str
    points: list[Point] = field(default_factory=list)
    dashed: bool = False
    peer: bool = False
    level: bool = False


class Style(NamedTuple):
    colour: str
    shape: Shape  # of its marks; dots if it has no corners
    width: float
    dash: str

    def stroke(self) -> str:
        pattern = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return f'stroke="{self.colour}" stroke-width="{self.width}"{pattern}'


class Axis(NamedTuple):
    """From numbers to pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        return self._log_ticks() if self.log else self._even_ticks()

    def _log_ticks(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        values = (digit * 10.0**power for power in powers for digit in (1, 2, 5))
        return [v for v in values if self.low * 0.999 <= v <= self.high * 1.001]

    def _even_ticks(self) -> list[float]:
        rough = (self.high - self.low) / 8
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * k for k in (1, 2, 5, 10) if size * k >= rough)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def draw(curves: list[Curve], title: str, quality: str) -> str:
    """Draw quality against passes, and against seconds.

    curves (List[Curve]): What to draw; those without points are left out.
    title (str): The line at the top.
    quality (str): What the vertical axis shows.
    RETURNS (str): The picture, as SVG.
    """
    curves = [curve for curve in curves if curve.points]
    styles = _styles(curves)
    width, height = LEFT + 2 * PANEL[0] + GAP + LEGEND, TOP + PANEL[1] + BOTTOM
    points = [point for curve in curves for point in curve.points]
    y = _quality_axis([point.quality for point in points])
    if min(point.quality for point in points) < y.low:
        quality += ", lower points cut off"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(LEFT, 24, title, size=16, weight="bold"),
    ]
    panels: list[tuple[str, Callable[[Point], float]]] = [
        ("passes (log scale)", lambda point: point.passes),
        ("seconds of training (log scale)", lambda point: point.seconds),
    ]
    for number, (label, value) in enumerate(panels):
        start = LEFT + number * (PANEL[0] + GAP)
        xs = [value(point) for point in points]
        x = Axis(min(xs) / 1.1, max(xs) * 1.1, start, start + PANEL[0], log=True)
        lines += _frame(number, x, y, label, quality)
        for curve, style in zip(curves, styles, strict=True):
            lines += _curve(curve, style, x, y, value, f"panel{number}")
    lines += _legend(curves, styles, LEFT + 2 * PANEL[0] + GAP + 24)
    return "\n".join([*lines, "</svg>", ""])


def _styles(curves: list[Curve]) -> list[Style]:
    colours, shapes = cycle(COLOURS), cycle(SHAPES)
    return [
        Style(INK, next(shapes), 1, "1 3")
        if curve.peer
        else Style(next(colours), (), 2, "6 3" if curve.dashed else "")
        for curve in curves
    ]


def _quality_axis(values: list[float]) -> Axis:
    top, low = max(values), max(min(values), max(values) - RANGE)
    margin = max((top - low) * 0.05, 0.05)
    return Axis(low - margin, top + margin, TOP + PANEL[1], TOP, log=False)


def _frame(number: int, x: Axis, y: Axis, label: str, quality: str) -> Iterator[str]:
    """Grid, ticks and labels of a panel, and what is cut off outside it."""
    size = f'x="{x.start}" y="{TOP}" width="{PANEL[0]}" height="{PANEL[1]}"'
    yield f'<clipPath id="panel{number}"><rect {size}/></clipPath>'
    for tick in x.ticks():
        yield _line(x(tick), y.start, x(tick), y.end, GRID)
        yield _text(x(tick), y.start + 18, f"{tick:g}", anchor="middle")
    decimals = max(0, -math.floor(math.log10(y.ticks()[1] - y.ticks()[0]) + 1e-9))
    for tick in y.ticks():
        yield _line(x.start, y(tick), x.end, y(tick), GRID)
        yield _text(x.start - 6, y(tick) + 4, f"{tick:.{decimals}f}", anchor="end")
    yield f'<rect {size} fill="none" stroke="{INK}"/>'
    yield _text((x.start + x.end) / 2, y.start + 40, label, anchor="middle")
    yield _text(x.start, TOP - 8, quality)


def _curve(
    curve: Curve, style: Style, x: Axis, y: Axis, value: Callable[[Point], float], clip: str
) -> Iterator[str]:
    places = [(x(value(point)), y(point.quality)) for point in curve.points]
    yield f'<g clip-path="url(#{clip})"><title>{escape(curve.name)}</title>'
    if curve.level:
        yield _line(x.start, places[-1][1], x.end, places[-1][1], style.colour, dash="2 4")
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    yield f'<polyline points="{path}" fill="none" {style.stroke()}/>'
    for a, b in places:
        yield _mark(style, a, b)
    yield "</g>"


def _mark(style: Style, x: float, y: float) -> str:
    if not style.shape:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{style.colour}"/>'
    path = " ".join(f"{x + MARK * a:.1f},{y + MARK * b:.1f}" for a, b in style.shape)
    return f'<polygon points="{path}" fill="white" stroke="{style.colour}" stroke-width="1.5"/>'


def _legend(curves: list[Curve], styles: list[Style], left: float) -> Iterator[str]:
    """The quality of each curve's last point, and its name."""
    y = TOP + 4.0
    yield _text(left + 76, y, "last", anchor="end")
    for curve, style in zip(curves, styles, strict=True):
        y += 22
        line = f'x1="{left}" y1="{y - 4}" x2="{left + 28}" y2="{y - 4}"'
        yield f"<line {line} {style.stroke()}/>"
        yield _mark(style, left + 14, y - 4)
        yield _text(left + 76, y, f"{curve.points[-1].quality:.2f}", anchor="end")
        yield _text(left + 84, y, curve.name)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dash: str = "") -> str:
    pattern = f' stroke-dasharray="{dash}"' if dash else ""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{colour}"{pattern}/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 13, weight: str = "normal"
) -> str:
    style = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'
