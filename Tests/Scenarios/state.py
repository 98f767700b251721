# SPDX-License-Identifier: Apache-2.0
"""A gateway whose state folder is damaged, read-only or gone: calls are carried and branded all the same."""
import glob
import os
import shutil
import sqlite3
import subprocess

from heraldtest.child import Failed, wait_until
from .situations import SEEN, answered, brand, step


# Seconds in which the gateway must notice a change of its files.
PATIENCE = 60


def expect_metric(testbed, name, value):
    wait_until(lambda: testbed.metric(name) == value, PATIENCE, f"{name} is {testbed.metric(name)}, expected {value}\n"
               + testbed.gateway.tail())


def damaged_ledger(testbed, folder, run):
    """A ledger that is no database is kept under another name; calls are branded and recorded in a new one."""
    testbed.gateway.stop()
    ledger = os.path.join(testbed.gateway_state, "herald.sqlite")
    for path in (ledger + "-wal", ledger + "-shm"):
        if os.path.exists(path):
            os.remove(path)
    with open(ledger, "wb") as file:
        file.write(b"A" * 8192)
    testbed.start_gateway()
    run.place(answered(), brand(1072), folder)
    run.expect_events(testbed, brand(1072), SEEN)
    expect_metric(testbed, "herald_ledger_refuses", 0.0)
    expect_metric(testbed, "herald_state_problems", 1.0)
    kept = glob.glob(ledger + ".damaged-*")
    if not kept or "kept as " + kept[0] not in testbed.gateway.tail(60):
        raise Failed(f"expected the damaged ledger under another name, found {kept}:\n" + testbed.gateway.tail(30))
    testbed.gateway.stop()
    testbed.start_gateway()
    expect_metric(testbed, "herald_state_problems", 0.0)


def read_only_folder(testbed, folder, run):
    """Without a writable state folder, calls are branded from the stored data, and recorded once it can be written."""
    hidden = ("unshare", "-rm", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
              testbed.gateway_state)
    if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
        raise Failed("no folder can be made read-only for one process here: it takes user namespaces, or root")
    testbed.gateway.stop()
    testbed.start_gateway(wait_for_sync=False, under=hidden)
    try:
        run.place(answered(), brand(1073), folder)
        expect_metric(testbed, "herald_ledger_refuses", 1.0)
        if "Read-only file system" not in testbed.gateway.tail(60):
            raise Failed("the log does not say what is wrong:\n" + testbed.gateway.tail(30))
        testbed.gateway.must_run()
        subprocess.run(["nsenter", "-t", str(testbed.gateway.pid), "-U", "-m", "--preserve-credentials", "mount", "-o",
                        "remount,rw,bind", testbed.gateway_state], check=True)
        # Without a restart.
        expect_metric(testbed, "herald_ledger_refuses", 0.0)
        run.expect_events(testbed, brand(1073), SEEN)
    finally:
        testbed.gateway.stop()
        testbed.start_gateway()


def content(path):
    """Every table and row of a database, as SQL.

    Its bytes change when it is opened: GRDB makes and drops a table to begin the write-ahead log.
    """
    with sqlite3.connect(path) as database:
        statements = list(database.iterdump())
    database.close()
    return statements


def newer_ledger(testbed, folder, run):
    """A ledger that a later version has written is left alone; calls are branded, and recorded by that version."""
    ledger = os.path.join(testbed.gateway_state, "herald.sqlite")
    testbed.gateway.stop()
    shutil.copy(ledger, ledger + ".before")
    with sqlite3.connect(ledger) as database:
        database.execute("INSERT INTO grdb_migrations VALUES ('ledger of a later version')")
        database.execute("ALTER TABLE call ADD COLUMN later TEXT NOT NULL DEFAULT 'x'")
    database.close()
    before = content(ledger)
    testbed.start_gateway()
    try:
        run.place(answered(), brand(1083), folder)
        expect_metric(testbed, "herald_ledger_refuses", 1.0)
        if "was written by a newer herald; install that version again" not in testbed.gateway.tail(60):
            raise Failed("the log does not say what is wrong:\n" + testbed.gateway.tail(30))
        testbed.gateway.must_run()
    finally:
        testbed.gateway.stop()
    if content(ledger) != before:
        raise Failed("the ledger of the later version was changed")
    # The later version is installed again: this one, with a ledger that it knows.
    os.replace(ledger + ".before", ledger)
    testbed.start_gateway()
    run.expect_events(testbed, brand(1083), SEEN)


def removed_folder(testbed, folder, run):
    """The gateway notices that its folder was removed; a new ledger has the call."""
    call = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), brand(1074), os.path.join(folder, "long"))
    try:
        wait_until(lambda: testbed.metric("herald_calls_in_progress") >= 1, 60, "the call did not begin")
        shutil.rmtree(testbed.gateway_state)
        expect_metric(testbed, "herald_state_problems", 1.0)
        if not call.finish():
            raise Failed("the call in progress suffered\n" + call.trouble())
    finally:
        call.stop()
    run.expect_events(testbed, brand(1074), SEEN)
    testbed.gateway.stop()
    testbed.start_gateway()


STATES = (
    ("damaged ledger", damaged_ledger),
    ("read-only state folder", read_only_folder),
    ("ledger of a later version", newer_ledger),
    ("state folder removed under a call", removed_folder),
)
