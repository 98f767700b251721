# SPDX-License-Identifier: Apache-2.0
"""Two gateways with a shared ledger: calls that go on at the other one."""
import contextlib
import copy
import json
import os
import signal

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from .shared_ledger import Server, herald
from .situations import SEEN, brand, refused, step

PATIENCE = 90


def sibling(testbed):
    """A second gateway on other ports, with the same trunk, PBX, directory and secret."""
    other = copy.copy(testbed)
    other.ports = copy.copy(testbed.ports)
    other.ports.gateway += 2
    other.ports.admin += 5
    other.folder = os.path.join(testbed.folder, "south")
    os.makedirs(other.folder, exist_ok=True)
    other.config = os.path.join(other.folder, "herald.yaml")
    other.gateway_state = os.path.join(other.folder, "gateway")
    other.gateway = None
    return other


def cluster(testbed, other, name, ports, server, retry):
    """Writes the configuration of one of the two; `ports` are those of its sibling address and of the other's."""
    secret = os.path.join(testbed.folder, "cluster-secret")
    with open(secret, "w", encoding="ascii") as file:
        file.write("00112233445566778899aabbccddeeff\n")
    os.chmod(secret, 0o600)
    other.write_config(gateway=f"  id: {name}\n", more=f"""\
cluster:
  secret_file: {secret}
  listen: {HOST}:{ports[0]}
  siblings: [{HOST}:{ports[1]}]
  route: {HOST}
  limits: each
  ledger: {server.url}
""")
    with open(other.config, encoding="utf-8") as file:
        text = file.read()
    with open(other.config, "w", encoding="utf-8") as file:
        file.write(text.replace("retry_window: 0s", f"retry_window: {retry}"))


def calls(testbed, caller, *options):
    """The calls of a caller."""
    output, _ = herald(testbed, "calls", "--json", "--number", caller, *options)
    return [json.loads(line) for line in output.splitlines()]


def owners(testbed, caller, *options):
    """Gateway and outcome of each call of a caller; no outcome while it is open."""
    return [(call.get("gateway"), call.get("outcome")) for call in calls(testbed, caller, *options)]


def killed(testbed):
    """Kills the gateway; returns what brings it back."""
    testbed.gateway.kill()
    return testbed.start_gateway


def frozen(testbed):
    """Stops the gateway's process where it is; returns what lets it go on."""
    process = testbed.gateway.process
    process.send_signal(signal.SIGSTOP)
    return lambda: process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def two_gateways(testbed, retry="0s"):
    """The testbed's gateway as north and a second one, south, with one shared ledger; `retry` is their retry_window."""
    server, south = Server(), sibling(testbed)
    try:
        first = testbed.ports.admin + 8
        testbed.gateway.stop()
        cluster(testbed, testbed, "north", (first, first + 1), server, retry)
        cluster(testbed, south, "south", (first + 1, first), server, retry)
        testbed.start_gateway()
        south.start_gateway()
        for gateway in (testbed, south):
            wait_until(
                lambda gateway=gateway: "up to date" in herald(gateway, "status")[0], PATIENCE,
                "the shared ledger is not written")
        yield south
    finally:
        if south.gateway:
            south.gateway.stop()
        server.stop()
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()


def adoption(testbed, folder, run, caller, silence):
    """An answered call outlives its gateway in the accounts: one row, its duration, and one event of each kind."""
    with two_gateways(testbed) as south:
        call, restore = run.start(
            step("long-call/carrier.xml", "answered/pbx.xml"), caller, os.path.join(folder, "call")), None
        try:
            wait_until(
                lambda: owners(south, caller) == [("north", None)], PATIENCE, "the call is not in the shared ledger")
            wait_until(
                lambda: calls(south, caller)[0].get("answered_at"), PATIENCE, "the shared ledger does not have the answer")
            # The caller says nothing more until the test lets it.
            call.sides[-1].child.process.send_signal(signal.SIGSTOP)
            restore = silence(testbed)
            wait_until(lambda: owners(south, caller) == [("south", None)], PATIENCE, "nobody goes on with the call")
            if "go on here" not in herald(south, "status")[0]:
                raise Failed("herald status does not show the adopted call")
            back, restore = restore, None
            back()
            wait_until(lambda: testbed.metric("herald_shared_away_calls") == 1, PATIENCE, "north does not leave the call")
            call.sides[-1].child.process.send_signal(signal.SIGCONT)
            if not call.finish():
                raise Failed("the call did not go as written\n" + call.trouble())
            ends_at(testbed, south, caller)
            run.expect_events(testbed, caller, SEEN)
            if south.metric('herald_shared_adopted_total{kind="calls"}') != 1:
                raise Failed("the metric does not count the adopted call")
        finally:
            if restore:
                restore()
            for side in call.sides:
                if side.child.is_running():
                    side.child.process.send_signal(signal.SIGCONT)
            call.stop()


def ends_at(testbed, south, caller):
    """The call has ended at south with its duration, and north knows of it."""
    wait_until(lambda: owners(south, caller) == [("south", "ANSWERED")], PATIENCE, "the call does not end")
    wait_until(
        lambda: owners(testbed, caller, "--local") == [(None, "ANSWERED")], PATIENCE, "north does not learn of the end")
    for ended in (calls(south, caller)[0], calls(testbed, caller, "--local")[0]):
        if (ended.get("call_seconds") or 0) < 15:
            raise Failed(f"the call has a wrong duration: {ended}")


def tried_elsewhere(testbed, folder, run):
    """A carrier that fails at one gateway and succeeds at the next has made one call: one row, two INVITEs, one set of events."""
    caller = brand(1082)
    with two_gateways(testbed, retry="10s") as south:
        run.place(refused("503", False, "500"), caller, os.path.join(folder, "first"))
        run.place(
            step("long-call/carrier.xml", "answered/pbx.xml"), caller, os.path.join(folder, "second"),
            gateway=south.ports.gateway)
        for gateway in (testbed, south):
            def is_one(gateway=gateway):
                found = calls(gateway, caller)
                return owners(gateway, caller) == [("south", "ANSWERED")] and found[0]["attempts"] == 2
            wait_until(is_one, PATIENCE, "the two attempts are not one call")
        run.expect_events(testbed, caller, SEEN)
        if testbed.metric("herald_shared_redials_total") != 1 or calls(testbed, caller, "--local"):
            raise Failed("north has a call of its own\n" + herald(testbed, "calls", "--local")[0])


ADOPTION = (
    ("a gateway is killed during a call",
     lambda testbed, folder, run: adoption(testbed, folder, run, brand(1078), killed)),
    ("a gateway is frozen during a call",
     lambda testbed, folder, run: adoption(testbed, folder, run, brand(1079), frozen)),
    ("a second attempt passes another gateway", tried_elsewhere),
)
