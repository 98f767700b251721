# SPDX-License-Identifier: Apache-2.0
"""Allocations of a call in the whole process, by thread and by caller; allocations.c counts them."""
import bisect
import mmap
import os
import re
import struct
import subprocess
import time

from . import kinds
from .functions import readable
from .subjects import Herald

HEADER, THREADS, THREAD, STACKS, FRAMES = 64, 511, 64, 65536, 30
STACK = 8 * (5 + FRAMES)
SIZE = HEADER + THREADS * THREAD + STACKS * STACK
IDLE_SECONDS = 5
# The threads whose allocations are compared; what others allocate does not depend on calls.
COMPARED = ("herald-calls", "herald-recorder")
# The callers of every seventh allocation are enough; an odd number takes other allocations of each call.
EVERY = 7
# The caller of an allocation without a function of the program.
OWN = ("(libraries' own threads)",)
# Functions of the program between a cause and its malloc that explain nothing.
RUNTIME = re.compile(
    r"^(__?)?swift_|^operator new|^std::|^outlined|^objectdestroy|\bthunk\b|_ContiguousArray(Buffer|Storage)|"
    r"_createNewBuffer|_consumeAndCreateNew|_copy(Collection|Sequence)?ToContiguousArray|_copy\w+ToContiguousArray|"
    r"reserveCapacity|_reserve|ensureUnique|__StringStorage|_allocateStringStorage|_StringGuts|\.append<A>|"
    r"_makeMutableAndUnique|_uncheckedFromUTF8|_NativeSet|_NativeDictionary|_SetStorage|_DictionaryStorage")


