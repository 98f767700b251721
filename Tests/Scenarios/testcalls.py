# SPDX-License-Identifier: Apache-2.0
"""herald test-call beside SIPp as the PBX: outcomes, nothing stored, another call from its port, interruptions, a restart, and
the scripts for SIPp."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.parse

from heraldtest import probes
from heraldtest.addresses import HOST
from heraldtest.call import SCENARIOS, Side
from heraldtest.child import Failed, ports_in_use, tail, wait_until
from .control import expect, herald
from .situations import SEEN, brand
from .wrong_peers import page

CALLED = "+61255502077"
NAME = "Harbour Dental"


def started(folder, run, script, **keys):
    """SIPp as the PBX, which listens; requests of the dialog have the name of a test call."""
    os.makedirs(folder, exist_ok=True)
    own = os.path.join(folder, "pbx.xml")
    with open(os.path.join(SCENARIOS, script), encoding="utf-8") as source, open(own, "w", encoding="utf-8") as copy:
        copy.write(source.read().replace("WIRELESS CALLER", "Herald test call"))
    side = Side("pbx", own, run.ports.pbx, {"called": CALLED, "name": NAME, **keys}, folder)
    wait_until(lambda: run.ports.pbx in ports_in_use(), 60, "sipp does not listen")
    return side


def stored(testbed, number):
    """Calls of the ledger and events of the directory with a number, and the calls that metrics count."""
    calls = [call for call in testbed.calls() if number in json.dumps(call)]
    events = [event for event in testbed.events() if event.number == number]
    return len(calls), len(events), testbed.metric("herald_calls_in_progress")


def expect_nothing(testbed, number, before):
    # The recorder takes what there is once a second.
    time.sleep(2.5)
    after = counted(testbed)
    if stored(testbed, number) != (0, 0, 0) or after != before:
        raise Failed(f"a test call is stored or counted: {stored(testbed, number)}, {before} -> {after}")


def counted(testbed):
    """Counts of calls, of events and of outputs, which no test call may change."""
    families = ("herald_calls_total", "herald_outbound_calls_total", "herald_calls_ended_total", "herald_open_calls",
                "herald_signals_recorded_total", "herald_events_sent_total", "herald_call_records_sent_total",
                "herald_ring_seconds", "herald_events_waiting")
    # Events of calls before may still be on their way.
    wait_until(lambda: testbed.metric("herald_events_waiting") == 0, 30, "events of earlier calls wait")
    found = probes.metrics(f"{HOST}:{testbed.ports.admin}")
    return {name: value for name, value in found.items() if probes.family_of(name) in families}


def tested(testbed, folder, run, script, status, words, *options, number, **keys):
    """One test call to a PBX of SIPp that must be content as well."""
    before = counted(testbed)
    pbx = started(folder, run, script, **keys)
    try:
        output = expect(
            testbed, status, words, "test-call", "--to", CALLED, "--from", number, "--ring", "2s", "--talk", "1s",
            *options)
        if not pbx.wait():
            raise Failed("the PBX's side did not go as written\n" + pbx.trouble())
    finally:
        pbx.child.stop(1)
    expect_nothing(testbed, number, before)
    return output


def outcomes(testbed, folder, run):
    """Answered, missed and declined: the brand at the PBX, the ladder, the outcome, nothing stored."""
    number = brand(1087)
    output = tested(testbed, os.path.join(folder, "answered"), run, "answered/pbx.xml", 0, "outcome   ANSWERED",
                    "--expect", "answered", number=number)
    for part in ("INVITE", "180 Ringing", "200 OK", "BYE", "carrier", "herald", "office", "decision: ",
                 f'+ From: "{NAME}" <sip:{number}@', "+ Call-Info: <", '- From: "Herald test call" <',
                 "stored    nothing"):
        if part not in output:
            raise Failed(f"no '{part}' in\n{output}")
    tested(testbed, os.path.join(folder, "missed"), run, "missed/pbx.xml", 0, "outcome   MISSED",
           "--expect", "missed", number=number)
    tested(testbed, os.path.join(folder, "declined"), run, "declined/pbx-603.xml", 0, "outcome   REJECTED",
           "--expect", "declined", number=number)
    tested(testbed, os.path.join(folder, "busy"), run, "refused/pbx-486.xml", 2, "outcome   BUSY, 486",
           "--expect", "declined", number=number)
    found = json.loads(tested(
        testbed, os.path.join(folder, "json"), run, "answered/pbx.xml", 0, "", "--json", number=number))
    if (found["outcome"], found["branded"], found["as_expected"]) != ("ANSWERED", True, True) or not found["ladder"]:
        raise Failed(f"--json: {found}")


def returned(testbed, folder, run):
    """The call back of the called party is recognised, and no carrier gets it."""
    number, before = brand(1088), counted(testbed)
    pbx = started(os.path.join(folder, "missed"), run, "missed/pbx.xml")
    command = subprocess.Popen(
        [testbed.herald_binary, "test-call", "--to", CALLED, "--from", number, "--ring", "1s", "--expect", "returned",
         "--config", testbed.config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        if not pbx.wait():
            raise Failed("the PBX's side did not go as written\n" + pbx.trouble())
        # SIPp of the call back expects an answer, and gets 486: it ends with an error, which is right here.
        back = Side("back", "return-call/pbx.xml", run.ports.pbx, {"caller": CALLED, "called": number},
                    os.path.join(folder, "missed"), remote=run.ports.gateway)
        output, _ = command.communicate(timeout=60)
        back.child.stop(1)
    finally:
        pbx.child.stop(1)
        if command.poll() is None:
            command.kill()
    if command.returncode != 0 or "returned  recognised after " not in output:
        raise Failed(f"{command.returncode}:\n{output}")
    expect_nothing(testbed, number, before)


def running(testbed, number, *options):
    return subprocess.Popen(
        [testbed.herald_binary, "test-call", "--to", CALLED, "--from", number, "--ring", "60s", *options, "--config",
         testbed.config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def rings(pbx):
    wait_until(
        lambda: os.path.exists(pbx.messages) and any(
            way == "sent" and text.startswith("SIP/2.0 180") for way, text in pbx.sent_and_received()), 60,
        "the PBX does not ring")


@contextlib.contextmanager
def ordered(testbed, **parameters):
    """A test call that is open at the gateway, for a caller that this program plays."""
    order = f"POST /v1/test-call?{urllib.parse.urlencode(parameters)} HTTP/1.1"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.settimeout(30)
        control.connect(os.path.join(testbed.gateway_state, "control.sock"))
        control.sendall(f"{order}\r\nHost: herald\r\nContent-Length: 0\r\n\r\n".encode())
        received = ""
        while '"state":"open"' not in received:
            part = control.recv(65_536).decode("utf-8", "replace")
            if not part or "\"error\"" in part:
                raise Failed(f"{order}:\n{received}{part}")
            received += part
        yield


def request(method, port, gateway, number, call_id, tag=""):
    """A request of the caller, as a carrier sends it."""
    return (f"{method} sip:{CALLED}@{HOST}:{gateway} SIP/2.0\r\n"
            f"Via: SIP/2.0/UDP {HOST}:{port};branch=z9hG4bK{call_id};rport\r\nMax-Forwards: 70\r\n"
            f'From: "Herald test call" <sip:{number}@{HOST}>;tag=c\r\nTo: <sip:{CALLED}@{HOST}>{tag}\r\n'
            f"Call-ID: {call_id}\r\nCSeq: 1 {method}\r\nContact: <sip:{HOST}:{port}>\r\nContent-Length: 0\r\n\r\n")


def final(caller):
    """The first final response that the caller gets."""
    while True:
        try:
            response = caller.recv(65_535).decode("utf-8", "replace")
        except socket.timeout:
            raise Failed("no final response within 10 s") from None
        if not response.startswith("SIP/2.0 1"):
            return response


def other_calls(testbed, folder, run):
    """From the port of a test call, the INVITE with the ordered Call-ID alone is the test's; another gets 403 and a record."""
    number, before = brand(1091), counted(testbed)
    own, other = "herald-test-scenarioscenarios", "herald-test-anotheranother"
    cause = "a test call is admitted from this address and port, by another Call-ID"
    gateway = run.ports.gateway
    pbx = started(folder, run, "refused/pbx-486.xml")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as caller:
            caller.bind((HOST, 0))
            caller.settimeout(10)
            caller.connect((HOST, gateway))
            port = caller.getsockname()[1]
            with ordered(testbed, to=CALLED, **{"from": number}, caller=f"{HOST}:{port}", call_id=own):
                caller.send(request("INVITE", port, gateway, number, other).encode())
                response = final(caller)
                if not response.startswith("SIP/2.0 403 "):
                    raise Failed(f"another Call-ID got\n{response}")
                caller.send(request("INVITE", port, gateway, number, own).encode())
                response = final(caller)
                if not response.startswith("SIP/2.0 486 "):
                    raise Failed(f"the ordered call got\n{response}")
                tag = ";tag=" + response.split("\r\nTo: ", 1)[1].split("\r\n", 1)[0].split(";tag=", 1)[1]
                caller.send(request("ACK", port, gateway, number, own, tag).encode())
        if not pbx.wait():
            raise Failed("the PBX's side did not go as written\n" + pbx.trouble())
    finally:
        pbx.child.stop(1)
    wait_until(
        lambda: (f"{HOST}:{port}", cause) in {(row["address"], row["cause"]) for row in json.loads(
            page(testbed, "/status")[1])["rejected"]}, 20, f"no '{cause}' of port {port} on /status")
    if own in tail(testbed.gateway.log, 100_000):
        raise Failed("the log has the Call-ID of the order")
    expect_nothing(testbed, number, before)


