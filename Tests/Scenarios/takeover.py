# SPDX-License-Identifier: Apache-2.0
"""Two gateways with a shared ledger in a real PostgreSQL: one dies in a call, its sibling carries the call to its end."""
import json
import os
import shutil

from heraldtest import probes
from heraldtest.addresses import HOST
from heraldtest.child import Child, Failed, wait_until
from .shared_ledger import PATIENCE, Server, herald
from .situations import SEEN, answered, brand, step

# Where the first gateway listens once its sibling has its address, as after a move by keepalived.
ASIDE = "127.0.0.9"


class Sibling:
    """A second gateway with the testbed's configuration, and its own name, state and ports."""

    def __init__(self, testbed, port):
        self.herald_binary, self.folder = testbed.herald_binary, os.path.join(testbed.folder, "sibling")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.config, self.admin = os.path.join(self.folder, "herald.yaml"), f"{HOST}:{testbed.ports.admin + 8}"
        with open(testbed.config, encoding="utf-8") as file:
            text = file.read()
        for old, new in (
                ("id: north", "id: south"), (testbed.gateway_state, self.folder),
                (f"{HOST}:{testbed.ports.admin}", self.admin),
                (f"listen: {HOST}:{port}\n  siblings: [{HOST}:{port + 1}]",
                 f"listen: {HOST}:{port + 1}\n  siblings: [{HOST}:{port}]")):
            if old not in text:
                raise Failed(f"the configuration has no {old}")
            text = text.replace(old, new)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)
        self.child = Child("south", [self.herald_binary, "run", "--config", self.config], self.folder)
        self.child.must_respond(self.admin, "/readyz")

    def metric(self, name):
        return probes.metrics(self.admin).get(name)


def north(testbed, server, port, address):
    """The first gateway's configuration, with its address for calls."""
    testbed.write_config(gateway="  id: north\n", more=f"""\
cluster:
  secret_file: {os.path.join(testbed.folder, "cluster-secret")}
  listen: {HOST}:{port}
  siblings: [{HOST}:{port + 1}]
  route: {HOST}
  limits: each
  ledger: {server.url}
""")
    if address != HOST:
        with open(testbed.config, encoding="utf-8") as file:
            text = file.read()
        with open(testbed.config, "w", encoding="utf-8") as file:
            file.write(text.replace(f"address: {HOST}:{testbed.ports.gateway}", f"address: {address}:{testbed.ports.gateway}"))


def listed(gateway, caller):
    """(gateway, outcome, seconds) of each call of a caller, as `herald calls` of one gateway lists them."""
    output, errors = herald(gateway, "calls", "--json", "--number", caller)
    if errors:
        return []
    return [(call["gateway"], call.get("outcome"), call.get("call_seconds")) for call in map(json.loads, output.splitlines())]


def takeover(testbed, folder, run):
    """A gateway dies in a call; its BYE passes the sibling; the call is listed once, with its duration."""
    server, south, port = Server(), None, testbed.ports.admin + 3
    secret = os.path.join(testbed.folder, "cluster-secret")
    try:
        with open(secret, "w", encoding="ascii") as file:
            file.write("00112233445566778899aabbccddeeff\n")
        os.chmod(secret, 0o600)
        testbed.gateway.stop()
        north(testbed, server, port, HOST)
        testbed.start_gateway()
        call = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), brand(1080), os.path.join(folder, "first"))
        try:
            wait_until(lambda: listed(testbed, brand(1080)) == [("north", None, None)], PATIENCE,
                       "the open call is not in the shared ledger")
            wait_until(lambda: testbed.metric("herald_calls_in_progress") == 1, PATIENCE, "the call is not answered")
            testbed.gateway.kill()
            south = Sibling(testbed, port)
            if not call.finish():
                raise Failed("the call did not end through the sibling\n" + call.trouble())
        finally:
            call.stop()
        north(testbed, server, port, ASIDE)
        testbed.start_gateway()
        run.expect_events(testbed, brand(1080), SEEN)
        once(testbed, south, brand(1080), "north", range(6, 13))
        run.place(answered(), brand(1081), os.path.join(folder, "second"))
        run.expect_events(testbed, brand(1081), SEEN)
        once(testbed, south, brand(1081), "south", range(0, 60))
    finally:
        if south:
            south.child.stop()
        server.stop()
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()


def once(first, second, caller, owner, seconds):
    """Both gateways list one call of the caller, answered, with its owner and its duration."""
    for gateway in (first, second):
        def has_it(gateway=gateway):
            calls = listed(gateway, caller)
            return len(calls) == 1 and calls[0][:2] == (owner, "ANSWERED") and calls[0][2] in seconds
        wait_until(has_it, PATIENCE, f"expected one call of {owner}, listed are {listed(gateway, caller)}")


TAKEOVER = (("a sibling ends the call of a killed gateway", takeover),)
