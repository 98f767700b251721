# SPDX-License-Identifier: Apache-2.0
"""Peers that start with the configuration a page prints: Asterisk, Kamailio, and a desk phone for both."""
import json
import os
import re
import shutil
import subprocess
import time

from Documents import blocks
from heraldtest.child import Child, Failed, wait_until

# The places of the blocks that peers have started with.
USED = set()
HERE = os.path.dirname(os.path.abspath(__file__))


def printed(page, path, part=""):
    """The block of a page that is meant for `path`, with `part` in the words behind the path."""
    found = [block for block in blocks.of_page(page) if block.title[0] == path and part in block.title[1]]
    if len(found) != 1:
        raise Failed(f"{page} has {len(found)} blocks for {path} {part}; one is wanted")
    USED.add(found[0].place)
    return found[0].text


def within(text, section, kind, more):
    """An Asterisk configuration with the lines `more` in the section [name] that has type=kind."""
    lines = text.split("\n")
    start = next((n for n, line in enumerate(lines[:-1])
                  if line == f"[{section}]" and f"type={kind}" in lines[n + 1:n + 3]), None)
    if start is None:
        raise Failed(f"no section [{section}] of type {kind}")
    return "\n".join(lines[:start + 2] + more.rstrip("\n").split("\n") + lines[start + 2:])


def private(path, flags):
    """Opens a file that its owner alone may read: Asterisk takes no other key."""
    return os.open(path, flags, 0o600)


class Asterisk:
    """The Asterisk of `kind` (22 or 16) with files of /etc/asterisk."""

    def __init__(self, kind, folder, files, instance=""):
        """`instance`: the name of one beside the usual one."""
        self.script = os.path.join(HERE, "asterisk", "asterisk")
        self.files = os.path.join(folder, f"asterisk-files{instance and '-'}{instance}")
        shutil.rmtree(self.files, ignore_errors=True)
        os.makedirs(self.files)
        for name, text in files.items():
            with open(os.path.join(self.files, name), "w", encoding="utf-8", opener=private) as file:
                file.write(text)
        self.environment = {**os.environ, "KIND": str(kind), "FILES": self.files, "INSTANCE": instance}

    def command(self, *words):
        return subprocess.run([self.script, *words], env=self.environment, capture_output=True, text=True, timeout=60,
                              check=False)

    def start(self):
        done = self.command("start")
        if done.returncode:
            raise Failed(f"Asterisk did not start: {done.stdout}{done.stderr}")

    def cli(self, words):
        return self.command("cli", words).stdout

    def log(self):
        """The lines of its log since its start."""
        path = os.path.join(os.environ["PEERS"], "log", (self.environment["INSTANCE"] or "asterisk") + ".full")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()

    def stop(self):
        self.command("stop")


class Kamailio:
    """One Kamailio with a file at the path where the page puts it."""

    def __init__(self, name, folder, path="/etc/kamailio/kamailio.cfg"):
        self.child = Child(name, ["kamailio", "-DD", "-E", "-f", path, "-Y", folder, "-P",
                                  os.path.join(folder, name + ".pid"), "-m", "64", "-M", "8"], folder)

    def stop(self):
        self.child.stop()


class DeskPhone:
    """A baresip that registers and answers by itself."""

    def __init__(self, folder, address, registrar, user, password):
        self.folder = os.path.join(folder, "phone")
        self.address, self.registrar = address, registrar
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        modules = subprocess.run(["dpkg", "-L", "baresip-core"], capture_output=True, text=True, check=True)
        place = os.path.dirname(next(line for line in modules.stdout.splitlines() if line.endswith("/ctrl_tcp.so")))
        with open(os.path.join(HERE, "baresip", "config"), encoding="utf-8") as file:
            text = file.read()
        for word, value in {"PHONE": address, "FOLDER": self.folder, "MODULES": place}.items():
            text = text.replace(f"@{word}@", value)
        self.write("config", text)
        self.write("contacts", "")
        self.write("accounts", (
            f"<sip:{user}@{registrar};transport=udp>;auth_user={user};auth_pass={password};regint=120;"
            "answermode=auto;audio_codecs=PCMA\n"))
        self.child = Child("baresip", ["baresip", "-f", self.folder, "-s"], self.folder)
        self.heard = 0
        wait_until(lambda: re.search(r"200 OK.*binding|\{0/UDP/v4\} 200 OK", self.log()), 15, (
            f"the phone did not register:\n{self.child.tail(30)}"))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def log(self):
        """Its SIP messages since the last `forget`, without colours."""
        with open(self.child.log, encoding="utf-8", errors="replace") as file:
            return re.sub(r"\x1b\[[0-9;]*m|\r", "", file.read())[self.heard:]

    def forget(self):
        self.heard = 0
        self.heard = len(self.log())

    def received(self, header):
        """The value of a header field of the first INVITE since `forget`, or ""."""
        invite = re.search(r"^INVITE sip:.*?\n\n", self.log(), re.M | re.S)
        found = re.search(rf"^{header}:\s*(.*)$", invite.group(0), re.M | re.I) if invite else None
        return found.group(1) if found else ""

    def command(self, *words):
        """Sends a command to its control port and returns the response."""
        done = subprocess.run(
            ["python3", os.path.join(HERE, "baresip", "control.py"), self.address, "4444", *words],
            capture_output=True, text=True, timeout=20, check=False)
        return json.loads(done.stdout) if done.stdout.startswith("{") else {}

    def hangs_up_after(self, seconds):
        """Hangs up once its call is answered."""
        wait_until(lambda: re.search(r"^ACK sip:", self.log(), re.M), 10, "no call reached the phone")
        time.sleep(seconds)
        self.command("hangup")

    def stop(self):
        self.child.stop()
