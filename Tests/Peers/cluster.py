# SPDX-License-Identifier: Apache-2.0
"""Gateways of one cluster on machines of their own, a shared address that moves, and Kamailio's dispatcher before them."""
import contextlib
import os
import subprocess
from typing import NamedTuple

from heraldtest.child import Child, wait_until
from heraldtest.gateway import BRAND, CALLER, LOGO, Gateway
from .roamer import CARRIER as ROAMER, DESK
from .wrongclock import WrongClock

HERE = os.path.dirname(os.path.abspath(__file__))
CARRIER, EDGE, PBX, PHONES = "203.0.113.5", "203.0.113.6", "192.0.2.20", "192.0.2.30"
SHARED = "192.0.2.9"
PEERS = os.environ.get("NETNS", "")
SECRET = "000102030405060708090a0b0c0d0e0f"


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=20)


def setting(namespace, name, value):
    """One value of /proc/sys/net/ipv4 in a namespace."""
    subprocess.run(["ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv4.{name}={value}"], check=True, timeout=20)


def lay_network(*more):
    """This namespace is the network, with the addresses of all peers."""
    for address in (CARRIER, EDGE, PBX, PHONES, *more):
        ip("addr", "add", f"{address}/32", "dev", "lo")
    setting(PEERS, "ip_forward", 1)


class Terms(NamedTuple):
    """What the configurations of all nodes have in common."""
    carrier: str = CARRIER
    # Whether peers use the shared address alone, or each node's own beside it.
    is_at_shared: bool = False
    # The address of the shared ledger.
    ledger: str = ""
    # The section `directory`; without it the brand comes from a file.
    directory: str = ""
    outcomes: str = "retry_window: 0s"
    # Whether each node has a clock of its own, `clock`, that can be set wrong.
    has_clock: bool = False
    # Targets of the PBX, which are probed: then a node has the shared address alone.
    targets: tuple = ()


class Node(Gateway):
    """A gateway at an address of its own, in a namespace that is its machine."""

    def __init__(self, name, number, count, folder, terms):
        self.name, self.own = name, f"192.0.2.{10 + number}"
        self.machine, self.wire = f"{PEERS}-{name}", f"to{name}"
        super().__init__(os.path.join(folder, name), admin=f"{self.own}:9470")
        self.count, self.terms = count, terms
        self.clock = WrongClock(os.path.join(folder, name + "-clock")) if terms.has_clock else None
        self.secrets = os.path.join(self.folder, "cluster-secret")
        self.write_secrets(SECRET)
        self.write_configuration()
        self.lay_wire()

    def write_secrets(self, *lines):
        with open(self.secrets, "w", encoding="ascii") as file:
            file.write("".join(line + "\n" for line in lines))
        os.chmod(self.secrets, 0o600)

    def write_configuration(self):
        nodes = [f"192.0.2.{10 + number}" for number in range(1, self.count + 1)]
        siblings = [f"{address}:5070" for address in nodes if address != self.own]
        carrier, side = self.terms.carrier, "shared" if self.terms.is_at_shared else "own"
        own = "" if self.terms.targets else f'  - {{name: own, address: "{self.own}:5060"}}\n'
        office = f'address: "{PBX}:5060", probe: false'
        if self.terms.targets:
            office = "targets: [" + ", ".join(
                f'{{address: "{target}:5060", priority: {place}}}' for place, target in enumerate(self.terms.targets)) + "]"
        sources = self.terms.targets or (PBX,)
        source = f"directory: {self.terms.directory}"
        if not self.terms.directory:
            brands = os.path.join(self.folder, "brands.psv")
            source = f"brands: {{file: {brands}}}"
            with open(brands, "w", encoding="utf-8") as file:
                file.write(f"{CALLER}|{BRAND}|{LOGO}|Your appointment\n")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway: {{id: {self.name}, state: {self.folder}, runtime: {self.folder}, drain: 60s}}
listen:
{own}  - {{name: shared, address: "{SHARED}:5060"}}
cluster:
  secret_file: {self.secrets}
  listen: "{self.own}:5070"
  siblings: {siblings}
  route: {SHARED}
{f"  ledger: {self.terms.ledger}" if self.terms.ledger else ""}
trunks:
  - {{name: carrier, sources: ["{carrier}"], next_hop: "{carrier}:5060", region: DE, trusted: true, listen: {side}}}
  - {{name: roamer, sources: ["{ROAMER}"], next_hop: "{ROAMER}:5060", region: DE, trusted: true, listen: {side}, pbx: desk}}
