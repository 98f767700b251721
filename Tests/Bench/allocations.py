# SPDX-License-Identifier: Apache-2.0
"""Allocations of a call in the whole process, by thread and by caller; allocations.c counts them."""
import bisect
import mmap
import os
import re
import struct
import subprocess
import time

from .load import Load
from .subjects import Herald

HEADER, THREADS, THREAD, STACKS, FRAMES = 64, 511, 64, 65536, 30
STACK = 8 * (4 + FRAMES)
SIZE = HEADER + THREADS * THREAD + STACKS * STACK
IDLE_SECONDS = 5
# Timers of RFC 3261 keep a transaction for 32 s after its last message; the memory freed then counts too.
SETTLE_SECONDS = 36
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
        """(times, bytes, return addresses from the inside out) of each call stack."""
        first = HEADER + THREADS * THREAD
        for place in range(STACKS):
            found, times, size, depth = struct.unpack_from("4Q", self.map, first + place * STACK)
            if found and times:
                yield times, size, struct.unpack_from(f"{depth}Q", self.map, first + place * STACK + 32)


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


def readable(names):
    """{mangled name: demangled name}"""
    names = sorted(names)
    text = subprocess.run(
        ["swift", "demangle", "--compact", "--simplified"], input="\n".join(names), capture_output=True, text=True
    ).stdout
    swift = text.splitlines() if len(text.splitlines()) == len(names) else names
    text = subprocess.run(["c++filt"], input="\n".join(swift), capture_output=True, text=True).stdout
    return dict(zip(names, text.splitlines() if len(text.splitlines()) == len(names) else swift))


def callers(table, process, depth):
    """[(times, bytes, nearest functions of the program outside the runtime)], most frequent first."""
    symbols = Symbols(process)
    stacks = [(times, size, [name for name in map(symbols.name, frames) if name])
              for times, size, frames in table.stacks()]
    words = readable({name for _, _, names in stacks for name in names})
    sums = {}
    for times, size, names in stacks:
        told = [words[name] for name in names]
        kept = tuple([name for name in told if not RUNTIME.search(name)][:depth]) or ("(libraries' own threads)",)
        before = sums.get(kept, (0, 0))
        sums[kept] = before[0] + times, before[1] + size
    return sorted(((times, size, names) for names, (times, size) in sums.items()), reverse=True)


def difference(before, after):
    return {thread: [late - early for early, late in zip(before.get(thread, (0, 0, 0, 0)), values)]
            for thread, values in after.items()}


def measure(name, binary, options):
    """Allocations, frees, bytes and resizes a call for each thread name, less those of an idle gateway."""
    counter = os.path.join(options.cache, "allocations.so")
    path = os.path.join(options.cache, "allocations.table")
    table = Table(path)
    herald = Herald(name, options.cache, binary, options.data,
                    environment=(f"LD_PRELOAD={counter}", f"BENCH_ALLOCATIONS={path}"))
    folder = os.path.join(options.cache, "sipp")
    herald.start()
    try:
        herald.wait_until_up()
        with Load(folder, options.data, options.rate, options.warm) as load:
            load.wait()
        time.sleep(SETTLE_SECONDS)
        start = table.threads()
        time.sleep(IDLE_SECONDS)
        idle = difference(start, table.threads())
        table.count_stacks(options.stacks)
        before, began = table.threads(), time.monotonic()
        with Load(folder, options.data, options.rate, options.calls) as load:
            load.wait()
        time.sleep(SETTLE_SECONDS)
        after, seconds = table.threads(), time.monotonic() - began
        table.count_stacks(0)
        counts = load.counts()
        names = herald.child.figures.thread_names()
        sums = {}
        for thread, values in difference(before, after).items():
            share = [value * seconds / IDLE_SECONDS for value in idle.get(thread, (0, 0, 0, 0))]
            row = sums.setdefault(names.get(thread, "ended threads"), [0.0] * 4)
            for column in range(4):
                row[column] += (values[column] - share[column]) / counts["answered"]
        top = callers(table, herald.child.pid, options.depth)[:options.top] if options.stacks else []
        factor = options.stacks / counts["answered"]
        return {"name": name, "calls": counts["answered"], "failed": counts["failed"], "threads": sums,
                "callers": [(times * factor, size * factor, names) for times, size, names in top]}
    finally:
        herald.stop()
        os.remove(path)


def rows(results):
    """A row for each thread of each program, and one for all of them."""
    found = [["", "allocations a call", "frees", "bytes", "resized", "calls", "failed"]]
    for result in results:
        threads = sorted(result["threads"].items(), key=lambda item: -item[1][0])
        for name, row in [*threads, ("all", [sum(column) for column in zip(*result["threads"].values())])]:
            found.append([f"{result['name']}, {name}", f"{row[0]:.2f}", f"{row[1]:.2f}", f"{row[2]:.0f}", f"{row[3]:.2f}",
                         str(result["calls"]), str(result["failed"])])
    return found


def print_callers(result):
    for times, size, names in result["callers"]:
        print(f"{result['name']}: {times:.2f} a call, {size:.0f} bytes")
        print("\n".join(f"           {name[:150]}" for name in names), flush=True)
