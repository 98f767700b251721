# SPDX-License-Identifier: Apache-2.0
"""Runs the SIPp scenarios on loopback through a directory and a gateway of their own, and compares the events.

    Tests/Scenarios/run [--binaries FOLDER] [--live] [NAME...]

NAME: only situations whose name contains it. --binaries: where herald and herald-directory are (.build/debug).
--live: start nothing, call through a gateway that runs already on 127.0.0.1:15070; events are not compared.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

from heraldtest import ROOT, counts
from heraldtest.addresses import HOST, Ports
from heraldtest.call import Call
from heraldtest.child import Failed, end_on_signals, wait_until
from heraldtest.testbed import Testbed
from . import bad_input, operation, situations

PORTS = Ports(15000)
EVENT_PATIENCE = 120


class Report:
    """Counts, and prints a line for each situation as it ends."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def ok(self, name, started):
        self.passed += 1
        print(f"ok    {name} ({time.monotonic() - started:.1f} s)", flush=True)

    def fail(self, name, why):
        self.failed += 1
        print(f"FAIL  {name}: {why}", flush=True)


def side(step, script, role, caller, name, options=(), gateway=PORTS.gateway):
    """The arguments of one SIPp; the carrier is at the trunk's port and the PBX at its own, `gateway` is the port it calls."""
    calling = name == "calling"
    return {
        "name": name, "script": script, "keys": {"caller": caller, **step.keys}, "calls": step.calls,
        "port": PORTS.trunk if role == "carrier" else PORTS.pbx,
        "host": step.host if calling else HOST,
        "remote": gateway if calling else None,
        "options": step.options + tuple(options)}


def role(script):
    """`carrier` or `pbx`, by the scenario's file name."""
    return "carrier" if os.path.basename(script).startswith("carrier") else "pbx"


def place(step, caller, folder, carrier_options=(), pbx_options=(), gateway=PORTS.gateway):
    """Plays one step to its end; `Failed` with the logs of both sides if one side failed."""
    call = start(step, caller, folder, carrier_options, pbx_options, gateway)
    try:
        if not call.finish():
            raise Failed("the call did not go as written\n" + call.trouble())
    finally:
        call.stop()


def start(step, caller, folder, carrier_options=(), pbx_options=(), gateway=PORTS.gateway):
    options = {"carrier": carrier_options, "pbx": pbx_options}

    def one(script, name):
        return side(step, script, role(script), caller, name, options[role(script)], gateway)

    answering = one(step.answering, "answering") if step.answering else None
    return Call(folder, answering, one(step.calling, "calling")).start()


def expect_events(testbed, number, expected):
    """Waits until the directory has exactly the expected stories for a number."""
    wanted = collections.Counter(expected)

    def recorded():
        return collections.Counter(event.story for event in testbed.events() if event.number == number)

    try:
        wait_until(lambda: sum(recorded().values()) >= sum(wanted.values()), EVENT_PATIENCE, "")
    except Failed:
        pass
    if recorded() != wanted:
        raise Failed(f"events for {number}: expected {sorted(wanted.items())}, recorded {sorted(recorded().items())}")


def broken_datagrams(testbed, folder):
    """Bad input gets a response where RFC 3261 requires one, else it is dropped; the next call is branded."""
    wrong, count = bad_input.run((HOST, PORTS.trunk), (HOST, PORTS.gateway))
    if wrong:
        raise Failed(f"{len(wrong)} of {count} datagrams:\n  " + "\n  ".join(wrong))
    place(situations.answered(), situations.brand(1040), folder)
    if testbed:
        testbed.gateway.must_run()
        expect_events(testbed, situations.brand(1040), situations.SEEN)


def directory_down(testbed, folder):
    """Calls are branded from the stored copy while the directory is away, and their events arrive afterwards."""
    testbed.directory.stop()
    place(situations.answered(), situations.brand(1041), folder)
    testbed.start_directory(folder)
    expect_events(testbed, situations.brand(1041), situations.SEEN)


def started_without_directory(testbed, folder):
    """A gateway that starts with no network brands from what it has stored."""
    testbed.gateway.stop()
    testbed.directory.stop()
    testbed.start_gateway(wait_for_sync=False)
    place(situations.answered(), situations.brand(1042), folder)
    testbed.start_directory(folder)
    expect_events(testbed, situations.brand(1042), situations.SEEN)


def killed_in_mid_call(testbed, folder):
    """kill -9 while a call is up: the BYE still arrives and the call's events come once."""
    step = situations.step("long-call/carrier.xml", "answered/pbx.xml")
    call = start(step, situations.brand(1043), folder)
    try:
        # The call is up once the carrier has sent its ACK.
        wait_until(
            lambda: os.path.exists(call.sides[-1].messages) and any(
                way == "sent" and text.startswith("ACK ") for way, text in call.sides[-1].sent_and_received()),
            60, "the call is not answered")
        testbed.gateway.kill()
        testbed.start_gateway(wait_for_sync=False)
        if not call.finish():
            raise Failed("the call did not survive\n" + call.trouble())
    finally:
        call.stop()
    expect_events(testbed, situations.brand(1043), situations.SEEN)


