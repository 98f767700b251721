# SPDX-License-Identifier: Apache-2.0
"""How long `herald replay` takes for the calls of a ledger, and how much memory.

The gateway starts once, so that its ledger has the present form. The calls are then written by hand: half of the callers are listed, and
half of the calls are attested. The same configuration must change none of them, and a strict policy each call without attestation.
"""
import contextlib
import json
import os
import sqlite3
import subprocess
import time

from heraldtest.child import Failed
from . import machine, report
from .dataset import CALLERS, LISTED, brand, number
from .subjects import Herald

# 28 November 2026, in microseconds.
BEGAN = 1_795_823_000_000_000
# DecisionEvidence: present, header From, policy standard, trusted trunk, Call-Info allowed.
EVIDENCE = 1 | 3 << 1 | 1 << 11 | 1 << 18 | 1 << 23
ATTESTED, FOUND, MISSING = 1 << 4, 2 << 14, 1 << 14
# The name and a logo were written; the brand has no reason.
WRITTEN = 3 << 16 | 1 << 22 | 2 << 25 | 1 << 27
CALLS = """
    WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < :calls)
    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber, brand_id, brand_name,
        decision, evidence, invite_at, ended_at, outcome)
    SELECT id, lower(hex(randomblob(16))), lower(hex(randomblob(16))) || '@carrier.example', 1, 'carrier', caller(id),
        61255501001, '1001', iif(id % 2, '', NULL), iif(id % 2, brand(id), NULL), iif(id % 2, 'matched', 'no_match'),
        :evidence + iif(id % 4 < 2, :attested, 0) + iif(id % 2, :found + :written, :missing), :began + id * 2000,
        :began + id * 2000 + 65000000, 'ANSWERED'
    FROM ids"""


def place(row):
    """Rows with odd numbers are calls of listed numbers."""
    return row * 7_919 % LISTED if row % 2 else LISTED + row % CALLERS


def fill(folder, calls):
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "herald.sqlite"), timeout=60)) as ledger:
        ledger.create_function("caller", 1, lambda row: int(number(place(row))[1:]), deterministic=True)
        ledger.create_function("brand", 1, lambda row: brand(place(row))[0], deterministic=True)
        ledger.execute(CALLS, {"calls": calls, "began": BEGAN, "evidence": EVIDENCE, "attested": ATTESTED,
                               "found": FOUND, "missing": MISSING, "written": WRITTEN})
        ledger.commit()
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def replay(herald, config, policy, status):
    """(summary, seconds, seconds of CPU, MB) of one run."""
    command = [herald.binary, "replay", "--json", "--config", config, "--policy", policy]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        last = b""
        for line in child.stdout:
            last = line
        _, ended, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
    if child.returncode != status:
        raise Failed(f"{' '.join(command)}: expected {status}, found {child.returncode}: {last.decode()}")
    return (json.loads(last)["summary"], time.monotonic() - began, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024)


def add_options(words):
    words.add_argument("--calls", type=int, default=1_000_000, help="calls of the ledger (%(default)s)")
    words.add_argument("--rounds", type=int, default=3, help="(%(default)s)")


def run(options):
    name, binary = options.herald[0]
    folder = os.path.join(options.cache, "run", "replay")
    herald = Herald(name, options.cache, binary, options.data)
    herald.folder = folder
    herald.start()
    herald.wait_until_up()
    herald.stop()
    fill(folder, options.calls)
    config, strict = os.path.join(folder, "herald.yaml"), os.path.join(folder, "strict.yaml")
    with open(config, encoding="utf-8") as file, open(strict, "w", encoding="utf-8") as other:
        other.write(file.read().replace("policy: standard", "policy: strict"))
    attested = sum(row % 4 < 2 for row in range(1, options.calls + 1))
    rows = []
    for round_number in range(options.rounds):
        for title, policy, status, changed in (
                ("the same", config, 0, 0), ("strict", strict, 2, options.calls - attested)):
            summary, seconds, busy, megabytes = replay(herald, config, policy, status)
            if (summary["calls"], summary["changed"], summary["undecided"]) != (options.calls, changed, 0):
                raise Failed(f"{title}: {summary}; expected {options.calls} calls and {changed} changes")
            rows.append({"policy": title, "round": round_number, "seconds": seconds, "cpu": busy, "megabytes": megabytes})
    table = [["policy", "s", "s of CPU", "MB"]]
    for title in ("the same", "strict"):
        cells = []
        for field, digits in (("seconds", 1), ("cpu", 1), ("megabytes", 0)):
            values = sorted(row[field] for row in rows if row["policy"] == title)
            cells.append(f"{values[len(values) // 2]:.{digits}f} ({values[0]:.{digits}f}–{values[-1]:.{digits}f})")
        table.append([title, *cells])
    report.write(options, "replay", {"machine": machine.description(), "rows": rows}, [
        (f"{options.calls:,} calls decided again, with the {options.data.listed:,} numbers of the bench", table)])
