# SPDX-License-Identifier: Apache-2.0
"""A directory and a gateway on loopback, with their files in one folder.

Deploy/demo and Tests/Scenarios/run use it. Every process is started here and ended here, by its own pid.
"""
import os
import signal
import socket
import subprocess

from . import probes
from .addresses import HOST, OTHER_TRUNK_HOST, UNTRUSTED_TRUNK
from .child import Child, Failed, tail, udp_ports, wait_until
from .records import Event, read_json


class Testbed:
    """The directory and the gateway of one run, with their files in one folder."""

    def __init__(self, binaries, folder, ports, outlives_us=False):
        self.herald_binary = os.path.join(binaries, "herald")
        self.directory_binary = os.path.join(binaries, "herald-directory")
        self.folder = folder
        self.ports = ports
        # True keeps the two programs running when the terminal closes.
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
        """Fails with the port that is in use, before anything is started."""
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
            self.directory_binary, "keys", "add", "gateway", "--write", self.key_file,
            "--state", self.directory_state)

    def start_directory(self, logos):
        self.directory = Child(
            "directory",
            [self.directory_binary, "run", "--listen", f"{HOST}:{self.ports.directory}",
             "--state", self.directory_state, "--logos", logos],
            self.folder, self.outlives_us)
        self.directory.must_respond(f"{HOST}:{self.ports.directory}")

    def write_config(self, gateway="", listen="", trunk="", pbx=None, directory="", more=""):
        """The gateway's configuration for one PBX, a trunk that is trusted and one that is not, on loopback.

        `gateway`, `listen`, `trunk`, `directory` and `more` are lines to be added to the section, to the first trunk and at
        the end;
        `pbx` takes the place of the PBX's address.
        """
        ports = self.ports
        # SIPp runs during a call only, and would treat an OPTIONS as the call.
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
{directory}outcomes:
  # One number calls again and again here: a call after a failed one is no other attempt of it.
  retry_window: 0s
admin:
  listen: {HOST}:{ports.admin}
{more}""")

    def start_gateway(self, wait_for_sync=True, under=()):
        """Starts the gateway; `under` is a command prefix that execs it."""
        os.makedirs(self.gateway_state, exist_ok=True)
        self.gateway = Child(
            "herald", [*under, self.herald_binary, "run", "--config", self.config], self.folder, self.outlives_us)
        self.gateway.must_respond(f"{HOST}:{self.ports.admin}", "/readyz" if wait_for_sync else "/healthz")

    def reload(self):
        """Reloads the configuration, and waits for the gateway's log line about it."""
        seen = tail(self.gateway.log, 100_000).count("reloaded")
        self.gateway.process.send_signal(signal.SIGHUP)
        wait_until(
            lambda: tail(self.gateway.log, 100_000).count("reloaded") > seen, 60,
            "the gateway logged nothing about the new configuration\n" + self.gateway.tail())

    def metric(self, name):
        """The value of one series, named with its labels; None if it does not exist."""
        return probes.metrics(f"{HOST}:{self.ports.admin}").get(name)

    def events(self):
        """The directory's events, oldest first."""
        text = self.command(
            self.directory_binary, "events", "--json", "--limit", "100000", "--state", self.directory_state)
        return [Event(item) for item in reversed(read_json(text))]

    def calls(self):
        """The gateway's calls, oldest first."""
        return read_json(self.command(
            self.herald_binary, "calls", "--json", "--limit", "100000", "--config", self.config))

    def lookup(self, number):
        """The output of `herald lookup` for a caller."""
        return self.command(self.herald_binary, "lookup", number, "--config", self.config)

    def stop(self):
        for child in (self.gateway, self.directory):
            if child is not None:
                child.stop()
