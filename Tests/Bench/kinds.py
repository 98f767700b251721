# SPDX-License-Identifier: Apache-2.0
"""The kinds of calls that `profile` counts, each in its own round of one run of the gateway."""
import os
import time
from typing import NamedTuple

from heraldtest.child import Failed
from .load import Load
from .subjects import CARRIER

# No trunk has this port of the carrier, so the sender is an unknown peer.
UNKNOWN = 5061
# Timers of RFC 3261 keep a transaction for 32 s after its last message; what its end costs belongs to the call.
SETTLE_SECONDS = 36
# Above so many retransmissions a call the figures are not those of a normal call.
TOO_MANY_AGAIN = 0.05


class Kind(NamedTuple):
    """One kind: its callers, the port that they come from, and how fast and how many they are at most."""

    name: str
    callers: str
    port: int = CARRIER
    rate: int = 1_000_000
    calls: int = 1_000_000
    settle: int = SETTLE_SECONDS
    refusal: int = 503
    signed: bool = False

    def place(self, name, options, data, calls, settle=None):
        """Places calls and waits for the end of their transactions; (calls, seconds, messages sent again)."""
        began = time.monotonic()
        with Load(os.path.join(options.cache, "sipp"), data, min(options.rate, self.rate), min(calls, self.calls),
                  callers=getattr(data, self.callers), port=self.port, refusal=self.refusal,
                  signer=options.laboratory if self.signed else None) as load:
            load.wait()
        time.sleep(self.settle if settle is None else settle)
        return self.counted(name, load.counts()), time.monotonic() - began, load.counts()["retransmissions"]

    def counted(self, name, counts):
        """The calls that ended as this kind does; an error if others did not, or if messages were sent again."""
        good = counts["refused" if self is REFUSED else "ended"]
        again = counts["retransmissions"]
        if good == 0 or good < counts["calls"] or counts["failed"] or again > good * TOO_MANY_AGAIN:
            raise Failed(f"{name}: of {counts['calls']} {self.name} calls {counts['calls'] - good} ended otherwise, "
                         f"and {again} messages were sent again; take a lower --rate")
        return good


BRANDED = Kind("branded", "listed_callers")
UNBRANDED = Kind("unbranded", "unlisted_callers")
# Branded calls, each with a token of its own. The signature is the difference to BRANDED.
SIGNED = Kind("signed", "listed_callers", signed=True)
# A flood comes from unknown peers. Herald sends them 20 responses a second and drops further INVITEs, which costs less.
# So each INVITE of this kind gets its 403 and its ACK is absorbed. No transaction is kept.
REFUSED = Kind("refused", "listed_callers", port=UNKNOWN, rate=15, calls=150, settle=4, refusal=403)
KINDS = (BRANDED, UNBRANDED, SIGNED, REFUSED)


def of(laboratory):
    """The kinds that a gateway can have with a laboratory, or without one."""
    return [kind for kind in KINDS if laboratory or not kind.signed]


def chosen(name, laboratory):
    """The kinds of a name, or of none; signed calls come with those that they are compared with."""
    names = {None: [kind.name for kind in KINDS], SIGNED.name: [BRANDED.name, SIGNED.name]}.get(name, [name])
    return [kind for kind in of(laboratory) if kind.name in names]


def signatures(results):
    """(program, its result of branded calls, that of signed ones) for each program that has both."""
    found = {(one["name"], one["kind"]): one for one in results}
    return [(name, found[name, BRANDED.name], one) for (name, kind), one in found.items()
            if kind == SIGNED.name and (name, BRANDED.name) in found]


def warm(name, options, data):
    """Places calls of each kind, so that caches and pools are filled."""
    for kind in of(options.laboratory):
        kind.place(name, options, data, 15 if kind is REFUSED else options.warm // 2, settle=0)
    time.sleep(SETTLE_SECONDS)
