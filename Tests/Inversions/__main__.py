# SPDX-License-Identifier: Apache-2.0
"""Inverts rules of the source, one at a time, and runs the tests of their targets: a rule that is inverted and breaks no
test needs one. Works in a copy of the tree, and is no part of Deploy/test.

`--match` compares the rules with the sources alone, in a second.

All rules are built at once: each asks at run time whether it is the inverted one, so a rule costs one run of tests and
no build. The first build of a copy takes as long as that of a clone.
"""
import argparse
import os
import subprocess
import sys

from heraldtest import ROOT

from . import copy
from .rules import RULES

LIMIT = 600  # seconds for the tests of one rule; a rule that holds them up longer is missed


def tests(tree, number, names):
    """Runs the tests of some targets with one rule inverted, 0 for none; true if all pass."""
    command = ["swift", "test", "--ignore-lock", "--skip-build", "--disable-xctest", "--filter", names]
    try:
        run = subprocess.run(command, cwd=tree, env={**os.environ, "HERALD_INVERSION": str(number)},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="Tests/Inversions/run", description=__doc__)
    parser.add_argument("--copy", default=os.path.join(ROOT, ".build-inversions"), help="folder of the copy")
    parser.add_argument("--only", help="the rules whose file or reason has this text")
    parser.add_argument("--list", action="store_true", help="print the rules")
    parser.add_argument("--match", action="store_true", help="check that each rule is in its file once, and build nothing")
    options = parser.parse_args()
    chosen = [(n, rule) for n, rule in enumerate(RULES, 1)
              if not options.only or options.only in rule.file or options.only in rule.reason]
    if options.list:
        for number, rule in chosen:
            print(f"{number:3}  {rule.file}: {rule.reason}")
        return
    if options.match:
        wrong = copy.unmatched(chosen)
        print("\n".join(wrong) or f"{len(chosen)} rules match")
        sys.exit(1 if wrong else 0)
    copy.make(options.copy, RULES)
    build = ["swift", "build", "--ignore-lock", "--build-tests"]
    if subprocess.run(build, cwd=options.copy).returncode:
        sys.exit("the copy with the inverted rules does not build; correct Tests/Inversions/rules.py")
    for names in sorted({rule.tests for _, rule in chosen}):
        if not tests(options.copy, 0, names):
            sys.exit(f"{names}: a test fails without any rule inverted")
    survivors = 0
    for number, rule in chosen:
        survives = tests(options.copy, number, rule.tests)
        survivors += survives
        print(f"{'SURVIVES' if survives else 'missed  '}  {number:3}  {rule.file}: {rule.reason}", flush=True)
    print(f"{len(chosen) - survivors} missed, {survivors} survive")
    sys.exit(1 if survivors or not chosen else 0)


if __name__ == "__main__":
    main()
