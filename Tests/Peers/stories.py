# SPDX-License-Identifier: Apache-2.0
"""Calls of more than ten kinds in random order, each to a number of its own that identifies it in every record."""
import collections
import os
import time
from typing import NamedTuple

from heraldtest.child import Failed
from heraldtest.gateway import CARRIER, GATEWAY, PBX
from heraldtest.sipp import Sipp
from .tally import say

# The digits of the called number that select a kind at the PBX; see scenarios/story-pbx.xml.
KINDS = {
    "hung-up-by-carrier": "01",
    "hung-up-by-pbx": "02",
    "gives-up": "03",  # the caller, while it rings
    "busy": "04",  # 486, and nothing rang
    "declined": "05",  # 603 after ringing
    "unknown-number": "06",  # 404
    "forwarded": "07",  # 181, then answered
    "voicemail": "08",  # shown by a header of the 2xx
    "elsewhere": "09",  # CANCEL with Reason: SIP;cause=200
    "nobody": "10",  # an unknown caller, or a withheld number of a brand; answered
    "tried-again": "11",  # 500, then a new Call-ID; answered
    "returned": "12",  # the caller gives up and is called back
    "rings-out": "13",  # 480 after ringing
}
BRANDS = 50
# Seconds from a call to the call back. The call is over by then, even if only the retransmission after 31.5 s found a
# running gateway.
BACK_AFTER = 40


class Call(NamedTuple):
    kind: str
    caller: str
    called: str
    is_withheld: bool


def brand(position):
    return f"+49891000{position % BRANDS:02}", f"Company {position % BRANDS}"


def brands():
    """Rows for the directory."""
    for position in range(BRANDS):
        number, name = brand(position)
        yield number, name, "https://logos.example/c.png", "Your appointment"


def plan(total, chance, first=0, kinds=tuple(KINDS)):
    """`total` calls, of each kind as many, in random order; `first`: where their numbers begin."""
    kinds = [kinds[position % len(kinds)] for position in range(total)]
    chance.shuffle(kinds)
    calls = []
    for position, kind in enumerate(kinds, first):
        called = f"+4930{KINDS[kind]}{position:06}"
        is_withheld = kind == "nobody" and chance.random() < 0.5
        is_stranger = kind == "nobody" and not is_withheld
        caller = f"+49401{position:06}" if is_stranger else brand(chance.randrange(BRANDS))[0]
        calls.append(Call(kind, caller, called, is_withheld))
    return calls


class Places(NamedTuple):
    """Where the carrier's and the PBX's side of SIPp are, and where each of them sends its calls."""
    carrier: str = CARRIER
    carrier_sends_to: str = GATEWAY
    pbx: str = PBX
    pbx_sends_to: str = GATEWAY