def ended_early(testbed, folder, run):
    """Ctrl-C, a drain and kill -9 of the gateway end a ringing call by CANCEL; nothing is stored."""
    number, before = brand(1089), counted(testbed)

    def interrupt(command):
        command.send_signal(signal.SIGINT)

    def drain(_):
        expect(testbed, 0, "draining", "drain")

    def restart(_):
        testbed.gateway.kill()
        testbed.start_gateway(wait_for_sync=False)

    for name, action, words in (("interrupted", interrupt, "ended early: interrupted"),
                                ("drained", drain, "ended early: the gateway drains"),
                                ("restarted", restart, "ended early: the gateway went away")):
        pbx = started(os.path.join(folder, name), run, "missed/pbx.xml")
        command = running(testbed, number)
        try:
            rings(pbx)
            action(command)
            output, _ = command.communicate(timeout=60)
            if command.returncode != 130 or words not in output:
                raise Failed(f"{name}: {command.returncode}\n{output}")
            if name != "restarted" and not pbx.wait():
                raise Failed(f"{name}: the PBX got no CANCEL\n" + pbx.trouble())
            if name == "restarted":
                wait_until(lambda: any(text.startswith("CANCEL ") for _, text in pbx.sent_and_received()), 10,
                           "the PBX got no CANCEL after the restart")
        finally:
            pbx.child.stop(1)
            if command.poll() is None:
                command.kill()
            if name == "drained":
                expect(testbed, 0, "not draining", "drain", "--off")
        if name == "restarted":
            time.sleep(2.5)
            if stored(testbed, number)[:2] != (0, 0):
                raise Failed(f"kill -9 left something: {stored(testbed, number)}")
        else:
            expect_nothing(testbed, number, before)


