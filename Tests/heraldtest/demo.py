# SPDX-License-Identifier: Apache-2.0
"""The calls of Deploy/demo: a directory, a gateway, seven SIPp calls, and the record of each."""
import argparse
import collections
import csv
import os
import re
import shutil
import sys
import tempfile
import urllib.request
from dataclasses import dataclass

from . import ROOT, picture
from .addresses import HOST, Ports
from .call import Call
from .child import Failed, end_on_signals, wait_until
from .side_by_side import render, table
from .testbed import Testbed

PORTS = Ports(16000)
SUBSCRIBER = "+61255502000"
UNKNOWN_CALLER = "+61255509876"
CARRIER_NAME = "WIRELESS CALLER"
BRANDS = os.path.join(ROOT, "Config", "sample-brands.csv")
LOGOS = os.path.join(ROOT, "Config", "logos")
# The way to an own trunk, as README.md prints it: command, effect. Deploy/test-package runs the commands of README.md.
NEXT = (
    ("Deploy/package", "builds packages for Debian 12, in 10 to 20 minutes"),
    ("sudo apt install ./.build-package/*.deb", "here, or on the machine that carries calls, which needs no Swift"),
    ("sudo -u herald herald-directory import /usr/share/herald/sample-brands.csv --config /etc/herald/herald-directory.yaml",
     "gives the directory brands"),
    ("sudo herald setup", "asks for carrier, PBX and country, and writes the configuration"),
    ("sudo systemctl start herald", "the log and http://127.0.0.1:9470 have the first steps"),
    ("sudo -u herald herald test-call --to NUMBER", "rings a phone behind your PBX with a brand"),
)


@dataclass(frozen=True)
class Demo:
    """One call and its expected record."""

    title: str
    caller: str
    shown: str
    carrier: str
    pbx: str
    decision: str
    outcome: str
    events: tuple
    called: str = SUBSCRIBER
    from_pbx: bool = False
    keys: tuple = ()
    number: str = ""

    @property
    def event_number(self):
        """The number the directory files the events under; '' when there must be none."""
        return self.number or self.caller

    def side(self, is_carrier, name):
        placing = is_carrier != self.from_pbx
        return {
            "name": name, "script": self.carrier if is_carrier else self.pbx,
            "port": PORTS.trunk if is_carrier else PORTS.pbx, "remote": PORTS.gateway if placing else None,
            "keys": {"caller": self.caller, "called": self.called, "name": self.shown, **dict(self.keys)}}

    def place(self, folder):
        """Places the call; `Failed` if a side did not see its expected messages."""
        carrier, pbx = self.side(True, "carrier"), self.side(False, "pbx")
        call = Call(folder, carrier, pbx) if self.from_pbx else Call(folder, pbx, carrier)
        call.start()
        try:
            if not call.finish():
                raise Failed(f"{self.title}: the call did not go as written\n{call.trouble()}")
        finally:
            call.stop()
        return call


def sample_brands():
    """(number, name) of the sample brands that have a logo, as `herald-directory import` reads them."""
    with open(BRANDS, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["logo_url"] and '"' not in row["brand_name"]]
    australian = [row for row in rows if row["number"].startswith("+61")]
    if len(australian) < 4:
        raise Failed(f"{BRANDS} has {len(australian)} Australian numbers with a logo, the demo needs 4")
    return [(row["number"], row["brand_name"]) for row in australian]


