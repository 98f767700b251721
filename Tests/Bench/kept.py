# SPDX-License-Identifier: Apache-2.0
"""The kept figures of a call in docs/performance.md, with which `profile` compares what it counts.

Small costs add up: each change is compared with the kept figure and not with the day before.
"""
import os
import re

from heraldtest import ROOT
from heraldtest.child import Failed

PAGE = os.path.join(ROOT, "docs", "performance.md")
TITLE = "## What may a call cost?"
# A rise above this share needs a row of its own with its reason.
ALLOWED = 0.02
ROW = re.compile(r"^\| *([^|]*?) *\| *([\d,]+) *\| *([\d,]+) *\| *([^|]*?) *\|$", re.M)


class Kept:
    """One row: the day, instructions and allocations of a call, and why they rose."""

    def __init__(self, day, instructions, allocations, reason):
        self.day, self.reason = day, reason
        self.figures = {"instructions": int(instructions.replace(",", "")),
                        "allocations": int(allocations.replace(",", ""))}

    def unexplained(self, before):
        """The figures that rose against an earlier row by more than the allowance, without a reason."""
        rises = [name for name, figure in self.figures.items() if self.rises(figure, before.figures[name])]
        return [] if self.reason else rises

    @staticmethod
    def rises(figure, kept):
        return figure > kept * (1 + ALLOWED)


def rows(page=PAGE):
    """The rows of the page, oldest first."""
    with open(page, encoding="utf-8") as file:
        _, found, rest = file.read().partition(TITLE)
    table = [Kept(*match) for match in ROW.findall(rest.split("\n## ")[0])]
    if not found or not table:
        raise Failed(f"{page} has no figures below '{TITLE}'; add the table that `Deploy/bench profile` compares with")
    return table


def compared(name, figure, kept):
    """(line with the difference, whether it is too much)"""
    expected = kept.figures[name]
    line = f"{name} a call: {figure:,.1f}, kept {expected:,} ({kept.day}), {figure / expected - 1:+.1%}"
    return line, kept.rises(figure, expected)


def compare(name, results, page=PAGE):
    """Prints each program's difference to the kept figure; the errors for figures that are too high."""
    kept, errors = rows(page)[-1], []
    for program, figure in results:
        line, is_too_much = compared(name, figure, kept)
        print(f"{program}: {line}", flush=True)
        if is_too_much:
            errors.append(f"{program} takes more than {ALLOWED:.0%} above the kept {name}; find the cause, or add a row "
                          f"with its reason to {os.path.relpath(page, ROOT)}")
    return errors