def switched_off_by_the_directory(testbed, folder):
    """The directory's gates apply from its next response on, and such calls are reported as such."""
    account = (testbed.directory_binary, "accounts", "set", "--state", testbed.directory_state)
    testbed.command(*account, "--disable-branding")
    place(situations.answered(), situations.brand(1044), os.path.join(folder, "before"))
    wait_until(
        lambda: "gated:branding_disabled" in testbed.lookup(situations.brand(1045)), EVENT_PATIENCE,
        "the gateway did not switch branding off")
    place(situations.unbranded("answered"), situations.brand(1045), os.path.join(folder, "off"))
    expect_events(testbed, situations.brand(1045), ("branding_disabled",))
    testbed.command(*account, "--enable-branding")
    # The response to the next event carries it; without an event the next sync would.
    place(situations.unbranded("answered"), situations.brand(1045), os.path.join(folder, "still-off"))
    wait_until(
        lambda: "gated:" not in testbed.lookup(situations.brand(1046)), EVENT_PATIENCE,
        "the gateway did not switch branding on again")
    place(situations.answered(), situations.brand(1046), os.path.join(folder, "on"))


SPECIAL = (
    ("broken datagrams, then a branded call", broken_datagrams, True),
    ("directory down", directory_down, False),
    ("started without a directory", started_without_directory, False),
    ("killed in mid-call", killed_in_mid_call, False),
    ("switched off by the directory", switched_off_by_the_directory, False),
)


class Runner:
    """The functions of this program for the situations of operation."""

    ports = PORTS
    place = staticmethod(place)
    start = staticmethod(start)
    expect_events = staticmethod(expect_events)


def operated(testbed, function):
    """A situation of operation as `play` takes it."""
    return lambda folder: function(testbed, folder, Runner)


def play(report, testbed, name, number, action):
    """Runs one situation and prints its line."""
    folder = os.path.join(testbed.folder if testbed else tempfile.gettempdir(), "calls", number)
    started = time.monotonic()
    try:
        os.makedirs(folder, exist_ok=True)
        action(folder)
        report.ok(name, started)
    except (Failed, OSError, ValueError, subprocess.SubprocessError) as trouble:
        report.fail(name, trouble)
        if testbed:
            print("--- herald:\n" + testbed.gateway.tail(), flush=True)


def run_all(report, testbed, names):
    wanted = lambda name: not names or any(part in name for part in names)  # noqa: E731
    for position, situation in enumerate(situations.SITUATIONS):
        if wanted(situation.name):
            def action(folder, situation=situation):
                for number, step in enumerate(situation.steps):
                    place(step, situation.caller, os.path.join(folder, str(number)))
                if testbed and situation.events:
                    expect_events(testbed, situation.caller, situation.events)
            play(report, testbed, situation.name, str(position), action)
    for position, (name, special, is_live) in enumerate(SPECIAL):
        if wanted(name) and (testbed or is_live):
            play(report, testbed, name, f"special-{position}", lambda folder, special=special: special(testbed, folder))
    for position, (name, function) in enumerate(operation.OPERATION):
        if wanted(name) and testbed:
            play(report, testbed, name, f"operation-{position}", operated(testbed, function))
    if testbed and not names:
        play(report, testbed, "no events but these", "rest", lambda _: expect_no_more(testbed))


def expect_no_more(testbed):
    """Checks that unlisted and withheld callers and unknown peers left no event in the directory."""
    silent = {situation.caller for situation in situations.SITUATIONS if not situation.events}
    keys = [event.key for event in testbed.events()]
    if len(keys) != len(set(keys)):
        raise Failed("the directory has two events of one key")
    traces = [event.story for event in testbed.events() if event.number in silent or event.number is None]
    if traces:
        raise Failed(f"events that must not be there: {traces}")


def main():
    parser = argparse.ArgumentParser(
        prog="Tests/Scenarios/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", default=os.path.join(ROOT, ".build", "debug"))
    parser.add_argument("--live", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    end_on_signals()
    report = Report()
    if options.live:
        run_all(report, None, options.names)
    else:
        folder = tempfile.mkdtemp(prefix="herald-scenarios-")
        testbed = Testbed(os.path.abspath(options.binaries), folder, PORTS)
        try:
            testbed.check_ports()
            testbed.prepare_directory(os.path.join(HERE, "brands.csv"))
            testbed.start_directory(folder)
            testbed.write_config()
            testbed.start_gateway()
            run_all(report, testbed, options.names)
        except Failed as trouble:
            report.fail("start", trouble)
        finally:
            testbed.stop()
            if report.failed == 0:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                print(f"logs and messages are kept in {folder}")
    counts.write(report.passed, report.failed, "scenarios")
    sys.exit(1 if report.failed or not report.passed else 0)


if __name__ == "__main__":
    main()
