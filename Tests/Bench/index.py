# SPDX-License-Identifier: Apache-2.0
"""Cost of the brand index: memory, start to the first branded INVITE, syncs while calls run.

With 1 M and 10 M numbers it takes about six minutes, and 4 GB of the cache. The stored numbers stay there for the next
run. The directory is a stand-in; the PBX rejects every call.
"""
import json
import os
import statistics
import time

from heraldtest.child import Failed, wait_until
from . import machine, report
from .delay import Delays, percentile
from .index_calls import EvenCalls, Line
from .index_directory import BRANDS, Directory, number
from .index_gateway import IndexGateway
from .stolen import Stolen

CHANGES = 10_000
# Seconds of delays without a sync, before the small syncs and after the full one.
QUIET = 20
# One stall of the machine spoils the 99th percentile of a long time. Hence also the median of the 99th percentiles of
# windows of WINDOW seconds in which the host took at most STOLEN core-seconds.
WINDOW, STOLEN = 1, 0.02


def start_time(gateway, line, limit=900):
    """Starts the gateway and returns the seconds to the first branded INVITE at the PBX."""
    arrived = []
    line.on_invite = lambda message, when: arrived.append(when) if b"purpose=icon" in message else None
    began = time.time()
    gateway.start()
    attempt = 0
    while not arrived and time.time() < began + limit:
        line.call(number(0), f"start{began}-{attempt}")
        attempt += 1
        # Many calls at first, fewer for an index that loads slowly.
        time.sleep(0.002 if attempt < 500 else 0.05)
    if not arrived:
        raise Failed(f"no branded call within {limit} s; see {gateway.child.log}")
    return arrived[0] - began


def settle(gateway):
    """Waits until the gateway is up and idle; half a minute at most."""
    gateway.wait_until_up()
    last, end = -1, time.monotonic() + 30
    while gateway.cpu_seconds() - last > 0.05 and time.monotonic() < end:
        last = gateway.cpu_seconds()
        time.sleep(1.5)


def measure_starts(gateway, line, rounds, figures):
    """Starts without a saved index, with one, and after kill -9."""
    saved = os.path.join(gateway.folder, "brands.index")
    if os.path.exists(saved):
        os.remove(saved)
    figures["start without a saved index, s"] = start_time(gateway, line)
    figures["start without a saved index, CPU s"] = gateway.cpu_seconds()
    settle(gateway)
    figures["memory after building, MB"] = gateway.rss_pss_peak()
    figures["saved index, MB"] = os.path.getsize(saved) >> 20
    for name, by_force in (("start, s", False), ("start after kill -9, s", True)):
        times, work = [], []
        for _ in range(rounds):
            if by_force:
                gateway.crash()
            else:
                gateway.stop()
            times.append(start_time(gateway, line))
            work.append(gateway.cpu_seconds())
        figures[name] = {"best": min(times), "median": statistics.median(times), "CPU": statistics.median(work)}
    settle(gateway)
    figures["memory at rest, MB"] = gateway.rss_pss_peak()


def summary(delays, stolen, begin, end):
    """Delays of the INVITEs from `begin` to `end`."""
    values = delays.microseconds(begin, end)
    calm = calm_windows(stolen, begin, end)
    each = [percentile(delays.microseconds(start, start + WINDOW), 0.99) for start in calm]
    figures = (("p50", percentile(values, 0.5)), ("p99", percentile(values, 0.99)), ("max", percentile(values, 1)),
               ("calm p99", median(each)))
    return {"calls": len(values), "host took, cores": round(stolen.between(begin, end) / (end - begin), 3),
            **{word: value and round(value) for word, value in figures}, "calm seconds": len(calm) * WINDOW}


def calm_windows(stolen, begin, end):
    """Starts of the windows in which the host left the machine its cores."""
    starts = (begin + place * WINDOW for place in range(int((end - begin) / WINDOW)))
    return [start for start in starts if stolen.between(start, start + WINDOW) <= STOLEN]


def median(values):
    """The median of the values that are not None; None without values."""
    found = [value for value in values if value is not None]
    return statistics.median(found) if found else None


def quiet(delays, stolen):
    """Delays while only calls run."""
    began = time.time()
    time.sleep(QUIET)
    return summary(delays, stolen, began, time.time() - 0.5)


