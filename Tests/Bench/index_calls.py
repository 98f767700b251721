# SPDX-License-Identifier: Apache-2.0
"""INVITEs from the trunk that the PBX rejects, and their arrival there by the kernel's clock.

Lighter than SIPp and the calls of `proof.py`, since they run beside the gateway on the same cores for minutes.
"""
import select
import socket
import struct
import threading
import time

from . import subjects
from .delay import SO_TIMESTAMPNS
from .subjects import CARRIER, HOST, SUBJECT

TRUNK, GATEWAY, PBX = (HOST, CARRIER), (HOST, SUBJECT), (HOST, subjects.PBX)
SDP = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 8 0\r\n"
       "a=rtpmap:8 PCMA/8000\r\na=rtpmap:0 PCMU/8000\r\n")


def invite(number, name):
    """The bytes of an initial INVITE from `number`; Call-ID and branch come from `name`."""
    return (
        f"INVITE sip:+442079460018@127.0.0.1:5070 SIP/2.0\r\n"
        f"Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK{name}\r\nMax-Forwards: 70\r\n"
        f"From: <sip:+{number}@127.0.0.1>;tag={name}\r\nTo: <sip:+442079460018@127.0.0.1>\r\n"
        f"Call-ID: {name}\r\nCSeq: 1 INVITE\r\nContact: <sip:127.0.0.1:5060>\r\n"
        f"P-Asserted-Identity: <sip:+{number}@127.0.0.1>\r\nContent-Type: application/sdp\r\n"
        f"Content-Length: {len(SDP)}\r\n\r\n{SDP}").encode()


def udp(address):
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    endpoint.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    endpoint.bind(address)
    return endpoint


def header(message, name):
    start = message.find(b"\r\n" + name + b": ")
    return message[start + len(name) + 4:message.index(b"\r\n", start + 2)] if start >= 0 else b""


def refusal(request):
    """The 603 to an INVITE."""
    lines = [b"SIP/2.0 603 Decline"]
    for line in request[:request.index(b"\r\n\r\n")].split(b"\r\n")[1:]:
        if line.startswith((b"Via:", b"From:", b"Call-ID:", b"CSeq:")):
            lines.append(line)
        elif line.startswith(b"To:"):
            lines.append(line + b";tag=pbx")
    return b"\r\n".join(lines) + b"\r\nContent-Length: 0\r\n\r\n"


class Line:
    """A trunk, and a PBX that rejects every call; both run on threads of their own until `close`."""

    def __init__(self, on_invite):
        """`on_invite` is called with each INVITE at the PBX and its time: seconds since 1970 by the kernel's clock."""
        self.on_invite = on_invite
        self.trunk, self.pbx = udp(TRUNK), udp(PBX)
        self.open = True
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.refuse, self.acknowledge)]
        for thread in self.threads:
            thread.start()

    def call(self, number, name):
        self.trunk.sendto(invite(number, name), GATEWAY)

    def refuse(self):
        while self.open:
            if not select.select([self.pbx], [], [], 0.1)[0]:
                continue
            message, extra, _, source = self.pbx.recvmsg(65536, 128)
            if message.startswith(b"INVITE"):
                seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
                self.on_invite(message, seconds + nanoseconds / 1e9)
                self.pbx.sendto(refusal(message), source)

    def acknowledge(self):
        while self.open:
            if not select.select([self.trunk], [], [], 0.1)[0]:
                continue
            message, source = self.trunk.recvfrom(65536)
            if message.startswith(b"SIP/2.0 603"):
                name = header(message, b"Call-ID").decode()
                self.trunk.sendto((
                    f"ACK sip:+442079460018@127.0.0.1:5070 SIP/2.0\r\n"
                    f"Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK{name}\r\nMax-Forwards: 70\r\n"
                    f"From: {header(message, b'From').decode()}\r\nTo: {header(message, b'To').decode()}\r\n"
                    f"Call-ID: {name}\r\nCSeq: 1 ACK\r\nContent-Length: 0\r\n\r\n").encode(), source)

    def close(self):
        self.open = False
        for thread in self.threads:
            thread.join()
        self.trunk.close()
        self.pbx.close()


class EvenCalls:
    """Calls at an even rate, by a thread of its own until `close`."""

    def __init__(self, number_of, rate=500):
        """`number_of` gives the caller of the n-th call."""
        self.number_of, self.rate = number_of, rate
        self.under_way, self.count = set(), 0
        # Called with each INVITE at the PBX and its time.
        self.on_invite = lambda message, when: None
        self.line = Line(self.arrived)
        self.running = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def arrived(self, message, when):
        self.under_way.discard(header(message, b"Call-ID"))
        self.on_invite(message, when)

    def run(self):
        due = time.monotonic()
        while self.running:
            name = f"load{self.count}"
            self.under_way.add(name.encode())
            self.line.call(self.number_of(self.count), name)
            self.count += 1
            due += 1 / self.rate
            time.sleep(max(0, due - time.monotonic()))

    def close(self):
        """Ends the calls and returns the number that never reached the PBX."""
        self.running = False
        self.thread.join()
        time.sleep(0.3)
        self.line.close()
        return len(self.under_way)
