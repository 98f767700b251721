# SPDX-License-Identifier: Apache-2.0
"""More calls than one core can carry: what Herald turns away, what becomes of calls it took, how fast it recovers."""
import time

import machine
import report
from loopback import Failed
from offered import Offer, sums
from plot import curves, page
from proof import prove
from subjects import Herald

CORE, OTHER_CORE = 0, 1
TALK = 200
# Shares of the capacity in turn; the last shows the recovery.
SHARES = [0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 0.5]
SEARCH_SECONDS, PAUSE_SECONDS = 3, 2


def capacity(options):
    """Calls a second that one core carries with next to none refused or sent again."""
    rate, best = 1000, 0
    while rate < 40_000:
        with Offer(options, [(rate, SEARCH_SECONDS, TALK)], OTHER_CORE) as offer:
            lines, left = offer.wait()
        found = sums(lines)
        carried = found["ended"] / SEARCH_SECONDS
        print(f"  {rate:6} offered a second: {carried:.0f} carried, {found['refused']} refused, "
              f"{found['resent']} sent again", flush=True)
        if left["unanswered"] or found["refused"] + found["resent"] > found["offered"] / 100:
            break
        best, rate = rate, int(rate * 1.2)
        time.sleep(PAUSE_SECONDS)
    return best


def measure(name, binary, options):
    herald = Herald(name, options.cache, binary, options.data)
    herald.under = ("taskset", "-c", str(CORE))
    herald.start()
    try:
        prove(herald)
        print(f"{name} on one core, the calls from the other:", flush=True)
        carried = capacity(options)
        if not carried:
            raise Failed(f"{name} did not carry 1000 calls/s; is anything else running on this machine?")
        time.sleep(PAUSE_SECONDS)
        before = herald.metrics()
        steps = [(int(carried * share), options.seconds, TALK) for share in SHARES]
        with Offer(options, steps, OTHER_CORE) as offer:
            lines, left = offer.wait()
        after = herald.metrics()
        return {"name": name, "capacity": carried, "left": left, "lines": lines,
                "metrics": {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)},
                "steps": [{"share": share, "rate": rate, **sums(lines, number)}
                          for number, (share, (rate, _, _)) in enumerate(zip(SHARES, steps))]}
    finally:
        herald.stop()


def recovery_seconds(result):
    """From the last step's beginning until no call is refused for a second; what comes later is another story."""
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
        peak = max(step["answered"] / step["seconds"] for step in result["steps"])
        most = next(step for step in result["steps"] if step["share"] == max(SHARES))
        left = result["left"]
        found.append((f"{result['name']}: the promises", [
            ["", "measured", "wanted"],
            ["answered at 3 ×, of the peak", f"{100 * most['answered'] / most['seconds'] / peak:.0f} %", "≥ 80 %"],
            ["calls that were answered and could not be ended", str(left["byes_open"] + left["talking"]), "0"],
            ["INVITEs without any answer", str(left["unanswered"]), "0"],
            ["ACKs of refusals that went on to the PBX", str(left["strayed"]), "0"],
            ["signals lost, so outcomes not told in full",
             f"{result['metrics'].get('herald_signals_shed_total', 0):.0f}", "0"],
            ["refused no more after", f"{recovery_seconds(result):.1f} s", "≤ 1 s"],
        ]))
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
    words.add_argument("--seconds", type=float, default=5, help="of each share of the capacity (%(default)g)")


def run(options):
    results = {"mode": "overload", "machine": machine.description(),
               "results": [measure(name, binary, options) for name, binary in options.herald]}
    report.write(options, "overload", results, tables(results), drawing(results))
