# SPDX-License-Identifier: Apache-2.0
"""`herald replay` beside a running gateway: recorded calls under the same and under a stricter configuration."""
import csv
import io
import json
import os
import shutil

from heraldtest.child import Failed, wait_until
from .control import expect, herald
from .situations import NO_BRAND, SEEN, answered, brand, unbranded

CALLER = brand(1100)
UNKNOWN = brand(9100)


def restart(testbed, trunk=""):
    testbed.gateway.stop()
    testbed.write_config(trunk=trunk)
    testbed.start_gateway()


def recorded(testbed):
    """Caller and decision of each ended call of the two callers, the newest last."""
    return [(call["caller"], call["decision"]) for call in testbed.calls()
            if call.get("caller") in (CALLER, UNKNOWN) and call.get("outcome")]


def replayed(testbed, policy, caller, status):
    """Later decisions by caller, as the lines of CSV have them."""
    found, output, errors = herald(testbed, "replay", "--policy", policy, "--number", caller, "--csv")
    if found != status:
        raise Failed(f"herald replay --policy {policy}: expected {status}, found {found}:\n{output}{errors}")
    return [(line["caller"], line["new_decision"]) for line in csv.DictReader(io.StringIO(output))]


def replayed_policies(testbed, folder, run):
    """The same file changes no call; a stricter one changes those that a gateway with it decides otherwise."""
    os.makedirs(folder, exist_ok=True)
    same, strict = os.path.join(folder, "same.yaml"), os.path.join(folder, "strict.yaml")
    shutil.copy(testbed.config, same)
    run.place(answered(), CALLER, os.path.join(folder, "branded"))
    run.place(unbranded("answered", NO_BRAND), UNKNOWN, os.path.join(folder, "unknown"))
    wait_until(lambda: len(recorded(testbed)) == 2, 60, "the calls are not recorded")
    run.expect_events(testbed, CALLER, SEEN)
    before = recorded(testbed)
    if before != [(CALLER, "matched"), (UNKNOWN, "no_match")]:
        raise Failed(f"recorded: {before}")
    for caller in (CALLER, UNKNOWN):
        if changes := replayed(testbed, same, caller, 0):
            raise Failed(f"the same configuration changes {changes}")
        expect(testbed, 0, "1 call decided again: 0 would change, 0 cannot be decided again", "replay", "--number", caller)
    testbed.write_config(trunk="    policy: strict\n")
    shutil.copy(testbed.config, strict)
    testbed.write_config()
    wanted = replayed(testbed, strict, CALLER, 2) + replayed(testbed, strict, UNKNOWN, 2)
    lines = expect(testbed, 2, "summary", "replay", "--policy", strict, "--number", CALLER, "--json").splitlines()
    if json.loads(lines[-1])["summary"]["changed"] != 1 or json.loads(lines[0])["change"] != "loses_brand":
        raise Failed(f"herald replay --json: {lines}")
    try:
        restart(testbed, "    policy: strict\n")
        run.place(unbranded("answered", NO_BRAND), CALLER, os.path.join(folder, "strict"))
        run.place(unbranded("answered", NO_BRAND), UNKNOWN, os.path.join(folder, "strict-unknown"))
        wait_until(lambda: len(recorded(testbed)) == 4, 60, "the calls under the strict policy are not recorded")
        if recorded(testbed)[2:] != wanted:
            raise Failed(f"replayed: {wanted}, and the strict gateway decided {recorded(testbed)[2:]}")
    finally:
        restart(testbed)


REPLAY = (
    ("recorded calls under another policy", replayed_policies),
)
