# SPDX-License-Identifier: Apache-2.0
"""Requests to the doors of a gateway with 1,000,000 numbers, and calls with and without 5,000 names a second beside them.

The doors are names by HTTP, redirections, ENUM and verifications. The gateway has one core and the sender the other one.
Half of the callers are listed; each token of a verification is a new one.
"""
import os
import shutil

from heraldtest.child import Failed
from heraldtest.signing import Laboratory, Signer
from . import door_calls, door_requests, machine, report
from .compare import say
from .door_gateway import CORE, DoorHerald, OTHER_CORE
from .door_tables import missed, tables
from .proof import prove
from .sender import Sender

# Requests a second at which a delay is measured, of names, redirections and ENUM; a signature costs more.
PACE, VERIFICATION_PACE = 2000, 1000
# No gateway verifies more in a second on one core, so no token comes twice.
MOST_VERIFIED = 15_000
CONNECTIONS = 32
WARM_SECONDS = 1


def add_options(words):
    words.add_argument("--rounds", type=int, default=3, help="of all doors (%(default)s)")
    words.add_argument("--seconds", type=float, default=4, help="of requests for a figure (%(default)g)")
    words.add_argument("--rate", type=int, default=500, help="calls a second beside names (%(default)s)")
    words.add_argument("--names", type=int, default=5000, help="names a second beside calls (%(default)s)")
    words.add_argument("--call-rounds", type=int, default=10, help="of calls alone and beside names (%(default)s)")
    words.add_argument("--call-seconds", type=float, default=6, help="of calls for a figure (%(default)g)")
    words.add_argument("--only", choices=["doors", "calls"], help="one of the two parts")


class Door:
    """One door: its port, its requests, and the bytes by which a response with a name or a verdict is known."""

    statuses = {"200"}
    pace = PACE
    # The share of responses with the mark.
    marked = 0.5

    def __init__(self, name, kind, port, mark, make=None):
        self.name, self.kind, self.port, self.mark, self.make = name, kind, port, mark, make

    def requests(self, bench, count):
        """The file of its requests, and how many it has; `count`: at least so many different ones if they must differ."""
        path = os.path.join(bench.folder, self.make.__name__)
        if not os.path.exists(path):
            door_requests.write(path, door_requests.of_callers(self.make, bench.callers))
        return path, len(bench.callers)

    def check(self, found, count, due=0):
        """`Failed` unless the responses are those of the door: their statuses, and the share with a name or a verdict.

        `count`: the requests of its file; `due`: the requests that a rate asks for, 0 without one.
        """
        if set(found["statuses"]) - self.statuses:
            raise Failed(f"{self.name}: responses by status {found['statuses']}, expected {sorted(self.statuses)} alone")
        if found["lost"]:
            raise Failed(f"{self.name}: {found['lost']} of {found['sent']} requests have no response within 3 s")
        if due and found["sent"] != due:
            raise Failed(f"{self.name}: {found['sent']} of {due} requests are sent; the rate is too high")
        if abs(found["marked"] - self.marked * found["responses"]) > CONNECTIONS:
            raise Failed(f"{self.name}: {found['marked']} of {found['responses']} responses have {self.mark}, "
                         f"expected {self.marked:.0%}")
        if self.marked == 1 and found["sent"] > count:
            raise Failed(f"{self.name}: {found['sent']} requests of {count} tokens; a repeated token costs no signature")


class Redirections(Door):
    statuses = {"302", "404"}


class Lookups(Door):
    statuses = {"0"}


class Verifications(Door):
    pace, marked = VERIFICATION_PACE, 1.0

    def requests(self, bench, count):
        path = os.path.join(bench.folder, "verifications")
        return path, door_requests.write(path, door_requests.verifications(bench.signer, bench.callers, count))


NAMES = Door("names by HTTP", "stream", 9482, '"matched":true', door_requests.name)
DOORS = (
    NAMES,
    Redirections("redirections", "datagram", 9484, "SIP/2.0 302", door_requests.redirection),
    Lookups("ENUM", "datagram", 9483, "pstndata:cnam/", door_requests.lookup),
    Verifications("verifications", "stream", 9485, "TN-Validation-Passed"))


class DoorSender(Sender):
    """Requests to one door in the background; rate 0 for as many as come."""

    def __init__(self, bench, door, rate, seconds, port=None, core=None):
        self.door, self.due = door, int(rate * seconds)
        path, self.count = door.requests(bench, int((rate or MOST_VERIFIED) * seconds) + 1)
        pinned = ("taskset", "-c", str(core)) if core is not None else ()
        super().__init__(*pinned, os.path.join(bench.options.cache, "door_sender"), door.kind, port or door.port, path,
                         CONNECTIONS, rate, seconds, door.mark)

    def result(self):
        """The figures of responses that are those of the door."""
        found = super().result()
        self.door.check(found, self.count, self.due)
        return found


class Bench:
    """The gateway, the callers of all requests, and the laboratory that signs."""

    def __init__(self, options):
        name, binary = options.herald[0]
        self.options = options
        self.folder = os.path.join(options.cache, "doors")
        # A run that was killed leaves its requests.
        self.remove_requests()
        os.makedirs(self.folder)
        self.laboratory = Laboratory(os.path.join(options.cache, "signers-doors")).make()
        self.signer = Signer(self.laboratory.path("leaf.key"))
        with open(options.data.callers, encoding="ascii") as file:
            self.callers = file.read().split()[1:]
        self.gateway = DoorHerald(name, options.cache, binary, options.data, self.laboratory)

    def remove_requests(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def sender(self, door, rate, seconds, **where):
        return DoorSender(self, door, rate, seconds, **where)

    def measure(self, door, rate, seconds):
        """One run of requests: the sender's figures, and µs of CPU of the gateway and of the sender for a request."""
        with self.sender(door, rate, seconds, core=OTHER_CORE) as sender:
            before = self.gateway.cpu_seconds()
            found = sender.result()
            used = self.gateway.cpu_seconds() - before
        responses = max(1, found["responses"])
        return {"door": door.name, "rate": rate, "a_second": found["responses"] / found["seconds"],
                "cpu_us": used / responses * 1e6, "sender_us": found["sender_cpu_s"] / responses * 1e6, **found}


def doors(bench):
    """Rows of each door: as many requests as it takes, and a steady rate."""
    options, rows = bench.options, []
    bench.gateway.under = ("taskset", "-c", str(CORE))
    bench.gateway.start()
    try:
        prove(bench.gateway)
        for number in range(options.rounds):
            for door in DOORS:
                if not number:
                    bench.measure(door, 0, WARM_SECONDS)
                for rate in (0, door.pace):
                    rows.append({"round": number, **bench.measure(door, rate, options.seconds)})
                    say("{door} at {rate}: {a_second:.0f}/s, CPU {cpu_us:.1f} µs, sender {sender_us:.1f} µs, p50 {p50_us} µs, "
                        "p99 {p99_us} µs, slowest {max_us} µs".format(**rows[-1]))
    finally:
        bench.gateway.stop()
        bench.gateway.under = ()
    return rows


def run(options):
    bench = Bench(options)
    try:
        results = {"mode": "doors", "machine": machine.description(), "rate": options.rate, "names": options.names,
                   "seconds": options.seconds, "call_seconds": options.call_seconds,
                   "doors": doors(bench) if options.only != "calls" else [],
                   "calls": door_calls.measure(bench, NAMES) if options.only != "doors" else []}
    finally:
        bench.remove_requests()
    results["errors"] = missed(results)
    report.write(options, "doors", results, tables(results))
