# SPDX-License-Identifier: Apache-2.0
"""A gateway whose wall clock is set under its calls: a process with a clock of its own, see wall_clock.c."""
import contextlib
import os
import shutil
import struct
import subprocess
import time

from heraldtest.call import SCENARIOS
from heraldtest.child import Failed, wait_until
from .situations import CAUSE_16, GAVE_UP, SEEN, answered, both, brand, step


# Seconds in which the events of ended calls must reach the directory.
IN_TIME = 20


class WallClock:
    """The wall clock of one process, by the file the preloaded library reads."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        compiler = shutil.which("cc") or shutil.which("clang")
        if not compiler:
            raise Failed("there is no C compiler to build wall_clock.c with")
        self.library = os.path.join(folder, "wall_clock.so")
        self.file = os.path.join(folder, "offset")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", self.library, os.path.join(SCENARIOS, "wall_clock.c"), "-ldl"],
            check=True, timeout=60)
        self.set(0)

    def set(self, seconds):
        """Sets the clock so many seconds off the machine's."""
        is_new = not os.path.exists(self.file)
        # In place: the process has the file mapped.
        with open(self.file, "wb" if is_new else "r+b", buffering=0) as file:
            file.write(struct.pack("=q", seconds * 1_000_000_000))

    @property
    def command(self):
        """The command prefix that starts a program with this clock."""
        return ("env", f"LD_PRELOAD={self.library}", f"WALL_CLOCK_FILE={self.file}")


@contextlib.contextmanager
def gateway(testbed, clock):
    """The usual gateway with a clock that can be set."""
    testbed.gateway.stop()
    testbed.start_gateway(under=clock.command)
    try:
        yield
    finally:
        testbed.gateway.stop()
        testbed.start_gateway()


def is_answered(call):
    """True once the caller has sent its ACK."""
    return os.path.exists(call.sides[-1].messages) and any(
        way == "sent" and text.startswith("ACK ") for way, text in call.sides[-1].sent_and_received())


def events_in_time(testbed, number, expected):
    """Waits a short time for the stories of a number; the events must be there, and no more."""
    def recorded():
        return sorted(event.story for event in testbed.events() if event.number == number)
    try:
        wait_until(lambda: len(recorded()) >= len(expected), IN_TIME, "")
    except Failed:
        pass
    if recorded() != sorted(expected):
        raise Failed(f"events for {number} after {IN_TIME} s: expected {sorted(expected)}, recorded {recorded()}\n"
                     + testbed.gateway.tail())


def check_rows(testbed, number):
    """Checks the ledger's calls of a number: none open, none twice, true durations."""
    rows = [row for row in testbed.calls() if row.get("caller") == number]
    story = sorted((row["outcome"], row.get("callseconds")) for row in rows)
    outcomes = [outcome for outcome, _ in story]
    if outcomes != ["ANSWERED", "ANSWERED", "MISSED"]:
        raise Failed(f"calls of {number}: expected two answered and one missed, found {story}")
    longest = max(seconds for outcome, seconds in story if outcome == "ANSWERED")
    if not 7 <= longest <= 12:
        raise Failed(f"the call of 8 s lasted {longest} s by the ledger")
    rings = [row.get("ringseconds") for row in rows]
    if any(ring is None or ring > 10 for ring in rings):
        raise Failed(f"calls of {number} rang for {rings} s by the ledger")


def set_under_calls(seconds, line, subscriber):
    """The situation of a clock set by so many seconds, with a caller and a subscriber of its own."""

    def situation(testbed, folder, run):
        clock = WallClock(folder)
        number = brand(line)
        with gateway(testbed, clock):
            run.place(both("missed", reason=CAUSE_16, called=subscriber), number, os.path.join(folder, "missed"))
            long = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), number, os.path.join(folder, "long"))
            try:
                wait_until(lambda: is_answered(long), 60, "the call is not answered")
                clock.set(seconds)
                time.sleep(1)
                age = testbed.metric("herald_recorder_age_seconds")
                if age is None or age > 5:
                    raise Failed(f"the recorder has finished no round for {age} s after the clock was set")
                if not long.finish():
                    raise Failed("the call in progress suffered\n" + long.trouble())
            finally:
                long.stop()
            run.place(answered(), number, os.path.join(folder, "after"))
            events_in_time(testbed, number, GAVE_UP + SEEN + SEEN)
            run.place(step("return-call/pbx.xml", "return-call/carrier.xml", name="Front Desk", called=number,
                           caller=subscriber), number, os.path.join(folder, "return"))
            events_in_time(testbed, number, GAVE_UP + SEEN + SEEN + ("returned",))
            check_rows(testbed, number)
        testbed.gateway.must_run()

    return situation


CLOCKS = (
    ("clock set back under calls", set_under_calls(-3600, 1070, "+61255502070")),
    ("clock set forward under calls", set_under_calls(3600, 1071, "+61255502071")),
)
