# SPDX-License-Identifier: Apache-2.0
"""Situations of peers that are wrong, down or hostile: log, pages and responses.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import contextlib
import json
import os
import re
import socket
import time
import urllib.error
import urllib.request

from heraldtest.addresses import HOST
from heraldtest.child import Failed, tail, wait_until
from .situations import SEEN, STRANGER, brand, step


# A port for a target without a listener, or with a silent one.
ABSENT = 15089
QUICK_PROBES = "  interval: 200ms\n  timeout: 100ms\n  down_after: 2\n  up_after: 1\n"


def restart(testbed, **changes):
    testbed.gateway.stop()
    testbed.write_config(**changes)
    testbed.start_gateway(wait_for_sync=False)


@contextlib.contextmanager
def silence():
    """A target that reads every datagram and responds to none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as target:
        target.bind((HOST, ABSENT))
        yield target


def ask(run, method, call, seconds=20):
    """Sends one request as the trunk, OPTIONS to the gateway itself; (status, seconds)."""
    user = "" if method == "OPTIONS" else "+61255502000@"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trunk:
        trunk.bind((HOST, run.ports.trunk))
        trunk.settimeout(seconds)
        request = (
            f"{method} sip:{user}{HOST}:{run.ports.gateway} SIP/2.0\r\n"
            f"Via: SIP/2.0/UDP {HOST}:{run.ports.trunk};branch=z9hG4bK{call};rport\r\nMax-Forwards: 70\r\n"
            f"From: <sip:{brand(9004)}@carrier.example>;tag={call}\r\nTo: <sip:+61255502000@pbx.example>\r\n"
            f"Call-ID: {call}@carrier.example\r\nCSeq: 1 {method}\r\n"
            f"Contact: <sip:{HOST}:{run.ports.trunk}>\r\nContent-Length: 0\r\n\r\n")
        started = time.monotonic()
        trunk.sendto(request.encode(), (HOST, run.ports.gateway))
        while True:
            try:
                response = trunk.recv(65535).decode("utf-8", "replace")
            except socket.timeout:
                raise Failed(f"{method} {call} had no final response within {seconds} s") from None
            status = re.match(r"SIP/2\.0 (\d{3}) ", response)
            if status and int(status.group(1)) >= 200:
                return int(status.group(1)), time.monotonic() - started, response


