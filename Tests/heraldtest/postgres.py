# SPDX-License-Identifier: Apache-2.0
"""A throw-away PostgreSQL of Deploy/postgres, with its cost by the kernel's counters."""
import os
import subprocess

from . import ROOT
from .child import Failed
from .processes import Process, children_of, total


class Server:
    """A server of Deploy/postgres; the end of its input stops it."""

    def __init__(self, *options, under=()):
        """`options`: of Deploy/postgres, such as --durable. `under`: a command to start it under, such as taskset."""
        self.process = subprocess.Popen(
            [*under, os.path.join(ROOT, "Deploy", "postgres"), *options, "serve"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if len(words) != 2:
            raise Failed("Deploy/postgres started no server")
        self.folder, self.port = words
        self.url = f"postgres://herald@/herald?host={self.folder}&port={self.port}"

    def perform(self, word):
        """Carries out start, stop or kill."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != f"{word} done":
            raise Failed(f"Deploy/postgres did not carry out {word}")

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def query(self, sql, seconds=600):
        """The rows of the last of some statements, as texts."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", self.url], input=sql, capture_output=True, text=True,
            timeout=seconds, check=False)
        if done.returncode:
            raise Failed(f"PostgreSQL refused a statement: {done.stderr.strip()}")
        return [tuple(line.split("|")) for line in done.stdout.splitlines()]

    def leader(self):
        """The process that starts all others."""
        with open(os.path.join(self.folder, "data", "postmaster.pid"), encoding="ascii") as file:
            return Process(int(file.readline()))

    def cpu_seconds(self):
        """Of all its processes, ended ones too."""
        leader = self.leader()
        return leader.ended_children_seconds() + total(Process.cpu_seconds, [leader, *children_of(leader.pid)])

    def written(self):
        """Bytes that its processes wrote to the disk; those of ended processes are missing."""
        leader = self.leader()
        return total(Process.written, [leader, *children_of(leader.pid)])
