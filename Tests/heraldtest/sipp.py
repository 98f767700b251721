# SPDX-License-Identifier: Apache-2.0
"""SIPp under load: a scenario with its values filled in, its counters, and its log of each call."""
import csv
import os
import subprocess

from . import ROOT
from .child import Child, Failed, wait_until
from .gateway import BRAND, CALLER

SCENARIOS = os.path.join(ROOT, "Tests", "Peers", "scenarios")


class Sipp:
    """One SIPp; @name@ in its scenario is replaced by a value, since SIPp takes no keywords in pauses."""

    def __init__(self, name, script, address, folder, remote=None, calls=1, rate=10, port=5060, inside=None,
                 limit=600, program=("sipp",), options=(), remote_port=5060, at_once=60_000, **words):
        """`inside`: a namespace of its own; `limit`: seconds until SIPp ends by itself. TRACE=1 keeps messages.

        `script`: a file of Tests/Peers/scenarios, or an absolute path. `at_once`: calls in progress at most.
        `program` and `options`: another SIPp than Debian's, and its own options.
        """
        os.makedirs(folder, exist_ok=True)
        self.name, self.inside, self.bound = name, inside, f"{address}:{port}"
        path = os.path.join(folder, name)
        self.log, self.statistics, self.errors = path + ".calls", path + ".csv", path + ".errors"
        for old in (self.log, self.statistics, self.errors):
            if os.path.exists(old):
                os.remove(old)
        with open(os.path.join(SCENARIOS, script), encoding="utf-8") as file:
            text = file.read()
        for word, value in {"caller": CALLER, "name": BRAND, **words}.items():
            text = text.replace(f"@{word}@", str(value))
        with open(path + ".xml", "w", encoding="utf-8") as file:
            file.write(text)
        command = ["ip", "netns", "exec", inside] if inside else []
        command += [*program] + ([f"{remote}:{remote_port}"] if remote else []) + [*options]
        # -nd: a doubled or late message does not end the call, since a network may deliver it so.
        command += [
            "-sf", path + ".xml", "-i", address, "-p", str(port), "-m", str(calls), "-r", str(rate), "-l", str(at_once),
            "-nd", "-nostdin", "-timeout", str(limit), "-skip_rlimit", "-buff_size", "4194304", "-max_retrans", "12",
            "-max_invite_retrans", "8", "-trace_stat", "-stf", self.statistics, "-fd", "2",
            "-trace_logs", "-log_file", self.log, "-trace_err", "-error_file", self.errors]
        if os.environ.get("TRACE"):
            command += ["-trace_msg", "-message_file", path + ".messages"]
        self.child = Child(name, command, folder)

    def listens(self):
        """Waits until its address is bound."""
        command = (["ip", "netns", "exec", self.inside] if self.inside else []) + ["ss", "-Hltun"]
        wait_until(
            lambda: self.bound in subprocess.run(command, capture_output=True, text=True).stdout
            or not self.child.is_running(), 10, f"{self.name} does not listen")
        return self

    def wait(self, seconds):
        """SIPp's exit status: 0 if every call succeeded, 1 if one failed; None if SIPp did not end."""
        try:
            return self.child.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.child.stop(1)
            return None

    def counted(self, column):
        """A cumulative counter of SIPp's own statistics, such as SuccessfulCall."""
        with open(self.statistics, encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter=";"))
        if not rows:
            raise Failed(f"{self.name} wrote no statistics")
        return int(rows[-1][column + "(C)"])

    def said(self):
        """(word, Call-ID) of every line its scenario logged."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return [tuple(line.split()[:2]) for line in file if len(line.split()) >= 2]
