# SPDX-License-Identifier: Apache-2.0
"""What the kernel takes for the datagrams of a call, for each way to wait for them, to read and to send them.

A relay that reads none of them uses each way in turn (relay.c says what they are). `poll` is the gateway's way.
"""
import argparse
import statistics

from heraldtest.child import Failed
from . import machine, report
from .compare import rates, say
from .load import Load
from .proof import prove
from .subjects import Relay

WAYS = ("single", "poll", "vector", "epoll", "connected", "gathered", "ring", "ring-both")


def ways(text):
    chosen = text.split(",")
    if wrong := [way for way in chosen if way not in WAYS]:
        raise argparse.ArgumentTypeError(f"there is no way {', '.join(wrong)}")
    return chosen


def add_options(words):
    words.add_argument("--ways", type=ways, default=list(WAYS), help=f"of {','.join(WAYS)} (all)")
    words.add_argument("--rates", type=rates, default=[500, 2000], help="calls a second (500,2000)")
    words.add_argument("--rounds", type=int, default=5, help="turns of each way (%(default)s)")
    words.add_argument("--seconds", type=float, default=4, help="of calls for a figure (%(default)g)")


def cost(relay, rate, options):
    """µs of CPU a call."""
    before = relay.cpu_seconds()
    with Load(f"{options.cache}/sipp", options.data, rate, int(rate * options.seconds)) as load:
        load.wait()
    counts = load.counts()
    if not counts["ended"] or counts["failed"]:
        raise Failed(f"{relay.name}: {counts['failed']} of {counts['calls']} calls failed at {rate}/s")
    return (relay.cpu_seconds() - before) / counts["ended"] * 1e6


def run(options):
    found = {way: {rate: [] for rate in options.rates} for way in options.ways}
    for _ in range(options.rounds):
        for way in options.ways:
            relay = Relay(f"relay-{way}", options.cache, way)
            relay.start()
            try:
                prove(relay)
                for rate in options.rates:
                    found[way][rate].append(cost(relay, rate, options))
                    say(f"{way} at {rate}/s: {found[way][rate][-1]:.1f} µs a call")
            finally:
                relay.stop()
    rows = [["µs of CPU a call", *(f"{rate}/s" for rate in options.rates)]]
    rows += [[way, *(f"{statistics.median(spans):.1f} ({min(spans):.1f}–{max(spans):.1f})"
                     for spans in found[way].values())] for way in options.ways]
    report.write(options, "kernel", {"machine": machine.description(), "rounds": options.rounds, "found": found},
                 [("Datagrams of a call, forwarded unread", rows)])
