# SPDX-License-Identifier: Apache-2.0
"""Bars and curves as SVG, drawn by hand so that nothing has to be installed."""
import math
from html import escape

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 62, 18, 88, 44
COLOURS = ["#2563a8", "#e08a1e", "#7a9a3a", "#9aa3ad", "#8a4f9e", "#c2473d"]
INK, PALE, LINE = "#1f2933", "#6b7785", "#e3e7ec"


def text(x, y, words, size=12, colour=INK, anchor="start", weight=400):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def ticks(highest):
    """Round values from 0 to at least `highest`, four to six of them."""
    if highest <= 0:
        return [0, 1]
    rough = highest / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    return [step * number for number in range(math.ceil(highest / step) + 1)]


def plain(value):
    """A number in few digits."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 20 or value == int(value) else f"{value:.3g}"


def decades(values):
    """Powers of ten around positive values."""
    known = [value for value in values if value and value > 0] or [1]
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known) * 1.01))
    return [10.0 ** power for power in range(first, last + 1)]


class Axes:
    """Heading, grid and scale of one panel; `y` turns a value into a place."""

    def __init__(self, title, unit, values, headroom, logarithmic=False):
        """`headroom`: the share of the highest value above it, on a linear scale."""
        self.logarithmic = logarithmic
        self.marks = decades(values) if logarithmic else ticks(max(values, default=1) * headroom)
        self.parts = [text(LEFT - 44, 24, title, 15, weight=600), text(LEFT - 44, 42, unit, 12, PALE)]
        for mark in self.marks:
            place = self.y(mark)
            self.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}" '
                              f'stroke="{LINE}"/>')
            self.parts.append(text(LEFT - 8, place + 4, plain(mark), 11, PALE, "end"))

    def y(self, value):
        share = value / self.marks[-1]
        if self.logarithmic:
            first, last = (math.log10(mark) for mark in (self.marks[0], self.marks[-1]))
            share = (math.log10(max(value, self.marks[0])) - first) / (last - first)
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(share, 1)

    def legend(self, names):
        place = LEFT - 44
        for number, name in enumerate(names):
            self.parts.append(f'<rect x="{place}" y="53" width="10" height="10" rx="2" fill="{COLOURS[number % 6]}"/>')
            self.parts.append(text(place + 15, 62, name, 11, INK))
            place += 6.4 * len(name) + 34

    def panel(self):
        return "".join(self.parts)


def bars(title, unit, groups, series, logarithmic=False):
    """Groups along the axis, one bar of each (name, values) in each of them; None leaves a gap."""
    known = [value for _, values in series for value in values if value is not None]
    axes = Axes(title, unit, known, 1.08, logarithmic)
    single = len(series) == 1
    if not single:
        axes.legend([name for name, _ in series])
    span = (WIDTH - LEFT - RIGHT) / len(groups)
    width = min(46, span * 0.8 / len(series))
    for place, group in enumerate(groups):
        middle = LEFT + span * (place + 0.5)
        axes.parts.append(text(middle, HEIGHT - BOTTOM + 19, group, 12, INK, "middle"))
        for number, (_, values) in enumerate(series):
            if values[place] is None:
                continue
            left, top = middle + (number - len(series) / 2) * width, axes.y(values[place])
            colour = COLOURS[(place if single else number) % 6]
            axes.parts.append(f'<rect x="{left + 1.5:.1f}" y="{top:.1f}" width="{width - 3:.1f}" '
                              f'height="{max(HEIGHT - BOTTOM - top, 0.5):.1f}" rx="2" fill="{colour}"/>')
            axes.parts.append(text(left + width / 2, top - 5, plain(values[place]), 10.5, INK, "middle"))
    return axes.panel()


def curves(title, unit, along, series, logarithmic=False):
    """Lines of (name, [(x, y)]); `along` names the x axis."""
    points = [point for _, line in series for point in line]
    axes = Axes(title, unit, [y for _, y in points], 1.05, logarithmic)
    axes.legend([name for name, _ in series])
    scale = ticks(max((x for x, _ in points), default=1))
    def at(x):
        return LEFT + (WIDTH - LEFT - RIGHT) * x / scale[-1]
    for mark in scale:
        axes.parts.append(text(at(mark), HEIGHT - BOTTOM + 17, plain(mark), 11, PALE, "middle"))
    axes.parts.append(text(WIDTH - RIGHT, HEIGHT - 8, along, 11, PALE, "end"))
    for number, (_, line) in enumerate(series):
        path = " ".join(f"{at(x):.1f},{axes.y(y):.1f}" for x, y in line)
        axes.parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[number % 6]}" stroke-width="2.2" '
                          'stroke-linejoin="round"/>')
        axes.parts += [f'<circle cx="{at(x):.1f}" cy="{axes.y(y):.1f}" r="2.8" fill="{COLOURS[number % 6]}"/>'
                       for x, y in line] if len(line) <= 30 else []
    return axes.panel()


def page(title, note, panels):
    """The panels in two columns under a heading."""
    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    width, height = columns * WIDTH + 40, lines * (HEIGHT + 16) + 84
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             text(38, 36, title, 21, weight=700), text(38, 58, note, 12, PALE)]
    for number, panel in enumerate(panels):
        x, y = 20 + number % columns * WIDTH, 76 + number // columns * (HEIGHT + 16)
        parts.append(f'<g transform="translate({x},{y})">{panel}</g>')
    return "\n".join([*parts, "</svg>", ""])
