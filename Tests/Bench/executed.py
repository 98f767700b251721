# SPDX-License-Identifier: Apache-2.0
"""The instructions that threads of an emulated program executed, counted by instructions.c."""
import array
import itertools

THREADS, FIELDS = 32, 3
BLOCK = FIELDS + THREADS
LINE, PAGE = 64, 4096
# A block of code belongs to a call when every fifth call runs it.
OFTEN = 0.2


class Executed:
    """The runs of each block of code by thread, and each block's start, instructions and bytes."""

    def __init__(self, words):
        self.starts, self.instructions, self.bytes = (words[field::BLOCK] for field in range(FIELDS))
        self.runs = [words[FIELDS + thread::BLOCK] for thread in range(THREADS)]

    @classmethod
    def read(cls, path):
        """Reads the table in a file: the number of blocks, then their words."""
        words = array.array("Q")
        with open(path, "rb") as file:
            count = int.from_bytes(file.read(8), "little")
            words.frombytes(file.read(count * BLOCK * words.itemsize))
        return cls(words)

    def since(self, before, share=1.0):
        """The runs by block for each thread since `before`, times `share`; nothing for a thread that never ran."""
        grown = []
        for now, then in zip(self.runs, before.runs):
            # Blocks are only added.
            grown.append([(runs - (then[place] if place < len(then) else 0)) * share for place, runs in enumerate(now)]
                         if any(now) else [])
        return grown

    def work(self, runs):
        """Instructions in so many runs of each block."""
        return sum(count * each for count, each in zip(runs, self.instructions) if count)

    def code(self, runs, often, unit=LINE):
        """Bytes of code, by whole cache lines or pages, of the blocks that ran at least `often` times."""
        units = set()
        for count, start, size in zip(runs, self.starts, self.bytes):
            if count >= often and size:
                units.update(range(start // unit, (start + size - 1) // unit + 1))
        return len(units) * unit

    def places(self, runs, often):
        """Where the blocks begin that ran at least `often` times, in the order in which they were first run."""
        return [start for count, start in zip(runs, self.starts) if count >= often]


def either(runs, other):
    """The larger of two runs of each block of one thread."""
    return [max(pair) for pair in itertools.zip_longest(runs, other, fillvalue=0)]


def less(runs, other):
    """Runs by block for each thread, less others, of a table that may have had fewer blocks."""
    return [[count - (rest[place] if place < len(rest) else 0) for place, count in enumerate(one)]
            for one, rest in zip(runs, other)]