pbx:
  - {{name: office, {office}, sources: {list(sources)}, listen: {side}}}
  - {{name: desk, address: "{DESK}:5060", sources: ["{DESK}"], listen: {side}, probe: false}}
{source}
outcomes: {{{self.terms.outcomes}}}
admin: {{listen: "{self.admin}"}}
log: {{level: notice}}
""")

    def lay_wire(self):
        ip("netns", "add", self.machine)
        ip("link", "add", self.wire, "type", "veth", "peer", "name", "wire", "netns", self.machine)
        ip("-n", self.machine, "link", "set", "lo", "up")
        ip("-n", self.machine, "addr", "add", f"{self.own}/32", "dev", "wire")
        ip("-n", self.machine, "link", "set", "wire", "up")
        ip("-n", self.machine, "route", "add", "default", "dev", "wire")
        ip("link", "set", self.wire, "up")
        ip("route", "add", f"{self.own}/32", "dev", self.wire)
        # Nodes reach each other through this namespace.
        setting(PEERS, f"conf.{self.wire}.proxy_arp", 1)

    def start(self):
        with self.clock.applied() if self.clock else contextlib.nullcontext():
            self.child = Child(
                self.name, ["ip", "netns", "exec", self.machine, os.environ["HERALD"], "run", "--config", self.config],
                self.folder)
        self.child.must_respond(self.admin)

    def cut_off(self, address):
        """Packets to an address are lost on the way from now on."""
        rules = (f"add table ip cut; add chain ip cut out {{ type filter hook output priority 0; }}; "
                 f"add rule ip cut out ip daddr {address} drop")
        subprocess.run(["ip", "netns", "exec", self.machine, "nft", rules], check=True, timeout=20)

    def reconnect(self):
        """They arrive again."""
        subprocess.run(["ip", "netns", "exec", self.machine, "nft", "delete table ip cut"], check=True, timeout=20)

    def take_address(self):
        """The shared address is at this node from now on."""
        ip("-n", self.machine, "addr", "add", f"{SHARED}/32", "dev", "wire")
        ip("route", "replace", f"{SHARED}/32", "dev", self.wire)

    def leave_address(self):
        ip("-n", self.machine, "addr", "del", f"{SHARED}/32", "dev", "wire")

    def command(self, *words):
        """(status, output) of a command of herald on this machine."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.machine, os.environ["HERALD"], *words, "--config", self.config],
            capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def remove(self):
        self.stop()
        subprocess.run(["ip", "netns", "del", self.machine], timeout=20, check=False)


class Cluster:
    """Some nodes that run, each of which reaches all others."""

    def __init__(self, count, folder, **terms):
        self.nodes = [
            Node(name, number, count, folder, Terms(**terms))
            for number, name in zip(range(1, count + 1), "abcde")]

    def start(self):
        for node in self.nodes:
            node.start()
        self.wait_for_siblings(len(self.nodes))

    def wait_for_siblings(self, count):
        for node in self.running():
            wait_until(
                lambda node=node: node.metric("herald_sibling_up") == count - 1, 20,
                f"{node.name} does not reach its siblings")

    def running(self):
        return [node for node in self.nodes if node.child and node.child.is_running()]

    def calls(self):
        """(node, call) of every ledger."""
        return [(node.name, call) for node in self.nodes for call in node.calls()]

    def open_calls(self):
        return sum(node.metric("herald_open_calls") for node in self.running())

    def stop(self):
        for node in self.nodes:
            node.remove()


class Relay:
    """Kamailio between `far` and the gateways: its calls go round robin to the gateways that respond."""

    def __init__(self, name, address, far, gateways, folder):
        self.control = os.path.join(folder, name + ".control")
        path = os.path.join(folder, name + ".list")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"1 sip:{gateway}:5060 9\n" for gateway in gateways)
        self.child = Child(name, [
            "kamailio", "-DD", "-E", "-f", os.path.join(HERE, "kamailio", "relay.cfg"), "-Y", folder,
            "-P", os.path.join(folder, name + ".pid"), "-m", "64", "-M", "8", "-A", f"ME=udp:{address}:5060",
            "-A", f'FAR="{far}"', "-A", f'GATEWAY="{SHARED}"', "-A", f'LIST="{path}"',
            "-A", f'CONTROL="unix:{self.control}"'], folder)

    def active(self):
        """The number of gateways that get calls."""
        done = subprocess.run(
            ["kamcmd", "-s", f"unix:{self.control}", "dispatcher.list"], capture_output=True, text=True, timeout=5,
            check=False)
        return sum(line.split()[-1] == "AP" for line in done.stdout.splitlines() if "FLAGS" in line)


__all__ = ["CARRIER", "EDGE", "PBX", "PHONES", "SECRET", "SHARED", "Cluster", "Node", "Relay", "Terms", "lay_network"]
