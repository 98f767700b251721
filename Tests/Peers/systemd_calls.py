# SPDX-License-Identifier: Apache-2.0
"""SIP and HTTP from inside a container: OPTIONS, a call across a restart, a taken port.

    calls.py options ADDRESS             exit status 0 if the gateway there responds to OPTIONS with 200
    calls.py call ADDRESS COMMAND...     answers a call, runs the command, and ends the call
    calls.py take ADDRESS PORT           holds a TCP port until a signal
    calls.py http ADDRESS PORT PATH      exit status 0 for a 200

It needs Python's minimal modules alone.
"""
import socket
import subprocess
import sys
import time

CARRIER, PBX = "127.0.0.10", "127.0.0.30"


def endpoint(address):
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    peer.bind((address, 5060))
    peer.settimeout(1)
    return peer


def request(method, gateway, call, sequence=1, more=(), to_tag="", user="1001@"):
    return "\r\n".join([
        f"{method} sip:{user}{gateway} SIP/2.0",
        f"Via: SIP/2.0/UDP {CARRIER}:5060;branch=z9hG4bK{call}{method}{sequence}",
        "From: <sip:+61255501001@carrier.example>;tag=a", f"To: <sip:1001@{gateway}>{to_tag}", f"Call-ID: {call}",
        f"CSeq: {sequence} {method}", f"Contact: <sip:carrier@{CARRIER}:5060>", "Max-Forwards: 70", *more,
        "Content-Length: 0", "", ""]).encode()


def receive(peer, start, seconds=20, resend=None):
    """The next message with this start; sends `resend` again each second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            text = peer.recv(65535).decode()
        except socket.timeout:
            if resend:
                peer.sendto(*resend)
            continue
        if text.startswith(start):
            return text
    raise SystemExit(f"no {start} came")


def fields(text, *names):
    return [line for line in text.split("\r\n") if line.split(":")[0] in names]


def response(text, more=()):
    head = fields(text, "Via", "From", "Call-ID", "CSeq", "Record-Route", "To")
    return "\r\n".join(["SIP/2.0 200 OK", *head, *more, "Content-Length: 0", "", ""]).encode()


def options(gateway):
    peer = endpoint(CARRIER)
    message = request("OPTIONS", gateway, f"o{time.monotonic_ns()}", user="")
    peer.sendto(message, (gateway, 5060))
    # One attempt: the gateway was to be ready.
    receive(peer, "SIP/2.0 200", 2)


def call(gateway, command):
    carrier, pbx = endpoint(CARRIER), endpoint(PBX)
    name = f"c{time.monotonic_ns()}"
    carrier.sendto(request("INVITE", gateway, name), (gateway, 5060))
    invite = receive(pbx, "INVITE")
    ok = response(invite, [f"Contact: <sip:1001@{PBX}:5060>"]).replace(
        f"To: <sip:1001@{gateway}>".encode(), f"To: <sip:1001@{gateway}>;tag=b".encode())
    pbx.sendto(ok, (gateway, 5060))
    answered = receive(carrier, "SIP/2.0 200")
    routes = [line.replace("Record-Route:", "Route:") for line in reversed(fields(answered, "Record-Route"))]
    target = [f"{PBX}:5060"]
    ack = request("ACK", target[0], name, more=routes, to_tag=";tag=b")
    carrier.sendto(ack, (gateway, 5060))
    receive(pbx, "ACK")
    subprocess.run(command, check=True)
    bye = request("BYE", target[0], name, 2, routes, ";tag=b"), (gateway, 5060)
    carrier.sendto(*bye)
    pbx.sendto(response(receive(pbx, "BYE")), (gateway, 5060))
    receive(carrier, "SIP/2.0 200", resend=bye)


def take(address, port):
    listener = socket.socket()
    listener.bind((address, int(port)))
    listener.listen()
    time.sleep(600)


def http(address, port, path):
    peer = socket.create_connection((address, int(port)), 5)
    peer.sendall(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
    if b" 200 " not in peer.recv(100):
        raise SystemExit("no 200")


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    if kind == "call":
        call(rest[0], rest[1:])
    else:
        {"options": options, "take": take, "http": http}[kind](*rest)
