# SPDX-License-Identifier: Apache-2.0
"""The command line of Deploy/bench; started by it, in a network namespace of its own."""
import argparse
import os
import shutil
import signal
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "peers")]

import allocations  # noqa: E402
import compare  # noqa: E402
import instructions  # noqa: E402
import overload  # noqa: E402
import parts  # noqa: E402
import scale  # noqa: E402
from loopback import Failed  # noqa: E402
from dataset import Data  # noqa: E402

MODES = {"compare": compare, "overload": overload, "scale": scale, "allocations": allocations,
         "parts": parts, "instructions": instructions}


def named_binary(text):
    name, equals, path = text.rpartition("=")
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"there is no program at {path}")
    return (name or "herald", path)


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def parser():
    words = argparse.ArgumentParser(prog="Deploy/bench", allow_abbrev=False)
    words.add_argument("mode", nargs="?", default="compare", choices=list(MODES), help="%(default)s if left out")
    words.add_argument("--cache", default="/tmp/herald-bench", help="folder of data, tools and results (%(default)s)")
    words.add_argument("--herald", action="append", type=named_binary, metavar="[NAME=]PROGRAM",
                       help="a built gateway instead of this repository's release; several are compared")
    group = words.add_argument_group("compare", "CPU a call, delay, memory, start, next to Kamailio if it is installed")
    group.add_argument("--only", choices=["herald"], help="without Kamailio and the relay")
    group.add_argument("--rates", type=numbers, default=[500, 1000, 2000], help="calls a second (500,1000,2000)")
    group.add_argument("--rounds", type=int, default=1, help="turns of each program (%(default)s)")
    group.add_argument("--seconds", type=float, default=5, help="of calls for a figure (%(default)g)")
    group.add_argument("--delay-rate", type=int, default=500,
                       help="calls a second while the delay is taken (%(default)s)")
    group.add_argument("--steps", type=numbers, default=[], metavar="RATES",
                       help="seeks the highest rate: steps such as 3000,4000,6000 until two are too much")
    group.add_argument("--no-linger", action="store_true",
                       help="leaves out what is still done for calls once they are over (33 s a figure)")
    group.add_argument("--full", action="store_true", help="3 rounds of 15 s with steps to 12000; about 35 minutes")
    group = words.add_argument_group("scale", "workers, calls in progress, and the ledger at 2000 calls/s")
    group.add_argument("--parts", type=lambda text: text.split(","), default=["workers", "calls", "store"],
                       metavar="LIST", help="some of workers,calls,store")
    group.add_argument("--sustain", type=int, default=60, help="seconds of calls for the ledger (%(default)s)")
    group = words.add_argument_group("allocations", "allocations a call makes, by thread")
    group.add_argument("--rate", type=int, default=500, help="calls a second (%(default)s)")
    group.add_argument("--calls", type=int, default=5000, help="calls that are counted (%(default)s)")
    group.add_argument("--warm", type=int, default=5000, help="calls before that (%(default)s)")
    group.add_argument("--stacks", type=int, default=0, metavar="N",
                       help="shows who makes them, by the call stack of each Nth; with 1 use a --rate of 100")
    group.add_argument("--top", type=int, default=25, help="how many of these (%(default)s)")
    group.add_argument("--depth", type=int, default=4, help="functions of each stack that are told apart (%(default)s)")
    group = words.add_argument_group("instructions", "instructions a call takes, counted under emulation")
    group.add_argument("--emulated-rate", type=int, default=10, help="calls a second (%(default)s)")
    group.add_argument("--emulated-calls", type=int, default=300, help="calls that are counted (%(default)s)")
    return words


def main():
    options = parser().parse_args()
    options.words = "".join(" " + word for word in sys.argv[1:] if word not in ("--cache", options.cache))
    options.kamailio = shutil.which("kamailio") is not None
    if options.full:
        options.rounds, options.seconds = 3, 15
        options.steps = [3000, 4000, 5000, 6000, 7000, 8000, 10000, 12000]
    # Left to the end by an interrupt too, so that what was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.data = Data(os.path.join(options.cache, "data")).make()
    try:
        MODES[options.mode].run(options)
    except Failed as failure:
        raise SystemExit(f"error: {failure}") from failure


main()