class Table:
    """The counters in the file of a preloaded program."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.truncate(SIZE)
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), SIZE)

    def threads(self):
        """{thread id: (allocations, frees, bytes, resized)}"""
        used = min(struct.unpack_from("Q", self.map, 0)[0], THREADS)
        entries = (struct.unpack_from("5Q", self.map, HEADER + place * THREAD) for place in range(used))
        return {entry[0]: entry[1:] for entry in entries}

    def count_stacks(self, every):
        struct.pack_into("Q", self.map, 8, every)

    def stacks(self):
        """{(thread id, return addresses from the inside out): (times, bytes)} of each call stack."""
        first, stacks = HEADER + THREADS * THREAD, {}
        for place in range(STACKS):
            found, times, size, thread, depth = struct.unpack_from("5Q", self.map, first + place * STACK)
            if found and times:
                stacks[thread, struct.unpack_from(f"{depth}Q", self.map, first + place * STACK + 40)] = times, size
        return stacks


class Symbols:
    """Names the addresses of a running process by the symbol tables of its files (nm)."""

    def __init__(self, process):
        self.places, self.tables = [], {}
        self.own = os.readlink(f"/proc/{process}/exe")
        bases = {}
        with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
            for line in file:
                fields = line.split(maxsplit=5)
                if len(fields) < 6 or not fields[5].startswith("/"):
                    continue
                start, end = (int(part, 16) for part in fields[0].split("-"))
                path = fields[5].strip()
                if int(fields[2], 16) == 0:
                    bases.setdefault(path, start)
                if "x" in fields[1] and path in bases:
                    self.places.append((start, end, bases[path], path))

    def table(self, path):
        """(addresses in order, their names)"""
        if path not in self.tables:
            names = {}
            for option in ([], ["-D"]):
                text = subprocess.run(
                    ["nm", "--defined-only", *option, path], capture_output=True, text=True, errors="replace").stdout
                for line in text.splitlines():
                    parts = line.split(" ", 2)
                    if len(parts) == 3 and parts[1] in "tTwWiu":
                        names.setdefault(int(parts[0], 16), parts[2])
            addresses = sorted(names)
            self.tables[path] = addresses, [names[address] for address in addresses]
        return self.tables[path]

    def name(self, address):
        """The function of the program at an address; None in a library."""
        for start, end, base, path in self.places:
            if start <= address < end:
                if path != self.own:
                    return None
                addresses, names = self.table(path)
                place = bisect.bisect_right(addresses, address - base - 1) - 1
                return names[place] if place >= 0 else None
        return None


def callers(stacks, symbols, depth):
    """{nearest functions of the program outside the runtime: (times, bytes)}"""
    stacks = [(times, size, [name for name in map(symbols.name, frames) if name])
              for (_, frames), (times, size) in stacks.items()]
    titles = readable({name for _, _, names in stacks for name in names})
    sums = {}
    for times, size, names in stacks:
        kept = tuple([title for title in map(titles.get, names) if not RUNTIME.search(title)][:depth])
        before = sums.get(kept or OWN, (0, 0))
        sums[kept or OWN] = before[0] + times, before[1] + size
    return sums


def difference(before, after):
    """The counters of each key of `after`, less those it had before."""
    return {key: [late - early for early, late in zip(before.get(key, [0] * len(values)), values)]
            for key, values in after.items()}


def measure(name, binary, options):
    """A result for each kind of call: allocations, frees, bytes, resizes of each thread name, less those when idle."""
    counter = os.path.join(options.cache, "allocations.so")
    path = os.path.join(options.cache, "allocations.table")
    table = Table(path)
    herald = Herald(name, options.cache, binary, options.data,
                    environment=(f"LD_PRELOAD={counter}", f"BENCH_ALLOCATIONS={path}"))
    herald.laboratory = options.laboratory
    herald.start()
    try:
        herald.wait_until_up()
        kinds.warm(name, options, options.data)
        start = table.threads()
        time.sleep(IDLE_SECONDS)
        idle = difference(start, table.threads())
        table.count_stacks(options.stacks or EVERY)
        symbols = Symbols(herald.child.pid)
        return [result(name, kind, herald, table, idle, symbols, options) for kind in options.kinds]
    finally:
        herald.stop()
        os.remove(path)


def result(name, kind, herald, table, idle, symbols, options):
    """Places the calls of one kind; what they took."""
    threads, stacks = table.threads(), table.stacks()
    calls, seconds, again = kind.place(name, options, options.data, options.calls)
    threads, stacks = difference(threads, table.threads()), difference(stacks, table.stacks())
    names, sums = herald.child.figures.thread_names(), {}
    stacks = {key: values for key, values in stacks.items() if names.get(key[0]) in COMPARED}
    for thread, values in threads.items():
        share = [value * seconds / IDLE_SECONDS for value in idle.get(thread, (0, 0, 0, 0))]
        row = sums.setdefault(names.get(thread, "ended threads"), [0.0] * 4)
        for column in range(4):
            row[column] += (values[column] - share[column]) / calls
    factor = (options.stacks or EVERY) / calls
    nearest = callers(stacks, symbols, 1)
    deeper = callers(stacks, symbols, options.depth) if options.stacks else {}
    return {"name": name, "kind": kind.name, "calls": calls, "again": again, "threads": sums,
            "count": "allocations", "figure": sum(sums[thread][0] for thread in COMPARED),
            "recorder": sums[COMPARED[1]][0],
            "functions": {"allocations": {names[0]: times * factor for names, (times, _) in nearest.items()}},
            "callers": sorted(([times * factor, size * factor, names] for names, (times, size) in deeper.items()),
                              reverse=True)[:options.top]}


def rows(results):
    """A row for each thread of each program and kind, and one for all of them; one for what a signature adds."""
    found = [["", "allocations a call", "frees", "bytes", "resized", "calls", "messages sent again"]]
    for one in results:
        threads = sorted(one["threads"].items(), key=lambda item: -item[1][0])
        for name, row in [*threads, ("all", [sum(column) for column in zip(*one["threads"].values())])]:
            found.append([f"{one['name']}, {one['kind']}, {name}", f"{row[0]:.2f}", f"{row[1]:.2f}", f"{row[2]:.0f}",
                          f"{row[3]:.2f}", str(one["calls"]), str(one["again"])])
    for name, branded, signed in kinds.signatures(results):
        rise = [sum(one["threads"].get(thread, [0] * 4)[column] * sign for sign, one in ((1, signed), (-1, branded))
                    for thread in COMPARED) for column in range(4)]
        found.append([f"{name}, signed less branded, {' and '.join(COMPARED)}", f"{rise[0]:+.2f}", f"{rise[1]:+.2f}",
                      f"{rise[2]:+.0f}", f"{rise[3]:+.2f}", "", ""])
    return found


def print_callers(result):
    for times, size, names in result["callers"]:
        print(f"{result['name']}, {result['kind']}: {times:.2f} a call, {size:.0f} bytes")
        print("\n".join(f"           {name[:150]}" for name in names), flush=True)