def sync(gateway, directory, calls, delays, stolen, response, name, limit):
    """One sync while calls run: seconds from the response's last byte to a call with the new name.

    `response`: the directory's data, and True for a full sync, for which the gateway is restarted.
    """
    seen, sent = [], []

    def note(message, when):
        if name.encode() in message and not seen:
            seen.append(when)

    calls.on_invite = note
    began = time.time()
    directory.offer(*response)
    if response[0]:
        restart_for_full(gateway)
        began = time.time()
    gateway.child.figures.forget_highest()
    cpu, written = gateway.cpu_seconds(), gateway.written()

    def is_done():
        when = directory.sent()
        if when:
            sent.append(when)
        return seen and sent

    wait_until(is_done, limit, f"no call shows what the sync brought; see {gateway.child.log}")
    time.sleep(3)
    return {
        "seconds": seen[0] - sent[0], "from the first byte, s": seen[0] - began,
        "CPU, s": gateway.cpu_seconds() - cpu, "written, MB": (gateway.written() - written) >> 20,
        "peak, MB": gateway.rss_pss_peak()["peak"],
        "added delay, µs": summary(delays, stolen, began, max(seen[0], sent[0]) + 1)}


def measure_syncs(gateway, directory, delays, stolen, with_full, figures):
    # Every eighth call is from a number that changes, the others are from unlisted numbers.
    count, step = gateway.count, gateway.count // CHANGES
    calls = EvenCalls(lambda n: number((n // 8 % CHANGES) * step) if n % 8 == 0 else number(n * 7_907 % count) + 1)
    try:
        time.sleep(1)
        figures["added delay quiet, µs"] = quiet(delays, stolen)
        for run in range(3):
            name, moment = f"Changed {run} {time.time():.0f}", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            figures[f"10,000 changes ({run + 1})"] = sync(
                gateway, directory, calls, delays, stolen, (False, CHANGES, step, name, moment), name, 120)
        figures["memory after syncs, MB"] = gateway.rss_pss_peak()
        if with_full:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            name = f"Renewed {moment}"
            figures["full sync"] = sync(
                gateway, directory, calls, delays, stolen, (True, count, name, moment), name, 900)
            time.sleep(10)
            figures["added delay quiet again, µs"] = quiet(delays, stolen)
    finally:
        figures["calls unanswered"] = calls.close()


def restart_for_full(gateway):
    """Makes the next sync a full one, as the day's refresh does."""
    gateway.stop()
    gateway.change("UPDATE sync_state SET last_full_sync = 0")
    gateway.start()
    gateway.wait_until_up()


class Figures(dict):
    """Prints each figure as it comes."""

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        for row, text in lines(value, name):
            print(f"  {row.ljust(60)}  {text:>12}", flush=True)


def measure(name, program, folder, count, options, figures):
    gateway = IndexGateway(name, program, folder, count)
    gateway.prepare()
    directory = Directory()
    try:
        line = Line(None)
        try:
            measure_starts(gateway, line, options.rounds, figures)
        finally:
            line.close()
        with Delays() as delays, Stolen() as stolen:
            measure_syncs(gateway, directory, delays, stolen, options.full, figures)
    finally:
        gateway.stop()
        gateway.forget_ring()
        directory.stop()


def lines(value, prefix=""):
    """A figure and what is below it as rows of two texts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lines(inner, f"{prefix}, {key}" if prefix else key)
    else:
        yield prefix, "–" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def table(results):
    """A row for each figure, a column for each count of numbers."""
    columns = {count: dict(lines(figures)) for count, figures in results.items()}
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    return [["", *(f"{count:,}" for count in columns)],
            *([name, *(column.get(name, "–") for column in columns.values())] for name in names)]


def add_options(words):
    words.add_argument("--numbers", type=int, nargs="+", default=[1_000_000, 10_000_000], help="(1000000 10000000)")
    words.add_argument("--rounds", type=int, default=5, help="starts of each kind (%(default)s)")
    words.add_argument("--full", action="store_true", help="also a full sync that changes every number")
    words.add_argument("--json", metavar="FILE", help="also writes the figures there")


def run(options):
    name, program = options.herald[0]
    results = {}
    for count in options.numbers:
        print(f"{count:,} numbers, {BRANDS:,} brands", flush=True)
        results[count] = Figures()
        measure(name, program, os.path.join(options.cache, "index"), count, options, results[count])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    report.write(options, "index", {"machine": machine.description(), "results": results},
                 [(f"The index, {BRANDS:,} brands", table(results))])
