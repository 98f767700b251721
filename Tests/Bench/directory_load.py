# SPDX-License-Identifier: Apache-2.0
"""The directory under load: each scenario prints its figures and checks its counts.

full    full syncs of every number: one and eight at a time (--at-once), plain and gzip
quiet   200 gateways with keys of their own poll for changes, each every 2 s, and nothing changes
polls   the same while numbers change
events  single events at the rate, then in batches of 100; one in 20 is sent again with its key
both    polls and single events at the same time
mixed   both, and full syncs one after the other
crash   the directory is killed while events come

With --engines the scenarios run on SQLite and on PostgreSQL one after the other, and the medians are compared.

The load is on the same machine. A database with the numbers is made once and kept in the cache.
"""
import argparse
import json
import os
import statistics
import threading
import time

from heraldtest.child import Failed
from . import machine, report
from .directory_responses import FullSync, FullSyncs
from .directory_measured import BRANDS, ENGINES, GATEWAYS, Cost, event_sender, poll_sender
from .meanwhile import Meanwhile

SCENARIOS = ("full", "quiet", "polls", "events", "both", "mixed", "crash")
# Numbers that change at a time.
CHANGED = 100
# The options that shape the load, printed with the results.
SHAPE = ("only", "numbers", "seconds", "rate", "interval")


class Changes(Meanwhile):
    """Gives a hundred numbers a new name by the operator's command, every two seconds."""

    made = 0

    def __init__(self, directory):
        super().__init__(patience=120)
        self.directory, self.trouble = directory, None
        # When the directory had each round.
        self.done = []

    def run(self):
        while not self.over.wait(2):
            Changes.made += 1
            first = 7_000_000_000 + 1000 * (len(self.done) + 1)
            try:
                self.directory.put([
                    (f"+44{first + n:010}", f"Changed {Changes.made}", "", f"Round {n}") for n in range(CHANGED)])
            except (Failed, OSError) as trouble:
                self.trouble = trouble
                return
            self.done.append(time.monotonic())

    def due(self, ends, interval):
        """Entries that all gateways together must have received, with a poll every `interval` seconds until `ends`."""
        return sum(moment < ends - interval - 1 for moment in self.done) * CHANGED * GATEWAYS


