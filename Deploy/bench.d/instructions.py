# SPDX-License-Identifier: Apache-2.0
"""Instructions a call takes in the whole process in user space, counted while QEMU emulates it; slow, but repeatable."""
import mmap
import os
import struct
import time

import machine
import report
from dataset import Data
from load import Load
from loopback import Failed
from proof import prove
from subjects import Herald

SIZE, LINE = 65536, 64
# The emulated program loads its numbers thirty times slower; what a call takes does not depend on how many there are.
NUMBERS = 20_000
# Messages sent again by a call, above which its work is no longer what it should be.
TOO_MANY_AGAIN = 0.05
IDLE_SECONDS, SETTLE_SECONDS = 10, 36


def by_thread(counters):
    return [struct.unpack_from("Q", counters, place)[0] for place in range(0, SIZE, LINE)]


def since(before, counters):
    return [now - then for then, now in zip(before, by_thread(counters))]


def measure(name, binary, options, data):
    path = os.path.join(options.cache, "instructions.table")
    with open(path, "wb") as file:
        file.truncate(SIZE)
    with open(path, "r+b") as file:
        counters = mmap.mmap(file.fileno(), SIZE)
    herald = Herald(name, options.cache, binary, data)
    herald.under = ("env", f"BENCH_INSTRUCTIONS={path}", "qemu-x86_64", "-cpu", "max", "-plugin",
                    os.path.join(options.cache, "instructions.so"))
    folder = os.path.join(options.cache, "sipp")
    herald.start()
    try:
        prove(herald)
        with Load(folder, data, options.rate, options.calls) as load:
            load.wait()
        time.sleep(SETTLE_SECONDS)
        before = by_thread(counters)
        time.sleep(IDLE_SECONDS)
        idle = [used / IDLE_SECONDS for used in since(before, counters)]
        before, began = by_thread(counters), time.monotonic()
        with Load(folder, data, options.rate, options.calls) as load:
            load.wait()
        time.sleep(SETTLE_SECONDS)
        seconds = time.monotonic() - began
        used = [used - rest * seconds for used, rest in zip(since(before, counters), idle)]
        counts = load.counts()
        if counts["failed"] or counts["retransmissions"] > counts["ended"] * TOO_MANY_AGAIN:
            raise Failed(f"{name}: {counts['failed']} calls failed, {counts['retransmissions']} messages were sent "
                         "again; take a lower --rate")
        # The thread that handles messages does by far the most; the outcome side, a commit for nearly each signal at
        # this rate, comes next.
        first, second = sorted(used, reverse=True)[:2]
        return {"name": name, "calls": counts["ended"], "instructions": sum(used) / counts["ended"],
                "call_thread": first / counts["ended"], "recorder": second / counts["ended"], "idle": sum(idle),
                "again": counts["retransmissions"]}
    finally:
        herald.stop()
        os.remove(path)


def add_options(words):
    words.add_argument("--rate", type=int, default=10, help="calls a second (%(default)s)")
    words.add_argument("--calls", type=int, default=300, help="calls that are counted (%(default)s)")


def run(options):
    data = Data(os.path.join(options.cache, "data-small"), NUMBERS).make()
    results = [measure(name, binary, options, data) for name, binary in options.herald]
    rows = [["", "instructions a call", "busiest thread: messages", "next: outcomes", "calls counted",
             "messages sent again"]]
    rows += [[one["name"], f"{one['instructions']:,.0f}", f"{one['call_thread']:,.0f}", f"{one['recorder']:,.0f}",
              str(one["calls"]), str(one["again"])] for one in results]
    report.write(options, "instructions", {"machine": machine.description(), "results": results},
                 [("Instructions in user space", rows)])
