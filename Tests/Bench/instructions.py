# SPDX-License-Identifier: Apache-2.0
"""Instructions of a call in user space, in the whole process, counted under emulation by QEMU: slow, but repeatable."""
import os
import time

from heraldtest.child import Failed
from . import code_order
from .functions import by_function, rows as rows_of_functions
from .executed import OFTEN, PAGE, Executed, less
from .load import Load
from .proof import prove

# Under emulation the numbers load thirty times slower; the instructions of a call do not depend on their count.
NUMBERS = 20_000
# Above so many retransmissions a call the figures are not those of a normal call.
TOO_MANY_AGAIN = 0.05
THREADS = ("messages", "outcomes")
IDLE_SECONDS, SETTLE_SECONDS = 10, 36


def measure(herald, options, data):
    path = os.path.join(options.cache, "instructions.table")
    with open(path, "wb"):
        pass
    name, binary = herald.name, herald.binary
    herald.under = ("env", f"BENCH_INSTRUCTIONS={path}", "qemu-x86_64", "-cpu", "max", "-plugin",
                    os.path.join(options.cache, "instructions.so"))
    folder = os.path.join(options.cache, "sipp")
    herald.start()
    try:
        prove(herald)
        extent = code_order.mapped(max(herald.processes(), key=lambda one: one.cpu_seconds()).pid, herald.binary)
        with Load(folder, data, options.rate, options.calls) as load:
            load.wait()
        time.sleep(SETTLE_SECONDS)
        resting = Executed.read(path)
        time.sleep(IDLE_SECONDS)
        before, began = Executed.read(path), time.monotonic()
        with Load(folder, data, options.rate, options.calls) as load:
            load.wait()
        time.sleep(SETTLE_SECONDS)
        seconds = time.monotonic() - began
        now = Executed.read(path)
        idle = before.since(resting, share=seconds / IDLE_SECONDS)
        used = less(now.since(before), idle)
        counts = load.counts()
        if counts["failed"] or counts["retransmissions"] > counts["ended"] * TOO_MANY_AGAIN:
            raise Failed(f"{name}: {counts['failed']} calls failed, {counts['retransmissions']} retransmissions; "
                         "take a lower --rate")
        # The call thread runs by far the most. The recorder comes next: at this rate nearly each update is a commit.
        calls = counts["ended"]
        work = [now.work(runs) / calls for runs in used]
        busiest, second = sorted(range(len(work)), key=work.__getitem__, reverse=True)[:2]
        often = calls * OFTEN
        functions = code_order.Functions.of(binary)
        if options.order:
            places = [place for thread in (busiest, second) for place in now.places(used[thread], often)]
            code_order.write(options.order, code_order.names(places, extent, functions))
        return {"name": name, "calls": calls, "instructions": sum(work), "call_thread": work[busiest],
                "recorder": work[second], "call_thread_code": now.code(used[busiest], often),
                "call_thread_pages": now.code(used[busiest], often, PAGE) // PAGE,
                "idle": sum(map(before.work, idle)) / seconds, "again": counts["retransmissions"],
                "functions": {title: by_function(now, used[thread], calls, extent, functions)
                              for title, thread in zip(THREADS, (busiest, second))}}
    finally:
        herald.stop()
        os.remove(path)


def rows(results):
    found = [["", "instructions a call", "busiest thread: messages", "its code", "in pages of 4 kB", "next: outcomes",
              "calls counted", "messages sent again"]]
    return found + [[
        one["name"], f"{one['instructions']:,.0f}", f"{one['call_thread']:,.0f}",
        f"{one['call_thread_code'] / 1024:.0f} kB", str(one["call_thread_pages"]), f"{one['recorder']:,.0f}",
        str(one["calls"]), str(one["again"])] for one in results]


def largest(results, most):
    """A table for each of the two threads: the functions with most instructions, or with the largest difference."""
    return [(f"Functions of the thread of {thread}", rows_of_functions(results, thread, most)) for thread in THREADS]
