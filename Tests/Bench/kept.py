# SPDX-License-Identifier: Apache-2.0
"""The kept figures of each kind of call in docs/performance.md, with which `profile` compares what it counts.

Small costs add up: each change is compared with the kept figure and not with the day before. kept_functions.py has the
figures by function.
"""
import os
import re
import time

from heraldtest import ROOT
from heraldtest.child import Failed
from . import kept_functions

PAGE = os.path.join(ROOT, "docs", "performance.md")
TITLE = "## What may a call cost?"
INSTRUCTIONS, ALLOCATIONS = COUNTS = ("instructions", "allocations")
# A rise above this share needs a row of its own with its reason.
ALLOWED = 0.02
# An idle recorder allocates now and then, too; a rise below this is none.
LEAST = {INSTRUCTIONS: 0, ALLOCATIONS: 0.5}
# since, call, instructions, of it recorder, allocations, of it recorder, reason
ROW = re.compile(r"^\|" + r" *([^|]*?) *\|" * 2 + r" *([\d,.]+) *\| *([\d,.]*) *\|" * 2 + r" *([^|]*?) *\|$", re.M)
REMEDY = "mend what grew, or keep it with its reason: Deploy/bench profile --keep --reason TEXT"


class Row:
    """One row: the day, the kind of call, its figures with the recorder's share, and why they rose."""

    def __init__(self, day, kind, figures, recorder, reason=""):
        self.day, self.kind, self.figures, self.recorder, self.reason = day, kind, figures, recorder, reason

    @classmethod
    def read(cls, day, kind, instructions, instructions_recorder, allocations, allocations_recorder, reason):
        return cls(day, kind, {INSTRUCTIONS: value(instructions), ALLOCATIONS: value(allocations)},
                   {INSTRUCTIONS: value(instructions_recorder), ALLOCATIONS: value(allocations_recorder)}, reason)

    def __str__(self):
        cells = [self.day, self.kind]
        for count in COUNTS:
            cells += [told(count, self.figures[count]), told(count, self.recorder[count])]
        return "|" + "".join(f" {cell} |" if cell else " |" for cell in [*cells, self.reason])

    def rises(self, count, figure):
        """Whether a figure is more than the allowance above this row's."""
        return figure > max(self.figures[count] * (1 + ALLOWED), self.figures[count] + LEAST[count])

    def risen(self, later):
        """The counts that a later row has above this one by more than the allowance."""
        return [count for count in COUNTS if self.rises(count, later.figures[count])]


def value(cell):
    return float(cell.replace(",", "")) if cell else None


def told(count, figure):
    """A figure as the page has it: four digits of instructions, tenths of allocations."""
    if figure is None:
        return ""
    # Less idle work than expected leaves a little below nothing.
    figure = max(figure, 0)
    return f"{float(f'{figure:.4g}'):,.0f}" if count == INSTRUCTIONS else f"{figure:,.1f}"


def rows(page=PAGE):
    """The rows of the page, those of each kind from the oldest on."""
    with open(page, encoding="utf-8") as file:
        _, _, rest = file.read().partition(TITLE)
    table = [Row.read(*match) for match in ROW.findall(rest.split("\n## ")[0])]
    if not table:
        raise Failed(f"{page} has no figures below '{TITLE}'; put back the table that Deploy/bench profile compares with")
    return table


def latest(table):
    """{kind: its last row}"""
    return {row.kind: row for row in table}


class Kept:
    """The figures that a run is compared with; read before it, so that a run is not in vain."""

    def __init__(self, page=PAGE, path=kept_functions.PATH):
        self.rows, self.functions = latest(rows(page)), kept_functions.read(path)

    def compare(self, results):
        """Prints the difference of each result; the errors for too high figures, with the functions that grew."""
        errors = []
        for one in results:
            row, count, figure = self.rows.get(one["kind"]), one["count"], one["figure"]
            if not row:
                errors.append(f"{one['name']}: {one['kind']} call: {told(count, figure)} {count}; no figure of this kind is "
                              "kept, Deploy/bench profile --keep adds it")
                continue
            kept = row.figures[count]
            share = f", {figure / kept - 1:+.1%}" if kept else ""
            line = (f"{one['name']}: {one['kind']} call: {told(count, figure)} {count}, kept {told(count, kept)} "
                    f"({row.day}){share}")
            print(line, flush=True)
            if row.rises(count, figure):
                grown = kept_functions.grown(self.functions.get(one["kind"], {}), one["functions"])
                errors.append("\n".join([f"{line}; {REMEDY}", *grown]))
        return errors


def keep(results, reason="", page=PAGE, path=kept_functions.PATH):
    """Writes the results of one program as kept figures. If one rose without a reason: errors, and nothing is written."""
    table, day = rows(page), time.strftime("%-d %B %Y")
    errors = []
    for kind in dict.fromkeys(one["kind"] for one in results):
        figures, recorder = ({one["count"]: one[name] for one in results if one["kind"] == kind}
                             for name in ("figure", "recorder"))
        errors += add(table, Row(day, kind, figures, recorder), reason)
    if not errors:
        write(table, page)
        kept_functions.write(results, path)
    return errors


def add(table, new, reason):
    """Puts the figures of a kind into the table: a rise as a row of its own, a fall in place of the last row.

    A rise within the allowance leaves the lower figure, or many of them would be none.
    """
    places = [place for place, row in enumerate(table) if row.kind == new.kind]
    if not places:
        table.append(new)
        return []
    last = table[places[-1]]
    if risen := last.risen(new):
        if not reason:
            return [f"{new.kind} call: {told(count, new.figures[count])} {count} instead of "
                    f"{told(count, last.figures[count])}; give its --reason" for count in risen]
        new.reason = reason
        table.insert(places[-1] + 1, new)
        return []
    fallen = [count for count in COUNTS if new.figures[count] < last.figures[count]]
    for count in fallen:
        last.figures[count], last.recorder[count], last.day = new.figures[count], new.recorder[count], new.day
    if len(places) == 1 or not table[places[-2]].risen(last):
        last.reason = ""
    return []


def write(table, page):
    """Puts the rows in place of those of the page."""
    with open(page, encoding="utf-8") as file:
        head, title, rest = file.read().partition(TITLE)
    section, end, after = rest.partition("\n## ")
    found = list(ROW.finditer(section))
    section = section[:found[0].start()] + "\n".join(map(str, table)) + section[found[-1].end():]
    with open(page, "w", encoding="utf-8") as file:
        file.write(head + title + section + end + after)
