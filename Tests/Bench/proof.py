# SPDX-License-Identifier: Apache-2.0
"""One whole call from a listed and from an unlisted number: a subject that does not brand gets no figures."""
import re
import socket
import time

from heraldtest.child import Failed
from .dataset import LISTED, brand, number
from .subjects import CARRIER, HOST, PBX

SENT_NAME = "WIRELESS CALLER"
SDP = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 8\r\n"


def values(message, name):
    """The header's values, one for each line."""
    head = message.split("\r\n\r\n", 1)[0]
    return re.findall(rf"(?im)^{name}[ \t]*:[ \t]*(.*?)\r?$", head)


def request(method, uri, cseq, branch, call, caller, to_tag="", routes=(), body=""):
    lines = [
        f"{method} {uri} SIP/2.0", f"Via: SIP/2.0/UDP {HOST}:{CARRIER};branch=z9hG4bK{branch}{call}",
        *(f"Route: {route}" for route in routes), "Max-Forwards: 70",
        f'From: "{SENT_NAME}" <sip:{caller}@carrier.example>;tag=f{call}',
        f"To: <sip:+12025550142@office.example>{to_tag}",
        f"Call-ID: proof-{call}", f"CSeq: {cseq} {method}", f"Contact: <sip:{caller}@{HOST}:{CARRIER}>",
        f'P-Asserted-Identity: "{SENT_NAME}" <sip:{caller}@carrier.example>']
    if body:
        lines.append("Content-Type: application/sdp")
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode()


def response(message, status, tag="", body=""):
    lines = [f"SIP/2.0 {status}"]
    for name in ("Via", "Record-Route", "From"):
        lines += [f"{name}: {value}" for value in values(message, name)]
    lines += [f"To: {values(message, 'To')[0]}{tag}", f"Call-ID: {values(message, 'Call-ID')[0]}",
              f"CSeq: {values(message, 'CSeq')[0]}", f"Contact: <sip:office@{HOST}:{PBX}>"]
    if body:
        lines.append("Content-Type: application/sdp")
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode()


class Sides:
    """The sockets of the carrier and the PBX."""

    def __init__(self, port):
        """`port`: that of the subject."""
        self.port = port
        self.carrier, self.pbx = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.carrier.bind((HOST, CARRIER))
        self.pbx.bind((HOST, PBX))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.carrier.close()
        self.pbx.close()

    def send(self, message):
        self.carrier.sendto(message, (HOST, self.port))

    @staticmethod
    def received(side, pattern, call, seconds):
        """(text, sender) of the call's first message that matches; None without one."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            side.settimeout(left)
            try:
                data, sender = side.recvfrom(65536)
            except TimeoutError:
                break
            text = data.decode("utf-8", "replace")
            if re.match(pattern, text) and f"proof-{call}" in text:
                return text, sender
        return None

    def through(self, send, side, pattern, call):
        """The message that comes out after `send`, which is repeated if it got lost."""
        for _ in range(20):
            send()
            found = self.received(side, pattern, call, 0.5)
            if found:
                return found
        raise Failed(f"nothing came through that begins with {pattern}")


def whole_call(sides, subject, caller, seconds):
    """Places the call; (monotonic time at which its INVITE came out, that INVITE)."""
    call, began = time.time_ns(), time.monotonic()
    invite = request("INVITE", f"sip:+12025550142@{HOST}:{sides.port}", 1, "i", call, caller, body=SDP)
    found = None
    while not found:
        subject.child.must_run()
        waited = time.monotonic() - began
        if waited > seconds:
            raise Failed(f"{subject.name} forwarded no INVITE in {seconds} s; see {subject.child.log}")
        sides.send(invite)
        # Slowly enough not to fill the buffer of a program that does not read yet.
        found = sides.received(sides.pbx, "INVITE ", call, max(0.005, waited / 50))
    came = time.monotonic()
    forwarded, sender = found

    def responds(message, *words):
        return lambda: sides.pbx.sendto(response(message, *words), sender)

    sides.through(responds(forwarded, "180 Ringing", ";tag=p"), sides.carrier, r"SIP/2\.0 180", call)
    answered, _ = sides.through(responds(forwarded, "200 OK", ";tag=p", SDP), sides.carrier, r"SIP/2\.0 200 ", call)
    routes = [route.strip() for line in values(answered, "Record-Route") for route in line.split(",")][::-1]
    inside = {"call": call, "caller": caller, "to_tag": ";tag=p", "routes": routes}
    target = re.search(r"<(.*?)>", values(answered, "Contact")[0]).group(1)
    sides.through(lambda: sides.send(request("ACK", target, 1, "a", **inside)), sides.pbx, "ACK ", call)
    ended, _ = sides.through(lambda: sides.send(request("BYE", target, 2, "b", **inside)), sides.pbx, "BYE ", call)
    sides.through(responds(ended, "200 OK"), sides.carrier, r"(?s)SIP/2\.0 200 .*CSeq: *2 ", call)
    return came, forwarded


def shown(message):
    """(name in From, name in P-Asserted-Identity, logo in Call-Info)"""
    def name(header):
        return re.match(r'"?([^"<]*?)"? *<', values(message, header)[0]).group(1)
    icons = [value for value in values(message, "Call-Info") if "icon" in value]
    return name("From"), name("P-Asserted-Identity"), re.search("<(.*?)>", icons[0]).group(1) if icons else None


def prove(subject, seconds=120):
    """Seconds from the subject's start until it forwarded a first branded INVITE."""
    listed = brand(10)
    with Sides(subject.port) as sides:
        end = time.monotonic() + seconds
        while True:
            came, forwarded = whole_call(sides, subject, number(10), seconds)
            if not subject.brands:
                return came - subject.started
            branded = shown(forwarded)
            if branded == (listed[0], listed[0], listed[1]) and values(forwarded, "Record-Route"):
                break
            if time.monotonic() > end:
                raise Failed(f"{subject.name} does not brand a listed caller: {branded} instead of {listed}")
        _, forwarded = whole_call(sides, subject, number(LISTED), 5)
        if shown(forwarded) != (SENT_NAME, SENT_NAME, None):
            raise Failed(f"{subject.name} changed an unlisted caller to {shown(forwarded)}")
    return came - subject.started
