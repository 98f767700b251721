# SPDX-License-Identifier: Apache-2.0
"""Names by a door: each client's own rules for URL and response, beside calls of the same trunk and the same brands."""
import json
import os
import socket
import time
import urllib.parse

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from .control import expect
from .situations import ALL_BRANDED, SEEN, answered, brand

# Of the door; no other part of a run has it.
PORT = 15088
NAMELESS = brand(9088)
PRESENT = 'Fish & Chips, "100%" #1'


def ask(target, method="GET", port=PORT):
    """(status, body) of a request whose target goes out byte for byte, as some PBXs write it."""
    with socket.create_connection((HOST, port), timeout=30) as connection:
        connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
        received = b""
        while part := connection.recv(65_536):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body.decode()


def freepbx(number, name):
    """cidlookup of FreePBX: the body is the name, whatever the status is."""
    number = number.replace("+", "%2B")
    # cURL cuts a fragment off.
    query = f"format=text&name={name}".replace(" ", "%20").replace(",", "%2C").split("#")[0]
    return ask(f"/name/{number}?{query}")[1]


def freeswitch(number, name):
    """mod_cidlookup: digits alone, the body of any status, and the carrier's name by docs/doors.md where there is none."""
    body = ask("/name/" + "".join(letter for letter in number if letter.isdigit()))[1]
    return name if body in ("", " ") or body.lower() in ("unknown", "unavailable") else body


def asterisk(number, name):
    """CURL() with failurecodes, and URIENCODE."""
    status, body = ask("/name/" + urllib.parse.quote(number, safe=""))
    return body.rstrip() if status == 200 and body else name


def kamailio(number, name):
    """http_client and jansson; s.urlencode.param writes the escape in lower case."""
    status, body = ask("/name/" + urllib.parse.quote(number, safe="").lower() + "?format=json")
    return json.loads(body).get("name", name) if status == 200 else name


def threecx(number, name):
    """A rule of the template finds the member `name`, or there is no contact."""
    status, body = ask(f"/name/{number}?format=json")
    return json.loads(body).get("name", name) if status == 200 else name


CLIENTS = {"FreePBX": freepbx, "FreeSWITCH": freeswitch, "Asterisk": asterisk, "Kamailio": kamailio, "3CX": threecx}


def restart(testbed, doors=""):
    """Ends the gateway and starts it with other doors."""
    testbed.gateway.stop()
    testbed.write_config(more=doors)
    testbed.start_gateway()


def names(testbed, folder, run):
    """Every client has the name that the PBX gets in a call, and keeps its own name for a caller without a brand."""
    restart(testbed, f"doors:\n  names: {{listen: '{HOST}:{PORT}', trunk: carrier}}\n")
    try:
        run.place(answered(), brand(1093), os.path.join(folder, "call"))
        run.expect_events(testbed, brand(1093), SEEN)
        before = len(testbed.calls())
        for client, look_up in CLIENTS.items():
            if (name := look_up(brand(1093), PRESENT)) != ALL_BRANDED:
                raise Failed(f"{client} shows {name!r} for a brand")
            # FreePBX sends the name, which the door cleans as a brand's.
            kept = 'Fish & Chips, "100 percent "' if client == "FreePBX" else PRESENT
            if (name := look_up(NAMELESS, PRESENT)) != kept:
                raise Failed(f"{client} shows {name!r} for a caller without a brand")
        for method, target in (("POST", "/name/1"), ("GET", "/"), ("GET", "/name/1?format=xml")):
            status, body = ask(target, method)
            if status < 400 or body:
                raise Failed(f"{method} {target}: {status} with {body!r}")
        time.sleep(2)
        if len(testbed.calls()) != before:
            raise Failed("requests for names are calls of the ledger")
        words = f"http://{HOST}:{PORT} by the rules of trunk carrier; 3 invalid, 5 matched, 5 no_match since the start"
        expect(testbed, 0, words, "status")
        if testbed.metric('herald_door_requests_total{door="names",result="matched"}') != 5.0:
            raise Failed("the metric does not count the requests")
    finally:
        restart(testbed)


def changes(testbed, folder, run):
    """A trunk that is not trusted names nobody; a reload changes rules and clients; a closed door has no port."""

    def reload(doors):
        testbed.write_config(more=doors)
        expect(testbed, 0, "", "reload")

    def responds(expected):
        def is_so():
            try:
                return ask(f"/name/{brand(1093)}") == expected
            except (OSError, ValueError, IndexError):
                return expected is None
        wait_until(is_so, 30, f"the door does not respond with {expected}")

    restart(testbed, f"doors:\n  names: {{listen: '{HOST}:{PORT}', trunk: open}}\n")
    try:
        responds((200, ""))
        reload(f"doors:\n  names: {{listen: '{HOST}:{PORT}', trunk: carrier}}\n")
        responds((200, ALL_BRANDED))
        reload(f"doors:\n  names: {{listen: '{HOST}:{PORT}', trunk: carrier, allow: [192.0.2.20]}}\n")
        responds((403, ""))
        reload("")
        responds(None)
    finally:
        restart(testbed)


DOORS = (
    ("names by a door", names),
    ("a door opens, changes and closes", changes),
)
