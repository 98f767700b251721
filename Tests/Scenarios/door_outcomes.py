# SPDX-License-Identifier: Apache-2.0
"""Calls that a PBX reports by a door, with repeated reports and a kill: ledger and directory agree call by call."""
import concurrent.futures
import json
import time
import urllib.error
import urllib.parse
import urllib.request

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from . import doors
from .control import expect
from .situations import ALL_BRANDED, brand

# Of the door for reports; no other part of a run has it.
PORT = 15085
CALLER, UNKNOWN = brand(1096), brand(9096)
CALLS = 100
DOORS = f"""doors:
  names: {{listen: '{HOST}:{doors.PORT}', trunk: carrier}}
  outcomes: {{listen: '{HOST}:{PORT}', trunk: carrier, rate: 10000}}
"""


class Kind:
    """The course of a call, and the stories of its events."""

    def __init__(self, decision, outcome, events, caller=CALLER, asks=True, **fields):
        self.decision, self.outcome, self.events, self.caller, self.asks = decision, outcome, events, caller, asks
        self.fields = fields


RANG = {"rang": 0, "shown_name": ALL_BRANDED}
KINDS = (
    Kind("matched", "ANSWERED", ["displayed", "call_seen ANSWERED"], **RANG, answered=1, cause=16),
    Kind("matched", "MISSED", ["displayed", "missed MISSED"], **RANG, status="NOANSWER", cause=16),
    Kind("matched", "MISSED", ["displayed", "missed MISSED"], **RANG, status="CANCEL"),
    Kind("matched", "REJECTED", ["displayed", "call_seen REJECTED"], **RANG, cause=21),
    Kind("matched", "BUSY", ["missed BUSY"], shown_name=ALL_BRANDED, cause=17),
    Kind("matched", "FAILED", ["error FAILED"], shown_name=ALL_BRANDED, status="CHANUNAVAIL"),
    # The phone showed an entry of its own, or the PBX does not know.
    Kind("matched", "ANSWERED", ["call_seen ANSWERED"], rang=0, answered=1, shown_name="Mum"),
    Kind("matched", "ANSWERED", ["call_seen ANSWERED"], rang=0, answered=1),
    # Nobody asked before the call: another number of the same brands.
    Kind("not_asked", "ANSWERED", [], caller=brand(1095), asks=False, rang=0, answered=1),
    Kind("no_match", "ANSWERED", [], caller=UNKNOWN, **RANG, answered=1),
    Kind("privacy", "ANSWERED", [], caller="anonymous", asks=False, **RANG, answered=1),
)


class Report:
    """One call of the PBX and its report."""

    def __init__(self, number, kind, began):
        self.call_id, self.kind, self.began = f"{began}.{number}", kind, began
        self.event_id = None

    @property
    def body(self):
        fields = {"call_id": self.call_id, "caller": self.kind.caller, "called": "1001", "began": self.began,
                  "ended": self.began + 2, **self.kind.fields}
        for name in ("rang", "answered"):
            if name in fields:
                fields[name] += self.began
        return fields

    def post(self, as_json):
        """Sends the report; true once the gateway has confirmed it."""
        if as_json:
            data, kind = json.dumps(self.body).encode(), "application/json"
        else:
            data, kind = urllib.parse.urlencode(self.body).encode(), "application/x-www-form-urlencoded"
        request = urllib.request.Request(f"http://{HOST}:{PORT}/outcome", data, {"Content-Type": kind})
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                self.event_id = json.load(response)["call_event_id"]
                return True
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise Failed(f"{self.body}: {error.code} {error.read()}") from error
            return False
        except OSError:
            return False


def recently():
    """The begin of a short call that has ended, after the start of the gateway."""
    time.sleep(3)
    return int(time.time()) - 2


def outcomes(testbed, folder, run):
    """100 lookups and reports, each report up to three times, with a kill while they come in: each call and event once."""
    doors.restart(testbed, DOORS)
    try:
        began = recently()
        reports = [Report(number, KINDS[number % len(KINDS)], began) for number in range(CALLS)]
        for report in reports:
            if report.kind.asks:
                doors.ask(f"/name/{report.kind.caller}")
        first, second = reports[:70], reports[70:]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            sent = [pool.submit(report.post, number % 2 == 0) for number, report in enumerate(first * 2)]
            # Reports are confirmed once a second, so some are in the ring alone.
            time.sleep(1.2)
            testbed.gateway.kill()
            confirmed = sum(future.result() for future in sent)
        testbed.start_gateway()
        # A PBX asks for its next calls. Lookups of before are forgotten.
        began = recently()
        for report in second:
            report.began = began
            if report.kind.asks:
                doors.ask(f"/name/{report.kind.caller}")
        pending = first + second
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for _ in range(3):
                done = list(pool.map(lambda report: report.post(False), pending))
        if not all(done):
            raise Failed(f"{done.count(False)} of {CALLS} reports are not confirmed\n" + testbed.gateway.tail())
        audit(testbed, reports, confirmed)
        expect(testbed, 0, f"http://{HOST}:{PORT}/outcome by the rules of trunk carrier", "status")
        if not testbed.metric('herald_door_requests_total{door="outcomes",result="known"}'):
            raise Failed("no repeated report was recognised")
    finally:
        doors.restart(testbed)


def audit(testbed, reports, confirmed):
    """Compares the reports with the ledger, and the ledger with the directory."""
    wanted = {report.event_id: report for report in reports}
    if len(wanted) != CALLS:
        raise Failed(f"{len(wanted)} calls for {CALLS} reports, {confirmed} of them confirmed before the kill")
    rows = [call for call in testbed.calls() if call["callid"] in wanted]
    if len(rows) != CALLS:
        raise Failed(f"the ledger has {len(rows)} calls for {CALLS} reports")
    for row in rows:
        report = wanted[row["callid"]]
        decisions = {report.kind.decision}
        if report.kind.asks and report.kind.decision == "matched" and report.kind.fields.get("shown_name") != ALL_BRANDED:
            # A report that the kill caught before the ring: its lookup is forgotten, and no phone shows that there was one.
            decisions.add("not_asked")
        if row["decision"] not in decisions or row["outcome"] != report.kind.outcome:
            raise Failed(f"{report.body}: the ledger has {row}")
        report.decision = row["decision"]

    def stories():
        found = {}
        for event in testbed.events():
            if event.meta.get("call_event_id") in wanted:
                found.setdefault(event.meta["call_event_id"], []).append(event.story)
        return found

    expected = {identity: sorted(report.kind.events) for identity, report in wanted.items()
                if report.kind.events and report.decision == "matched"}
    count = sum(map(len, expected.values()))
    wait_until(lambda: sum(map(len, stories().values())) >= count, 60, "the directory has not all events")
    time.sleep(2)
    found = {identity: sorted(events) for identity, events in stories().items()}
    if found != expected:
        wrong = [(wanted[identity].body, expected.get(identity), found.get(identity))
                 for identity in expected.keys() | found.keys() if expected.get(identity) != found.get(identity)]
        raise Failed(f"{len(wrong)} calls differ in their events: {wrong[:3]}")


DOOR_OUTCOMES = (("outcomes by a door", outcomes),)
