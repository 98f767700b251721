# SPDX-License-Identifier: Apache-2.0
"""The directory's record of each call against SIPp's; docs/durability.md has the rules."""
import collections
import json

from .mix import first
from .tally import say

# The end of each kind: outcome of its last event, call_outcome, and further fields of that event's meta.
ENDS = {
    "hung-up-by-carrier": ("call_seen", "ANSWERED", {}),
    "hung-up-by-pbx": ("call_seen", "ANSWERED", {}),
    "gives-up": ("missed", "MISSED", {}),
    "busy": ("missed", "BUSY", {"sip_status": 486}),
    "declined": ("call_seen", "REJECTED", {"sip_status": 603}),
    "unknown-number": ("error", "FAILED", {"sip_status": 404}),
    "forwarded": ("call_seen", "ANSWERED", {}),
    "voicemail": ("missed", "MISSED", {"voicemail": True, "answered_by": "voicemail"}),
    "elsewhere": ("call_seen", "ANSWERED_ELSEWHERE", {}),
    "tried-again": ("call_seen", "ANSWERED", {"attempts": 2}),
    "returned": ("missed", "MISSED", {}),
    "rings-out": ("missed", "MISSED", {"sip_status": 480}),
}
# Words of the carrier's log beside rang and forwarded.
LAST_WORDS = {
    "gives-up": {"refused"}, "busy": {"refused"}, "declined": {"refused"}, "unknown-number": {"refused"},
    "elsewhere": {"refused"}, "rings-out": {"refused"}, "returned": {"refused", "back"},
    "tried-again": {"again", "answered"},
}
PICKED_UP = {"hung-up-by-carrier", "hung-up-by-pbx", "forwarded", "tried-again"}


class Event:
    """One row of the directory's ledger."""

    def __init__(self, row):
        self.key, self.number, self.outcome, meta = row
        self.meta = json.loads(meta)

    @property
    def subscriber(self):
        side = "caller" if self.outcome == "returned" else "destination"
        return self.meta.get(f"{side}_number_e164")


def told(directory):
    """The directory's events, by the number that was called or called back."""
    events = collections.defaultdict(list)
    for row in directory.query("SELECT event_key, number, outcome, meta FROM event"):
        event = Event(row)
        events[event.subscriber].append(event)
    return events


def compare(report, directory, gateway, stories):
    """Compares call by call: both sides of SIPp, the directory's ledger and the gateway's."""
    said, events = stories.said(), told(directory)
    say(f"directory: {sum(map(len, events.values()))} events: " + ", ".join(
        f"{count} {word}" for word, count in sorted(collections.Counter(
            event.outcome for some in events.values() for event in some).items())))
    wrong = [f"{call.called} {call.kind}: {sorted(said[call.called])}" for call in stories.calls
             if not went_as_planned(call, said[call.called])]
    report.check(f"carrier and PBX tell the same of each of {len(stories.calls)} calls", not wrong, first(wrong))
    faults = [(call, fault) for call in stories.calls
              for fault in [difference(call, said[call.called], events.pop(call.called, []), call.called in stories.uncounted)]
              if fault]
    report.check("the directory has of each call what it should, and once", not faults, first(
        f"{call.called} {call.kind} {sorted(said[call.called])}: {fault}" for call, fault in faults))
    report.check("the directory has no event of anything else", not events, first(
        f"{number}: {[event.key for event in some]}" for number, some in events.items()))
    compare_ledger(report, gateway, stories)


def went_as_planned(call, words):
    pbx = {word[4:] for word in words if word.startswith("pbx:")}
    own = {word for word in words if not word.startswith("pbx:")}
    named = set() if call.kind == "nobody" else {"named"}
    last = LAST_WORDS.get(call.kind, {"answered"})
    return own - {"rang", "forwarded", "unheard"} == last and pbx == named | (last - {"again", "back"})


def difference(call, words, events, may_lack_attempts=False):
    """The directory's events of a call if they differ from the expected ones; else None."""
    found = sorted(event.outcome for event in events)
    if call.kind == "nobody":
        return found or None
    end, outcome, meta = ENDS[call.kind]
    shown = ["displayed"]
    # Evidence that the name was shown is a 180 or a person's 2xx. A 180 that came to a killed gateway and never to
    # the carrier may have been taken down or not.
    is_certain = "rang" in words or call.kind in PICKED_UP
    if "unheard" in words and call.kind == "elsewhere" and "missed" in found:
        end, outcome = "missed", "MISSED"
    back = ["returned"] if call.kind == "returned" else []
    allowed = [sorted(shown + [end] + back)]
    if not is_certain:
        allowed.append(sorted([end] + back))
    if call.kind in ("busy", "unknown-number"):
        allowed = [[end]]
    last = next((event for event in events if event.outcome == end), None)
    if call.kind == "rings-out" and not is_certain and found == ["error"]:
        # No side saw it ring.
        return None if events[0].meta.get("call_outcome") == "FAILED" else events[0].meta
    if found not in allowed or last is None:
        return found
    if "forwarded" in words:
        meta = {**meta, "forwarded": True}
    expected = {**meta, "call_outcome": outcome, "decision": "matched", "trunk": "carrier"}
    if may_lack_attempts and "attempts" not in last.meta:
        expected.pop("attempts")
    told_wrong = {key: last.meta.get(key) for key, value in expected.items() if last.meta.get(key) != value}
    numbers = {event.number for event in events}
    calls = {event.meta["call_event_id"] for event in events}
    if told_wrong or numbers != {call.caller} or len(calls) != 1:
        return f"{told_wrong} {numbers} {calls}"
    return None


def compare_ledger(report, gateway, stories):
    """The gateway's own ledger must have each call once, none open, and no number of a withheld caller."""
    rows = collections.defaultdict(list)
    for row in gateway.calls():
        rows[row["direction"], row["destination"] if row["direction"] == "inbound" else row["caller"]].append(row)
    expected = {("inbound", call.called) for call in stories.calls}
    expected |= {("outbound", call.called) for call in stories.backs}
    wrong = [f"{key}: {[row.get('outcome') for row in some]}" for key, some in rows.items()
             if key not in expected or len(some) != 1 or not some[0].get("outcome")]
    wrong += [f"{key}: none" for key in expected - set(rows)]
    report.check(f"the gateway's ledger has each of {len(expected)} calls once, and ended", not wrong, first(wrong))
    withheld = {call.called for call in stories.calls if call.is_withheld}
    named = [number for number in withheld for row in rows["inbound", number] if row.get("caller")]
    report.check(f"of {len(withheld)} withheld callers it has no number", not named, first(named))
