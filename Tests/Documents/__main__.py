# SPDX-License-Identifier: Apache-2.0
"""Checks every command line and configuration of README.md and docs, without starting a gateway.

Deploy/test-peers documents runs the commands; Deploy/test-peers recipes starts peers with the configurations.
"""
import argparse
import os
import sys
import tempfile
import unittest

from heraldtest import ROOT, counts

from . import check


def main():
    parser = argparse.ArgumentParser(prog="Tests/Documents/run", description=__doc__)
    parser.add_argument("--binaries", default=os.path.join(ROOT, ".build", "debug"),
                        help="folder of herald and herald-directory")
    options = parser.parse_args()
    os.environ["BINARIES"] = os.path.abspath(options.binaries)
    # A check that finds nothing would pass every page.
    suite = unittest.defaultTestLoader.loadTestsFromName("Documents.test_documents")
    result = unittest.TextTestRunner(verbosity=0).run(suite)
    failed = len(result.failures) + len(result.errors)
    passed = result.testsRun - failed
    with tempfile.TemporaryDirectory() as work:
        for place, mistake in check.of_pages(check.Checker(os.environ["BINARIES"], work)):
            if mistake:
                failed += 1
                print(f"FAIL  {place}: {mistake}")
            else:
                passed += 1
    counts.write(passed, failed)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
