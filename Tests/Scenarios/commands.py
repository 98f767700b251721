# SPDX-License-Identifier: Apache-2.0
"""The operator's commands beside a running gateway: herald calls and herald events."""
import csv
import json
import os
import signal
import subprocess

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from heraldtest.records import read_json
from .situations import CAUSE_16, GAVE_UP, SEEN, answered, both, brand



class Follower:
    """`herald calls --follow --json` of one number, until it is interrupted."""

    def __init__(self, testbed, number, folder):
        self.path = os.path.join(folder, "followed.jsonl")
        with open(self.path, "wb") as output:
            # SIGINT works as in a terminal, also if this run was started with it ignored.
            self.process = subprocess.Popen(
                [testbed.herald_binary, "calls", "--follow", "--json", "--number", number, "--config", testbed.config],
                stdout=output, stdin=subprocess.DEVNULL,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def outcomes(self):
        with open(self.path, encoding="utf-8") as file:
            return [call["outcome"] for call in read_json(file.read())] if os.path.getsize(self.path) else []

    def interrupt(self):
        """The exit status after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def stop(self):
        self.process.kill()
        self.process.wait()


def expect(what, found, expected):
    if found != expected:
        raise Failed(f"{what}: expected {expected}, found {found}")


def accounts(testbed, folder, run):
    """Filters, formats and the story of a call; --follow lists calls as they end; events have their state."""
    number = brand(1056)
    run.place(answered(), number, os.path.join(folder, "before"))
    wait_until(lambda: outcomes(testbed, "--number", number) == ["ANSWERED"], 60, "the first call is not in the ledger")
    follower = Follower(testbed, number, folder)
    try:
        wait_until(lambda: follower.outcomes() == ["ANSWERED"], 60, "follow does not list what was there")
        run.place(both("missed", reason=CAUSE_16), number, os.path.join(folder, "missed"))
        run.place(answered(), number, os.path.join(folder, "after"))
        wait_until(lambda: len(follower.outcomes()) >= 3, 60, f"follow listed {follower.outcomes()}")
        expect("follow", follower.outcomes(), ["ANSWERED", "MISSED", "ANSWERED"])
        expect("exit status of follow after Ctrl-C", follower.interrupt(), 0)
    finally:
        follower.stop()
    run.expect_events(testbed, number, SEEN * 2 + GAVE_UP)
    filters(testbed, number)
    shapes(testbed, number)
    summary(testbed, number)
    zones(testbed, number)
    events(testbed, number)


def outcomes(testbed, *options):
    return [call.get("outcome") for call in listed(testbed, "calls", "--json", *options)]


def listed(testbed, command, *options):
    return read_json(testbed.command(testbed.herald_binary, command, *options, "--config", testbed.config))


def filters(testbed, number):
    own = ("--number", number)
    for options, expected in (
            (("--outcome", "missed"), ["MISSED"]), (("--outcome", "answered", "--limit", "1"), ["ANSWERED"]),
            (("--outcome", "open"), []), (("--trunk", "carrier"), ["ANSWERED", "MISSED", "ANSWERED"]),
            (("--trunk", "open"), []), (("--decision", "unbranded"), []),
            (("--decision", "branded"), ["ANSWERED", "MISSED", "ANSWERED"]), (("--reason", "no_match"), []),
            (("--since", "1h"), ["ANSWERED", "MISSED", "ANSWERED"]), (("--until", "yesterday"), []),
            (("--since", "2099-01-01"), []), (("--until", "2000-01-01T00:00:00Z"), [])):
        expect(f"herald calls {' '.join(options)}", outcomes(testbed, *own, *options), expected)


def shapes(testbed, number):
    calls = ("calls", "--number", number, "--config", testbed.config)
    rows = list(csv.DictReader(testbed.command(testbed.herald_binary, *calls, "--csv").splitlines()))
    expect("outcomes in CSV", [row["outcome"] for row in rows], ["ANSWERED", "MISSED", "ANSWERED"])
    expect("events in CSV", rows[1]["events"], "displayed=delivered missed=delivered")
    call = rows[0]["sip_call_id"]
    for name in (call, rows[0]["call_id"]):
        story = testbed.command(testbed.herald_binary, "calls", "show", name, "--config", testbed.config)
        for line in (call, "180, the phone rings", "ended: ANSWERED", "event displayed: delivered and counted"):
            if line not in story:
                raise Failed(f"the story of {name} does not tell '{line}':\n{story}")
        if "; the phone showed " not in story.split("\n\n")[0].replace("\n", " "):
            raise Failed(f"the story of {name} does not begin with the sentence:\n{story}")
        wide = [line for line in story.splitlines() if len(line) > 80]
        expect("lines of more than 80 columns", wide, [])
    told = json.loads(testbed.command(
        testbed.herald_binary, "calls", "show", call, "--json", "--config", testbed.config))
    expect("moments of the story", told["timeline"][0]["what"], "INVITE with the brand")
    refused(testbed, "calls", "show", "nobody@" + HOST, word="there is no call nobody@" + HOST)


def summary(testbed, number):
    found = json.loads(testbed.command(
        testbed.herald_binary, "calls", "--summary", "--json", "--number", number, "--since", "1h", "--config", testbed.config))
    expect("calls of the summary", found["calls"], 3)
    for group, expected in (("decision", [("branded", 3)]), ("reason", []), ("outcome", [("answered", 2), ("missed", 1)])):
        expect(group, [(line["value"], line["calls"]) for line in found[group]], expected)


def zones(testbed, number):
    """TZ in each form that the C library reads; no line is longer than 80 columns."""
    for zone, word in (("America/New_York", "E"), (":America/New_York", "E"), ("EST5EDT,M3.2.0,M11.1.0", "E"),
                       ("<-03>3", "UTC-03:00"), ("UTC", "UTC"), ("", "UTC")):
        lines = testbed.command("env", f"TZ={zone}", testbed.herald_binary, "calls", "--number", number, "--since", "today",
                                "--until", "now", "--config", testbed.config).splitlines()
        if f"times in {word}" not in lines[1] or max(map(len, lines)) > 80:
            raise Failed(f"herald calls with TZ={zone}:\n" + "\n".join(lines))
    refused(testbed, "calls", "--since", "yesterdya", word='did you mean "yesterday"')
    refused(testbed, "calls", "--trunk", "carier", word='did you mean "carrier"')
    refused(testbed, "calls", "--outcome", "mised", word='did you mean "missed"')


def events(testbed, number):
    own = [event for event in listed(testbed, "events", "--json", "--limit", "1000") if event["number"] == number]
    expect("events", sorted(event["outcome"] for event in own), [
        "call_seen", "call_seen", "displayed", "displayed", "displayed", "missed"])
    expect("states of the events", {event["state"] for event in own}, {"delivered"})
    expect("waiting events", listed(testbed, "events", "--json", "--state", "waiting"), [])
    refused(testbed, "events", "retry", own[0]["key"], word="there is no refused event")


def refused(testbed, *arguments, word):
    """Checks that a command fails and names the cause."""
    done = subprocess.run(
        [testbed.herald_binary, *arguments, "--config", testbed.config], capture_output=True, text=True, timeout=60,
        check=False)
    if done.returncode == 0 or word not in done.stderr:
        raise Failed(f"herald {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
