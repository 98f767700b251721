# SPDX-License-Identifier: Apache-2.0
"""Requests to the doors of a gateway, as clients send them; for door_sender.c."""
import json
import struct
import time

from heraldtest.signing import ADDRESS, CALLED

ZONE = "cnam.bench.example"
HOST = "127.0.0.1"
NAPTR, INTERNET, RECURSION_DESIRED = 35, 1, 0x0100
SDP = ("v=0\r\no=border 4711 4711 IN IP4 203.0.113.17\r\ns=-\r\nc=IN IP4 203.0.113.18\r\nt=0 0\r\n"
       "m=audio 30412 RTP/AVP 8 0 101\r\na=rtpmap:8 PCMA/8000\r\na=rtpmap:0 PCMU/8000\r\n"
       "a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\na=ptime:20\r\na=sendrecv\r\n")


def name(caller, place):
    """GET of a name, with the plus sign escaped as curl and Kamailio do."""
    return (f"GET /name/{caller.replace('+', '%2B')}?format=json HTTP/1.1\r\nHost: {HOST}:9482\r\n"
            "User-Agent: bench\r\nAccept: */*\r\n\r\n").encode()


def redirection(caller, place):
    """The INVITE of a new call, 1.2 kB."""
    lines = [
        "INVITE sip:+12025550142@192.0.2.20:5060;user=phone SIP/2.0",
        f"Via: SIP/2.0/UDP {HOST}:5062;branch=z9hG4bKd{place};rport", "Max-Forwards: 69",
        f'From: "WIRELESS CALLER" <sip:{caller}@carrier.example;user=phone>;tag=f{place}',
        "To: <sip:+12025550142@office.example;user=phone>", f"Call-ID: d{place}", "CSeq: 1 INVITE",
        f"Contact: <sip:{caller}@{HOST}:5062;transport=UDP>",
        f'P-Asserted-Identity: "WIRELESS CALLER" <sip:{caller}@carrier.example;user=phone>',
        f"P-Charging-Vector: icid-value=c41b07{place}e9d2;icid-generated-at=203.0.113.17;orig-ioi=carrier.example",
        "Privacy: none", "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, PRACK, UPDATE, INFO, NOTIFY, REFER",
        "Supported: replaces, timer", "User-Agent: Carrier border 4.2", "Content-Type: application/sdp"]
    return "\r\n".join([*lines, f"Content-Length: {len(SDP)}", "", SDP]).encode()


def lookup(caller, place):
    """The DNS query for the NAPTR record of a number (RFC 6116 §3.2), without EDNS."""
    labels = [*reversed(caller.lstrip("+")), *ZONE.split(".")]
    question = b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"
    return struct.pack("!HHHHHH", place & 0xFFFF, RECURSION_DESIRED, 1, 0, 0, 0) + question + struct.pack(
        "!HH", NAPTR, INTERNET)


def verification(token, caller, place):
    """POST of a signed call: ATIS-1000082 and 3GPP TS 24.229 Annex V in turn."""
    identity = f"{token};info=<{ADDRESS}>;alg=ES256;ppt=shaken"
    parties = {"from": {"tn": caller.lstrip("+")}, "time": int(time.time())}
    if place % 2:
        members = {**parties, "to": {"tn": [CALLED]}, "identityHeader": identity}
        path = "/stir/v1/verification"
    else:
        members = {**parties, "to": {"tn": [CALLED]}, "identity": identity}
        path = "/v1/verification"
    body = json.dumps({"verificationRequest": members}, separators=(",", ":"))
    return (f"POST {path} HTTP/1.1\r\nHost: {HOST}:9485\r\nContent-Type: application/json\r\nX-RequestID: bench-{place}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


def verifications(signer, callers, count):
    """So many requests, each with a token of its own: a repeated one would cost no check of a signature."""
    issued = int(time.time())
    for place in range(count):
        caller = callers[place % len(callers)]
        yield verification(signer.token(caller, issued), caller, place)


def of_callers(make, callers):
    """A request of each caller in turn."""
    return (make(caller, place) for place, caller in enumerate(callers))


def write(path, requests):
    """Writes the file of door_sender.c: each request behind its length. The number of requests."""
    count = 0
    with open(path, "wb") as file:
        for request in requests:
            file.write(struct.pack("<I", len(request)) + request)
            count += 1
    return count
