# SPDX-License-Identifier: Apache-2.0
"""Calls through Herald and through Kamailio in turn: CPU a call, delay, memory, start, highest rate."""
import argparse
import os
import shutil
import statistics
import sys
import time

from heraldtest.child import Failed
from . import machine, report, verifying
from .clustered import Clustered
from .delay import Delays, percentile
from .load import Load
from .plot import bars, page
from .proof import prove
from .readers import KINDS, Watched
from .subjects import Herald, Kamailio, Relay
from .verifying import Verifying

IDLE_SECONDS = 2
# A rate is carried if no call fails and retransmissions stay below this share.
RETRANSMISSIONS_A_CALL = 0.001
BASELINE = "kamailio"
# The threads of a gateway, by how their names begin.
THREADS = {"call_threads": "herald-calls", "recorder": "herald-recorder", "shared": "herald-shared", "network": "NIO"}
# Seconds of work after the last call: Herald's transactions last Timer J, Kamailio's 5 s.
LINGER = {Watched: 33, Verifying: 33, Clustered: 33, Kamailio: 6, Relay: 0.5}
# The surroundings of a gateway: a reader beside it, a cluster, or known signers.
SURROUNDINGS = (*KINDS, "cluster", *verifying.KINDS)


def gateway(kind, name, options, binary):
    arguments = name, options.cache, binary, options.data, options.workers
    if kind == "cluster":
        return Clustered(*arguments)
    return (Verifying if kind in verifying.KINDS else Watched)(kind, *arguments)


def subjects(options):
    """The subjects, in the order of their turns."""
    chosen = [gateway(kind, name, options, binary) for name, binary in options.herald for kind in options.readers]
    if options.only != "herald":
        if shutil.which("kamailio"):
            chosen.append(Kamailio(BASELINE, options.cache, options.data))
            chosen.append(Kamailio("kamailio-stateless", options.cache, options.data, ("STATELESS",)))
        chosen.append(Relay("relay", options.cache))
    return chosen


def say(text):
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


class Measurement:
    """One subject's turn of one round; its rows are dictionaries."""

    def __init__(self, subject, number, options):
        self.subject, self.number, self.options = subject, number, options
        self.rows, self.idle = [], 0.0
        self.linger = 1 if options.no_linger else LINGER[type(subject)]

    def take(self, what, **row):
        self.rows.append({"subject": self.subject.name, "round": self.number, "what": what, **row})
        told = ", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                         for key, value in row.items() if value is not None)
        say(f"{self.subject.name} {what}: {told}")

    def load(self, rate, seconds):
        return Load(os.path.join(self.options.cache, "sipp"), self.options.data, rate, int(rate * seconds),
                    signer=self.subject.signer())

    def run(self):
        subject, options = self.subject, self.options
        subject.start()
        try:
            self.take("start", seconds=prove(subject), memory_bytes=subject.memory())
            if isinstance(subject, Watched):
                subject.crash()
                subject.start(fresh=False)
                self.take("restart", seconds=prove(subject), memory_bytes=subject.memory())
            # The first use of a page costs more than its later uses.
            with self.load(max(options.rates), options.seconds) as load:
                load.wait()
            time.sleep(self.linger)
            self.measure_idle()
            for rate in options.rates:
                self.cost(rate)
            if options.delay_rate:
                self.delay()
            if options.steps:
                self.highest()
            self.take("end", memory_bytes=subject.memory())
        finally:
            subject.stop()

    def measure_idle(self):
        before = self.subject.cpu_seconds()
        time.sleep(IDLE_SECONDS)
        self.idle = (self.subject.cpu_seconds() - before) / IDLE_SECONDS

    def cost(self, rate):
        subject = self.subject
        before, began, written = subject.cpu_seconds(), time.monotonic(), subject.written()
        threads = subject.thread_seconds()
        others = subject.others() if isinstance(subject, Clustered) else {}
        is_read = isinstance(subject, Watched) and subject.reading()
        left_out = subject.left_out() if is_read else 0
        with self.load(rate, self.options.seconds) as load:
            load.wait()
            time.sleep(self.linger)
            used = subject.cpu_seconds() - before - self.idle * (time.monotonic() - began)
            written = subject.written() - written
            threads = {thread: used - threads.get(thread, 0) for thread, used in sorted(subject.thread_seconds().items())}
            if others:
                others = {f"{name}_microseconds": now - others[name] for name, now in subject.others().items()}
        if isinstance(subject, Clustered):
            subject.check()
        if isinstance(subject, Watched) and not subject.has_reader():
            raise Failed(f"the reader of {subject.name} has ended")
        counts = load.counts()
        calls = max(1, counts["ended"])
        if is_read:
            counts["left_out"] = subject.left_out() - left_out
        by_name = {}
        for thread, name in subject.thread_names().items():
            by_name[name] = by_name.get(name, 0) + threads.get(thread, 0) / calls * 1e6
        busy = " ".join(f"{name} {micros:.1f}" for name, micros in by_name.items() if micros > 1)
        if isinstance(subject, Herald):
            counts.update({field: sum(micros for name, micros in by_name.items() if name.startswith(start))
                           for field, start in THREADS.items()})
        counts.update({name: seconds / calls * 1e6 for name, seconds in others.items()})
        self.take("cost", rate=rate, microseconds=used / calls * 1e6, written_bytes=written / calls, threads=busy, **counts)

    def delay(self):
        with Delays() as delays, self.load(self.options.delay_rate, self.options.seconds) as load:
            load.wait()
        time.sleep(1)
        found = delays.microseconds()
        self.take("delay", rate=self.options.delay_rate, p50=percentile(found, 0.50), p99=percentile(found, 0.99),
                  count=len(found))

    def highest(self):
        reached, bad = 0, 0
        for rate in self.options.steps:
            before = self.subject.cpu_seconds()
            with self.load(rate, 4) as load:
                load.wait()
                used = self.subject.cpu_seconds() - before
            counts = load.counts()
            limit = RETRANSMISSIONS_A_CALL * counts["calls"]
            good = not counts["failed"] and not counts["refused"] and counts["retransmissions"] <= limit
            good = good and counts["answered"] / 4 >= 0.95 * rate
            self.take("step", rate=rate, good=good, cores=used / counts["seconds"], **counts)
            reached, bad = (max(reached, rate), 0) if good else (reached, bad + 1)
            if bad == 2:
                break
            time.sleep(2)
        self.take("highest", rate=reached)


