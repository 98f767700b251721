# SPDX-License-Identifier: Apache-2.0
"""What a shared ledger carries: gateways ship calls that wait in their own ledgers, as fast as they can.

Each gateway is a whole program. Its calls are written into its ledger by hand, first as open calls, then as ended ones with an
event, and it ships both. PostgreSQL writes to the disk and has one core, the gateways have another. CPU is that of the kernel's
clocks, so it holds beside other load; calls a second do not.
"""
import contextlib
import os
import shutil
import signal
import sqlite3
import time

from heraldtest import probes
from heraldtest.child import Child, Failed, wait_until
from heraldtest.postgres import Server
from . import machine, report

DATABASE_CORE, GATEWAY_CORE = "0", "1"
PATIENCE = 600
# 28 November 2026, in microseconds.
BEGAN = 1_795_823_000_000_000

BEGIN = """
    WITH RECURSIVE ids(id) AS (SELECT :first UNION ALL SELECT id + 1 FROM ids WHERE id < :last)
    INSERT INTO call (id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber, brand_id, brand_name, decision,
        invite_at, ringing_at)
    SELECT id, lower(hex(randomblob(16))), lower(hex(randomblob(16))) || '@carrier.example', 1, 'carrier',
        id % 100000 + 493012300000, 61255501001, '1001', 'brand-17', 'Acme Plumbing', 'matched', :began + id * 2000,
        :began + 100000 + id * 2000
    FROM ids"""
END = """
    UPDATE call SET answered_at = invite_at + 5000000, ended_at = invite_at + 65000000, outcome = 'ANSWERED', call_seconds = 60,
        ring_seconds = 5, status = 200, end_event = id WHERE id BETWEEN :first AND :last"""
EVENTS = """
    INSERT INTO event (id, key, number, surface, displayed_at, meta, created_at, due_at)
    SELECT id, 'ANSWERED:' || call_id, '+' || caller, 'pbx', '2026-11-28T00:00:00Z',
        '{"ring_seconds": 5, "call_seconds": 60, "trunk": "carrier", "attestation": "A"}', 1795823000, 1795823000
    FROM call WHERE id BETWEEN :first AND :last"""
# Rows of a gateway that is no longer there.
KNOWN = """
    INSERT INTO ledger.node (id, name, ledger) VALUES (30000, 'earlier', 7) ON CONFLICT DO NOTHING;
    INSERT INTO ledger.call (node, ledger, id, call_id, sip_call_id, direction, trunk, caller, destination, subscriber, brand_id,
        brand_name, decision, invite_at, ringing_at, answered_at, ended_at, outcome, call_seconds, ring_seconds, status, end_event)
    SELECT 30000, 7, id, md5(id::text), md5(id::text) || '@carrier.example', 1, 'carrier', id % 100000 + 493012300000, 61255501001,
        '1001', 'brand-17', 'Acme Plumbing', 'matched', {began} - id * 2000, {began} - id * 2000 + 100000,
        {began} - id * 2000 + 5000000, {began} - id * 2000 + 65000000, 'ANSWERED', 60, 5, 200, id
    FROM generate_series({first}::bigint, {last}) AS id;
    INSERT INTO ledger.event (node, ledger, id, key, number, surface, displayed_at, meta, created_at, due_at, state)
    SELECT 30000, 7, id, 'ANSWERED:' || md5(id::text), '+' || id % 100000 + 493012300000, 'pbx', '2026-11-28T00:00:00Z',
        '{{"ring_seconds": 5, "call_seconds": 60, "trunk": "carrier", "attestation": "A"}}', 1795823000, 1795823000, 1
    FROM generate_series({first}::bigint, {last}) AS id;"""


