# SPDX-License-Identifier: Apache-2.0
"""A prepared directory, the load of `directory_sender.c`, and its cost by the kernel's counters."""
import os
import shutil
import subprocess
import time

from heraldtest.directory import ADDRESS, Directory
from heraldtest.postgres import Server
from .sender import Sender

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

    # The database server; none with SQLite.
    server = None

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

    def end(self):
        """Stops the directory, and its database server if it has one."""
        self.stop()

    def make_template(self):
        shutil.rmtree(self.template, ignore_errors=True)
        maker = Directory(self.template)
        maker.put(rows(self.numbers))
        keys = [maker.command("keys", "add", f"gateway-{n}").strip() for n in range(GATEWAYS)]
        with open(self.keys, "w", encoding="ascii") as file:
            file.write("\n".join(keys) + "\n")


class SharedDirectory(MeasuredDirectory):
    """The same directory on a PostgreSQL that writes to the disk."""

    def __init__(self, folder, numbers):
        super().__init__(folder, numbers)
        self.server = None

    def place(self):
        return ["--database", self.server.url]

    def home(self):
        # It is in the configuration: as an option it would mean SQLite.
        return []

    def prepare(self):
        """Copies the prepared database into a new server."""
        super().prepare()
        self.server = Server("--durable")
        copied = os.path.join(self.template, "directory")
        subprocess.run([self.program, "copy", "--from", copied, "--to", self.server.url], check=True, capture_output=True)
        self.server.query("VACUUM ANALYZE; CHECKPOINT;")
        config = os.path.join(self.folder, "herald-directory.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"state: {self.state}\npublic_url: http://{ADDRESS}\ndatabase: {{url: \"{self.server.url}\"}}\n")
        self.options = ["--config", config]

    def query(self, sql):
        return [tuple(int(value) if value.isdigit() else value for value in row) for row in
                self.server.query(sql.replace("counted = 1", "counted"))]

    def end(self):
        super().end()
        if self.server:
            self.server.stop()
            self.server = None


ENGINES = {"sqlite": MeasuredDirectory, "postgresql": SharedDirectory}


class Cost:
    """The server's CPU time, writes and memory between two moments; with a database server, also that one's CPU."""

    def __init__(self, directory):
        self.figures, self.server = directory.child.figures, directory.server
        self.figures.forget_highest()
        self.began = self.now()

    def now(self):
        database = self.server.cpu_seconds() if self.server else 0
        return time.monotonic(), self.figures.cpu_seconds(), self.figures.written(), database

    def end(self):
        seconds, cpu, written, database = (now - then for now, then in zip(self.now(), self.began))
        found = {"seconds": round(seconds, 2), "server_cpu_s": round(cpu, 2), "written_mb": round(written / 1e6, 1),
                 "peak_rss_mb": round(self.figures.highest() / (1 << 20), 1)}
        return {**found, "database_cpu_s": round(database, 2)} if self.server else found


def event_sender(program, directory, seconds, rate, batch, prefix, accepted):
    return Sender(program, "events", HOST, PORT, directory.keys, seconds, 64, rate, batch, 20, prefix, accepted)


def poll_sender(program, directory, seconds, interval, cursor):
    return Sender(program, "polls", HOST, PORT, directory.keys, seconds, GATEWAYS, interval, cursor)
