# SPDX-License-Identifier: Apache-2.0
"""A directory and a gateway on loopback, and SIPp calls through them.

Deploy/demo and Tests/Scenarios/run both stand on this. Every process is started here and ended here, by its own pid.
"""
import json
import os
import re
import signal
import socket
import subprocess
import time

import probes
from processes import Process

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENARIOS = os.path.join(ROOT, "Tests", "Scenarios")
HOST = "127.0.0.1"
UNTRUSTED_TRUNK = "127.0.0.3"
# The trusted trunk sends from here too, and from any port.
OTHER_TRUNK_HOST = "127.0.0.4"


class Failed(Exception):
    """Something did not happen; the message says what, where, and what to look at."""


class Ports:
    """Fixed ports of one run, so that every scenario can be repeated by hand."""

    def __init__(self, first):
        self.trunk = first + 60
        self.gateway = first + 70
        self.pbx = first + 80
        self.directory = first + 90
        self.admin = first + 95


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
        """What the kernel counts of it."""
        return Process(self.pid)

    def is_running(self):
        return self.process.poll() is None

    def must_run(self):
        if not self.is_running():
            raise Failed(f"{self.name} ended with {self.process.returncode}:\n{self.tail()}")

    def must_answer(self, address, path="/healthz", seconds=120):
        """Waits until it answers 200."""
        def is_ready():
            self.must_run()
            return probes.status(address, path) == 200
        wait_until(is_ready, seconds, f"{self.name} is not ready on {address}{path}; see {self.log}")
        # Another program on that port may have answered in its place.
        self.must_run()

    def kill(self):
        """Ends the process with no chance to tidy up."""
        self.process.kill()
        self.process.wait()

    def stop(self, patience=8):
        """Asks with SIGTERM, insists with SIGKILL after `patience` seconds."""
        if self.is_running():
            self.process.terminate()
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.kill()

    def tail(self, lines=15):
        return tail(self.log, lines)


def tail(path, lines):
    """The last lines of a file, or a word that says there is none."""
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
    """Asks `condition` every 50 ms, once more when the time is over; `Failed` with `what` when it never holds."""
    end = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() >= end
        answer = condition()
        if answer:
            return answer
        if is_last:
            raise Failed(what)
        time.sleep(0.05)


class House:
    """The directory and the gateway of one run, with their files in one folder."""

    def __init__(self, binaries, folder, ports, outlives_us=False):
        self.herald_binary = os.path.join(binaries, "herald")
        self.directory_binary = os.path.join(binaries, "herald-directory")
        self.folder = folder
        self.ports = ports
        # True leaves the two programs alone when the terminal goes away.
        self.outlives_us = outlives_us
        self.directory_state = os.path.join(folder, "directory")
        self.key_file = os.path.join(folder, "api-key")
        self.config = os.path.join(folder, "herald.yaml")
        self.gateway_state = os.path.join(folder, "gateway")
        self.directory = None
        self.gateway = None

    def command(self, *arguments):
        """Runs an operator's command and returns what it printed."""
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False, cwd=self.folder)
        if done.returncode != 0:
            raise Failed(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stderr.strip()}")
        return done.stdout

    def check_ports(self):
        """Says which port is taken before anything is started."""
        for port in (self.ports.trunk, self.ports.gateway, self.ports.pbx):
            if port in udp_ports():
                raise Failed(f"UDP port {port} is in use; end the program that has it and try again")
        for port in (self.ports.directory, self.ports.admin):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((HOST, port))
                except OSError:
                    raise Failed(f"TCP port {port} is in use; end the program that has it and try again") from None

    def prepare_directory(self, brands):
        """Imports brands from a CSV file and creates the gateway's key."""
        os.makedirs(self.directory_state, exist_ok=True)
        self.command(self.directory_binary, "import", brands, "--state", self.directory_state)
        self.command(
            self.directory_binary, "key", "create", "gateway", "--write", self.key_file,
            "--state", self.directory_state)

    def start_directory(self, logos):
        self.directory = Child(
            "directory",
            [self.directory_binary, "run", "--listen", f"{HOST}:{self.ports.directory}",
             "--state", self.directory_state, "--logos", logos],
            self.folder, self.outlives_us)
        self.directory.must_answer(f"{HOST}:{self.ports.directory}")

    def write_config(self, gateway="", listen="", trunk="", pbx=None, more=""):
        """The gateway's configuration for one PBX, a trunk that is trusted and one that is not, on loopback.

        `gateway`, `listen`, `trunk` and `more` are lines to be added to the section, to the first trunk and at the end;
        `pbx` takes the place of the PBX's address.
        """
        ports = self.ports
        # SIPp is there for the time of a call only, and takes an OPTIONS for one.
        pbx = pbx or f"    address: {HOST}:{ports.pbx}\n    probe: false\n"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway:
  state: {self.gateway_state}
  runtime: {self.gateway_state}
{gateway}listen:
  - name: sip
    address: {HOST}:{ports.gateway}
{listen}trunks:
  - name: carrier
    sources: ["{HOST}:{ports.trunk}", {OTHER_TRUNK_HOST}]
    next_hop: {HOST}:{ports.trunk}
    region: AU
    trusted: true
{trunk}  - name: open
    sources: ["{UNTRUSTED_TRUNK}"]
    next_hop: {UNTRUSTED_TRUNK}:{ports.trunk}
    region: AU
pbx:
  - name: office
{pbx}    sources: ["{HOST}:{ports.pbx}"]
branding:
  # The directory of this run serves its logos without TLS.
  allow_insecure_logos: true