class Bench:
    """The scenarios by name, with their figures and failed checks."""

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.results, self.failures, self.runs = {}, [], 0
        # In front of the name of each result.
        self.label = ""
        self.sender = os.path.join(options.cache, "directory_sender")
        self.accepted = os.path.join(options.cache, "directory_accepted.txt")

    def check(self, name, is_true, otherwise):
        if not is_true:
            self.failures.append(f"{name}: {otherwise}")
            print(f"  FAIL {name}: {otherwise}", flush=True)

    def keep(self, name, **values):
        name = self.label + name
        self.results[name] = values
        print(f"{name}\n  " + "  ".join(f"{key} {value}" for key, value in values.items()), flush=True)

    def full(self):
        for gzip in (False, True):
            for count in self.options.at_once:
                cost = Cost(self.directory)
                syncs = [FullSync(self.directory.first_key, gzip) for _ in range(count)]
                for sync in syncs:
                    sync.start()
                for sync in syncs:
                    sync.join()
                self.keep(f"full, {count} at a time{', gzip' if gzip else ''}", **self.judged(syncs), **cost.end())

    def judged(self, syncs):
        for sync in syncs:
            self.check("a full response", sync.trouble is None and sync.records == self.directory.numbers,
                       sync.trouble or f"{sync.records} records")
        whole = [sync for sync in syncs if sync.seconds]
        return {"responses": len(whole), "bytes": max((sync.bytes for sync in whole), default=0),
                "first_byte_ms": round(max((sync.first for sync in whole), default=0) * 1000, 1),
                "longest_s": round(max((sync.seconds for sync in whole), default=0), 2)}

    def cursor(self):
        sync = FullSync(self.directory.first_key, gzip=False)
        sync.run()
        self.check("the first sync", sync.cursor is not None, sync.trouble)
        return sync.cursor

    def quiet(self):
        cursor, cost = self.cursor(), Cost(self.directory)
        with poll_sender(self.sender, self.directory, self.options.seconds, self.options.interval, cursor) as sender:
            found = sender.result()
        self.check("polls get 304", set(found["statuses"]) <= {"200", "304"} and not found["lost"], json.dumps(found))
        self.check("every poll gets a response", found["responses"] == found["asked"], json.dumps(found))
        self.keep("quiet polls", **chosen(found), **self.each(found["responses"], cost, "request"))

    def polls(self):
        cursor, cost = self.cursor(), Cost(self.directory)
        with Changes(self.directory) as changes:
            ends = time.monotonic() + self.options.seconds
            with poll_sender(self.sender, self.directory, self.options.seconds, self.options.interval, cursor) as sender:
                found = sender.result()
        self.keep("polls", **self.judged_polls(found, changes, ends), **cost.end(),
                  **self.each(found["responses"], cost, "request"))

    def judged_polls(self, found, changes, ends):
        self.check("changes", changes.trouble is None, str(changes.trouble))
        self.check("polls get 200 or 304", set(found["statuses"]) <= {"200", "304"} and not found["lost"],
                   json.dumps(found))
        self.check("every poll gets a response", found["responses"] == found["asked"], json.dumps(found))
        due = changes.due(ends, self.options.interval)
        self.check("every gateway gets every change", found["entries"] >= due > 0, f"{found['entries']} of {due}")
        return {"changes": len(changes.done) * CHANGED, **chosen(found, "entries")}

    def each(self, count, cost, name):
        used = cost.end()
        values = {f"cpu_us_per_{name}": round(used["server_cpu_s"] * 1e6 / max(count, 1))}
        if "database_cpu_s" in used:
            values[f"database_us_per_{name}"] = round(used["database_cpu_s"] * 1e6 / max(count, 1))
        if name == "event":
            values["bytes_per_event"] = round(used["written_mb"] * 1e6 / max(count, 1))
        return values

    def events(self):
        for batch in (1, 100):
            rate = self.options.rate if batch == 1 else self.options.rate * 5
            name = "events, single" if batch == 1 else f"events, batches of {batch}"
            cost = Cost(self.directory)
            found = self.send_events(self.options.seconds, rate, batch)
            self.keep(name, rate=rate, **self.judged_events(found), **cost.end(),
                      **self.each(found["stored"], cost, "event"))

    def send_events(self, seconds, rate, batch):
        self.runs += 1
        self.prefix = f"{self.runs:04d}"
        with event_sender(self.sender, self.directory, seconds, rate, batch, self.prefix, self.accepted) as sender:
            return sender.result()

    def judged_events(self, found):
        """Checks that the ledger has each key with a 200 once, and no other."""
        self.check("events get 200", set(found["statuses"]) == {"200"} and not found["lost"],
                   json.dumps(found))
        self.check("a key has one event", found["contradictions"] == 0, f"{found['contradictions']} have two")
        keys, missing = self.ledger()
        self.check("events in the ledger", not missing and len(keys) == found["stored"],
                   f"{len(keys)} keys, {found['stored']} accepted, of these missing {missing[:3]}")
        return chosen(found, "stored", "repeated")

    def ledger(self):
        """(the last run's event keys in the ledger, the keys with a 200 that are missing there)

        No key may occur twice, and the counters of the month and of the days must fit all events.
        """
        counted, usage, days = self.directory.query("""
            SELECT count(*), (SELECT coalesce(sum(counted), 0) FROM month_usage),
                (SELECT coalesce(sum(events), 0) FROM day_outcome WHERE reason = '')
            FROM event WHERE counted = 1""")[0]
        self.check("the month and the days", counted == usage == days, f"{counted}, {usage}, {days}")
        events = [row[0] for row in self.directory.query(
            f"SELECT event_key FROM event WHERE event_key LIKE '{self.prefix}-%'")]
        keys = set(events)
        self.check("a key is there once", len(keys) == len(events), f"{len(events)} events, {len(keys)} keys")
        with open(self.accepted, encoding="ascii") as accepted:
            return keys, sorted(set(accepted.read().split()) - keys)

    def crash(self):
        """Kills the directory while events come: each event with a 200 is stored, none twice and none by half."""
        killer = threading.Timer(min(5, self.options.seconds / 2), self.directory.child.kill)
        killer.start()
        found = self.send_events(self.options.seconds, self.options.rate, 1)
        killer.join()
        self.directory.start()
        keys, missing = self.ledger()
        self.check("events after a kill", found["stored"] > 0 and not missing,
                   f"of {found['stored']} accepted are missing {len(missing)}: {missing[:3]}")
        self.keep("crash", stored=found["stored"], in_ledger=len(keys), missing=len(missing), statuses=found["statuses"])

    def both(self):
        self.together("both", self.options.seconds, None)

    def mixed(self):
        self.together("mixed", self.options.seconds * 2, FullSyncs)

    def together(self, name, seconds, full):
        cursor, cost = self.cursor(), Cost(self.directory)
        with Changes(self.directory) as changes:
            ends = time.monotonic() + seconds
            with poll_sender(self.sender, self.directory, seconds, self.options.interval, cursor) as polls:
                if full:
                    with full(self.directory) as syncs:
                        events = self.send_events(seconds, self.options.rate, 1)
                    # The last sync may outlast the events, so the server's cost covers both.
                    self.keep(f"{name}: full responses", **self.judged(syncs.done))
                else:
                    events = self.send_events(seconds, self.options.rate, 1)
                found = polls.result()
        used = cost.end()
        self.keep(f"{name}: polls", **self.judged_polls(found, changes, ends))
        self.keep(f"{name}: events", rate=self.options.rate, **self.judged_events(events))
        self.keep(f"{name}: server", **used, cores=round(used["server_cpu_s"] / used["seconds"], 2))


