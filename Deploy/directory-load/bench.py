#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scenarios of Deploy/bench-directory, which builds what this runs; each prints what it measured, and checks the counts.

full    full answers of every number: one and eight at a time, plain and gzip
polls   200 gateways with keys of their own ask for changes, each every 2 s, while numbers change
events  single events at the rate, then in batches of 100; one in 20 is sent again with its key
both    polls and single events at the same time
mixed   both, and full answers one after the other
crash   the directory is killed while events come
"""
import argparse
import json
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))

from directory import Failed  # noqa: E402
from loopback import end_on_signals  # noqa: E402
from measured import FullSync, Cost, Load, MeasuredDirectory  # noqa: E402

SCENARIOS = ("full", "polls", "events", "both", "mixed", "crash")


class Changes(threading.Thread):
    """A hundred numbers get another name, by the operator's command, every two seconds."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.directory, self.over, self.rounds, self.trouble = directory, threading.Event(), 0, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join(120)

    def run(self):
        while not self.over.wait(2):
            self.rounds += 1
            try:
                self.directory.put([
                    (f"+44{7_000_000_000 + 1000 * self.rounds + n:010}", f"Changed {self.rounds}", "", f"Round {n}")
                    for n in range(100)])
            except (Failed, OSError) as trouble:
                self.trouble = trouble
                return