def page(testbed, path):
    """The status and the text of a page of the admin port."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{testbed.ports.admin}{path}", timeout=10) as response:
            return response.status, response.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8")


def rejected(testbed):
    """The sender on /status whose messages were rejected last."""
    return (json.loads(page(testbed, "/status")[1])["rejected"] or [{"count": 0}])[0]


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: expected {wanted!r}, found {found!r}")


def logged(testbed, text):
    return tail(testbed.gateway.log, 100_000).count(text)


def unknown_carrier(testbed, folder, run):
    """A carrier whose address is in no sources: one line with the remedy whatever it sends, and its row on /status."""
    line = f"INVITE from {STRANGER}:{run.ports.trunk} rejected (403)"
    restart(testbed)
    before = logged(testbed, line)
    for number in range(3):
        run.place(step("stranger/carrier.xml", host=STRANGER), brand(1033), os.path.join(folder, str(number)))
    wait_until(lambda: logged(testbed, line) > before, 20, "it is not in the log:\n" + testbed.gateway.tail())
    wait_until(lambda: rejected(testbed)["count"] >= 3, 20, "not all are counted")
    expect("lines in the log", logged(testbed, line) - before, 1)
    if not logged(testbed, "no trunk or pbx lists this address in sources; add it to sources if it is yours"):
        raise Failed("cause and remedy are missing:\n" + testbed.gateway.tail())
    row = rejected(testbed)
    expect("the row", (row["address"], row["method"], row["status"]), (f"{STRANGER}:{run.ports.trunk}", "INVITE", 403))


def absent_pbx(testbed, folder, run):
    """Without a listener a call fails over at once; OPTIONS, /readyz and the log report that no PBX is up."""
    pbx = f"    address: {HOST}:{ABSENT}\n"
    down = f"target {HOST}:{ABSENT} of pbx office is down"
    before = logged(testbed, down)
    restart(testbed, pbx=pbx, more="health:\n" + QUICK_PROBES)
    try:
        status, seconds, response = ask(run, "INVITE", f"absent{os.getpid()}")
        if status != 503 or seconds > 2:
            raise Failed(f"the call got {status} after {seconds:.1f} s:\n{response}")
        wait_until(lambda: page(testbed, "/readyz")[0] == 503, 20, "/readyz stays ready without a PBX")
        reason = page(testbed, "/readyz")[1]
        if "no target of pbx office is up" not in reason:
            raise Failed("/readyz does not say why: " + reason)
        expect("OPTIONS without a PBX", ask(run, "OPTIONS", f"down{os.getpid()}")[0], 503)
        wait_until(lambda: logged(testbed, down) > before, 20, "not in the log")
        if not logged(testbed, "no other target of pbx office is up: calls are rejected with 503 until one responds"):
            raise Failed("the log does not say what becomes of calls:\n" + testbed.gateway.tail())
        target = [row for row in json.loads(page(testbed, "/status")[1])["targets"] if row["group"] == "pbx office"]
        expect("the target on /status", [(row["address"], row["state"]) for row in target],
               [(f"{HOST}:{ABSENT}", "down")])
        restart(testbed, pbx=pbx, more="health:\n  report_pbx: false\n" + QUICK_PROBES)
        wait_until(lambda: logged(testbed, down) > before + 1, 20, "not in the log")
        expect("/readyz of the gateway alone", page(testbed, "/readyz")[0], 200)
        expect("OPTIONS of the gateway alone", ask(run, "OPTIONS", f"alone{os.getpid()}")[0], 200)
    finally:
        restart(testbed)


def silent_pbx(testbed, folder, run):
    """The only target is silent: the call gets 503 within health.last_patience, not after 32 s."""
    with silence():
        restart(testbed, pbx=f"    address: {HOST}:{ABSENT}\n", more="health:\n  last_patience: 1s\n")
        try:
            status, seconds, response = ask(run, "INVITE", f"silent{os.getpid()}")
            expect("the response", (status, "Retry-After" in response), (503, False))
            if not 0.9 < seconds < 10:
                raise Failed(f"the call failed after {seconds:.1f} s with health.last_patience: 1s")
        finally:
            restart(testbed)


def pbx_comes_back(testbed, folder, run):
    """A PBX that was down gets calls again after its first response to OPTIONS."""
    restart(testbed, pbx=f"    address: {HOST}:{ABSENT}\n", more="health:\n" + QUICK_PROBES)
    try:
        wait_until(lambda: page(testbed, "/readyz")[0] == 503, 20, "/readyz stays ready without a PBX")
        with silence() as pbx:
            pbx.settimeout(20)
            for _ in range(4):
                request, source = pbx.recvfrom(65535)
                lines = request.decode().split("\r\n")
                kept = [line for line in lines if line.split(":")[0] in ("Via", "From", "To", "Call-ID", "CSeq")]
                pbx.sendto(("SIP/2.0 200 OK\r\n" + "\r\n".join(kept) + "\r\nContent-Length: 0\r\n\r\n").encode(), source)
            wait_until(lambda: page(testbed, "/readyz")[0] == 200, 20, "/readyz stays down with a PBX")
            if not logged(testbed, f"target {HOST}:{ABSENT} of pbx office is up again"):
                raise Failed("not in the log:\n" + testbed.gateway.tail())
    finally:
        restart(testbed)


def expect_calls_in_progress(testbed, count):
    wait_until(lambda: testbed.metric("herald_calls_in_progress") == count, 20,
               f"{testbed.metric('herald_calls_in_progress')} calls in progress, expected {count}")


def restart_in_a_call(testbed, folder, run):
    """Without a drain the gateway is back at once; the call of the run before is in progress until it ends normally."""
    call = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), brand(1058), os.path.join(folder, "long"))
    try:
        # The call is up once the carrier has sent its ACK.
        wait_until(
            lambda: os.path.exists(call.sides[-1].messages) and any(
                way == "sent" and text.startswith("ACK ") for way, text in call.sides[-1].sent_and_received()),
            60, "the call is not answered")
        started, before = time.monotonic(), logged(testbed, "draining")
        testbed.gateway.process.terminate()
        if testbed.gateway.process.wait(30) != 0 or logged(testbed, "draining") > before:
            raise Failed("the gateway did not just end:\n" + testbed.gateway.tail())
        stopped = time.monotonic() - started
        testbed.start_gateway(wait_for_sync=False)
        expect_calls_in_progress(testbed, 1)
        if not call.finish():
            raise Failed("the call did not survive\n" + call.trouble())
        expect_calls_in_progress(testbed, 0)
        if stopped > 10:
            raise Failed(f"the gateway took {stopped:.1f} s to end")
    finally:
        call.stop()
    run.expect_events(testbed, brand(1058), SEEN)


WRONG_PEERS = (
    ("a carrier that no trunk lists", unknown_carrier),
    ("a PBX that is not there", absent_pbx),
    ("a PBX that is silent", silent_pbx),
    ("a PBX that comes back", pbx_comes_back),
    ("a restart in a call, without a drain", restart_in_a_call),
)