def rates(text):
    return [int(part) for part in text.split(",") if part]


def readers(text):
    kinds = text.split(",")
    wrong = [kind for kind in kinds if kind not in SURROUNDINGS]
    if wrong:
        raise argparse.ArgumentTypeError(f"there is no reader {', '.join(wrong)}; choose among {', '.join(SURROUNDINGS)}")
    return kinds


def add_options(words):
    words.add_argument("--only", choices=["herald"], help="without Kamailio and the relay")
    words.add_argument("--workers", type=int, default=1, help="threads of Herald that carry calls (%(default)s)")
    words.add_argument("--rates", type=rates, default=[500, 1000, 2000], help="calls a second (500,1000,2000)")
    words.add_argument("--rounds", type=int, default=1, help="turns of each program (%(default)s)")
    words.add_argument("--seconds", type=float, default=5, help="of calls for a figure (%(default)g)")
    words.add_argument("--delay-rate", type=int, default=500,
                       help="calls a second while the delay is measured, 0 for none (%(default)s)")
    words.add_argument("--steps", type=rates, default=[], metavar="RATES",
                       help="finds the highest rate: steps such as 3000,4000,6000 until two fail")
    words.add_argument("--readers", type=readers, default=["none"], metavar="KINDS",
                       help="a turn of Herald with each: none, hep (a collector by UDP), trace (of all calls), number "
                            "(trace of no call), page, cluster (a sibling and a shared ledger), unsigned and signed "
                            "(a gateway that knows a signer, with calls without and with its signature) (none)")
    words.add_argument("--no-linger", action="store_true",
                       help="leaves out the work after the last call (33 s a figure)")
    words.add_argument("--full", action="store_true", help="3 rounds of 15 s with steps to 12000; about 35 minutes")


def run(options):
    if options.full:
        options.rounds, options.seconds = 3, 15
        options.steps = [3000, 4000, 5000, 6000, 7000, 8000, 10000, 12000]
    chosen = subjects(options)
    rows, errors = [], []
    for number in range(options.rounds):
        for subject in chosen:
            turn = Measurement(subject, number, options)
            try:
                turn.run()
            except Failed as failure:
                errors.append(f"{subject.name}, round {number + 1}: {failure}")
                say(errors[-1])
            rows += turn.rows
    summaries = [summary(subject.name, rows, options) for subject in chosen]
    results = {"mode": "compare", "machine": machine.description(), "rounds": options.rounds,
               "seconds": options.seconds, "summaries": summaries, "rows": rows, "errors": errors}
    report.write(options, "compare", results, tables(results), drawing(results))


def medians(rows, subject, what, field, **where):
    """(median, lowest, highest) of a field over the rounds; None without values."""
    found = [row[field] for row in rows if row["subject"] == subject and row["what"] == what
             and row.get(field) is not None and all(row[key] == value for key, value in where.items())]
    return (statistics.median(found), min(found), max(found)) if found else None