class FullSyncs(threading.Thread):
    """Full answers one after the other until it is told to end."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.directory, self.over, self.done = directory, threading.Event(), []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join(600)

    def run(self):
        while not self.over.is_set():
            sync = FullSync(self.directory.first_key, gzip=len(self.done) % 2 == 1)
            sync.run()
            self.done.append(sync)


class Bench:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.results, self.failures, self.runs = {}, [], 0

    def check(self, name, is_true, otherwise):
        if not is_true:
            self.failures.append(f"{name}: {otherwise}")
            print(f"  FAIL {name}: {otherwise}", flush=True)

    def keep(self, name, **values):
        self.results[name] = values
        print(f"{name}\n  " + "  ".join(f"{key} {value}" for key, value in values.items()), flush=True)

    def full(self):
        for gzip in (False, True):
            for count in (1, 8):
                cost = Cost(self.directory)
                syncs = [FullSync(self.directory.first_key, gzip) for _ in range(count)]
                for sync in syncs:
                    sync.start()
                for sync in syncs:
                    sync.join()
                self.keep(f"full, {count} at a time{', gzip' if gzip else ''}", **self.judged(syncs), **cost.end())

    def judged(self, syncs):
        for sync in syncs:
            self.check("a full answer", sync.trouble is None and sync.records == self.directory.numbers,
                       sync.trouble or f"{sync.records} records")
        whole = [sync for sync in syncs if sync.seconds]
        return {"answers": len(whole), "bytes": max((sync.bytes for sync in whole), default=0),
                "first_byte_ms": round(max((sync.first for sync in whole), default=0) * 1000, 1),
                "longest_s": round(max((sync.seconds for sync in whole), default=0), 2)}

    def cursor(self):
        sync = FullSync(self.directory.first_key, gzip=False)
        sync.run()
        self.check("the first sync", sync.cursor is not None, sync.trouble)
        return sync.cursor

    def polls(self):
        cursor, cost = self.cursor(), Cost(self.directory)
        with Changes(self.directory) as changes:
            found = Load.polls(self.directory, self.options.seconds, self.options.interval, cursor).result()
        self.keep("polls", **self.judged_polls(found, changes), **cost.end(),
                  **self.each(found["answered"], cost, "request"))

    def judged_polls(self, found, changes):
        self.check("changes", changes.trouble is None, str(changes.trouble))
        self.check("polls are answered 200 or 304", set(found["statuses"]) <= {"200", "304"} and not found["lost"],
                   json.dumps(found))
        self.check("every poll is answered", found["answered"] == found["asked"], json.dumps(found))
        return {"changes": changes.rounds * 100, **chosen(found, "entries")}

    def each(self, count, cost, name):
        used = cost.end()
        values = {f"cpu_us_per_{name}": round(used["server_cpu_s"] * 1e6 / max(count, 1))}
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
        return Load.events(self.directory, seconds, rate, batch, self.prefix).result()

    def judged_events(self, found):
        """Every key that was answered 200 stands in the ledger once, and no other does."""
        self.check("events are answered 200", set(found["statuses"]) == {"200"} and not found["lost"], json.dumps(found))
        self.check("a key has one event", found["contradictions"] == 0, f"{found['contradictions']} have two")
        count, keys = self.ledger()
        self.check("events in the ledger", count == keys == found["stored"],
                   f"{count} events, {keys} keys, {found['stored']} answered")
        return chosen(found, "stored", "repeated")

    def ledger(self):
        """Events and keys of the last run; the counters of the month and of the days must fit all events."""
        count, keys, counted, usage, days = self.directory.query(f"""
            SELECT count(*), count(DISTINCT event_key), (SELECT count(*) FROM event WHERE counted = 1),
                (SELECT coalesce(sum(counted), 0) FROM month_usage),
                (SELECT coalesce(sum(events), 0) FROM day_outcome WHERE reason = '')
            FROM event WHERE event_key LIKE '{self.prefix}-%'""")[0]
        self.check("the month and the days", counted == usage == days, f"{counted}, {usage}, {days}")
        return count, keys

    def crash(self):
        """Killed while events come: what was answered 200 is there, and nothing is there twice or by half."""
        killer = threading.Timer(min(5, self.options.seconds / 2), self.directory.child.kill)
        killer.start()
        found = self.send_events(self.options.seconds, self.options.rate, 1)
        killer.join()
        self.directory.start()
        count, keys = self.ledger()
        self.check("events after a kill", found["stored"] <= count == keys,
                   f"{count} events, {keys} keys, {found['stored']} answered")
        self.keep("crash", stored=found["stored"], in_ledger=count, statuses=found["statuses"])

    def both(self):
        self.together("both", self.options.seconds, None)

    def mixed(self):
        self.together("mixed", self.options.seconds * 2, FullSyncs)

    def together(self, name, seconds, full):
        cursor, cost = self.cursor(), Cost(self.directory)
        with Changes(self.directory) as changes:
            polls = Load.polls(self.directory, seconds, self.options.interval, cursor)
            if full:
                with full(self.directory) as syncs:
                    events = self.send_events(seconds, self.options.rate, 1)
                # The last one may still run when the events are through, so the server's cost is all of it.
                self.keep(f"{name}: full answers", **self.judged(syncs.done))
            else:
                events = self.send_events(seconds, self.options.rate, 1)
            found = polls.result()
        used = cost.end()
        self.keep(f"{name}: polls", **self.judged_polls(found, changes))
        self.keep(f"{name}: events", rate=self.options.rate, **self.judged_events(events))
        self.keep(f"{name}: server", **used, cores=round(used["server_cpu_s"] / used["seconds"], 2))


def chosen(found, *more):
    names = ("asked", "answered", "statuses", "p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms", *more, "sender_cpu_s")
    return {name: found[name] for name in names}


def main():
    parser = argparse.ArgumentParser(
        prog="Deploy/bench-directory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, with commas")
    parser.add_argument("--numbers", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=20, help="how long polls and events go on")
    parser.add_argument("--rate", type=int, default=2000, help="single events a second; batches have five times as many")
    parser.add_argument("--interval", type=float, default=2, help="seconds between two polls of a gateway")
    parser.add_argument("--json", help="a file for the results")
    options = parser.parse_args()
    end_on_signals()
    names = options.only.split(",")
    if unknown := set(names) - set(SCENARIOS):
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    directory = MeasuredDirectory(os.environ["BENCH"], options.numbers)
    bench = Bench(options, directory)
    try:
        directory.prepare()
        directory.start()
        for name in names:
            getattr(bench, name)()
            time.sleep(1)
    except Failed as trouble:
        bench.check("the bench went to its end", False, str(trouble))
    finally:
        directory.stop()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"options": vars(options), "results": bench.results, "failures": bench.failures}, file, indent=1)
    print(f"{len(bench.failures)} failures")
    sys.exit(1 if bench.failures else 0)


main()
