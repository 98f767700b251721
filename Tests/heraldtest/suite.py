# SPDX-License-Identifier: Apache-2.0
"""The steps of Deploy/test in turn: each has a time limit, a log and a count; the last line is "N passed, N failed"."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple
from xml.etree import ElementTree

from . import ROOT, counts
from .child import end_on_signals

# The exit status of an optional step that this machine cannot do; the last line of its log has the reason.
LEFT_OUT = 77
FORMATTED = ("Sources", "Tests", "Package.swift")
# The lines of a log that name a failure.
FAILURES = re.compile(r"^[^A-Za-z]*(Test|Suite) .* (recorded an issue|failed after)|^FAIL |(^|: )error: ")

# What `timeout` exits with when it ended the command.
TIMED_OUT = 124


class Step(NamedTuple):
    """One command. A step that `counts` must write its own numbers, else it has failed; other steps count as one."""

    name: str
    seconds: int
    command: tuple
    counts: bool = False
    # Printed if the step fails.
    remedy: str = ""
    # Without it the steps that follow make no sense.
    required: bool = False
    # It may leave itself out, and then counts neither as passed nor as failed.
    optional: bool = False


# Without a limit all tests begin at once, and on a busy machine each waits minutes for its turn: time limits and time-outs of
# sockets then end some. (Swift Testing reads the number since Swift 6.3; a later one may have an option for it.)
TESTS_AT_ONCE = 16

STEPS = (
    Step("format", 120, ("swift", "format", "lint", "--strict", "-r", *FORMATTED),
         remedy="run 'swift format -i -r Sources Tests Package.swift'"),
    Step("imports", 60, ("Deploy/import-graph",)),
    # Test targets are built too, so that the import check sees them and the unit tests compile nothing.
    Step("build", 2400, ("swift", "build", "--build-tests", "--explicit-target-dependency-import-check", "error"),
         remedy="after a time limit run it again: the build goes on where it stopped", required=True),
    Step("versions", 60, ("Deploy/check-versions",)),
    Step("unit", 2400, ("env", f"SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH={TESTS_AT_ONCE}",
                        "swift", "test", "--skip-build", "--disable-xctest", "--xunit-output", "{work}/unit.xml"),
         counts=True),
    Step("crashers", 900, ("Deploy/fuzz", "--replay"), counts=True),
    Step("documents", 300, ("Tests/Documents/run",), counts=True),
    Step("openapi", 900, ("Deploy/check-openapi",)),
    Step("openapi-postgresql", 900, ("Deploy/check-openapi", "postgresql")),
    Step("scenarios", 1800, ("Tests/Scenarios/run",), counts=True),
    Step("profile", 900, ("Deploy/bench", "profile", "--if-built"), optional=True),
)
WITH_SIPP = ("scenarios", "profile")


def execute(step, work):
    """Runs a step with its output on the terminal and in a log, and returns its exit status."""
    print(f"== {step.name}", flush=True)
    command = [word.format(work=work) for word in step.command]
    # In the foreground, so that an interrupt reaches the step and it ends its own children.
    with subprocess.Popen(
            ["timeout", "--foreground", "--kill-after=20", str(step.seconds), *command], cwd=ROOT, bufsize=0,
            env={**os.environ, "COUNTS": f"{work}/{step.name}.counts"}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT) as process, open(f"{work}/{step.name}.log", "wb") as log:
        try:
            while piece := os.read(process.stdout.fileno(), 65536):
                log.write(piece)
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
            return process.wait()
        except BaseException:
            process.terminate()
            raise


def written(step, work):
    """The numbers a step wrote: its own, or those of Swift Testing's report."""
    # SwiftPM adds to the name only where XCTest runs too.
    reports = [f"{work}/{step.name}{ending}.xml" for ending in ("-swift-testing", "")]
    report = next(filter(os.path.exists, reports), None)
    if not report:
        return counts.read(f"{work}/{step.name}.counts")
    try:
        found = ElementTree.parse(report).getroot().find("testsuite").attrib
        failed = int(found["failures"]) + int(found.get("errors", 0))
        return int(found["tests"]) - failed, failed
    except (ElementTree.ParseError, AttributeError, KeyError, ValueError):
        return None


def judged(step, status, numbers):
    """(passed, failed) of a step that ended. A step that died, or ran no test, has failed once at least."""
    if step.optional and status == LEFT_OUT:
        return 0, 0
    if numbers is None:
        return (0, 1) if status or step.counts else (1, 0)
    passed, failed = numbers
    return passed, 1 if failed == 0 and (status or passed == 0) else failed


def failures(work):
    """The lines of all logs that name a failure; of thousands of lines only the last ones are read."""
    found = []
    for step in STEPS:
        if os.path.exists(path := f"{work}/{step.name}.log"):
            with open(path, encoding="utf-8", errors="replace") as log:
                found += [line.rstrip("\n")[:400] for line in log if FAILURES.search(line)]
    return found[:40]


def last_line(step, work):
    """The last line of a step's log."""
    with open(f"{work}/{step.name}.log", encoding="utf-8", errors="replace") as log:
        return (log.read().splitlines() or [""])[-1]


def run(steps, work):
    """(passed, failed) of the steps together, with a line at the end for each that left itself out."""
    passed = failed = 0
    notes = []
    for step in steps:
        status = execute(step, work)
        good, bad = judged(step, status, written(step, work))
        passed, failed = passed + good, failed + bad
        if (good, bad) == (0, 0):
            notes.append(f"note: {step.name} {last_line(step, work)}")
        if bad:
            reason = f"it took longer than {step.seconds} s" if status == TIMED_OUT else f"exit status {status}"
            print(f"{step.name}: {bad} failed, {reason}" + (f"; {step.remedy}" if step.remedy else ""))
            if step.required:
                break
    if notes:
        print("\n".join(notes), flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(prog="Deploy/test", description=__doc__)
    parser.add_argument("--no-scenarios", action="store_true", help="without SIPp")
    options = parser.parse_args()
    end_on_signals()
    with tempfile.TemporaryDirectory() as work:
        passed, failed = run([step for step in STEPS if not (options.no_scenarios and step.name in WITH_SIPP)], work)
        if failed:
            print("\n".join(["== failures", *failures(work)]))
    counts.write(passed, failed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
