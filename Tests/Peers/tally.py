# SPDX-License-Identifier: Apache-2.0
"""Counts the checks of a step, prints a line for each, and ends with "N passed, N failed"."""
import sys

from heraldtest.child import Failed, end_on_signals


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, is_true, otherwise=""):
        """Prints one line: ok, or FAIL with the value found."""
        if is_true:
            self.passed += 1
            print(f"ok    {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {name}{': ' if otherwise else ''}{otherwise}", flush=True)
        return bool(is_true)

    def equal(self, name, found, expected):
        return self.check(f"{name}: {expected}", found == expected, f"found {found}")


def say(text):
    print(f"      {text}", flush=True)


def run(step):
    """Runs `step(tally)` and exits as Deploy/test-peers expects."""
    end_on_signals()
    tally = Tally()
    try:
        step(tally)
    except (Failed, OSError) as trouble:
        tally.check("the step went to its end", False, str(trouble))
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    sys.exit(1 if tally.failed or not tally.passed else 0)
