# SPDX-License-Identifier: Apache-2.0
"""A trunk in shadow: calls are decided and recorded, no phone shows a brand, and the directory learns nothing of them."""
import json
import os

from heraldtest.child import Failed, wait_until
from .control import expect, herald
from .situations import ALL_BRANDED, NO_BRAND, SEEN, answered, brand, unbranded
from .wrong_peers import page

CALLER = brand(1099)
UNKNOWN = brand(9099)


def restart(testbed, trunk=""):
    testbed.gateway.stop()
    testbed.write_config(trunk=trunk)
    testbed.start_gateway()


def recorded(testbed):
    """The decision and the brand of each ended call of the two callers, as `herald calls` lists them."""
    return [(call["caller"], call["decision"], call.get("brandname")) for call in testbed.calls()
            if call.get("caller") in (CALLER, UNKNOWN) and call.get("outcome")]


def expect_summary(testbed, begin):
    """Summary, filter, story, status, doctor, lookup and page show what would have been branded."""
    text = expect(testbed, 0, "would have a brand, but are in shadow", "calls", "--summary", "--since", begin)
    if not any(line.split()[:3] == ["shadow", *ALL_BRANDED.split()] for line in text.splitlines()):
        raise Failed(f"the summary has no brand in shadow:\n{text}")
    status, output, errors = herald(testbed, "calls", "--summary", "--since", begin, "--json")
    shadow = json.loads(output)["shadow"] if status == 0 else errors
    if [(line["value"], line["calls"]) for line in shadow] != [(ALL_BRANDED, 2)]:
        raise Failed(f"the summary in JSON has {shadow}")
    listed = expect(testbed, 0, CALLER, "calls", "--decision", "shadow", "--json")
    found = [json.loads(line) for line in listed.splitlines()]
    if len(found) != 2 or {call["brand_name"] for call in found} != {ALL_BRANDED}:
        raise Failed(f"herald calls --decision shadow lists {found}")
    expect(testbed, 0, f"not written  {ALL_BRANDED}", "calls", "show", found[0]["call_id"])
    expect(testbed, 0, "trunk carrier is in shadow", "status")
    expect(testbed, 0, "pass through: shadow", "lookup", CALLER)
    expect(testbed, 0, "trunk carrier is in shadow", "check-config")
    status, text = page(testbed, "/shadow?span=24h")
    if status != 200 or ALL_BRANDED not in text or "What would have been branded" not in page(testbed, "/")[1]:
        raise Failed(f"the page of calls in shadow has {status}:\n{text}")


def trunk_in_shadow(testbed, folder, run):
    """A week's trial in a minute: no brand and no event in shadow, then brands by one line and a reload."""
    restart(testbed, "    brands: shadow\n")
    try:
        for number, caller in enumerate((CALLER, CALLER, UNKNOWN)):
            run.place(unbranded("answered", NO_BRAND), caller, os.path.join(folder, f"shadow-{number}"))
        wait_until(lambda: len(recorded(testbed)) == 3, 60, "the calls in shadow are not recorded")
        wanted = [(CALLER, "shadow", ALL_BRANDED), (CALLER, "shadow", ALL_BRANDED), (UNKNOWN, "no_match", None)]
        if recorded(testbed) != wanted:
            raise Failed(f"recorded: {recorded(testbed)}")
        if (counted := testbed.metric('herald_calls_total{decision="shadow"}')) != 2:
            raise Failed(f"herald_calls_total of shadow is {counted}")
        expect_summary(testbed, "10m")
        testbed.write_config()
        testbed.reload()
        run.place(answered(), CALLER, os.path.join(folder, "branded"))
        # The branded call alone: its events, and none of the calls before it.
        run.expect_events(testbed, CALLER, SEEN)
        run.expect_events(testbed, UNKNOWN, ())
    finally:
        restart(testbed)


SHADOW = (
    ("a trunk in shadow", trunk_in_shadow),
)
