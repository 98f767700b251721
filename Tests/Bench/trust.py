# SPDX-License-Identifier: Apache-2.0
"""Unsigned calls while certificate hosts of other calls are slow or dead: Herald, Asterisk 22 and Kamailio in one run.

Each program gets unsigned calls of one trunk at a steady rate. In its first seconds signed calls of another trunk come, whose
signers nobody knows. The delay of an unsigned call is the time from its INVITE to its 180.
"""
import os
import random
import shutil
import threading
import time

from heraldtest.child import Failed
from heraldtest.signing import Laboratory, Signer
from heraldtest.sipp import Sipp
from . import machine, report
from .certificate_hosts import DEAD, PORT, RESPONDING, DeadHost, RespondingHost
from .compare import say
from .delay import percentile
from .load import ENDLESS
from .plot import bars, curves, page
from .single_calls import LIMIT, Trunk, milliseconds
from .subjects import HOST, PBX
from .verifiers import SIGNING, FetchingHerald, VerifyingAsterisk, VerifyingHerald, VerifyingKamailio

HERE = os.path.dirname(os.path.abspath(__file__))
CALLED = "12025550142"
# The situations of a certificate host, with the host and the path of its certificates.
SITUATIONS = {"no signed calls": None, "live host": f"{RESPONDING}:{PORT}/live", "slow host": f"{RESPONDING}:{PORT}/slow",
              "dead host": f"{DEAD}:{PORT}/dead"}
WARM_CALLS, WARM_RATE = 40, 20


def add_options(words):
    words.add_argument("--calls", type=int, default=50, help="signed calls of unknown signers (%(default)s)")
    words.add_argument("--signed-rate", type=float, default=10, help="signed calls a second (%(default)g)")
    words.add_argument("--rate", type=float, default=50, help="unsigned calls a second (%(default)g)")
    words.add_argument("--seconds", type=float, default=20, help="of unsigned calls in each situation (%(default)g)")
    words.add_argument("--fetch", action="store_true", help="a second gateway with trust.fetch: on")
    words.add_argument("--only", choices=["herald"], help="without Kamailio and Asterisk")


class Hosts:
    """Both certificate hosts, and the signer of all signed calls."""

    def __init__(self, folder):
        self.laboratory = Laboratory(os.path.join(folder, "trust-signers")).make()
        self.signer = Signer(self.laboratory.path("leaf.key"))
        self.roots = self.laboratory.read("root.pem")
        self.responding = RespondingHost(self.laboratory.signer_chain())
        self.dead = DeadHost()

    def requests(self, situation):
        """Requests for certificates since the start."""
        return {"dead host": self.dead.requests, "no signed calls": lambda: 0}.get(situation, self.responding.requests)()

    def identity(self, caller, place):
        """A value of Identity by a signer of its own address."""
        address = f"http://{place}/{random.getrandbits(64):016x}.pem"
        token = self.signer.token(caller, int(time.time()), CALLED, address)
        return f"{token};info=<{address}>;alg=ES256;ppt=shaken"

    def stop(self):
        self.responding.stop()
        self.dead.stop()


def subjects(options, roots):
    """The programs, in their order."""
    name, binary = options.herald[0]
    chosen = [VerifyingHerald(name, options.cache, binary, roots)]
    if options.fetch:
        chosen.append(FetchingHerald(f"{name}-fetching", options.cache, binary, roots))
    if options.only != "herald":
        tree = os.path.join(os.environ.get("PEERS", "/tmp/herald-peers"), "asterisk-22")
        if not os.path.isdir(tree) or not shutil.which("kamailio"):
            raise Failed("Asterisk 22 or Kamailio is missing; run this as root, or give --only herald")
        chosen.append(VerifyingAsterisk("asterisk", options.cache, tree, roots))
        chosen.append(VerifyingKamailio("kamailio", options.cache))
    return chosen


def offer(trunk, caller, rate, count, identity=None):
    """Places calls at their due times; `identity`: makes the value of Identity of a caller."""
    began = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        trunk.place(caller(number), identity(caller(number)) if identity else None)


def unsigned_caller(number):
    return f"+1202555{number % 10_000:04}"


def signed_caller(number):
    return f"+1303555{number % 10_000:04}"