class Shipper:
    """A gateway without calls, whose ledger gets rows by hand."""

    def __init__(self, number, folder, binary, server):
        self.number, self.folder = number, os.path.join(folder, "run", f"shipper-{number}")
        self.runtime = f"/dev/shm/herald-bench-{number}-{os.getpid()}"
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        secret, brands = os.path.join(self.folder, "secret-file"), os.path.join(self.folder, "brands.psv")
        with open(secret, "w", encoding="ascii") as file:
            file.write("000102030405060708090a0b0c0d0e0f\n")
        os.chmod(secret, 0o600)
        with open(brands, "w", encoding="utf-8") as file:
            file.write("+12025550143|Acme|https://logos.example/a.png|None\n")
        own, self.admin = f"127.0.1.{number}", f"127.0.1.{number}:9470"
        config = os.path.join(self.folder, "herald.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway: {{id: shipper-{number}, state: "{self.folder}", runtime: "{self.runtime}", drain: 0s}}
listen: [{{name: sip, address: "{own}:5070"}}]
trunks: [{{name: carrier, sources: ["127.0.0.1:5060"], next_hop: "127.0.0.1:5060", region: US, trusted: true}}]
pbx: [{{name: office, address: "127.0.0.1:5080", sources: ["127.0.0.1:5080"], probe: false}}]
brands: {{file: {brands}}}
cluster: {{secret_file: {secret}, listen: "{own}:5072", siblings: ["{own[:-1]}{number + 100}:5072"], route: {own}, ledger: "{server.url}"}}
outcomes: {{retention: 3650d}}
admin: {{listen: "{self.admin}"}}
log: {{level: notice}}
""")
        self.child = Child(
            f"shipper-{number}", ["taskset", "-c", GATEWAY_CORE, binary, "run", "--config", config], self.folder)

    def wait_until_ready(self):
        """It has joined the shared ledger, so its ledger records changes."""
        self.child.must_respond(self.admin)
        wait_until(self.is_done, PATIENCE, f"{self.child.name} has not joined the shared ledger; see {self.child.log}")

    def halt(self):
        """Stops it outside of a transaction on its ledger."""
        for _ in range(200):
            os.kill(self.child.pid, signal.SIGSTOP)
            try:
                with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "herald.sqlite"), timeout=0.5)) as ledger:
                    ledger.execute("BEGIN IMMEDIATE")
                    return
            except sqlite3.OperationalError:
                os.kill(self.child.pid, signal.SIGCONT)
                time.sleep(0.05)
        raise Failed(f"{self.child.name} writes to its ledger all the time")

    def write(self, statements, calls):
        """Writes calls in one transaction; the position of the last change."""
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "herald.sqlite"), timeout=60)) as ledger:
            ledger.execute("BEGIN IMMEDIATE")
            for statement in statements:
                values = {"first": 1, "last": calls, "began": BEGAN}
                ledger.execute(statement, {name: value for name, value in values.items() if f":{name}" in statement})
            ledger.execute("COMMIT")
            return ledger.execute("SELECT max(id) FROM shared_change").fetchone()[0]

    def is_done(self):
        self.child.must_run()
        found = probes.metrics(self.admin, 10)
        return found.get("herald_shared_behind_seconds") == 0 and found.get("herald_shared_waiting") == 0

    def stop(self):
        self.child.stop()
        shutil.rmtree(self.runtime, ignore_errors=True)


class Shipping:
    """One round of gateways and a server."""

    def __init__(self, options, server):
        self.options, self.server = options, server
        self.shippers = []

    def __enter__(self):
        _, binary = self.options.herald[0]
        for number in range(1, self.options.gateways + 1):
            self.shippers.append(Shipper(number, self.options.cache, binary, self.server))
        for shipper in self.shippers:
            shipper.wait_until_ready()
        return self

    def __exit__(self, *_):
        for shipper in self.shippers:
            shipper.stop()

    def cpu(self):
        """CPU seconds of (the gateways, PostgreSQL)"""
        return sum(shipper.child.figures.cpu_seconds() for shipper in self.shippers), self.server.cpu_seconds()

    def ship(self, statements):
        """Writes calls into all ledgers, and waits until they are shared; (seconds, the gateways' CPU, PostgreSQL's)."""
        # The gateways see nothing before all of it is written.
        for shipper in self.shippers:
            shipper.halt()
        try:
            last = min(shipper.write(statements, self.options.calls) for shipper in self.shippers)
            before, began = self.cpu(), time.monotonic()
        finally:
            for shipper in self.shippers:
                os.kill(shipper.child.pid, signal.SIGCONT)
        # All ledgers have the same changes.
        left = f"SELECT count(*) FROM ledger.position WHERE sequence < {last}"
        while self.server.query(left) != [("0",)]:
            for shipper in self.shippers:
                shipper.child.must_run()
            if time.monotonic() - began > PATIENCE:
                raise Failed("the gateways do not ship their calls")
            time.sleep(0.1)
        return (time.monotonic() - began, *(now - then for now, then in zip(self.cpu(), before)))

    def idle(self):
        """CPU of (the gateways, PostgreSQL) in a second without calls."""
        before, began = self.cpu(), time.monotonic()
        time.sleep(5)
        return [(now - then) / (time.monotonic() - began) for now, then in zip(self.cpu(), before)]

    def run(self):
        idle = self.idle()
        begun, ended = self.ship([BEGIN]), self.ship([END, EVENTS])
        calls = self.options.calls * self.options.gateways
        shared = self.server.query(
            "SELECT (SELECT count(*) FROM ledger.call WHERE node < 30000 AND ended_at IS NOT NULL),"
            "(SELECT count(*) FROM ledger.event WHERE node < 30000)")[0]
        if shared != (str(calls), str(calls)):
            raise Failed(f"the shared ledger has {shared} of {calls} calls and events")
        seconds = begun[0] + ended[0]
        used = [begun[part] + ended[part] - idle[part - 1] * seconds for part in (1, 2)]
        return {"calls": calls, "seconds": seconds, "calls_a_second": calls / seconds,
                "gateway_microseconds": used[0] / calls * 1e6, "database_microseconds": used[1] / calls * 1e6,
                "database_cores": used[1] / seconds, "gateway_cores": used[0] / seconds}


def numbers(text):
    return [int(part) for part in text.split(",")]


def add_options(words):
    words.add_argument("--gateways", type=int, default=4, help="(%(default)s)")
    words.add_argument("--calls", type=int, default=50_000, help="calls of each gateway (%(default)s)")
    words.add_argument("--known", type=numbers, default=[0], metavar="COUNTS",
                       help="calls in the shared ledger before, such as 0,1000000 in rising order (0)")
    words.add_argument("--rounds", type=int, default=3, help="(%(default)s)")


def run(options):
    rows = []
    server = Server("--durable", under=("taskset", "-c", DATABASE_CORE))
    try:
        present = 0
        for known in options.known:
            for number in range(options.rounds):
                with Shipping(options, server) as shipping:
                    if known > present:
                        fill(server, present, known)
                        present = known
                    found = shipping.run()
                rows.append({"known": known, "round": number, **found})
                print("  " + ", ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()), flush=True)
                server.query("DELETE FROM ledger.call WHERE node < 30000; DELETE FROM ledger.event WHERE node < 30000;"
                             "DELETE FROM ledger.node WHERE id < 30000; DELETE FROM ledger.position;")
                server.query("VACUUM ledger.call; VACUUM ledger.event;")
    finally:
        server.stop()
    report.write(options, "shipping", {"machine": machine.description(), "rows": rows}, [
        (f"{options.gateways} gateways ship {options.calls:,} calls each", table(rows, options.known))])


def fill(server, present, known):
    for first in range(present + 1, known + 1, 500_000):
        server.query(KNOWN.format(first=first, last=min(first + 499_999, known), began=BEGAN), seconds=1_800)
    server.query("VACUUM ANALYZE ledger.call; VACUUM ANALYZE ledger.event; CHECKPOINT;", seconds=1_800)


def table(rows, known):
    """A row for each number of calls that were there before; lowest, median and highest of the rounds."""
    fields = ["calls_a_second", "database_microseconds", "gateway_microseconds", "database_cores", "gateway_cores"]
    found = [["calls before", "calls/s", "µs of PostgreSQL a call", "µs of a gateway a call", "cores of PostgreSQL", "of gateways"]]
    for count in known:
        cells = []
        for field in fields:
            values = sorted(row[field] for row in rows if row["known"] == count)
            digits = 2 if field.endswith("cores") else 1 if "micro" in field else 0
            cells.append(f"{values[len(values) // 2]:.{digits}f} ({values[0]:.{digits}f}–{values[-1]:.{digits}f})")
        found.append([f"{count:,}", *cells])
    return found
