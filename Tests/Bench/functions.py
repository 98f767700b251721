# SPDX-License-Identifier: Apache-2.0
"""The functions of a program that a call's instructions are spent in."""
import collections
import subprocess

OUTSIDE = "(shared libraries)"


def by_function(executed, runs, calls, extent, functions):
    """{function: instructions a call} of one thread; those of libraries have one name."""
    start, end = extent
    found = collections.Counter()
    for count, place, instructions in zip(runs, executed.starts, executed.instructions):
        if count > 0:
            name = functions.at(place - start) if start <= place < end else OUTSIDE
            found[name or "(no symbol)"] += count * instructions / calls
    return dict(found)


def readable(names):
    """{name: what the source calls it}"""
    text = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(names), check=True,
                          capture_output=True, text=True).stdout
    return dict(zip(names, text.split("\n")))


def rows(results, thread, most):
    """The largest functions of a thread; of two programs those that differ most."""
    of_each = [one["functions"][thread] for one in results]
    names = set().union(*of_each)
    figures = {name: [one.get(name, 0) for one in of_each] for name in names}
    weight = (lambda name: abs(figures[name][-1] - figures[name][0])) if len(results) > 1 else (
        lambda name: figures[name][0])
    largest = sorted(names, key=weight, reverse=True)[:most]
    titles = readable(largest)
    head = [f"{thread}, instructions a call"] + [one["name"] for one in results]
    return [head + (["difference"] if len(results) > 1 else [])] + [
        [titles[name][:110]] + [f"{figure:,.0f}" for figure in figures[name]]
        + ([f"{figures[name][-1] - figures[name][0]:+,.0f}"] if len(results) > 1 else []) for name in largest]