def measure(subject, situation, hosts, options):
    """One row: the calls of a program in one situation."""
    pbx = Sipp("pbx", os.path.join(HERE, "pbx.xml"), HOST, os.path.join(options.cache, "sipp"), calls=ENDLESS, port=PBX,
               at_once=60_000).listens()
    unsigned, signed = Trunk(HOST), Trunk(SIGNING)
    try:
        subject.start()
        offer(unsigned, unsigned_caller, WARM_RATE, WARM_CALLS)
        unsigned.wait()
        if any(call.rang is None for call in unsigned.placed()):
            raise Failed(f"{subject.name} does not carry unsigned calls")
        before, began = hosts.requests(situation), time.monotonic()
        place = SITUATIONS[situation]
        others = threading.Thread(target=offer, daemon=True, args=(
            signed, signed_caller, options.signed_rate, options.calls if place else 0,
            lambda caller: hosts.identity(caller, place)))
        others.start()
        offer(unsigned, unsigned_caller, options.rate, int(options.rate * options.seconds))
        others.join()
        unsigned.wait()
        signed.wait()
        measured = unsigned.placed()[WARM_CALLS:]
        return {"subject": subject.name, "situation": situation, "requests": hosts.requests(situation) - before,
                "delays": [(round(call.began - began, 4), round(milliseconds(call), 3)) for call in measured],
                "silent": sum(call.rang is None for call in measured),
                "signed": [round(milliseconds(call), 3) for call in signed.placed()],
                "signed_silent": sum(call.rang is None for call in signed.placed())}
    finally:
        unsigned.stop()
        signed.stop()
        subject.stop()
        pbx.child.stop(1)


def checked(row, subject, options):
    """The row; `Failed` if the program did not do what it is compared for."""
    wanted = {"none": 0, "some": 1, "all": options.calls}[subject.fetches]
    if row["situation"] == "live host" and row["requests"] < wanted:
        raise Failed(f"{subject.name} fetched {row['requests']} of {wanted} certificates; it does not verify")
    if subject.fetches == "none" and row["requests"]:
        raise Failed(f"{subject.name} fetched {row['requests']} certificates and should fetch none")
    return row


def run(options):
    hosts, rows, errors, versions = Hosts(options.cache), [], [], {}
    try:
        for subject in subjects(options, hosts.roots):
            versions[subject.name] = subject.version()
            for situation in SITUATIONS:
                try:
                    rows.append(checked(measure(subject, situation, hosts, options), subject, options))
                    say(f"{subject.name}, {situation}: " + ", ".join(summary(rows[-1])[2:]))
                except Failed as failure:
                    errors.append(f"{subject.name}, {situation}: {failure}")
                    say(errors[-1])
    finally:
        hosts.stop()
    results = {"mode": "trust", "machine": machine.description(), "versions": versions, "calls": options.calls,
               "signed_rate": options.signed_rate, "rate": options.rate, "seconds": options.seconds, "rows": rows,
               "errors": errors}
    report.write(options, "trust", results, tables(results), drawing(results))


def told(value):
    """Milliseconds in few digits."""
    return f"{value:,.2f} ms" if value < 10 else f"{value:,.0f} ms"


def summary(row):
    """A row of the table."""
    delays = [delay for _, delay in row["delays"]]
    slowest = f"> {1000 * LIMIT:,.0f} ms" if row["silent"] else told(max(delays))
    return [row["subject"], row["situation"], told(percentile(delays, 0.5)), told(percentile(delays, 0.99)), slowest,
            f"{sum(delay > 500 for delay in delays)} of {len(delays)}", f"{row['silent']}",
            told(percentile(row["signed"], 0.5)) if row["signed"] else "–", f"{row['requests']}"]


def tables(results):
    heading = ["", "certificates", "unsigned call rings: p50", "p99", "slowest", "later than 0.5 s", "never",
               "signed call rings: p50", "requests for certificates"]
    versions = [["", "version"], *([name, version] for name, version in results["versions"].items())]
    return [("Unsigned calls beside signed calls of unknown signers", [heading, *map(summary, results["rows"])]),
            ("Programs", versions)]


def drawing(results):
    names = list(dict.fromkeys(row["subject"] for row in results["rows"]))
    of = {(row["subject"], row["situation"]): row for row in results["rows"]}
    panels = [
        curves(f"Unsigned calls, {situation}", "ms from INVITE to 180, logarithmic", "seconds since the first signed call", [
            (name, of[name, situation]["delays"]) for name in names if (name, situation) in of], logarithmic=True)
        for situation in list(SITUATIONS)[1:]]
    panels.append(bars("99th percentile of unsigned calls", "ms from INVITE to 180, logarithmic", list(SITUATIONS), [
        (name, [percentile([delay for _, delay in of[name, situation]["delays"]], 0.99) if (name, situation) in of else None
                for situation in SITUATIONS]) for name in names], logarithmic=True))
    return page(f"{results['calls']} signed calls of unknown signers beside unsigned calls", results["machine"], panels)
