# SPDX-License-Identifier: Apache-2.0
"""The command line of Deploy/bench, which starts it in a network namespace of its own."""
import argparse
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.dirname(HERE), os.path.join(os.path.dirname(os.path.dirname(HERE)), "Tests", "Peers")]

import allocations  # noqa: E402
import compare  # noqa: E402
import directory_load  # noqa: E402
import foreground  # noqa: E402
import index  # noqa: E402
import instructions  # noqa: E402
import overload  # noqa: E402
import parts  # noqa: E402
import scale  # noqa: E402
from dataset import Data  # noqa: E402
from loopback import ROOT, Failed, end_on_signals  # noqa: E402

RELEASE = os.path.join(ROOT, ".build", "release")
MODES = {"compare": compare, "overload": overload, "scale": scale, "allocations": allocations,
         "instructions": instructions, "parts": parts, "index": index, "directory": directory_load,
         "gateway": foreground}
# Those that place calls with the bench's own million of numbers.
WITH_DATA = (compare, overload, scale, allocations)
WITHOUT_GATEWAY = (parts, directory_load)
COMPARING = (compare, overload, allocations, instructions)


def named_binary(text):
    name, _, path = text.rpartition("=")
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"there is no program at {path}")
    return (name or "herald", path)


def parser():
    words = argparse.ArgumentParser(
        prog="Deploy/bench", description="What calls, the index and the directory cost. Without a mode: compare.",
        epilog="Deploy/bench MODE --help tells the options of one. BENCH is the folder of data, tools and results "
               "(/tmp/herald-bench), HERALD_DIRECTORY a built directory to measure.")
    modes = words.add_subparsers(dest="mode", required=True, metavar="MODE")
    for name, module in MODES.items():
        mode = modes.add_parser(
            name, help=module.__doc__.split("\n", 1)[0], description=module.__doc__, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        if module not in WITHOUT_GATEWAY:
            mode.add_argument("--herald", action="append", type=named_binary, metavar="[NAME=]PROGRAM",
                              help="a built gateway instead of this repository's release"
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
    # So that an interrupt stops what was started, too.
    end_on_signals()
    options.data = Data(os.path.join(options.cache, "data"))
    if mode in WITH_DATA:
        options.data.make()
    try:
        mode.run(options)
    except Failed as failure:
        raise SystemExit(f"error: {failure}") from failure


main()
