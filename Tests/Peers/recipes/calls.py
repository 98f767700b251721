# SPDX-License-Identifier: Apache-2.0
"""The calls that every recipe must carry, and their checks at the phone, at the carrier and in `herald calls`."""
import os
import re
import time
import urllib.request
from contextlib import contextmanager

from heraldtest import ROOT
from heraldtest.child import Failed, wait_until
from heraldtest.sipp import Sipp

from ..readme_site import BRAND, CALLED, CALLER, CARRIER, HERALD, PHONE, REASON
from ..recipe_peers import DeskPhone

SCENARIOS = os.path.join(ROOT, "Tests", "Scenarios")


class Test:
    """One recipe on the site: its calls and its report."""

    def __init__(self, site, report, name):
        self.site, self.report, self.name = site, report, name
        self.folder = os.path.join(site.folder, name)
        os.makedirs(self.folder)
        self.count = 0

    def check(self, what, is_true, otherwise=""):
        return self.report.check(f"{self.name}: {what}", is_true, otherwise)

    @contextmanager
    def phone(self, registrar, password="change-this"):
        """A desk phone at the registrar."""
        phone = DeskPhone(self.folder, PHONE, registrar, "desk", password)
        try:
            yield phone
        finally:
            phone.stop()

    def carrier(self, script, caller=CALLER, remote=HERALD, address=CARRIER, called=CALLED):
        """SIPp on the carrier's side, with a file of Tests/Scenarios or Tests/Peers/scenarios; not yet waited for."""
        self.count += 1
        path = os.path.join(SCENARIOS, script)
        name = f"{self.count}-{os.path.basename(script).removesuffix('.xml')}"
        return Sipp(name, path if os.path.exists(path) else script, address, self.folder, remote=remote, limit=30,
                    options=("-key", "caller", caller, "-key", "called", called, "-trace_msg", "-message_file",
                             os.path.join(self.folder, name + ".messages")))

    def went(self, sipp):
        """None if the call went as its scenario says, else SIPp's own words."""
        if sipp.wait(40) == 0:
            return None
        try:
            with open(sipp.errors, encoding="utf-8", errors="replace") as file:
                return file.read(600)
        except OSError:
            return sipp.child.tail()

    def record(self, before):
        """The record of the call after the first `before` ones, once it has ended."""
        def ended():
            calls = self.site.calls()
            return len(calls) > before and calls[-1].get("outcome") and calls[-1]
        try:
            return wait_until(ended, 10, "")
        except Failed:
            return {}

    def call(self, what, script, phone, hang_up=False, outcome="ANSWERED", decision="matched", **carrier):
        """One call from the carrier to the phone; checks SIPp's result and the record."""
        before = len(self.site.calls())
        phone.forget()
        sipp = self.carrier(script, **carrier)
        if hang_up:
            phone.hangs_up_after(0.5)
        trouble = self.went(sipp)
        self.check(what, trouble is None, trouble)
        record = self.record(before)
        found = (record.get("outcome"), record.get("decision"))
        self.check(f"{what}: herald calls shows {outcome}, {decision}", found == (outcome, decision), str(found))

    def is_branded(self, phone, name=BRAND, reason=REASON):
        """Checks name, logo and reason in the phone's INVITE, and fetches the logo."""
        sender, info = phone.received("From"), phone.received("Call-Info")
        self.check("the phone shows the brand's name", sender.startswith(f'"{name}" <sip:'), sender)
        logo = re.match(r"<(http://192\.0\.2\.10:9480/[^>]+)>;purpose=icon;", info)
        self.check("the phone gets logo and reason in Call-Info",
                   bool(logo) and info.endswith(f'call-reason="{reason}"'), info or phone.received("INVITE"))
        if logo:
            with urllib.request.urlopen(logo.group(1), timeout=10) as response:
                self.check("the phone can fetch the logo", response.read(4) == b"\x89PNG")

    def dial(self, phone, dialled):
        """A call of the phone to the carrier, ended by the phone; None if it went as written."""
        phone.forget()
        sipp = self.carrier("carrier-is-called.xml", remote=None).listens()
        phone.command("dial", dialled)
        wait_until(lambda: re.search(r"^SIP/2.0 200", phone.log(), re.M), 10, "the carrier did not answer")
        time.sleep(1)
        phone.command("hangup")
        return self.went(sipp)

    def outbound(self, phone, dialled):
        """The same, through Herald, with its record."""
        before = len(self.site.calls())
        trouble = self.dial(phone, dialled)
        self.check("the phone calls the carrier and hangs up", trouble is None, trouble)
        record = self.record(before)
        found = (record.get("outcome"), record.get("direction"))
        self.check("herald calls shows the outbound call", found == ("ANSWERED", "outbound"), str(found))

    def usual_calls(self, phone, registrar, **carrier):
        """In both directions, with a BYE of each side."""
        self.call("the caller hangs up", "answered/carrier.xml", phone, **carrier)
        self.is_branded(phone)
        self.call("the phone hangs up", "hung-up-by-pbx/carrier.xml", phone, hang_up=True, **carrier)
        self.outbound(phone, f"sip:{CALLER}@{registrar}")
