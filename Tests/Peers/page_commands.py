# SPDX-License-Identifier: Apache-2.0
"""Runs the command lines of pages against the site of README.md, with values in place of the words a reader replaces."""
import os
import re
import shutil
import subprocess

from Documents import blocks, check, commands, reasons
from heraldtest.child import Failed

# Words that stand for a value of the reader's own. ID and DEVICE are looked up at the site.
VALUES = {"NAME": "example", "FILE": "example.sqlite"}
WORD = re.compile(r"\b(?:ID|DEVICE|NAME|FILE)\b(?!=)")
INVITE = """INVITE sip:+61255502000@192.0.2.10 SIP/2.0
Via: SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK1
Max-Forwards: 70
From: <sip:+61491570156@203.0.113.5>;tag=1
To: <sip:+61255502000@192.0.2.10>
Call-ID: a84b4c76e66710
CSeq: 1 INVITE

"""
PICTURE = "/tmp/dental.png"
SUDO = "#!/bin/sh\n[ \"$1\" != -u ] || shift 2\nexec \"$@\"\n"


class PageCommands:
    """Command lines as a reader enters them, as root: `sudo` only drops its own words, `systemctl` acts on the site."""

    def __init__(self, site):
        self.site = site
        self.folder = os.path.join(site.folder, "reader")
        os.makedirs(os.path.join(self.folder, "bin"))
        path = os.path.join(self.folder, "bin", "sudo")
        with open(path, "w", encoding="ascii") as file:
            file.write(SUDO)
        os.chmod(path, 0o755)
        # The files that a reader has: an INVITE from a log, and a picture.
        site.write(os.path.join(self.folder, "invite.txt"), INVITE)
        shutil.copy("/usr/share/herald/logos/acme-256x256.png", PICTURE)
        site.write("/etc/passwd", read("/etc/passwd") + "herald:x:990:990::/nonexistent:/usr/sbin/nologin\n")
        site.write("/etc/group", read("/etc/group") + "herald:x:990:\n")

    @staticmethod
    def is_run(page, line):
        """True if every program of the line is one that a step runs from the page."""
        if (page, "*") in ((place, program) for place, program, _ in reasons.PROGRAMS):
            return False
        known = (*commands.PROGRAMS, *check.EXECUTED["*"], *check.EXECUTED.get(page, ()))
        parts = commands.simple_commands(line)
        return bool(parts) and all(
            words[0] in known and words[0] != "asterisk"
            and not any(" ".join(words).startswith(begin) for begin, _ in reasons.NOT_EXECUTED) for words in parts)

    def lines(self, page, heading=""):
        """The lines of a page that a step runs, or those below one of its headings: [block [line]]."""
        found = []
        for block in blocks.of_page(page):
            if block.language in check.SHELL and not block.title[0] and heading in ("", block.heading):
                if lines := [line for line in commands.lines_of(block) if self.is_run(page, line)]:
                    found.append(lines)
        return found

    def value(self, match):
        """The value in place of a word."""
        word = match.group(0)
        if word == "ID":
            return self.site.calls()[-1]["callid"]
        if word == "DEVICE":
            devices = self.site.run("herald-directory", "devices")
            found = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", devices)
            if not found:
                raise Failed(f"the directory lists no device: {devices}")
            return found.group(0)
        return VALUES[word]

    def run(self, line):
        """(exit status, output) of a line; each part of `a && b` by itself."""
        first, _, rest = line.partition(" && ")
        if rest:
            status, output = self.run(first)
            return (status, output) if status else self.run(rest)
        words = commands.simple_commands(line)[0]
        if words[0] == "systemctl":
            return 0, self.systemctl(words[1:])
        environment = {**os.environ, "PATH": f"{self.folder}/bin:/usr/local/bin:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", WORD.sub(self.value, line)], cwd=self.folder, env=environment, timeout=120,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def systemctl(self, words):
        """Acts as the unit does."""
        verb, unit = words[0], words[-1]
        if verb in ("start", "restart", "stop", "enable"):
            self.site.act(unit, verb)
        elif verb == "reload":
            self.site.reload()
        elif verb != "daemon-reload":
            raise Failed(f"the site cannot '{' '.join(words)}'")
        return ""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def every_page():
    """The pages with commands, README.md first."""
    return [page for page in blocks.pages() if not reasons.is_history(page)]
