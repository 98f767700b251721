# SPDX-License-Identifier: Apache-2.0
"""The functions of a program that a call's instructions are spent in."""
import bisect
import collections
import os
import subprocess

from . import code_order


class Names:
    """Names places in the memory of a process: functions of its program, and libraries as a whole."""

    def __init__(self, pid, binary):
        self.functions, self.extent = code_order.Functions.of(binary), code_order.mapped(pid, binary)
        self.libraries = libraries(pid)

    def at(self, place):
        start, end = self.extent
        if start <= place < end:
            return self.functions.at(place - start) or "(no symbol)"
        found = bisect.bisect(self.libraries, (place, 1 << 64, "")) - 1
        if found >= 0 and place < self.libraries[found][1]:
            return f"({self.libraries[found][2]})"
        return "(outside)"


def libraries(pid):
    """(start, end, name without version) of the code of shared libraries, by their start."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and ".so" in fields[5]:
                start, end = (int(part, 16) for part in fields[0].split("-"))
                found.append((start, end, os.path.basename(fields[5].strip()).split(".so")[0]))
    return sorted(found)


def by_function(executed, runs, names):
    """{function: instructions} of one thread, whose `runs` are those of each block; functions of one title are one."""
    found = collections.Counter()
    for count, place, instructions in zip(runs, executed.starts, executed.instructions):
        if count:
            found[names.at(place)] += count * instructions
    return by_title(found)


def by_title(figures):
    """Figures by what the source calls a function: a specialisation has a name of its own in each build."""
    titles, found = readable(figures), collections.Counter()
    for name, figure in figures.items():
        found[titles[name]] += figure
    return dict(found)


def readable(names):
    """{name: what the source calls it}"""
    names = sorted(names)
    text = "\n".join(names)
    for command in (["swift", "demangle", "--compact", "--simplified"], ["c++filt"]):
        text = subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout
    return dict(zip(names, text.splitlines(), strict=True))


def rows(results, part, most):
    """The largest functions of a part of a call; of two programs those that differ most."""
    of_each = [one["functions"][part] for one in results]
    names = set().union(*of_each)
    figures = {name: [one.get(name, 0) for one in of_each] for name in names}
    weight = (lambda name: abs(figures[name][-1] - figures[name][0])) if len(results) > 1 else (
        lambda name: figures[name][0])
    largest = sorted(names, key=weight, reverse=True)[:most]
    head = [f"{part}, instructions a call"] + [one["name"] for one in results]
    return [head + (["difference"] if len(results) > 1 else [])] + [
        [name[:110]] + [f"{figure:,.0f}" for figure in figures[name]]
        + ([f"{figures[name][-1] - figures[name][0]:+,.0f}"] if len(results) > 1 else []) for name in largest]
