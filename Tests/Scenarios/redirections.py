# SPDX-License-Identifier: Apache-2.0
"""Names by a SIP redirection: the name that the PBX gets in a call, and a status by which every other call goes on."""
import os
import re
import socket

from heraldtest import ROOT
from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from heraldtest.sipp import Sipp
from .control import expect
from .doors import NAMELESS, restart
from .situations import ALL_BRANDED, SEEN, STRANGER, answered, brand

# Of the door; no other part of a run has it.
PORT = 15087
# Of a client that sends twice, and of SIPp as a client.
CLIENT = 15086
TARGET = f"sip:+61255502001@{HOST}:5062"


def message(method="INVITE", caller=brand(1098), target=TARGET, call_id="1", more=""):
    """A request as a proxy sends it, with the fields of a usual INVITE."""
    lines = (f"{method} {target} SIP/2.0", f"Via: SIP/2.0/UDP {HOST}:5062;branch=z9hG4bK{call_id};rport", "Max-Forwards: 69",
             f'From: "WIRELESS CALLER" <sip:{caller}@carrier.example>;tag=a', f"To: <{TARGET}>", f"Call-ID: {call_id}@{HOST}",
             f"CSeq: 1 {method}", f"Contact: <sip:carrier@{HOST}:5062>", "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS", *more.split("\n"),
             "Content-Length: 0")
    return ("\r\n".join(line for line in lines if line) + "\r\n\r\n").encode()


def ask(request, source=HOST, patience=5, port=0):
    """The response to a datagram; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(patience)
        client.bind((source, port))
        client.connect((HOST, PORT))
        try:
            client.send(request)
            return client.recv(65_535).decode()
        except (TimeoutError, ConnectionRefusedError):
            return None


def status(response):
    """The number of a response's status; None without a response."""
    return int(response[8:11]) if response else None


def field(response, name):
    found = re.search(rf"\r\n{name}: (.*)\r\n", response or "")
    return found.group(1) if found else None


def open_door(testbed, more):
    """Starts the gateway with the door. It opens after the ports of calls."""
    restart(testbed, f"doors:\n  redirect: {{listen: '{HOST}:{PORT}', trunk: carrier, {more}}}\n")
    wait_until(lambda: status(ask(message("OPTIONS"), patience=1)) == 200, 30, "the redirect door does not listen")


def redirections(testbed, folder, run):
    """A call and a redirection have the same name. A request that comes back, an unknown sender and a private caller have none."""
    open_door(testbed, f"allow: [{HOST}]")
    try:
        run.place(answered(), brand(1098), os.path.join(folder, "call"))
        run.expect_events(testbed, brand(1098), SEEN)
        before = len(testbed.calls())
        response = ask(message(), port=CLIENT)
        if field(response, "P-Asserted-Identity") != f'"{ALL_BRANDED}" <sip:{brand(1098)}@carrier.example>':
            raise Failed(f"the name is not that of a call: {response}")
        contact = re.fullmatch(r"<(.*)>;q=0\.99", field(response, "Contact") or "")
        if status(response) != 302 or not contact or contact.group(1) != TARGET + ";herald-redirect":
            raise Failed(f"the redirection does not return the Request-URI: {response}")
        if ask(message(), port=CLIENT) != response:
            raise Failed("a retransmission gets other bytes")
        if ask(message("ACK"), patience=1) is not None:
            raise Failed("an ACK gets a response")
        for what, request, expected in (
                ("a request that comes back", message(target=contact.group(1), call_id="2"), 404),
                ("a caller without a brand", message(caller=NAMELESS, call_id="3"), 404),
                ("a caller who asks for privacy", message(call_id="4", more="Privacy: id"), 404),
                ("an emergency call", message(target=f"sip:000@{HOST}", call_id="5"), 404),
                ("a CANCEL", message("CANCEL"), 200), ("a REGISTER", message("REGISTER"), 405)):
            if (found := status(ask(request))) != expected:
                raise Failed(f"{what} gets {found}, not {expected}")
        if (found := status(ask(message(call_id="6"), STRANGER))) != 403:
            raise Failed(f"an unknown sender gets {found}")
        if len(testbed.calls()) != before:
            raise Failed("requests at the door are calls of the ledger")
        expect(testbed, 0, "2 matched", "status")
        if testbed.metric('herald_door_requests_total{door="redirect",result="matched"}') != 2.0:
            raise Failed("the metric does not count the redirections")
    finally:
        restart(testbed)


def places_and_status(testbed, folder, run):
    """Clients take the name in their own place, and 503 is the other status of a caller without one."""
    open_door(testbed, f"allow: [127.0.0.0/8], name_in: X-Caller-Name, unbranded: 503, clients: {{{STRANGER}: Contact}}")
    try:
        if field(ask(message()), "X-Caller-Name") != ALL_BRANDED:
            raise Failed("the name is not in the header field of the configuration")
        contact = field(ask(message(), STRANGER), "Contact") or ""
        if "?P-Asserted-Identity=%22Harbour%20Dental%22%20%3Csip%3A" not in contact:
            raise Failed(f"the name is not in the URI: {contact}")
        if (found := status(ask(message(caller=NAMELESS)))) != 503:
            raise Failed(f"a caller without a brand gets {found}")
    finally:
        restart(testbed)


def many(testbed, folder, run):
    """SIPp as a client: 200 calls a second, each with its name. Each ACK ends at the door."""
    open_door(testbed, f"allow: [{HOST}]")
    try:
        client = Sipp("client", os.path.join(ROOT, "Tests", "Scenarios", "redirected", "client.xml"), HOST, folder, remote=HOST,
                      port=CLIENT, remote_port=PORT, calls=400, rate=200, limit=60,
                      options=("-key", "caller", brand(1098), "-key", "called", "+61255502000"))
        if client.wait(90) != 0:
            raise Failed(f"SIPp has failed calls: {client.child.tail()}")
        for result in ("matched", "acknowledged"):
            wait_until(lambda: testbed.metric(f'herald_door_requests_total{{door="redirect",result="{result}"}}') == 400.0, 30,
                       f"not every call is {result}")
    finally:
        restart(testbed)


REDIRECTIONS = (
    ("names by a redirection", redirections),
    ("places of a name in a redirection", places_and_status),
    ("many redirections", many),
)
