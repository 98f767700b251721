# SPDX-License-Identifier: Apache-2.0
"""A gateway with a shared ledger in a real PostgreSQL: calls arrive there, and its death is a lag and no trouble of calls.

A call back waits for PostgreSQL, because the call that it returns may be another gateway's."""
import json
import os
import subprocess

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from heraldtest.postgres import Server
from .situations import CAUSE_16, GAVE_UP, SEEN, answered, both, brand, step

PATIENCE = 90


def herald(testbed, *arguments):
    """(output, errors) of a command that must succeed."""
    done = subprocess.run(
        [testbed.herald_binary, *arguments, "--config", testbed.config], capture_output=True, text=True, timeout=60,
        check=False)
    if done.returncode and arguments[0] != "doctor":
        raise Failed(f"herald {' '.join(arguments)}: {done.stderr}")
    return done.stdout, done.stderr


def shared_calls(testbed, caller):
    """The gateways that the shared ledger has for ended calls of a caller."""
    output, errors = herald(testbed, "calls", "--json", "--number", caller)
    if errors:
        return []
    return [call["gateway"] for call in map(json.loads, output.splitlines()) if call.get("outcome")]


def shared_ledger(testbed, folder, run):
    """A call is in the shared ledger within seconds; a killed PostgreSQL delays it, and the next call is branded as ever."""
    server = Server()
    try:
        secret = os.path.join(testbed.folder, "cluster-secret")
        with open(secret, "w", encoding="ascii") as file:
            file.write("00112233445566778899aabbccddeeff\n")
        os.chmod(secret, 0o600)
        port = testbed.ports.admin + 3
        testbed.gateway.stop()
        testbed.write_config(gateway="  id: north\n", more=f"""\
cluster:
  secret_file: {secret}
  listen: {HOST}:{port}
  siblings: [{HOST}:{port + 1}]
  route: {HOST}
  limits: each
  ledger: {server.url}
""")
        testbed.start_gateway()
        run.place(answered(), brand(1076), os.path.join(folder, "first"))
        run.expect_events(testbed, brand(1076), SEEN)
        wait_until(lambda: shared_calls(testbed, brand(1076)) == ["north"], PATIENCE, "the call is not in the shared ledger")
        wait_until(lambda: "shared    up to date" in herald(testbed, "status")[0], PATIENCE, "herald status shows a lag")
        if "north" not in herald(testbed, "doctor")[0]:
            raise Failed("herald doctor does not name the gateways of the shared ledger")
        server.perform("kill")
        run.place(answered(), brand(1077), os.path.join(folder, "second"))
        run.expect_events(testbed, brand(1077), SEEN)
        wait_until(lambda: testbed.metric("herald_shared_behind_seconds") > 3, PATIENCE, "no lag while PostgreSQL is away")
        output, errors = herald(testbed, "calls", "--number", brand(1077))
        if "only calls of this gateway" not in errors or brand(1077) not in output:
            raise Failed(f"herald calls without PostgreSQL: {output}{errors}")
        if "not written: PostgreSQL at" not in herald(testbed, "status")[0]:
            raise Failed("herald status does not say why the shared ledger is behind")
        subscriber = "+61255502077"
        run.place(both("missed", reason=CAUSE_16, called=subscriber), brand(1077), os.path.join(folder, "missed"))
        run.place(step("return-call/pbx.xml", "return-call/carrier.xml", name="Front Desk", called=brand(1077),
                       caller=subscriber), brand(1077), os.path.join(folder, "return"))
        run.expect_events(testbed, brand(1077), SEEN + GAVE_UP)
        server.perform("start")
        wait_until(lambda: testbed.metric("herald_shared_behind_seconds") == 0, PATIENCE, "the lag stays")
        wait_until(lambda: shared_calls(testbed, brand(1077)) == ["north"] * 3, PATIENCE, "the calls did not follow")
        run.expect_events(testbed, brand(1077), SEEN + GAVE_UP + ("returned",))
    finally:
        server.stop()
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()


SHARED = (("shared ledger in PostgreSQL", shared_ledger),)
