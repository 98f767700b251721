# SPDX-License-Identifier: Apache-2.0
"""Memory and start of a gateway that knows many signers, beside one that knows none, in rounds."""
import os
import shutil
import socket
import statistics
import time

from heraldtest import probes
from heraldtest.child import Failed
from heraldtest.processes import Process
from heraldtest.signing import Laboratory, run as run_command
from . import machine, report, signer_chains
from .compare import say
from .subjects import ADMIN
from .verifiers import VerifyingHerald

# The bounds for 20,000 signers.
MEGABYTES, MILLISECONDS, BOUNDED = 10, 50, 20_000
# A gateway at rest has done the work of its start.
REST_SECONDS, PATIENCE = 3, 60


def add_options(words):
    words.add_argument("--count", type=int, default=BOUNDED, help="signers (%(default)s)")
    words.add_argument("--rounds", type=int, default=10, help="starts of each gateway (%(default)s)")


class Knowing(VerifyingHerald):
    """A gateway with a state folder of its own, which keeps its signers over each start."""

    def __init__(self, name, folder, binary, laboratory, count):
        super().__init__(name, folder, binary, laboratory.read("root.pem"))
        self.count, self.laboratory = count, laboratory

    def install(self):
        """Imports its signers; seconds that it took."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        config = self.command()[-1]
        if not self.count:
            return 0.0
        chains = os.path.join(self.folder, "chains")
        files = signer_chains.write(self.laboratory, self.count, chains)
        began = time.monotonic()
        run_command([self.binary, "trust", "import", *files, "--config", config])
        seconds = time.monotonic() - began
        shutil.rmtree(chains)
        return seconds

    def wait_until_up(self):
        """Waits by milliseconds, without another process."""
        end = time.monotonic() + PATIENCE
        while not is_ready():
            self.child.must_run()
            if time.monotonic() > end:
                raise Failed(f"{self.name} is not ready; see {self.child.log}")
            time.sleep(0.001)
        self.ready = time.monotonic() - self.started


def is_ready():
    """Whether a gateway responds 200 to a request for its health."""
    host, port = ADMIN.split(":")
    try:
        with socket.create_connection((host, int(port)), 1) as connection:
            connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: {ADMIN}\r\nConnection: close\r\n\r\n".encode())
            return connection.recv(12) == b"HTTP/1.1 200"
    except OSError:
        return False


def measure(subject):
    """One start: milliseconds until it was ready, its CPU time until then, and its own memory at rest."""
    try:
        subject.start(fresh=False)
        process = Process(subject.child.pid)
        cpu = process.cpu_seconds()
        time.sleep(REST_SECONDS)
        known = probes.metrics(ADMIN, 10).get("herald_trust_signers", 0)
        if known != subject.count:
            raise Failed(f"{subject.name} knows {known:.0f} signers; see {subject.child.log}")
        return {"subject": subject.name, "ready": 1000 * subject.ready, "cpu": 1000 * cpu, "bytes": process.anonymous()}
    finally:
        subject.stop()


def difference(rows, few, many, field):
    """(median, lowest, highest) of what the signers add, start by start."""
    found = [after[field] - before[field] for before, after in zip(
        (row for row in rows if row["subject"] == few), (row for row in rows if row["subject"] == many))]
    return statistics.median(found), min(found), max(found)


def run(options):
    name, binary = options.herald[0]
    laboratory = Laboratory(os.path.join(options.cache, "signers-many")).make()
    none = Knowing(f"{name}-without", options.cache, binary, laboratory, 0)
    many = Knowing(f"{name}-with", options.cache, binary, laboratory, options.count)
    none.install()
    seconds = many.install()
    say(f"imported {options.count} signers in {seconds:.1f} s")
    rows = []
    for _ in range(options.rounds):
        for subject in (none, many):
            rows.append(measure(subject))
            say(", ".join(f"{key} {value}" if isinstance(value, str) else f"{key} {value:.4g}" for key, value in rows[-1].items()))
    results = {"mode": "signers", "machine": machine.description(), "version": many.version(), "count": options.count,
               "import_seconds": seconds, "rows": rows,
               "added": {field: difference(rows, none.name, many.name, field) for field in ("ready", "cpu", "bytes")}}
    results["errors"] = missed(results)
    report.write(options, "signers", results, tables(results))


def missed(results):
    """The bounds that do not hold; both are those of 20,000 signers."""
    if results["count"] != BOUNDED:
        return []
    memory, start = results["added"]["bytes"][0] / 1e6, results["added"]["ready"][0]
    return ([f"{BOUNDED} signers take {memory:.1f} MB, wanted {MEGABYTES}"] if memory > MEGABYTES else []) + (
        [f"{BOUNDED} signers load in {start:.0f} ms, wanted {MILLISECONDS}"] if start > MILLISECONDS else [])


def tables(results):
    def told(field, factor, unit):
        middle, low, high = (value * factor for value in results["added"][field])
        return f"{middle:.1f} {unit} ({low:.1f} to {high:.1f})"
    return [(f"What {results['count']:,} signers add to a gateway, median of the starts (lowest to highest)", [
        ["", "added", "wanted for 20,000"],
        ["memory of its own", told("bytes", 1e-6, "MB"), f"≤ {MEGABYTES} MB"],
        ["time until it is ready", told("ready", 1, "ms"), f"≤ {MILLISECONDS} ms"],
        ["CPU time until then", told("cpu", 1, "ms"), ""],
        ["import", f"{results['import_seconds']:.1f} s", ""]])]
