# SPDX-License-Identifier: Apache-2.0
"""More calls than one core can carry: rejected calls, completed calls, and the time to recover."""
import statistics
import time

from heraldtest.child import Failed
from . import machine, report
from .offered import Offer, sums
from .plot import curves, page
from .proof import prove
from .subjects import Herald

CORE, OTHER_CORE = 0, 1
TALK = 200
# Shares of the capacity in turn; the last shows the recovery.
SHARES = [0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 0.5]
SEARCH_SECONDS, TRIES, PAUSE_SECONDS = 3, 3, 2
# Peak and flood in turns, since the host's share of the CPU differs from one half minute to the next.
PEAK, FLOOD, TURN_SECONDS = 1.25, 3.0, 3


def capacity(options):
    """Calls a second that one core carries with at most 1 % rejected or retransmitted; three tries a rate."""
    rate, best = 2000, 0
    while rate < 40_000 and any(carries(options, rate) for _ in range(TRIES)):
        best, rate = rate, int(rate * 1.2)
    return best


def carries(options, rate):
    with Offer(options, [(rate, SEARCH_SECONDS, TALK)], OTHER_CORE, options.over) as offer:
        lines, left = offer.wait()
    found = sums(lines)
    print(f"  {rate:6} offered a second: {found['ended'] / SEARCH_SECONDS:.0f} carried, {found['refused']} refused, "
          f"{found['resent']} sent again", flush=True)
    time.sleep(PAUSE_SECONDS)
    # After half a second UDP retransmits; over TCP a message waits unseen.
    return (not left["unanswered"] and found["slowest_bye_us"] < 500_000
            and found["refused"] + found["resent"] <= found["offered"] / 100)


def measure(name, binary, options):
    herald = Herald(name, options.cache, binary, options.data)
    herald.under = ("taskset", "-c", str(CORE))
    herald.start()
    try:
        prove(herald)
        print(f"{name} on one core, the calls from the other over {options.over.upper()}:", flush=True)
        carried = capacity(options)
        if not carried:
            raise Failed(f"{name} did not carry 2000 calls/s; is anything else running on this machine?")
        time.sleep(PAUSE_SECONDS)
        before = herald.metrics()
        steps = [(int(carried * share), options.seconds, TALK) for share in SHARES]
        with Offer(options, steps, OTHER_CORE, options.over) as offer:
            lines, left = offer.wait()
        turns = [(int(carried * share), TURN_SECONDS, TALK) for share in (PEAK, FLOOD)] * options.turns
        with Offer(options, turns, OTHER_CORE, options.over) as offer:
            turned, also_left = offer.wait()
        after = herald.metrics()
        left = {key: left[key] + also_left[key] for key in left}
        return {"name": name, "capacity": carried, "left": left, "lines": lines,
                "turns": [[sums(turned, 2 * turn + place) for place in (0, 1)] for turn in range(options.turns)],
                "metrics": {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)},
                "steps": [{"share": share, "rate": rate, **sums(lines, number)}
                          for number, (share, (rate, _, _)) in enumerate(zip(SHARES, steps))]}
    finally:
        herald.stop()


def promises(result):
    """The figures to hold under overload: (name, measured, wanted, whether it holds)."""
    left = result["left"]
    shares = [flood["answered"] / max(1, peak["answered"]) for peak, flood in result["turns"]]
    share = statistics.median(shares)
    slowest = statistics.median(flood["slowest_bye_us"] for _, flood in result["turns"]) / 1000
    recovery = recovery_seconds(result)
    lost = result["metrics"].get("herald_signals_shed_total", 0)
    turns = ", ".join(f"{100 * one:.0f}" for one in shares)
    return [
        (f"answered at {FLOOD:g} × of those at {PEAK:g} × before it, median of {turns}", f"{100 * share:.0f} %", "≥ 80 %",
         share >= 0.8),
        (f"slowest BYE at {FLOOD:g} ×, median of as many", f"{slowest:.0f} ms", "< 500 ms", slowest < 500),
        *((what, str(count), "0", count == 0) for what, count in (
            ("calls that were answered and could not be ended", left["byes_open"] + left["talking"]),
            ("INVITEs without any response", left["unanswered"]),
            ("ACKs of refusals that went on to the PBX", left["strayed"]),
            ("signals lost, so outcomes not told in full", int(lost)))),
        ("refused no more after", f"{recovery:.1f} s", "≤ 1 s", recovery <= 1),
    ]


def recovery_seconds(result):
    """Seconds from the start of the last step until no call is rejected for a second."""
    last = [line for line in result["lines"] if line["step"] == len(SHARES) - 1]
    start = end = last[0]["second"]
    for line in last:
        if line["refused"] and line["second"] < end + 1:
            end = line["second"] + 0.1
    return end - start


def tables(results):
    found = []
    for result in results["results"]:
        rows = [["offered", "calls/s", "answered/s", "refused (503)/s", "refused", "sent again", "slowest BYE"]]
        for step in result["steps"]:
            seconds = step["seconds"]
            rows.append([
                f"{step['share']:g} ×", f"{step['offered'] / seconds:.0f}", f"{step['answered'] / seconds:.0f}",
                f"{step['refused'] / seconds:.0f}", f"{100 * step['refused'] / max(1, step['offered']):.0f} %",
                f"{step['resent']}", f"{step['slowest_bye_us'] / 1000:.0f} ms"])
        found.append((f"{result['name']}: one core, which carries {result['capacity']} calls/s", rows))
        found.append((f"{result['name']}: the promises", [
            ["", "measured", "wanted"],
            *([what, measured, wanted] for what, measured, wanted, _ in promises(result))]))
    return found


def drawing(results):
    panels = []
    for result in results["results"]:
        by_rate = sorted(result["steps"][:-1], key=lambda step: step["rate"])
        panels.append(curves(
            f"{result['name']} on one core", "calls a second", "offered calls a second", [
                (word, [(step["offered"] / step["seconds"], step[key] / step["seconds"]) for step in by_rate])
                for word, key in (("answered", "answered"), ("refused with 503", "refused"))]))
        panels.append(curves(f"{result['name']} over time", "calls a second", "seconds", [
            (word, [(line["second"], line[key] * 10) for line in smooth(result["lines"], key)])
            for word, key in (("offered", "offered"), ("answered", "answered"), ("refused", "refused"))]))
    return page("More calls than one core can carry", results["machine"], panels)


def smooth(lines, key):
    """Half seconds instead of tenths."""
    for place in range(0, len(lines) - 4, 5):
        part = lines[place:place + 5]
        yield {"second": part[-1]["second"], key: sum(line[key] for line in part) / 5}


def add_options(words):
    words.add_argument("--seconds", type=float, default=5, help="seconds of each share of the capacity (%(default)g)")
    words.add_argument("--over", choices=("udp", "tcp"), default="udp",
                       help="the carrier's transport; tcp is one connection (%(default)s)")
    words.add_argument("--turns", type=int, default=5,
                       help="turns of 1.25 and three times the capacity (%(default)s)")


def run(options):
    results = {"mode": "overload", "machine": machine.description(),
               "results": [measure(name, binary, options) for name, binary in options.herald]}
    results["errors"] = [
        f"{result['name']}: {what}: {measured}, wanted {wanted}"
        for result in results["results"] for what, measured, wanted, is_kept in promises(result) if not is_kept]
    report.write(options, "overload", results, tables(results), drawing(results))