class Stories:
    """Carrier and PBX of all calls, and of the calls back."""

    def __init__(self, folder, calls, rate, places=Places(), patience=240, rings=24):
        """`patience`: seconds after the last call until SIPp gives up; `rings`: how often an unattended phone rings at most."""
        os.makedirs(folder, exist_ok=True)
        self.placed, self.rate, self.folder = calls, rate, folder
        # Called numbers of calls that were lost as they may be; nothing is told of them.
        self.excused = set()
        # Called numbers of calls whose event may lack the number of attempts.
        self.uncounted = set()
        self.limit = int(len(calls) / rate) + patience
        words = {"linger": 12000, "folder": folder, "limit": self.limit}
        lines = os.path.join(folder, "calls.inf")
        with open(lines, "w", encoding="ascii") as file:
            file.write("SEQUENTIAL\n")
            for call in calls:
                privacy = "Privacy: id" if call.is_withheld else "Subject: none"
                file.write(f"{call.kind};{call.caller};{call.called};{privacy}\n")
        self.words, self.places = words, places
        self.pbx = Sipp("pbx", "story-pbx.xml", places.pbx, calls=len(calls), rings=rings, **words).listens()
        self.taker = self.backs and Sipp(
            "called-back", "back-carrier.xml", places.carrier, calls=len(self.backs), **words).listens()
        self.began = time.time()
        self.carrier = Sipp(
            "carrier", "story-carrier.xml", places.carrier, remote=places.carrier_sends_to, port=5061,
            calls=len(calls), rate=rate, options=("-inf", lines), **words)
        self.caller_back = None

    @property
    def calls(self):
        """The calls to the PBX that are compared."""
        return [call for call in self.placed if call.called not in self.excused]

    @property
    def backs(self):
        """Those of them that are called back."""
        return [call for call in self.calls if call.kind == "returned"]

    @property
    def seconds(self):
        """Seconds in which calls are placed, calls back included."""
        return len(self.calls) / self.rate + BACK_AFTER

    def call_back(self):
        """Begins the calls back; `BACK_AFTER` seconds after the first call."""
        lines = os.path.join(self.folder, "backs.inf")
        with open(lines, "w", encoding="ascii") as file:
            file.write("SEQUENTIAL\n" + "".join(f"{call.called};{call.caller}\n" for call in self.backs))
        self.caller_back = Sipp(
            "back", "back-pbx.xml", self.places.pbx, remote=self.places.pbx_sends_to, port=5061, calls=len(self.backs),
            rate=max(1, self.rate * len(self.backs) / len(self.calls)), options=("-inf", lines), **self.words)

    def sides(self):
        return [side for side in (self.carrier, self.caller_back, self.pbx, self.taker) if side]

    def wait(self, report, lost=0):
        """Waits until every side has ended; prints a line for each side with incomplete calls; `lost`: those allowed."""
        for side in self.sides():
            side.wait(self.limit + 10)
            placed = len(self.calls if side in (self.carrier, self.pbx) else self.backs)
            done = side.counted("SuccessfulCall")
            if lost:
                report.check(f"SIPp, {side.name}: {done} of {placed} calls completed, up to {lost} may be lost", done >= placed - lost)
            else:
                report.equal(f"SIPp, {side.name}: calls that completed", done, placed)
        say("repeated by SIPp: " + ", ".join(
            f"{side.name} {side.counted('Retransmissions')}" for side in self.sides()))

    def stop(self):
        for side in self.sides():
            side.child.stop(1)

    def said(self):
        """The log words of carrier and PBX for each called number; those of the PBX begin with `pbx:`."""
        words = {call.called: set() for call in self.calls}
        for side, mark in ((self.carrier, ""), (self.pbx, "pbx:"), *([(self.caller_back, "")] if self.caller_back else [])):
            for word, number in side.said():
                if word in ("up", "down") or number in self.excused:
                    continue
                if number not in words:
                    raise Failed(f"{side.name} tells of {number}, whom nobody called")
                words[number].add(mark + word)
        return words

    def moments(self):
        """When the carrier said a word of a call, in milliseconds after its start: {called number: {word: moment}}."""
        moments = collections.defaultdict(dict)
        with open(self.carrier.log, encoding="utf-8", errors="replace") as file:
            for words in (line.split() for line in file):
                if len(words) == 3:
                    moments[words[1]][words[0]] = int(words[2])
        return moments

    def talked(self):
        """Milliseconds from the carrier's ACK to its BYE and to the 200 of that, by called number.

        A BYE that a dead gateway got is repeated until another one forwards it.
        """
        return {number: (at["down"] - at["up"], at["answered"] - at["up"]) for number, at in self.moments().items()
                if {"up", "down", "answered"} <= set(at)}

    def said_between(self, begin, end):
        """Called numbers of which the carrier said a word between two times, in seconds since 1970."""
        low, high = (1000 * (moment - self.began) for moment in (begin, end))
        return {number for number, at in self.moments().items() if any(low <= moment <= high for moment in at.values())}
