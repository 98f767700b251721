# SPDX-License-Identifier: Apache-2.0
"""Instructions of a call in user space, counted under emulation by QEMU: slow, but repeatable."""
import os
import time

from . import code_order, kinds
from .executed import OFTEN, PAGE, Executed, either, less
from .functions import Names, by_function, rows as rows_of_functions
from .proof import prove

# Under emulation the numbers load thirty times slower; the instructions of a call do not depend on their count.
NUMBERS = 20_000
# The threads whose work is compared: that of calls, and the recorder's.
PARTS = ("messages", RECORDER := "recorder")
IDLE_SECONDS = 10


class Round:
    """What each thread ran for the calls of one kind, less what an idle gateway runs in that time."""

    def __init__(self, kind, calls, again, table, runs):
        self.kind, self.calls, self.again, self.table = kind, calls, again, table
        self.runs = [[count / calls for count in thread] for thread in runs]

    def work(self, thread):
        return self.table.work(self.runs[thread])


def measure(herald, options, data):
    """A result for each kind of call. With `options.order` it writes the functions of answered calls there."""
    path = os.path.join(options.cache, "instructions.table")
    with open(path, "wb"):
        pass
    name, binary = herald.name, herald.binary
    herald.under = ("env", f"BENCH_INSTRUCTIONS={path}", "qemu-x86_64", "-cpu", "max", "-plugin",
                    os.path.join(options.cache, "instructions.so"))
    herald.laboratory = options.laboratory
    herald.start()
    try:
        prove(herald)
        started, began = Executed.read(path), time.monotonic()
        names = Names(max(herald.processes(), key=lambda one: one.cpu_seconds()).pid, binary)
        kinds.warm(name, options, data)
        resting, seconds = Executed.read(path), time.monotonic() - began
        time.sleep(IDLE_SECONDS)
        idling = Executed.read(path)

        def idle(seconds):
            return idling.since(resting, share=seconds / IDLE_SECONDS)

        # The thread of calls runs by far the most. The recorder comes next: nearly each update is a commit at this rate.
        work = [resting.work(runs) for runs in less(resting.since(started), idle(seconds))]
        threads = sorted(range(len(work)), key=work.__getitem__, reverse=True)
        rounds = []
        for kind in options.kinds:
            before = Executed.read(path)
            calls, seconds, again = kind.place(name, options, data, options.calls)
            now = Executed.read(path)
            rounds.append(Round(kind, calls, again, now, less(now.since(before), idle(seconds))))
        if options.order:
            code_order.write(options.order, names_in_order(rounds, threads[:2], names))
        return [result(name, one, threads, names) for one in rounds]
    finally:
        herald.stop()
        os.remove(path)


def result(name, one, threads, names):
    """The figures of a round. Idle work on other threads is more than a call and varies, so no figure includes them."""
    table, messages = one.table, one.runs[threads[0]]
    of_parts = {part: one.work(thread) for part, thread in zip(PARTS, threads)}
    return {"name": name, "kind": one.kind.name, "calls": one.calls, "again": one.again,
            "count": "instructions", "figure": sum(of_parts.values()), "recorder": of_parts[RECORDER],
            "others": sum(map(one.work, threads[len(PARTS):])),
            "code": table.code(messages, OFTEN), "pages": table.code(messages, OFTEN, PAGE) // PAGE,
            "functions": {part: by_function(table, one.runs[thread], names) for part, thread in zip(PARTS, threads)}}


def names_in_order(rounds, threads, names):
    """The functions that every fifth answered call runs, branded or not, in the order of their first run."""
    answered = [one for one in rounds if one.kind is not kinds.REFUSED]
    places = []
    for thread in threads:
        runs = []
        for one in answered:
            runs = either(runs, one.runs[thread])
        places += answered[-1].table.places(runs, OFTEN)
    return code_order.names(places, names.extent, names.functions)


def rows(results):
    found = [["", "instructions a call", "thread of calls", "its code", "in pages of 4 kB", "recorder",
              "others, within noise", "calls counted", "messages sent again"]]
    found += [[
        f"{one['name']}, {one['kind']}", f"{one['figure']:,.0f}", f"{one['figure'] - one['recorder']:,.0f}",
        f"{one['code'] / 1024:.0f} kB", str(one["pages"]), f"{one['recorder']:,.0f}", f"{one['others']:,.0f}",
        str(one["calls"]), str(one["again"])] for one in results]
    for name in dict.fromkeys(one["name"] for one in results):
        both = [one for one in results if one["name"] == name
                and one["kind"] in (kinds.BRANDED.name, kinds.UNBRANDED.name)]
        if len(both) == 2:
            figure, recorder = (sum(one[key] for one in both) / 2 for key in ("figure", "recorder"))
            found.append([f"{name}, half branded", f"{figure:,.0f}", f"{figure - recorder:,.0f}", "", "",
                          f"{recorder:,.0f}", "", "", ""])
    for name, branded, signed in kinds.signatures(results):
        figure, recorder = (signed[key] - branded[key] for key in ("figure", "recorder"))
        found.append([f"{name}, signed less branded", f"{figure:+,.0f}", f"{figure - recorder:+,.0f}", "", "",
                      f"{recorder:+,.0f}", "", "", ""])
    return found


def largest(results, most):
    """A table for each kind and thread: the functions with most instructions, or with the largest difference."""
    tables = [(f"Functions of a {kind.name} call, {part}",
               rows_of_functions([one for one in results if one["kind"] == kind.name], part, most))
              for kind in kinds.KINDS for part in PARTS if any(one["kind"] == kind.name for one in results)]
    # A program's two kinds, compared as the same kind of two programs is.
    return tables + [(f"Functions of a signature, {name}, {part}",
                      rows_of_functions([{**one, "name": one["kind"]} for one in (branded, signed)], part, most))
                     for name, branded, signed in kinds.signatures(results) for part in PARTS]
