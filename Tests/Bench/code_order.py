# SPDX-License-Identifier: Apache-2.0
"""Writes the functions of a call for the linker, which lays them next to each other (Deploy/herald.order)."""
import bisect
import os
import subprocess

from heraldtest.child import Failed

HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Functions a call runs, in the order in which it first does: the thread that handles messages, then the recorder's.
# Deploy/release has the linker lay them out so. Names that are gone do no harm, missing ones cost a little. Made by
#     Deploy/bench profile --only instructions --order Deploy/herald.order
"""


class Functions:
    """The places of a program's functions in its file."""

    def __init__(self, listing):
        """`listing`: the output of `nm --numeric-sort --print-size`."""
        self.starts, self.ends, self.names = [], [], []
        for line in listing.splitlines():
            # An undefined symbol has no start, a label in assembler no size.
            words = line.split(" ", 3)
            if len(words) == 4 and words[2] in "tTwW":
                self.starts.append(int(words[0], 16))
                self.ends.append(self.starts[-1] + int(words[1], 16))
                self.names.append(words[3])

    @classmethod
    def of(cls, binary):
        return cls(subprocess.run(["nm", "--numeric-sort", "--print-size", "--defined-only", binary], check=True,
                                  capture_output=True, text=True).stdout)

    def at(self, place):
        """The name of the function that `place` belongs to; None between functions."""
        found = bisect.bisect(self.starts, place) - 1
        return self.names[found] if found >= 0 and place < self.ends[found] else None


def mapped(pid, binary):
    """(start, end) of the program in the memory of its process."""
    path = os.path.realpath(binary)
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        extents = [line.split()[0].split("-") for line in file if line.rstrip().endswith(" " + path)]
    if not extents:
        raise Failed(f"/proc/{pid}/maps does not list {binary}")
    return int(extents[0][0], 16), int(extents[-1][1], 16)


def names(places, extent, functions):
    """The functions at `places` of memory, each once. Places outside the program belong to libraries."""
    start, end = extent
    found = (functions.at(place - start) for place in places if start <= place < end)
    return list(dict.fromkeys(name for name in found if name is not None))


def write(path, names_in_order):
    if not names_in_order:
        raise Failed(f"the program has no symbols, so {path} is unchanged; give a program that is not stripped")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER + "".join(name + "\n" for name in names_in_order))
