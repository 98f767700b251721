# SPDX-License-Identifier: Apache-2.0
"""How cost grows: with workers, with calls in progress, and with minutes of calls in the ledger."""
import contextlib
import os
import sqlite3
import threading
import time

from heraldtest.child import Failed
from . import machine, report
from .load import Load
from .offered import Offer, sums
from .plot import bars, curves, page
from .proof import prove
from .subjects import Herald

WORKERS = [1, 2, 4]
HELD = [10, 1_000, 100_000]
# Transactions outlive their last message by 32 s (RFC 3261, Timers H and J); after that only calls hold memory.
SETTLE_SECONDS = 35
# Held calls do not end during the measurement.
FOREVER_MS = 240_000
HOLD_RATE, BASE_RATE, SUSTAINED_RATE, SAMPLE_SECONDS = 2000, 500, 2000, 5


def started(options, workers=1):
    name, binary = options.herald[0]
    herald = Herald(name, options.cache, binary, options.data, workers=workers)
    herald.start()
    try:
        prove(herald)
    except BaseException:
        herald.stop()
        raise
    return herald


def by_workers(options, workers):
    """CPU a call at a usual rate, and calls a second under a higher load."""
    herald = started(options, workers)
    try:
        with Offer(options, [(BASE_RATE * 2, 5, 200)]) as offer:
            offer.wait()
        before = herald.cpu_seconds()
        with Offer(options, [(BASE_RATE * 2, options.seconds, 200)]) as offer:
            lines, _ = offer.wait()
        used = (herald.cpu_seconds() - before) / max(1, sums(lines)["ended"])
        best = 0.0
        for rate in (4000, 6000, 8000, 10_000, 12_000, 14_000):
            with Offer(options, [(rate, 4, 200)]) as offer:
                lines, _ = offer.wait()
            found = sums(lines)
            best = max(best, found["answered"] / 4)
            if found["answered"] < 0.9 * found["offered"]:
                break
        return {"workers": workers, "microseconds": used * 1e6, "throughput": best}
    finally:
        herald.stop()


def by_calls(options, held):
    """Memory of each call in progress, and CPU of a call beside so many others."""
    herald = started(options)
    try:
        rate = min(HOLD_RATE, held / 5)
        # The same calls first without holding them, so that the memory of their transactions is allocated before.
        with Offer(options, [(rate, held / rate, 200)]) as offer:
            offer.wait()
        time.sleep(SETTLE_SECONDS)
        before = herald.memory()
        steps = [(rate, held / rate, FOREVER_MS), (0, SETTLE_SECONDS, 0), (BASE_RATE, options.seconds, 200)]
        with Offer(options, steps) as offer:
            began = time.monotonic()
            time.sleep(steps[0][1] + SETTLE_SECONDS - 1)
            memory = herald.memory() - before
            in_progress = herald.metrics()["herald_open_calls"]
            time.sleep(max(0, began + steps[0][1] + SETTLE_SECONDS - time.monotonic()))
            cpu = herald.cpu_seconds()
            lines, _ = offer.wait()
            cpu = herald.cpu_seconds() - cpu
        return {"held": held, "in_progress": in_progress, "bytes": memory / max(1, in_progress),
                "microseconds": cpu / max(1, sums(lines, 2)["ended"]) * 1e6}
    finally:
        herald.stop()


