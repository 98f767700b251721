# SPDX-License-Identifier: Apache-2.0
"""One SIPp call: two sides with a scenario file each, their messages and errors."""
import os
import re
import subprocess

from . import ROOT
from .addresses import HOST
from .child import Child, ports_in_use, tail, wait_until

SCENARIOS = os.path.join(ROOT, "Tests", "Scenarios")


class Side:
    """One end of a SIPp call: a scenario file on an address."""

    def __init__(self, name, script, port, keys, folder, host=HOST, remote=None, calls=1, options=()):
        self.name = name
        self.port = port
        self.messages = os.path.join(folder, name + ".messages")
        self.errors = os.path.join(folder, name + ".errors")
        command = ["sipp"]
        if remote:
            # The gateway is called by the caller's address family.
            command.append(f"[::1]:{remote}" if ":" in host else f"{HOST}:{remote}")
        command += [
            "-sf", os.path.join(SCENARIOS, script), "-i", host, "-p", str(port), "-m", str(calls), "-l", "200",
            "-r", "200", "-nostdin", "-timeout", "120", "-timeout_error", "-trace_err", "-error_file", self.errors,
            "-trace_msg", "-message_file", self.messages, "-skip_rlimit", *options]
        for key, value in keys.items():
            command += ["-key", key, value]
        self.child = Child(name, command, folder)

    def wait(self, seconds=130):
        """Waits for SIPp's end; True if every call succeeded."""
        try:
            return self.child.process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            self.child.stop(1)
            return False

    def trouble(self):
        """SIPp's errors, with the last messages of this side."""
        errors = tail(self.errors, 6)
        if errors == "(no log)":
            errors = tail(self.child.log, 6)
        return f"--- {self.name}: {errors}\n{tail(self.messages, 40)}"

    def sent_and_received(self):
        """(direction, text) of every message of this side, in order."""
        with open(self.messages, "rb") as file:
            data = file.read()
        found = []
        for mark in re.finditer(rb"message (sent|received) [\[(](\d+)\]? bytes ?\)?:\n\n", data):
            size = int(mark.group(2))
            text = data[mark.end():mark.end() + size].decode("utf-8", "replace")
            found.append((mark.group(1).decode(), text))
        return found


class Call:
    """Two sides of one call; the answering side starts first."""

    def __init__(self, folder, answering=None, calling=None):
        self.folder = folder
        self.answering = answering
        self.calling = calling
        self.sides = []

    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        if self.answering:
            answering = Side(folder=self.folder, **self.answering)
            self.sides.append(answering)
            wait_until(
                lambda: answering.port in ports_in_use() or not answering.child.is_running(), 60,
                f"sipp did not listen on port {answering.port}")
        self.sides.append(Side(folder=self.folder, **self.calling))
        return self

    def finish(self):
        """Waits for both sides; True if both succeeded. If one has failed, the other gets one second."""
        content = self.sides[-1].wait()
        if len(self.sides) == 2:
            content = self.sides[0].wait(130 if content else 1) and content
        return content

    def stop(self):
        for side in self.sides:
            side.child.stop(1)

    def trouble(self):
        return "\n".join(side.trouble() for side in self.sides)
