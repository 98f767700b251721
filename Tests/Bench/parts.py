# SPDX-License-Identifier: Apache-2.0
"""The parts of a call's work one by one: the medians of the micro-benchmarks in Tests/Bench/CallParts.

`swift package benchmark` would first build a tool for minutes; the program prints its distributions itself.
"""
import os
import re
import subprocess

from heraldtest import ROOT
from heraldtest.child import Failed
from . import machine, report

PROGRAM = os.path.join(ROOT, ".build-benchmarks", "release", "CallParts")
# Repetitions in an iteration, except for operations on the whole brand index; times are nanoseconds an iteration.
PIECES, ONCE = 1000, "brand index: "


def distributions(text):
    """{benchmark: (lowest, median) in nanoseconds a piece} from the program's output."""
    found, name, metric = {}, None, None
    for line in text.splitlines():
        if heading := re.match(r"Debug results for (.*):$", line):
            name = heading[1]
        elif heading := re.match(r"(Time|Throughput).*:$", line):
            metric = line
        elif (row := re.match(r" *([0-9.]+) ([01]\.[0-9]+) ", line)) and name and metric == "Time (wall clock):":
            lowest, median = found.get(name, (None, None))
            value = float(row[1]) / (1 if name.startswith(ONCE) else PIECES)
            found[name] = (value if lowest is None else lowest, value if float(row[2]) <= 0.5 else median)
    return found


def told(nanoseconds):
    return f"{nanoseconds:,.0f} ns" if nanoseconds < 1e6 else f"{nanoseconds / 1e6:,.0f} ms"


def add_options(_):
    """No options: the build itself is measured."""


def run(options):
    # In the cache, since an index is saved in the current folder.
    done = subprocess.run([PROGRAM], cwd=options.cache, capture_output=True, text=True, check=False)
    found = distributions(done.stdout)
    if done.returncode or not found:
        raise Failed(f"{PROGRAM} ended with {done.returncode} and printed nothing:\n{done.stderr[-500:]}")
    rows = [["", "median", "lowest"]]
    rows += [[name, told(median), told(lowest)] for name, (lowest, median) in found.items()]
    report.write(options, "parts", {"machine": machine.description(), "results": found}, [("Pieces of a call", rows)])