directory:
  url: http://{HOST}:{ports.directory}
  api_key_file: {self.key_file}
outcomes:
  # One number calls again and again here: a call after a failed one is no other attempt of it.
  retry_window: 0s
admin:
  listen: {HOST}:{ports.admin}
{more}""")

    def start_gateway(self, wait_for_sync=True, under=()):
        """Starts the gateway, `under` a command that becomes it."""
        os.makedirs(self.gateway_state, exist_ok=True)
        self.gateway = Child(
            "herald", [*under, self.herald_binary, "run", "--config", self.config], self.folder, self.outlives_us)
        self.gateway.must_answer(f"{HOST}:{self.ports.admin}", "/readyz" if wait_for_sync else "/healthz")

    def reload(self):
        """Makes the gateway read its configuration again, and waits for its word on it."""
        seen = tail(self.gateway.log, 100_000).count("reloaded")
        self.gateway.process.send_signal(signal.SIGHUP)
        wait_until(
            lambda: tail(self.gateway.log, 100_000).count("reloaded") > seen, 60,
            "the gateway did not say whether it took the new configuration\n" + self.gateway.tail())

    def metric(self, name):
        """The value of one series, labels included in its name; None when it is not there."""
        return probes.metrics(f"{HOST}:{self.ports.admin}").get(name)

    def events(self):
        """What the directory has recorded, oldest first."""
        text = self.command(
            self.directory_binary, "events", "--json", "--limit", "100000", "--state", self.directory_state)
        return [Event(item) for item in reversed(read_json(text))]

    def calls(self):
        """What the gateway has recorded, oldest first."""
        return read_json(self.command(
            self.herald_binary, "calls", "--json", "--limit", "100000", "--config", self.config))

    def lookup(self, number):
        """What `herald lookup` says of a caller."""
        return self.command(self.herald_binary, "lookup", number, "--config", self.config)

    def stop(self):
        for child in (self.gateway, self.directory):
            if child is not None:
                child.stop()


def read_json(text):
    """A JSON array, or one object a line; names without underscores and capitals, so that either spelling is read."""
    text = text.strip()
    items = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    return [{name.replace("_", "").lower(): value for name, value in item.items()} for item in items]


class Event:
    """One event as the directory recorded it."""

    def __init__(self, item):
        self.meta = item.get("meta") or {}
        self.number = item.get("phonenumbere164") or item.get("phonenumber") or item.get("number")
        self.outcome = item["outcome"]
        self.key = item.get("eventkey") or item.get("key")

    @property
    def story(self):
        """The outcome, with what became of the call where the event says so at the end of one."""
        result = self.meta.get("call_outcome")
        return self.outcome if self.outcome == "displayed" or not result else f"{self.outcome} {result}"


class Side:
    """One end of a SIPp call: a scenario file on an address."""

    def __init__(self, name, script, port, keys, folder, host=HOST, remote=None, calls=1, options=()):
        self.name = name
        self.port = port
        self.messages = os.path.join(folder, name + ".messages")
        self.errors = os.path.join(folder, name + ".errors")
        command = ["sipp"]
        if remote:
            # The gateway is asked in the family the caller has.
            command.append(f"[::1]:{remote}" if ":" in host else f"{HOST}:{remote}")
        command += [
            "-sf", os.path.join(SCENARIOS, script), "-i", host, "-p", str(port), "-m", str(calls), "-l", "200",
            "-r", "200", "-nostdin", "-timeout", "120", "-timeout_error", "-trace_err", "-error_file", self.errors,
            "-trace_msg", "-message_file", self.messages, "-skip_rlimit", *options]
        for key, value in keys.items():
            command += ["-key", key, value]
        self.child = Child(name, command, folder)

    def wait(self, seconds=130):
        """True when SIPp ended with every call successful."""
        try:
            return self.child.process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            self.child.stop(1)
            return False

    def trouble(self):
        """What SIPp says went wrong, with the last messages of this side."""
        errors = tail(self.errors, 6)
        if errors == "(no log)":
            errors = tail(self.child.log, 6)
        return f"--- {self.name}: {errors}\n{tail(self.messages, 40)}"

    def sent_and_received(self):
        """(direction, text) of every message of this side, in order."""
        with open(self.messages, "rb") as file:
            data = file.read()
        found = []
        for mark in re.finditer(rb"message (sent|received) [\[(](\d+)\]? bytes ?\)?:\n\n", data):
            size = int(mark.group(2))
            text = data[mark.end():mark.end() + size].decode("utf-8", "replace")
            found.append((mark.group(1).decode(), text))
        return found


class Call:
    """Two sides of one call; the answering one is started first."""

    def __init__(self, folder, answering=None, calling=None):
        self.folder = folder
        self.answering = answering
        self.calling = calling
        self.sides = []

    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        if self.answering:
            answering = Side(folder=self.folder, **self.answering)
            self.sides.append(answering)
            wait_until(
                lambda: answering.port in ports_in_use() or not answering.child.is_running(), 60,
                f"sipp did not listen on port {answering.port}")
        self.sides.append(Side(folder=self.folder, **self.calling))
        return self

    def finish(self):
        """True when both sides are content. A side whose other side has failed is not waited for to the end."""
        content = self.sides[-1].wait()
        if len(self.sides) == 2:
            content = self.sides[0].wait(130 if content else 1) and content
        return content

    def stop(self):
        for side in self.sides:
            side.child.stop(1)

    def trouble(self):
        return "\n".join(side.trouble() for side in self.sides)


def end_on_signals():
    """Turns SIGTERM and SIGHUP into an ordinary exit, so that `finally` blocks stop what was started."""

    def leave(number, _frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