def refused(testbed, folder, run):
    """Wrong options end with 64, orders that cannot be with 1; each names the reason."""
    for status, words, options in (
            (64, "--ring takes 1s to 120s", ("--to", "2001", "--ring", "9h")),
            (64, "the called number has 1 to 64", ("--to", "2001;x=y")), (64, "expect", ("--to", "1", "--expect", "x")),
            (1, "000 is an emergency number", ("--to", "000")),
            (1, "no trunk is named nowhere", ("--to", "2001", "--trunk", "nowhere")),
            (1, "is not certain on trunk", ("--to", "2001", "--from", "12\n\x1b[2J"))):
        _, output, errors = herald(testbed, "test-call", *options)
        expect(testbed, status, words, "test-call", *options)
        if "\x1b" in output + errors:
            raise Failed(f"{options} reached the terminal")


def scripts(testbed, folder, run):
    """Each script of --sipp runs as written, carrier against PBX through the gateway."""
    number = brand(1090)
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, "sipp")
    options = ("--to", CALLED, "--from", number, "--sipp", target)
    expect(testbed, 0, f"{target} has a carrier and a PBX for SIPp", "test-call", *options)
    expect(testbed, 1, "", "test-call", *options)
    for situation, first, second in (("answered", "pbx", "carrier"), ("missed", "pbx", "carrier"),
                                     ("declined", "pbx", "carrier"), ("returned", "carrier", "pbx")):
        sides = []
        for side in (first, second):
            with open(os.path.join(folder, f"{side}-{situation}.out"), "wb") as log:
                sides.append(subprocess.Popen(
                    [os.path.join(target, "run"), side, situation], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                    cwd=folder))
            if side == first:
                port = run.ports.pbx if side == "pbx" else run.ports.trunk
                wait_until(lambda port=port: port in ports_in_use(), 60, "sipp does not listen")
        statuses = [side.wait(90) for side in reversed(sides)]
        if statuses != [0, 0]:
            errors = "".join(open(os.path.join(folder, name), encoding="utf-8", errors="replace").read()[-800:]
                             for name in sorted(os.listdir(folder)) if situation in name and name.endswith(("out", "errors")))
            raise Failed(f"{situation}: {second}, {first} ended with {statuses}\n{errors}")
    with open(os.path.join(folder, "pbx-answered.log"), encoding="utf-8") as file:
        if f'From: "{NAME}"' not in file.read():
            raise Failed("the PBX's log does not show the brand")
    run.expect_events(testbed, number, (*SEEN, "displayed", "missed MISSED", "displayed", "call_seen REJECTED", "returned"))


TESTCALLS = (
    ("herald test-call: outcomes", outcomes),
    ("herald test-call: returned", returned),
    ("herald test-call: other calls from its port", other_calls),
    ("herald test-call: ended early", ended_early),
    ("herald test-call: refused", refused),
    ("herald test-call: scripts for SIPp", scripts),
)
