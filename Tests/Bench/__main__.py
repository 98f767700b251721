# SPDX-License-Identifier: Apache-2.0
"""The command line of Deploy/bench, in a network namespace of its own."""
import argparse
import os
import sys

from heraldtest import ROOT
from heraldtest.child import Failed, end_on_signals
from . import (
    compare, directory_load, doors, foreground, index, kernel, overload, parts, profile, replay, scale, shipping,
    signers, trust)
from .dataset import Data

RELEASE = os.path.join(ROOT, ".build-release", "release")
MODES = {"compare": compare, "overload": overload, "scale": scale, "profile": profile, "parts": parts, "index": index,
         "kernel": kernel, "directory": directory_load, "shipping": shipping, "gateway": foreground, "trust": trust,
         "signers": signers, "doors": doors, "replay": replay}
# Modes whose calls come from the bench's own million numbers.
WITH_DATA = (compare, overload, scale, kernel, doors, replay)
WITHOUT_GATEWAY = (parts, kernel, directory_load)
COMPARING = (compare, overload, profile)


def named_binary(text):
    name, _, path = text.rpartition("=")
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"there is no program at {path}")
    return (name or "herald", path)


def parser():
    words = argparse.ArgumentParser(
        prog="Deploy/bench",
        description="Measures what calls, the brand index and the directory cost. Without a mode: compare. "
                    "The programs are those of Deploy/release, with the functions of a call in order, so that figures of different "
                    "days can be compared. --herald measures other builds; `swift build -c release` has no order.",
        epilog="Deploy/bench MODE --help prints the options of a mode. BENCH: folder of data, tools and results "
               "(/tmp/herald-bench). HERALD_DIRECTORY: a built directory to measure.")
    modes = words.add_subparsers(dest="mode", required=True, metavar="MODE")
    for name, module in MODES.items():
        mode = modes.add_parser(
            name, help=module.__doc__.split("\n", 1)[0], description=module.__doc__, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        if module not in WITHOUT_GATEWAY:
            mode.add_argument("--herald", action="append", type=named_binary, metavar="[NAME=]PROGRAM",
                              help="a built gateway instead of Deploy/release"
                                   + ("; several are compared" if module in COMPARING else ""))
        module.add_options(mode)
    return words


def main():
    words = parser()
    options = words.parse_args()
    options.words = "".join(" " + word for word in sys.argv[1:])
    options.cache = os.path.abspath(os.environ.get("BENCH", "/tmp/herald-bench"))
    mode = MODES[options.mode]
    if mode not in WITHOUT_GATEWAY:
        options.herald = options.herald or [("herald", os.path.join(RELEASE, "herald"))]
        if len(options.herald) > 1 and mode not in COMPARING:
            words.error(f"{options.mode} measures one --herald at a time")
    os.environ.setdefault("HERALD_DIRECTORY", os.path.join(RELEASE, "herald-directory"))
    # An interrupt also stops the programs under test.
    end_on_signals()
    options.data = Data(os.path.join(options.cache, "data"))
    if mode in WITH_DATA:
        options.data.make()
    try:
        mode.run(options)
    except Failed as failure:
        raise SystemExit(f"error: {failure}") from failure


main()
