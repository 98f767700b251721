# SPDX-License-Identifier: Apache-2.0
"""A prepared directory, the load of `directory_sender.c`, and its cost by the kernel's counters."""
import json
import os
import shutil
import subprocess
import time

from heraldtest.child import Failed
from heraldtest.directory import ADDRESS, Directory

HOST, PORT = ADDRESS.split(":")
BRANDS = 50_000
GATEWAYS = 200


def rows(count):
    for position in range(count):
        brand = position % BRANDS
        yield (f"+44{7_000_000_000 + position:010}", f"Company {brand}", f"https://logos.example/{brand}/icon-256.png",
               f"Reason {brand}")


class MeasuredDirectory(Directory):
    """A directory with so many numbers and a key for each gateway."""

    def __init__(self, folder, numbers):
        super().__init__(os.path.join(folder, "run"))
        self.template = os.path.join(folder, f"template-{numbers}")
        self.keys = os.path.join(self.template, "keys")
        self.numbers = numbers

    def prepare(self):
        """Copies the prepared database, and makes it first if it is missing."""
        if not os.path.exists(self.keys):
            self.make_template()
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(os.path.join(self.template, "directory"), self.state)
        with open(self.keys, encoding="ascii") as file:
            self.first_key = file.readline().strip()

    def make_template(self):
        shutil.rmtree(self.template, ignore_errors=True)
        maker = Directory(self.template)
        maker.put(rows(self.numbers))
        keys = [maker.command("key", "create", f"gateway-{n}").strip() for n in range(GATEWAYS)]
        with open(self.keys, "w", encoding="ascii") as file:
            file.write("\n".join(keys) + "\n")


class Cost:
    """The server's CPU time, writes and memory between two moments."""

    def __init__(self, directory):
        self.figures = directory.child.figures
        self.figures.forget_highest()
        self.began = self.now()

    def now(self):
        return time.monotonic(), self.figures.cpu_seconds(), self.figures.written()

    def end(self):
        seconds, cpu, written = (now - then for now, then in zip(self.now(), self.began))
        return {"seconds": round(seconds, 2), "server_cpu_s": round(cpu, 2), "written_mb": round(written / 1e6, 1),
                "peak_rss_mb": round(self.figures.highest() / (1 << 20), 1)}


class Sender:
    """One run of the sender in the background."""

    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, *map(str, words)], stdout=subprocess.PIPE)

    @classmethod
    def events(cls, program, directory, seconds, rate, batch, prefix, accepted):
        return cls(program, "events", HOST, PORT, directory.keys, seconds, 64, rate, batch, 20, prefix, accepted)

    @classmethod
    def polls(cls, program, directory, seconds, interval, cursor):
        return cls(program, "polls", HOST, PORT, directory.keys, seconds, GATEWAYS, interval, cursor)

    def result(self):
        with self.process.stdout as output:
            text = output.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = status
        if status:
            raise Failed(f"the sender ended with {status}")
        return {**json.loads(text), "sender_cpu_s": round(usage.ru_utime + usage.ru_stime, 2)}
