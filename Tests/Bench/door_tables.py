# SPDX-License-Identifier: Apache-2.0
"""The tables of a run of doors, and the bounds that do not hold."""
import statistics

from .door_calls import ALONE, BESIDE, OTHER, WAYS

# Names a second on one core, and the slowest 1 % of names and of redirections.
NAMES_A_SECOND, SLOWEST_US = 20_000, 1000
# The share that 5,000 names a second may add to the CPU of a call by the process they share. It is judged against names of
# another gateway, which take the same caches and cores: against no names it would be the load of the machine as well.
ADDED = 0.02


def of(results, door, is_paced):
    """The rows of a door: at its rate, or with as many requests as it takes."""
    return [row for row in results["doors"] if row["door"] == door and bool(row["rate"]) == is_paced]


def median(rows, field):
    return statistics.median(row[field] for row in rows)


def changes(results, way, base, field):
    """The share by which a figure of each round differs between two ways: (median, lowest, highest)."""
    rows = {(row["round"], row["way"]): row[field] for row in results["calls"]}
    found = [rows[number, way] / rows[number, base] - 1 for number, one in rows if one == way]
    return statistics.median(found), min(found), max(found)


def missed(results):
    """Errors of the bounds that do not hold."""
    errors = []
    if results["doors"]:
        names = median(of(results, "names by HTTP", False), "a_second")
        if names < NAMES_A_SECOND:
            errors.append(f"{names:,.0f} names a second on one core, wanted {NAMES_A_SECOND:,}")
        for door in ("names by HTTP", "redirections"):
            slowest = median(of(results, door, True), "p99_us")
            if slowest > SLOWEST_US:
                errors.append(f"{door}: p99 {slowest / 1000:.2f} ms, wanted {SLOWEST_US / 1000:g} ms")
    if results["calls"]:
        added, low, high = changes(results, BESIDE, OTHER, "calls_us")
        if added > ADDED:
            whole, _, _ = changes(results, BESIDE, ALONE, "calls_us")
            errors.append(f"calls beside names of their gateway take {added:+.1%} CPU ({low:+.1%} to {high:+.1%}) compared with "
                          f"names of another one, wanted {ADDED:.0%} at most; compared with no names {whole:+.1%}")
    return errors


def door_table(results):
    found = [["", "a second on one core", "µs of CPU", "sender, µs of CPU", "steady rate", "p50", "p99", "p99.9", "slowest"]]
    for door in dict.fromkeys(row["door"] for row in results["doors"]):
        full, paced = of(results, door, False), of(results, door, True)
        found.append([
            door, f"{median(full, 'a_second'):,.0f}", f"{median(full, 'cpu_us'):.1f}", f"{median(full, 'sender_us'):.1f}",
            f"{paced[0]['rate']:,}/s",
            *(f"{median(paced, field) / 1000:.2f} ms" for field in ("p50_us", "p99_us", "p999_us", "max_us"))])
    return found


def call_table(results):
    found = [["", "call threads", "recorder", "INVITE p50", "p99"]]
    for way in WAYS:
        rows = [row for row in results["calls"] if row["way"] == way]
        found.append([way, *(f"{median(rows, field):.1f} µs" for field in ("calls_us", "recorder_us")),
                      *(f"{median(rows, field):.0f} µs" for field in ("p50_us", "p99_us"))])
    return found


def change_table(results):
    def told(way, base, field):
        return "{:+.1%} ({:+.1%} to {:+.1%})".format(*changes(results, way, base, field))
    return [["", "call threads", "INVITE p50"], *(
        [title, *(told(way, base, field) for field in ("calls_us", "p50_us"))] for title, way, base in (
            ("beside names, to alone", BESIDE, ALONE), ("beside names of another gateway, to alone", OTHER, ALONE),
            ("beside names of this gateway, to another one", BESIDE, OTHER)))]


def tables(results):
    found = []
    if results["doors"]:
        found.append(("Doors of a gateway with 1,000,000 numbers on one core, medians of the rounds", door_table(results)))
    if results["calls"]:
        found += [
            (f"A call at {results['rate']:,}/s beside {results['names']:,} names/s, medians of the rounds", call_table(results)),
            ("Change within a round, median (lowest to highest)", change_table(results))]
    return found
