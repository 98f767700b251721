# SPDX-License-Identifier: Apache-2.0
"""The kept figures of the largest functions of each kind of call: they show a rise without an older program."""
import os

from heraldtest.child import Failed

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kept_functions.txt")
ALL = "(all)"
# Functions below this share of a part are left out.
SHARE = 0.002
# Functions that a rise is explained with.
SHOWN, GONE = 10, 5
HEAD = f"""\
# The largest functions of each kind of call. Deploy/bench profile --keep writes them, and the rows of docs/performance.md.
# Kind, part, instructions or allocations a call, function; without functions below {SHARE:.1%} of their part.
"""


def read(path=PATH):
    """{kind: {part: {function: figure}}}"""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.split(None, 3) for line in file if not line.startswith("#")]
    except FileNotFoundError as missing:
        raise Failed(f"{path} is missing; take it from git, or write it by Deploy/bench profile --keep") from missing
    kept = {}
    for kind, part, figure, name in lines:
        kept.setdefault(kind, {}).setdefault(part, {})[name.rstrip("\n")] = float(figure.replace(",", ""))
    return kept


def write(results, path=PATH):
    """Writes the largest functions of results, sorted by name, so that two versions can be compared line by line."""
    kinds = dict.fromkeys(one["kind"] for one in results)
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for kind in kinds:
            for one in results:
                if one["kind"] == kind:
                    for part, figures in one["functions"].items():
                        file.writelines(f"{kind:<9}  {part:<11}  {told(part, figure):>11}  {name}\n"
                                        for name, figure in largest(figures))


def largest(figures):
    """(function, figure) by name; the sum of the part comes first."""
    whole = sum(figures.values())
    kept = sorted((name, figure) for name, figure in figures.items() if figure >= whole * SHARE)
    return [(ALL, whole), *kept]


def told(part, figure, sign=""):
    """Tenths of an allocation; tens of instructions, since these vary."""
    return f"{figure:{sign},.1f}" if part == "allocations" else f"{round(figure, -1):{sign},.0f}"


def grown(kept, now, shown=SHOWN):
    """Lines about the functions of a kind that grew most, and about the largest that are gone."""
    rises, gone = [], []
    for part, figures in now.items():
        before = kept.get(part)
        if before is None:
            return [f"  no functions of this kind are kept; those of {part} are unknown"]
        # A function that is not kept was below the share.
        least = before[ALL] * SHARE
        for name, figure in figures.items():
            was = before.get(name)
            rises.append((figure - (least if was is None else was), figure, part,
                          name + (" (new, or small before)" if was is None else "")))
        gone += [(-was, 0, part, name + " (gone)") for name, was in before.items() if name not in (ALL, *figures)]
    rises = sorted((rise for rise in rises if rise[0] > 0), reverse=True)[:shown]
    return [f"  {told(part, change, '+'):>9} to {told(part, figure):>9}  {part}: {name}"
            for change, figure, part, name in rises + sorted(gone)[:GONE]]
