# SPDX-License-Identifier: Apache-2.0
"""A mix of answered, busy and cancelled calls, and the comparison of carrier, PBX and ledger for every one."""
import collections

from heraldtest.gateway import CARRIER, GATEWAY, PBX
from heraldtest.sipp import Sipp
from .tally import say

# The ledger's outcome for an endpoint's log word. A busy line is REJECTED if its 180 was seen and BUSY if the 180 was
# lost, since phones send 486 when their reject key is pressed.
OUTCOMES = {"answered": {"ANSWERED"}, "busy": {"REJECTED", "BUSY"}, "cancelled": {"MISSED"}}
ENDING = {"answered": 1, "busy": 2, "cancelled": 3}
# The last event of each outcome, beside `displayed`.
ENDS = {"ANSWERED": "call_seen", "MISSED": "missed", "REJECTED": "call_seen", "BUSY": "missed"}


class Mix:
    """The SIPp of the PBX and one of the carrier for each kind of call, on ports of their own."""

    def __init__(self, folder, calls, rate, addresses=(CARRIER, GATEWAY, PBX), spaces=(None, None), **words):
        """`calls`: how many of each kind; `rate`: all of them a second; `words`: those of the scenarios."""
        carrier, gateway, pbx = addresses
        total = sum(calls.values())
        limit = int(total / rate) + 150
        self.placed = calls
        self.pbx = Sipp("pbx", "pbx.xml", pbx, folder, calls=total, inside=spaces[1], limit=limit, **words).listens()
        self.carriers = {
            kind: Sipp(
                kind, f"carrier-{kind}.xml", carrier, folder, remote=gateway, calls=count, rate=rate * count / total,
                port=5060 + position, inside=spaces[0], limit=limit, called=f"4930000000{ENDING[kind]}", **words)
            for position, (kind, count) in enumerate(calls.items())}
        self.limit = limit

    def wait(self, tally):
        """Waits for the carrier's side, then for the PBX's; prints a line for each side with incomplete calls."""
        for kind, side in self.carriers.items():
            side.wait(self.limit + 10)
            done = side.counted("SuccessfulCall")
            tally.equal(f"carrier, {kind} calls that completed", done, self.placed[kind])
        self.pbx.wait(60)
        tally.equal(
            "PBX, calls that completed", self.pbx.counted("SuccessfulCall"), sum(self.placed.values()))
        say("repeated by SIPp: " + ", ".join(
            f"{side.name} {side.counted('Retransmissions')}" for side in (*self.carriers.values(), self.pbx)))

    def stop(self):
        for side in (*self.carriers.values(), self.pbx):
            side.child.stop(1)

    def compare(self, tally, gateway):
        """Checks that carrier, PBX and ledger agree on every call."""
        carrier = collections.Counter(line for side in self.carriers.values() for line in side.said())
        pbx = collections.Counter(self.pbx.said())
        ledger = collections.defaultdict(list)
        for record in gateway.calls():
            ledger[record["sipcallid"]].append(record.get("outcome") or "OPEN")
        say("ledger: " + ", ".join(
            f"{count} {word}" for word, count in sorted(collections.Counter(
                outcome for outcomes in ledger.values() for outcome in outcomes).items())))
        words = sorted((call, word) for word, call in carrier)
        tally.check("PBX and carrier tell the same of every call", carrier == pbx, first(
            f"{call} ({word}: carrier {carrier[word, call]}, PBX {pbx[word, call]})"
            for word, call in {**carrier, **pbx} if carrier[word, call] != pbx[word, call]))
        tally.check("the ledger has every call once", sorted(ledger) == [call for call, _ in words] and all(
            len(outcomes) == 1 for outcomes in ledger.values()), f"{len(ledger)} of {len(words)}; " + first(
                f"{call} {ledger.get(call)}" for call in {*ledger, *(call for call, _ in words)}
                if len(ledger.get(call, [])) != 1 or call not in dict(words)))
        tally.check("the ledger's outcome is the endpoints'", all(
            outcome in OUTCOMES[word] for call, word in words for outcome in ledger.get(call, [])), first(
                f"{call}: {word}, ledger {ledger[call]}" for call, word in words
                if not set(ledger.get(call, [])) <= OUTCOMES[word]))


def first(texts, count=5):
    """The first few differences, and their count."""
    texts = list(texts)
    return f"{len(texts)} differ: " + "; ".join(texts[:count])


def compare_events(report, gateway):
    """Checks that each call has one displayed and one final event, all with different keys."""
    wrong, keys = [], collections.Counter()
    for record in gateway.calls():
        outcomes = sorted(event["outcome"] for event in record["events"])
        keys.update(event["key"] for event in record["events"])
        # A call whose 180 was lost with the gateway has not been seen on a phone.
        if outcomes not in expected(record):
            wrong.append(f"{record['sipcallid']} {record.get('outcome')}: {', '.join(outcomes) or 'no event'}")
    say(f"{sum(keys.values())} events")
    report.check("every call has its events", not wrong, first(wrong))
    report.check("no event is there twice", not any(count > 1 for count in keys.values()))


def expected(record):
    end = ENDS.get(record.get("outcome"), "none")
    shown = [sorted(["displayed", end])]
    was_seen = record.get("ringingat") or record.get("progressat") or record.get("answeredat")
    return shown if was_seen else [[end], ["call_seen"], ["error"]]
