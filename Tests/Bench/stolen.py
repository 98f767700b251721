# SPDX-License-Identifier: Apache-2.0
"""CPU time that the host took from a virtual machine, moment by moment."""
import bisect
import threading
import time

from .machine import TICK


def core_seconds():
    """Core-seconds since boot in which a thread was ready and the host ran something else."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / TICK


class Stolen:
    """Samples during the `with` block, ten times a second."""

    def __enter__(self):
        self.moments, self.taken = [time.time()], [core_seconds()]
        self.over = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.reader.join()

    def read(self):
        while not self.over.wait(0.1):
            self.moments.append(time.time())
            self.taken.append(core_seconds())

    def between(self, begin, end):
        """Core-seconds from the last sample before `begin` to the first after `end`, seconds since 1970."""
        last = len(self.moments) - 1
        first = max(0, bisect.bisect_right(self.moments, begin) - 1)
        return self.taken[min(last, bisect.bisect_left(self.moments, end))] - self.taken[min(last, first)]
