# SPDX-License-Identifier: Apache-2.0
"""The command line of Deploy/bench; started by it, in a network namespace of its own."""
import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "peers")]

import allocations  # noqa: E402
from loopback import Failed  # noqa: E402
from numbers_data import Data  # noqa: E402


def named_binary(text):
    name, equals, path = text.rpartition("=")
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"there is no program at {path}")
    return (name or "herald", path)


def parser():
    words = argparse.ArgumentParser(prog="Deploy/bench", allow_abbrev=False)
    words.add_argument("--cache", default="/tmp/herald-bench", help="folder of data, tools and logs (%(default)s)")
    words.add_argument("--json", metavar="FILE", help="writes the results there too")
    words.add_argument("--herald", action="append", type=named_binary, metavar="[NAME=]PROGRAM",
                       help="a built gateway instead of this repository's release; several are compared")
    modes = words.add_subparsers(dest="mode", metavar="MODE")
    one = modes.add_parser("allocations", help="allocations a call makes, by thread")
    one.add_argument("--rate", type=int, default=500, help="calls a second (%(default)s)")
    one.add_argument("--calls", type=int, default=5000, help="calls that are counted (%(default)s)")
    one.add_argument("--warm", type=int, default=5000, help="calls before that (%(default)s)")
    one.add_argument("--stacks", type=int, default=0, metavar="N",
                     help="shows who makes them, from the call stack of each Nth; 1 for all, then use a --rate of 100")
    one.add_argument("--top", type=int, default=25, help="how many of these (%(default)s)")
    one.add_argument("--depth", type=int, default=4, help="functions of each stack that are told apart (%(default)s)")
    one.set_defaults(run=allocations.run)
    return words


def main():
    options = parser().parse_args()
    if not options.mode:
        raise SystemExit("no mode")
    options.data = Data(os.path.join(options.cache, "data")).make()
    try:
        results = options.run(options)
    except Failed as failure:
        raise SystemExit(f"error: {failure}") from failure
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


main()