def plan():
    """The seven calls, with the numbers of the sample brands."""
    answered, missed, declined, national = sample_brands()[:4]
    shown, lost = ("displayed", "call_seen ANSWERED"), ("displayed", "missed MISSED")
    plain = ("answered/carrier.xml", "answered/pbx.xml")
    return (
        Demo("branded and answered", answered[0], answered[1], *plain, "matched", "ANSWERED", shown),
        Demo("branded and missed", missed[0], missed[1], "missed/carrier.xml", "missed/pbx.xml", "matched", "MISSED",
             lost, keys=(("reason", "Q.850;cause=16"),)),
        Demo("branded and declined", declined[0], declined[1], "refused/carrier.xml", "declined/pbx-603.xml",
             "matched", "REJECTED", ("displayed", "call_seen REJECTED"), keys=(("status", "603"),)),
        Demo("unknown caller", UNKNOWN_CALLER, CARRIER_NAME, "answered/carrier.xml", "unbranded/pbx.xml", "no_match",
             "ANSWERED", ()),
        Demo("withheld number", answered[0], "Anonymous", "withheld/carrier.xml", "unbranded/pbx.xml", "privacy",
             "ANSWERED", (), number="-"),
        Demo("national format", "0" + national[0].removeprefix("+61"), national[1], *plain, "matched", "ANSWERED",
             shown, number=national[0]),
        Demo("return call", SUBSCRIBER, "Front Desk", "return-call/carrier.xml", "return-call/pbx.xml", "outbound",
             "ANSWERED", ("returned",), called=missed[0], from_pbx=True, number=missed[0]),
    )


def say(text=""):
    print(text, flush=True)


def first_message(side, direction):
    return next(text for way, text in side.sent_and_received() if way == direction and text.startswith("INVITE"))


def show_invite(call):
    width = shutil.get_terminal_size((160, 40)).columns if sys.stdout.isatty() else 160
    pbx, carrier = call.sides
    say()
    say("The INVITE of the first call (~ changed, + added, - removed by the gateway):")
    say()
    for line in render(first_message(carrier, "sent"), first_message(pbx, "received"), width, sys.stdout.isatty()):
        say(line)
    say()


def logo_address(call):
    """The URL of the logo in the INVITE that the PBX received; '' without one."""
    found = re.search(r"(?mi)^Call-Info:.*?<([^>]+)>[^,]*purpose=icon", first_message(call.sides[0], "received"))
    return found[1] if found else ""


def same_file(data):
    """The sample logo with these bytes; '' if none has them."""
    for name in sorted(os.listdir(LOGOS)):
        path = os.path.join(LOGOS, name)
        with open(path, "rb") as file:
            if file.read() == data:
                return path
    return ""


def show_logo(call):
    """Fetches the logo of a call as a phone does, and shows where it is; returns differences to the plan."""
    address = logo_address(call)
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            data = response.read()
    except (OSError, ValueError) as trouble:
        return [f"the logo of the first call cannot be fetched from '{address}': {trouble}"]
    path, size = same_file(data), picture.size_of(data)
    if not path or not size:
        return [f"the logo at {address} is none of {LOGOS}"]
    say(f"The logo of this call, as a phone fetches it: PNG, {size[0]} x {size[1]}, {len(data)} bytes")
    say(f"  {address}")
    say(f"  {os.path.relpath(path, ROOT)}")
    if picture.terminal_has_colours():
        for line in picture.drawn(data):
            say("  " + line)
    say()
    return []


def expected_events(calls):
    return collections.Counter((call.event_number, story) for call in calls for story in call.events)


def wait_for_events(testbed, calls):
    """The events the directory has, once it has as many as expected or 15 s are over."""
    wanted = expected_events(calls)
    try:
        wait_until(lambda: len(testbed.events()) >= sum(wanted.values()), 15, "")
    except Failed:
        pass
    return testbed.events()


def show_table(testbed, placed):
    """Prints the record of each call; returns (differences to the plan, last line)."""
    events = wait_for_events(testbed, [demo for demo, _ in placed])
    # By their order, one after the other: a record of a withheld number has no Call-ID of the carrier's.
    records = testbed.calls()
    differences = [] if len(records) == len(placed) else [f"{len(records)} records of {len(placed)} calls"]
    records += [{}] * len(placed)
    left = list(events)
    rows = [("call", "from", "phone shows", "decision", "outcome", "events the directory recorded")]
    for (demo, call), record in zip(placed, records):
        wire = first_message(call.sides[0], "received")
        mine = []
        for story in demo.events:
            event = next((e for e in left if e.number == demo.event_number and e.story == story), None)
            if event:
                left.remove(event)
                mine.append(story)
            else:
                differences.append(f"{demo.title}: the directory has no event '{story}' for {demo.event_number}")
        name = next(line for line in wire.splitlines() if line.startswith("From:")).split('"')[1]
        outcome, decision = record.get("outcome") or "-", record.get("decision") or "-"
        rows.append((demo.title, demo.caller if demo.decision != "privacy" else "withheld", name, decision, outcome,
                     ", ".join(mine) or "none"))
        for word, got, wanted in (("outcome", outcome, demo.outcome), ("decision", decision, demo.decision),
                                  ("name shown", name, demo.shown)):
            if got != wanted:
                differences.append(f"{demo.title}: {word} is {got}, expected {wanted}")
    differences += [f"an event nobody expected: {event.story} for {event.number}" for event in left]
    for line in table(rows, 400):
        say(line)
    say()
    branded = sum(row[3] == "matched" for row in rows)
    return differences, f"demo: {len(placed)} calls, {branded} branded, {len(events)} events recorded"


