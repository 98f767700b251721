# SPDX-License-Identifier: Apache-2.0
"""Child processes of a run: their output, their readiness, their end."""
import os
import signal
import subprocess
import time

from . import probes
from .processes import Process


class Failed(Exception):
    """Something did not happen; the message names it, its place and the log to read."""


class Child:
    """One process with its output in a file of its own."""

    def __init__(self, name, command, folder, outlives_us=False):
        self.name = name
        self.log = os.path.join(folder, name + ".log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=folder,
                start_new_session=outlives_us)

    @property
    def pid(self):
        return self.process.pid

    @property
    def figures(self):
        """The kernel's figures of the process."""
        return Process(self.pid)

    def is_running(self):
        return self.process.poll() is None

    def must_run(self):
        if not self.is_running():
            raise Failed(f"{self.name} ended with {self.process.returncode}:\n{self.tail()}")

    def must_respond(self, address, path="/healthz", seconds=120):
        """Waits until it responds 200."""
        def is_ready():
            self.must_run()
            return probes.status(address, path) == 200
        wait_until(is_ready, seconds, f"{self.name} is not ready on {address}{path}; see {self.log}")
        # Another program on that port may have responded.
        self.must_run()

    def kill(self):
        """Kills the process."""
        self.process.kill()
        self.process.wait()

    def stop(self, patience=8):
        """Ends the process with SIGTERM, after `patience` seconds with SIGKILL."""
        if self.is_running():
            self.process.terminate()
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.kill()

    def tail(self, lines=15):
        return tail(self.log, lines)


def tail(path, lines):
    """The last lines of a file, or "(no log)" without one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "\n".join(file.read().splitlines()[-lines:])
    except OSError:
        return "(no log)"


def udp_ports():
    """The UDP ports that some process of this machine has bound, IPv4."""
    with open("/proc/net/udp", encoding="ascii") as table:
        return {int(line.split()[1].split(":")[1], 16) for line in table.readlines()[1:]}


def ports_in_use():
    """UDP ports bound and TCP ports listened on, IPv4."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return udp_ports() | {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A"}


def wait_until(condition, seconds, what):
    """Checks `condition` every 50 ms, and once at the end; `Failed` with `what` if it never holds."""
    end = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() >= end
        result = condition()
        if result:
            return result
        if is_last:
            raise Failed(what)
        time.sleep(0.05)


def end_on_signals():
    """Turns SIGTERM and SIGHUP into an ordinary exit, so that `finally` blocks stop the children."""

    def leave(number, _frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