class Lateness:
    """Age of the newest call end in the ledger, ten times a second: the delay of the store."""

    PAUSE = 0.1

    def __init__(self, folder):
        self.path = os.path.join(folder, "herald.sqlite")
        self.seconds, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        newest = "SELECT max(ended_at) FROM (SELECT ended_at FROM call ORDER BY id DESC LIMIT 2000)"
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as ledger:
            while not self.ended.wait(self.PAUSE):
                found = ledger.execute(newest).fetchone()[0]
                if found:
                    self.seconds.append(time.time() - found / 1e6)

    def between(self, first, last):
        """(median, 99th percentile, highest) without the seconds at either end, in which no calls end."""
        steady = sorted(self.seconds[int(first / self.PAUSE):-int(last / self.PAUSE)])
        if not steady:
            raise Failed("no ended call was seen in the ledger")
        return steady[len(steady) // 2], steady[len(steady) * 99 // 100], steady[-1]


def sustained(options):
    """The outcome store under load: bytes written, delay, and growth of the gateway."""
    herald = started(options)
    samples = []
    try:
        with Lateness(herald.folder) as lateness, Load(herald.folder + "-sipp", options.data, SUSTAINED_RATE, SUSTAINED_RATE * options.sustain) as load:
            began, cpu, written = time.monotonic(), herald.cpu_seconds(), herald.written()
            while load.carrier.child.is_running():
                time.sleep(SAMPLE_SECONDS)
                values = herald.metrics()
                samples.append({
                    "second": time.monotonic() - began, "cpu": herald.cpu_seconds() - cpu,
                    "written": herald.written() - written,
                    "memory": herald.memory(), "calls": values["herald_calls_total"],
                    "recorded": values["herald_signals_recorded_total"], "shed": values["herald_signals_shed_total"],
                    "failures": values["herald_ledger_failures_total"]})
            load.wait()
        counts = load.counts()
        return {"rate": SUSTAINED_RATE, "samples": samples, "behind": lateness.between(5, 10), **counts,
                "written_a_call": samples[-1]["written"] / samples[-1]["calls"],
                "microseconds": samples[-1]["cpu"] / samples[-1]["calls"] * 1e6}
    finally:
        herald.stop()


def say(row):
    numbers = {key: value for key, value in row.items() if isinstance(value, (int, float))}
    print("  " + ", ".join(f"{key} {value:.4g}" for key, value in numbers.items()), flush=True)
    return row


def seconds_of_calls(text):
    if int(text) < 20:
        raise ValueError("fewer than 20 seconds show nothing")
    return int(text)


def add_options(words):
    words.add_argument("--parts", type=lambda text: text.split(","), default=["workers", "calls", "store"],
                       metavar="LIST", help="some of workers,calls,store")
    words.add_argument("--seconds", type=float, default=5, help="of calls for a figure (%(default)g)")
    words.add_argument("--sustain", type=seconds_of_calls, default=60, help="seconds of calls for the ledger (%(default)s)")


def run(options):
    parts = options.parts
    results = {"mode": "scale", "machine": machine.description(),
               "workers": [say(by_workers(options, workers)) for workers in WORKERS if "workers" in parts],
               "calls": [say(by_calls(options, held)) for held in HELD if "calls" in parts],
               "store": say(sustained(options)) if "store" in parts else None}
    report.write(options, "scale", results, tables(results), drawing(results))


def tables(results):
    found = []
    if results["workers"]:
        found.append(("Workers", [["workers", f"µs a call at {BASE_RATE * 2}/s", "calls/s at most"]] + [
            [str(row["workers"]), f"{row['microseconds']:.0f}", f"{row['throughput']:.0f}"]
            for row in results["workers"]]))
    if results["calls"]:
        found.append(("Calls in progress", [["calls", "memory each", f"µs of another call at {BASE_RATE}/s"]] + [
            [f"{row['in_progress']:,.0f}", f"{row['bytes']:.0f} B", f"{row['microseconds']:.0f}"] for row in results["calls"]]))
    store = results["store"]
    if store:
        last = store["samples"][-1]
        found.append((f"{store['rate']} calls/s for {store['seconds']:.0f} s", [
            ["", "measured"],
            ["CPU a call", f"{store['microseconds']:.0f} µs"],
            ["written to disk a call", f"{store['written_a_call']:.0f} B"],
            ["an ended call is in the ledger after, median, 99 %, most",
             ", ".join(f"{seconds:.2f} s" for seconds in store["behind"])],
            ["signals recorded", f"{last['recorded']:.0f}"], ["signals shed", f"{last['shed']:.0f}"],
            ["failed writes", f"{last['failures']:.0f}"], ["calls failed", str(store["failed"])],
            ["sent again", str(store["retransmissions"])], ["memory at the end", f"{last['memory'] / 1e6:.0f} MB"]]))
    return found


def drawing(results):
    panels = []
    if results["workers"]:
        names = [f"{row['workers']} workers" for row in results["workers"]]
        for title, key in (("CPU time of a call in µs", "microseconds"), ("Most calls a second", "throughput")):
            panels.append(bars(title, "", names, [("", [row[key] for row in results["workers"]])]))
    if results["calls"]:
        names = [f"{row['held']:,} calls" for row in results["calls"]]
        panels.append(bars("CPU time of a call beside others in progress", "µs", names, [
            ("", [row["microseconds"] for row in results["calls"]])]))
    if results["store"]:
        samples = results["store"]["samples"]
        pairs = list(zip(samples, samples[1:]))
        panels.append(curves(f"Ledger at {results['store']['rate']} calls/s", "bytes written a call", "seconds", [
            ("bytes", [(late["second"], (late["written"] - early["written"]) / max(1, late["calls"] - early["calls"]))
                       for early, late in pairs])]))
    return page("How cost grows", results["machine"], panels)