def chosen(found, *more):
    names = ("asked", "responses", "statuses", "p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms", *more, "sender_cpu_s")
    return {name: found[name] for name in names}


def scenarios(text):
    names = text.split(",")
    if unknown := set(names) - set(SCENARIOS):
        raise argparse.ArgumentTypeError(
            f"there is no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    return names


def engines(text):
    names = text.split(",")
    if unknown := set(names) - set(ENGINES):
        raise argparse.ArgumentTypeError(f"there is no engine {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}")
    return names


def add_options(words):
    words.add_argument("--only", type=scenarios, default=SCENARIOS, metavar="LIST", help="scenarios, with commas")
    words.add_argument("--numbers", type=int, default=1_000_000, help="(%(default)s)")
    words.add_argument("--seconds", type=int, default=20, help="seconds of polls and events (%(default)s)")
    words.add_argument("--rate", type=int, default=2000,
                       help="single events a second; batches have five times as many (%(default)s)")
    words.add_argument("--interval", type=float, default=2, help="seconds between two polls of a gateway (%(default)s)")
    words.add_argument("--at-once", type=lambda text: [int(part) for part in text.split(",")], default=[1, 8],
                       metavar="LIST", help="full syncs at a time (1,8)")
    words.add_argument("--engines", type=engines, default=["sqlite"], metavar="LIST", help="sqlite, postgresql (sqlite)")
    words.add_argument("--rounds", type=int, default=1, help="turns of each engine (%(default)s)")
    words.add_argument("--json", metavar="FILE", help="also writes the results there")


def run(options):
    results, failures = {}, []
    directories = {name: ENGINES[name](os.path.join(options.cache, "directory"), options.numbers) for name in options.engines}
    benches = {name: Bench(options, directory) for name, directory in directories.items()}
    is_alone = options.rounds * len(options.engines) == 1
    prepared = set()
    try:
        for number in range(options.rounds):
            for name, bench in benches.items():
                bench.label = "" if is_alone else f"{name}, round {number + 1}: "
                turn(bench, bench.directory, options, name not in prepared)
                prepared.add(name)
                results.update(bench.results)
    finally:
        for name, directory in directories.items():
            directory.end()
            failures += benches[name].failures
    found = {"options": {name: getattr(options, name) for name in SHAPE}, "results": results, "failures": failures}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    tables = [(f"The directory with {options.numbers:,} numbers of {BRANDS:,} brands", table(results))]
    if len(options.engines) > 1:
        tables.append(("Medians of the rounds", compared(results, options.engines)))
    report.write(options, "directory", {"machine": machine.description(), **found}, tables)
    print(f"{len(failures)} failures")
    if failures:
        raise SystemExit(1)


def turn(bench, directory, options, is_first):
    """One turn of all scenarios."""
    try:
        if is_first:
            directory.prepare()
        directory.start()
        for scenario in options.only:
            getattr(bench, scenario)()
            time.sleep(1)
    except Failed as trouble:
        bench.check("the bench went to its end", False, str(trouble))
    finally:
        directory.stop()


# Figures in which two engines are compared.
COMPARED = ("longest_s", "first_byte_ms", "p50_ms", "p99_ms", "server_cpu_s", "database_cpu_s", "cpu_us_per_request",
            "database_us_per_request", "cpu_us_per_event", "database_us_per_event")


def compared(results, names):
    """A row for each figure: the medians of the engines, and each divided by the first."""
    rows = [["", *names, *(f"{name} ÷ {names[0]}" for name in names[1:])]]
    figures = {}
    for name, values in results.items():
        engine, _, scenario = name.partition(", round ")
        scenario = scenario.partition(": ")[2]
        for key in COMPARED:
            if key in values:
                figures.setdefault((scenario, key), {}).setdefault(engine, []).append(values[key])
    for (scenario, key), found in figures.items():
        medians = [statistics.median(found[name]) if name in found else None for name in names]
        spans = ["–" if middle is None else f"{middle:g} ({min(found[name]):g}–{max(found[name]):g})"
                 for name, middle in zip(names, medians)]
        rows.append([f"{scenario}: {key}", *spans, *(
            "–" if not middle or not medians[0] else f"{middle / medians[0]:.2f}" for middle in medians[1:])])
    return rows


def table(results):
    """A row for each figure of each scenario."""
    return [["", "measured"], *(
        [f"{name}: {key}", json.dumps(value)] for name, values in results.items() for key, value in values.items())]
