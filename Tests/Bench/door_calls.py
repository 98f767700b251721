# SPDX-License-Identifier: Apache-2.0
"""Calls at a steady rate, in turn without requests, beside names of the same gateway, and beside names of another gateway.

The third kind has the same load of the machine: caches, kernel, the sender. The difference between the second and the third
is that of a shared process.
"""
import contextlib
import time

from heraldtest.child import Failed
from .compare import say
from .delay import Delays, percentile
from .door_gateway import OtherHerald
from .offered import Offer, sums
from .proof import prove

ALONE, BESIDE, OTHER = WAYS = ("alone", "names of this gateway", "names of another gateway")
# After this time, as many transactions end as begin (RFC 3261, Timers H and J).
STEADY_SECONDS = 35
# Before and after a figure, so that its requests have begun and have not ended.
MARGIN_SECONDS = 0.5
# The threads of a call, by how their names begin.
THREADS = {"calls_us": "herald-calls", "recorder_us": "herald-recorder"}
TALK_MS = 200


def measure(bench, door):
    """Rows of each round, a row for each way."""
    options, gateway = bench.options, bench.gateway
    other = OtherHerald(f"{gateway.name}-other", options.cache, gateway.binary, gateway.data, bench.laboratory)
    with contextlib.ExitStack() as ends:
        for one in (other, gateway):
            ends.callback(one.stop)
            one.start()
            prove(one)
        seconds = STEADY_SECONDS + options.call_rounds * len(WAYS) * (options.call_seconds + 6 * MARGIN_SECONDS) + 60
        with Delays() as delays, Offer(options, [(options.rate, int(seconds), TALK_MS)]) as offer:
            say(f"{options.rate} calls/s; {STEADY_SECONDS} s until they are steady")
            time.sleep(STEADY_SECONDS)
            rows = [figure(bench, door, delays, number, way)
                    for number in range(options.call_rounds) for way in (WAYS if number % 2 == 0 else WAYS[::-1])]
            found = sums(offer.so_far())
        if found["refused"] or found["other"] or found["answered"] < 0.99 * found["offered"]:
            raise Failed(f"the calls did not all pass: {found}")
        return rows


def figure(bench, door, delays, number, way):
    """One figure: µs of CPU of a call by thread, and the delay of its INVITE."""
    options, names = bench.options, 0
    port = {ALONE: None, BESIDE: door.port, OTHER: door.port + OtherHerald.distance}[way]
    seconds = options.call_seconds + 2 * MARGIN_SECONDS
    with bench.sender(door, options.names, seconds, port=port) if port else contextlib.nullcontext() as sender:
        time.sleep(MARGIN_SECONDS)
        before, began, began_at = threads(bench.gateway), time.monotonic(), time.time()
        time.sleep(options.call_seconds)
        used, took, ended_at = threads(bench.gateway), time.monotonic() - began, time.time()
        if sender:
            found = sender.result()
            names = found["responses"] / found["seconds"]
            if names < 0.95 * options.names:
                raise Failed(f"{way}: {names:.0f} responses a second instead of {options.names}")
    time.sleep(MARGIN_SECONDS)
    calls, delayed = options.rate * took, delays.microseconds(began_at, ended_at)
    row = {"round": number, "way": way, "names": names, "p50_us": percentile(delayed, 0.5), "p99_us": percentile(delayed, 0.99),
           **{field: (used[field] - before[field]) / calls * 1e6 for field in THREADS}}
    say(f"{way}: " + ", ".join(f"{key} {value:.1f}" for key, value in row.items() if isinstance(value, float)))
    return row


def threads(gateway):
    """{field: CPU seconds of the threads of that name}"""
    used, names = gateway.thread_seconds(), gateway.thread_names()
    return {field: sum(seconds for thread, seconds in used.items() if names.get(thread, "").startswith(start))
            for field, start in THREADS.items()}
