# SPDX-License-Identifier: Apache-2.0
"""Calling names by ENUM: the name that the PBX gets in a call, by DNS over UDP and TCP."""
import os
import socket
import struct

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from .control import expect
from .doors import NAMELESS, restart
from .situations import ALL_BRANDED, SEEN, STRANGER, answered, brand

# Of the name server; no other part of a run has it.
PORT = 15089
ZONE = "cnam.example.net"
NAPTR, AUTHORITY, ANY, TRANSFER = 35, 6, 255, 252


def owner(number, zone=ZONE):
    """The name of a number: its digits in reverse order, each as a label (RFC 6116)."""
    return ".".join(reversed(number.lstrip("+"))) + "." + zone


def query(name, kind=NAPTR):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 58, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def over_udp(message, source=HOST, patience=5):
    """The response to a datagram; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(patience)
        client.bind((source, 0))
        client.connect((HOST, PORT))
        try:
            client.send(message)
            return client.recv(2048)
        except (TimeoutError, ConnectionRefusedError):
            return None


def over_tcp(message):
    with socket.create_connection((HOST, PORT), timeout=5) as client:
        client.sendall(struct.pack(">H", len(message)) + message)
        received = client.makefile("rb")
        return received.read(struct.unpack(">H", received.read(2))[0])


def name_of(response):
    """The name of the one record: the end of its expression; None without a record."""
    code, records = response[3] & 0xF, struct.unpack(">H", response[6:8])[0]
    if code != 0 or records == 0:
        return None
    if b"\x11E2U+pstndata:cnam" not in response:
        raise Failed(f"no service of calling names in {response!r}")
    return response.split(b"!^.*$!pstndata:cnam/")[1].split(b"!")[0].decode()


def door(more=""):
    return f"doors:\n  enum: {{zone: {ZONE}, listen: '{HOST}:{PORT}', trunk: carrier, allow: [{HOST}]{more}}}\n"


def is_open():
    try:
        socket.create_connection((HOST, PORT), timeout=5).close()
        return True
    except ConnectionRefusedError:
        return False


def open_door(testbed, more=""):
    """Starts the gateway with the door. It opens after the ports of calls."""
    restart(testbed, door(more))
    wait_until(is_open, 30, "the name server does not listen")


def calling_names(testbed, folder, run):
    """A call and both transports have the same name. No other query makes the server send more than it received."""
    open_door(testbed)
    try:
        run.place(answered(), brand(1094), os.path.join(folder, "call"))
        run.expect_events(testbed, brand(1094), SEEN)
        for transport in (over_udp, over_tcp):
            if (name := name_of(transport(query(owner(brand(1094)))))) != ALL_BRANDED.replace(" ", "%20"):
                raise Failed(f"{transport.__name__}: the name is {name!r}")
            if (name := name_of(transport(query(owner(NAMELESS))))) is not None:
                raise Failed(f"{transport.__name__}: a caller without a brand has the name {name!r}")
        for name, kind in ((owner(brand(1094)), ANY), (ZONE, TRANSFER), (owner(brand(1094), "example.org"), NAPTR)):
            message = query(name, kind)
            response = over_udp(message)
            if response is None or response[3] & 0xF != 5 or len(response) > len(message):
                raise Failed(f"{name}, type {kind}: {response!r}")
        if (response := over_udp(query(owner(brand(1094))), STRANGER, 1)) is not None:
            raise Failed(f"a source outside of the list gets {response!r}")
        expect(testbed, 0, "by the rules of trunk carrier; 2 empty, 2 named, 1 not_allowed, 3 refused since the start", "status")
        if testbed.metric('herald_door_requests_total{door="enum",result="named"}') != 2.0:
            raise Failed("the metric does not count the queries")
    finally:
        restart(testbed)


def floods(testbed, folder, run):
    """A flood of one source gets fewer bytes back than it sends, and calls go on."""
    open_door(testbed, ", rate: 10, short_names: {harbour-dental: HARBOUR}")
    try:
        message = query(owner(brand(1095)))
        if (name := name_of(over_tcp(message))) != "HARBOUR":
            raise Failed(f"the short name is {name!r}")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(1)
            client.bind((HOST, 0))
            client.connect((HOST, PORT))
            sent = 0
            for _ in range(2_000):
                sent += client.send(message)
            got = 0
            try:
                while True:
                    got += len(client.recv(2048))
            except TimeoutError:
                pass
        if not 0 < got < sent:
            raise Failed(f"{sent} bytes sent, {got} received")
        run.place(answered(), brand(1095), os.path.join(folder, "call"))
        run.expect_events(testbed, brand(1095), SEEN)
        wait_until(lambda: (testbed.metric('herald_door_requests_total{door="enum",result="dropped"}') or 0) > 0, 30,
                   "no query was dropped")
    finally:
        restart(testbed)


CALLING_NAMES = (
    ("calling names by ENUM", calling_names),
    ("a flood of queries for calling names", floods),
)
