# SPDX-License-Identifier: Apache-2.0
"""The situations: two SIPp scenarios, their numbers, and the events that the directory must then have.

Callers +61 2 5550 1001 to 1058, 1062 and 1070 to 1082 have brands (brands.csv); 9001 and up have none. Each situation has a
caller of its own, which identifies its events.
"""
from dataclasses import dataclass, field

from heraldtest.addresses import UNTRUSTED_TRUNK

ALL_BRANDED = "Harbour Dental"
NO_BRAND = "WIRELESS CALLER"
SUBSCRIBER = "+61255502000"
STRANGER = "127.0.0.2"
SEEN = ("displayed", "call_seen ANSWERED")


@dataclass(frozen=True)
class Step:
    """One SIPp run: `calling` sends first. Paths are relative to this folder; '' is no answering side."""

    calling: str
    answering: str
    keys: dict = field(default_factory=dict)
    calls: int = 1
    host: str = "127.0.0.1"
    options: tuple = ()


@dataclass(frozen=True)
class Situation:
    """A name, a caller in E.164, the steps, and the stories of the events in any order."""

    name: str
    caller: str
    steps: tuple
    events: tuple = ()


def brand(line):
    return f"+6125550{line}"


def step(calling, answering="", name=ALL_BRANDED, calls=1, host="127.0.0.1", options=(), **keys):
    return Step(calling, answering, {"called": SUBSCRIBER, "name": name, **keys}, calls, host, options)


def both(folder, **keys):
    """The common case: a folder with both sides."""
    return step(f"{folder}/carrier.xml", f"{folder}/pbx.xml", **keys)


def answered(answering="answered/pbx.xml", **keys):
    return step("answered/carrier.xml", answering, **keys)


def refused(status, ringing, expected=None):
    """The PBX rejects with `status`, with or without ringing; the carrier must see `expected`."""
    folder = "declined" if ringing else "refused"
    return step("refused/carrier.xml", f"{folder}/pbx-{status}.xml", status=expected or status)


def unbranded(carrier, name=NO_BRAND, **keys):
    return step(f"{carrier}/carrier.xml", "unbranded/pbx.xml", name=name, **keys)


CAUSE_16 = "Q.850;cause=16"
ELSEWHERE = 'SIP;cause=200;text="Call completed elsewhere"'
GAVE_UP = ("displayed", "missed MISSED")

SITUATIONS = (
    Situation("branded and answered", brand(1001), (answered(),), SEEN),
    Situation("branded and missed", brand(1002), (both("missed", reason=CAUSE_16),), GAVE_UP),
    Situation("branded and declined with 603", brand(1003), (refused("603", True),), ("displayed", "call_seen REJECTED")),
    Situation("branded and declined with 486", brand(1004), (refused("486", True),), ("displayed", "call_seen REJECTED")),
    Situation("busy", brand(1005), (refused("486", False),), ("missed BUSY",)),
    Situation("rings until the PBX gives up", brand(1006), (refused("480", True),), GAVE_UP),
    Situation("not found", brand(1007), (refused("404", False),), ("error FAILED",)),
    Situation("PBX fails", brand(1008), (refused("500", False),), ("error FAILED",)),
    Situation("PBX has no room, 503 becomes 500", brand(1009), (refused("503", False, "500"),), ("error FAILED",)),
    Situation("answered elsewhere", brand(1010), (both("missed", reason=ELSEWHERE),),
              ("displayed", "call_seen ANSWERED_ELSEWHERE")),
    Situation("cancelled before it rings", brand(1011), (both("cancelled-early"),), GAVE_UP),
    Situation("answered while it is cancelled", brand(1012), (both("answered-while-cancelled"),), SEEN),
    Situation("unknown caller", brand(9001), (unbranded("answered"),)),
    Situation("withheld number", brand(1013), (unbranded("withheld", "Anonymous"),)),
    Situation("anonymous caller", brand(1014), (unbranded("anonymous", "Anonymous"),)),
    Situation("failed verification", brand(1015), (unbranded("verification-failed"),)),
    Situation("emergency centre calls back", brand(1016), (unbranded("emergency-callback"),)),
    Situation("national format", brand(1017), (answered(caller="0255501017"),), SEEN),
    Situation("exit code format", brand(1018), (answered(caller="001161255501018"),), SEEN),
    Situation("every identity gets the name", brand(1019), (both("every-identity"),), SEEN),
    Situation("brand without logo", brand(1050), (answered("brand-without-logo/pbx.xml", name="Harbour Night Line"),), SEEN),
    Situation("awkward name", brand(1051), (answered("awkward-name/pbx.xml"),), SEEN),
    Situation("spoofed logo, branded caller", brand(1020), (step("spoofed/carrier.xml", "answered/pbx.xml"),), SEEN),
    Situation("spoofed logo, trunk without trust", brand(1036), (unbranded("spoofed", host=UNTRUSTED_TRUNK),)),
    Situation("early media", brand(1021), (answered("early-media/pbx.xml"),), SEEN),
    Situation("PRACK", brand(1022), (both("prack"),), SEEN),
    Situation("re-INVITE", brand(1023), (both("re-invite"),), SEEN),
    Situation("re-INVITE from the PBX", brand(1024), (both("re-invite-from-pbx"),), SEEN),
    Situation("UPDATE both ways", brand(1025), (both("update"),), SEEN),
    Situation("INFO and an unknown method", brand(1026), (both("info"),), SEEN),
    Situation("MESSAGE outside a call", brand(1027), (both("message"),)),
    Situation("hung up by the PBX", brand(1028), (both("hung-up-by-pbx"),), SEEN),
    Situation("repeated INVITE", brand(1029),
              (step("repeated-invite/carrier.xml", "repeated-invite/pbx.xml", options=("-nr",)),), SEEN),
    Situation("repeated 2xx", brand(1030),
              (step("repeated-2xx/carrier.xml", "repeated-2xx/pbx.xml", options=("-nr",)),), SEEN),
    Situation("no hop left", brand(1031), (step("too-many-hops/carrier.xml"),)),
    Situation("unknown extension", brand(1032), (step("unknown-extension/carrier.xml"),)),
    Situation("stranger", brand(1033), (step("stranger/carrier.xml", host=STRANGER),)),
    Situation("OPTIONS from the carrier", brand(9003), (step("options/carrier.xml"),)),
    Situation("return call", brand(1034),
              (both("missed", reason=CAUSE_16, called="+61255502034"),
               step("return-call/pbx.xml", "return-call/carrier.xml", name="Front Desk", called=brand(1034),
                    caller="+61255502034")),
              GAVE_UP + ("returned",)),
    Situation("a hundred at once", brand(1035), (answered(calls=100),), SEEN * 100),
)