def summary(name, rows, options):
    def middle(what, field, **where):
        found = medians(rows, name, what, field, **where)
        return found[0] if found else None
    return {
        "subject": name,
        "cost": {str(rate): medians(rows, name, "cost", "microseconds", rate=rate) for rate in options.rates},
        "parts": {part: {str(rate): medians(rows, name, "cost", field, rate=rate) for rate in options.rates}
                  for part, field in PARTS.items()},
        "retransmissions": {str(rate): middle("cost", "retransmissions", rate=rate) for rate in options.rates},
        "failed": {str(rate): middle("cost", "failed", rate=rate) for rate in options.rates},
        "p50": middle("delay", "p50"), "p99": middle("delay", "p99"), "delay_rate": options.delay_rate,
        "start_seconds": middle("start", "seconds"), "restart_seconds": middle("restart", "seconds"),
        "memory_bytes": middle("start", "memory_bytes"),
        "memory_after_bytes": middle("end", "memory_bytes"), "highest": middle("highest", "rate"),
        "written_bytes": middle("cost", "written_bytes", rate=max(options.rates)),
    }


# Parts of a gateway's cost and of that of its cluster: the fields with microseconds a call.
PARTS = {"threads of calls": "call_threads", "recorder": "recorder", "shared ledger": "shared", "siblings": "network",
         "the sibling itself": "sibling_microseconds", "PostgreSQL": "database_microseconds"}


def parts(results):
    """A row for each part that some subject has."""
    rates = list(results["summaries"][0]["cost"])
    rows = [["", *(f"µs a call at {rate}/s" for rate in rates)]]
    for one in results["summaries"]:
        for part, spans in one["parts"].items():
            if any(spans.values()):
                rows.append([f"{one['subject']}: {part}", *(told_span(spans[rate]) for rate in rates)])
    return rows


def told_span(span):
    return f"{span[0]:.1f} ({span[1]:.1f}–{span[2]:.1f})" if span else "–"


def ratio(summary_, others, rate):
    """CPU a call divided by Kamailio's, as text."""
    base = next((one["cost"][rate] for one in others if one["subject"] == BASELINE), None)
    own = summary_["cost"][rate]
    return f"{own[0] / base[0]:.2f}" if base and own else "–"


def tables(results):
    """[(title, rows of texts with the heading first)]"""
    all_ = results["summaries"]
    rates = list(all_[0]["cost"])

    def told(value, format_, unit="", factor=1.0):
        return "–" if value is None else format(value * factor, format_) + unit

    cost = [["", *(f"µs a call at {rate}/s" for rate in rates), *(f"by {BASELINE} at {rate}/s" for rate in rates)]]
    other = [["", f"added delay at {all_[0]['delay_rate']}/s, p50", "p99", "start to branded call", "after a crash",
              "memory, 1 M numbers", "after the calls", "highest rate", "retransmissions", "disk a call"]]
    for one in all_:
        spans = [one["cost"][rate] for rate in rates]
        cost.append([
            one["subject"],
            *(f"{span[0]:.0f} ({span[1]:.0f}–{span[2]:.0f})" if span else "–" for span in spans),
            *(ratio(one, all_, rate) for rate in rates)])
        other.append([
            one["subject"], told(one["p50"], ".0f", " µs"), told(one["p99"], ".0f", " µs"),
            told(one["start_seconds"], ".2f", " s"), told(one["restart_seconds"], ".2f", " s"),
            told(one["memory_bytes"], ".0f", " MB", 1e-6), told(one["memory_after_bytes"], ".0f", " MB", 1e-6),
            told(one["highest"], ".0f", "/s"), "+".join(told(one["retransmissions"][rate], ".0f") for rate in rates),
            told(one["written_bytes"], ".0f", " B")])
    found = [("CPU time of a call, median (lowest–highest)", cost), ("Parts of it, and others", parts(results)),
             ("Delay, start, memory, highest rate", other)]
    signatures = verifying.table(results["rows"], [int(rate) for rate in rates])
    if len(signatures) > 1:
        found.append(("CPU time that a signature adds, median of the rounds (lowest to highest)", signatures))
    return found


def drawing(results):
    all_ = results["summaries"]
    rates = list(all_[0]["cost"])
    names = [one["subject"] for one in all_]
    panels = [
        bars("CPU time of a call", "µs, all threads, lower is better", [f"{rate} calls/s" for rate in rates], [
            (one["subject"], [one["cost"][rate][0] if one["cost"][rate] else None for rate in rates]) for one in all_]),
        bars(f"Delay added to the INVITE at {all_[0]['delay_rate']} calls/s", "µs, lower is better",
             ["median", "99th percentile"], [(one["subject"], [one["p50"], one["p99"]]) for one in all_]),
        bars("Memory with 1,000,000 numbers", "MB", names, [("", [(one["memory_bytes"] or 0) / 1e6 for one in all_])]),
        bars("Start to the first branded call", "s", names, [("", [one["start_seconds"] for one in all_])]),
    ]
    return page("What a call costs", results["machine"], panels)
