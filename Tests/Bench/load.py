# SPDX-License-Identifier: Apache-2.0
"""SIPp on both sides of a subject, and its counters."""
import csv
import os
import subprocess
import time

from heraldtest.child import Failed
from heraldtest.sipp import Sipp
from .machine import busy_core_seconds, lost_datagrams
from .subjects import CARRIER, HOST, PBX, SUBJECT

HERE = os.path.dirname(os.path.abspath(__file__))
ENDLESS = 2_000_000_000


class Load:
    """Calls at a rate; each rings 100 ms and talks `talk` ms."""

    def __init__(self, folder, data, rate, calls, talk=200, at_once=60_000, cores=None, limit=None, callers=None,
                 port=CARRIER, refusal=503, signer=None):
        """`cores`: cores for SIPp, as taskset takes them; `limit`: seconds until SIPp gives up.

        `callers`: another file of callers; `refusal`: the status of a call that is refused and has not failed.
        `signer`: a laboratory that signs the calls. The gateway must then find a good signature in each answered call.
        """
        program = ("taskset", "-c", cores, "sipp") if cores else ("sipp",)
        self.rate, self.calls, self.signer = rate, calls, signer
        callers = callers or data.callers
        if signer:
            callers, self.passed_before = signer.sign(callers, calls), signer.passed()
        self.limit = limit or calls / rate * 1.5 + talk / 1000 + 40
        common = {"program": program, "at_once": at_once, "limit": int(self.limit) + 20}
        self.pbx = Sipp("pbx", os.path.join(HERE, "pbx.xml"), HOST, folder, calls=ENDLESS, port=PBX, **common).listens()
        try:
            self.lost_before, self.began = lost_datagrams(), time.monotonic()
            self.busy_before = busy_core_seconds()
            self.carrier = Sipp(
                "carrier", os.path.join(HERE, "carrier.xml"), HOST, folder, remote=HOST, remote_port=SUBJECT,
                calls=calls, rate=rate, port=port, options=["-inf", callers], talk=talk, refusal=refusal,
                identity=signer.identity if signer else "", **common)
        except BaseException:
            self.pbx.child.stop(1)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def wait(self):
        """Waits until the last call has ended."""
        try:
            self.carrier.child.process.wait(self.limit + 30)
        except subprocess.TimeoutExpired:
            pass
        self.seconds = time.monotonic() - self.began
        self.busy = (busy_core_seconds() - self.busy_before) / self.seconds
        if self.signer:
            self.passed = self.signer.passed() - self.passed_before

    def stop(self):
        for side in (self.carrier, self.pbx):
            side.child.stop(3)
        self.lost = lost_datagrams() - self.lost_before

    def counts(self):
        """Calls by their end, retransmissions of both sides, datagrams lost, calls a second; after `stop`."""
        carrier, pbx = last_row(self.carrier.statistics), last_row(self.pbx.statistics)
        answered, ended = int(carrier.get("answered(C)", 0)), int(carrier.get("ended(C)", 0))
        if self.signer and self.passed < answered:
            raise Failed(f"of {answered} signed calls {self.passed:.0f} had a good signature; see herald calls show")
        return {
            "calls": int(carrier["TotalCallCreated"]),
            "answered": answered,
            "ended": ended,
            "refused": int(carrier["SuccessfulCall(C)"]) - ended,
            "failed": int(carrier["FailedCall(C)"]),
            "retransmissions": int(carrier["Retransmissions(C)"]) + int(pbx["Retransmissions(C)"]),
            "lost": self.lost,
            "seconds": self.seconds,
            "reached": float(carrier["TotalCallCreated"]) / self.seconds,
            "busy_cores": self.busy,
        }


def rows(path):
    """SIPp's statistics, a row each two seconds."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return list(csv.DictReader(file, delimiter=";"))


def last_row(path):
    found = rows(path)
    return found[-1] if found else {"TotalCallCreated": 0, **dict.fromkeys(
        ("SuccessfulCall(C)", "FailedCall(C)", "Retransmissions(C)"), 0)}