def show_addresses(testbed, first):
    """What runs on after `--keep`, where, and how to stop it. `first` is the first call."""
    pages = f"http://{HOST}:{PORTS.admin}"
    say(f"""
Left running for you:

  pages      {pages}/          open it in a browser on this machine
             {pages}/calls     the seven calls, each with its decision
             from another machine:  ssh -L {PORTS.admin}:{HOST}:{PORTS.admin} {os.uname().nodename}
  logo       {logo_address(first)}
  gateway    udp {HOST}:{PORTS.gateway}   pid {testbed.gateway.pid}   log {testbed.gateway.log}
  directory  http://{HOST}:{PORTS.directory}   pid {testbed.directory.pid}   log {testbed.directory.log}
  trunk      calls come from udp {HOST}:{PORTS.trunk}
  PBX        calls go to udp {HOST}:{PORTS.pbx}
  config     {testbed.config}
  commands   {testbed.herald_binary} calls --config {testbed.config}

Place a call by hand, the PBX first and the carrier in another terminal (in Tests/Scenarios):

  sipp -sf answered/pbx.xml -i {HOST} -p {PORTS.pbx} -m 1 -key called {SUBSCRIBER} -key name '{sample_brands()[0][1]}'
  sipp {HOST}:{PORTS.gateway} -sf answered/carrier.xml -i {HOST} -p {PORTS.trunk} -m 1 \\
      -key caller {sample_brands()[0][0]} -key called {SUBSCRIBER}

Stop it:  kill {testbed.gateway.pid} {testbed.directory.pid}; rm -r {testbed.folder}
""")


def show_next(keep):
    """What a person does after the demo."""
    say("\nnext:")
    if not keep:
        say("  Deploy/demo --keep")
        say("      leaves both programs running, with pages for a browser")
    for command, effect in NEXT:
        say(f"  {command}")
        say(f"      {effect}")
    say("\nREADME.md, \"Your own trunk and PBX\", explains the steps; docs/recipes has the PBX's side.")


def run(testbed, keep):
    """Runs the demo from start to the last line; True if every call went as planned."""
    testbed.check_ports()
    calls = plan()
    say("starting the directory with the sample brands of Config/")
    testbed.prepare_directory(BRANDS)
    testbed.start_directory(LOGOS)
    say("starting the gateway and waiting for its first sync")
    testbed.write_config()
    testbed.start_gateway()
    placed = []
    for number, demo in enumerate(calls, start=1):
        say(f"call {number} of {len(calls)}: {demo.title}")
        placed.append((demo, demo.place(os.path.join(testbed.folder, f"call-{number}"))))
    show_invite(placed[0][1])
    without_logo = show_logo(placed[0][1])
    differences, summary = show_table(testbed, placed)
    differences += without_logo
    for difference in differences:
        say(f"NOT AS EXPECTED  {difference}")
    if keep:
        show_addresses(testbed, placed[0][1])
    say(summary)
    if not differences:
        show_next(keep)
    return not differences


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    end_on_signals()
    folder = tempfile.mkdtemp(prefix="herald-demo-")
    testbed = Testbed(os.path.abspath(options.binaries), folder, PORTS, outlives_us=options.keep)
    finished = good = False
    try:
        good = run(testbed, options.keep)
        finished = True
    except Failed as trouble:
        say(f"error: {trouble}")
    finally:
        if not (options.keep and finished):
            testbed.stop()
            if good:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                say(f"logs and messages are kept in {folder}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
