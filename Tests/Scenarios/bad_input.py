#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends broken datagrams as the trunk and compares the responses.

By hand, with a gateway on 127.0.0.1:15070 that knows 127.0.0.1:15060 as its trunk:

    python3 bad_input.py 127.0.0.1 15060 127.0.0.1 15070
"""
import os
import random
import re
import socket
import sys

BROKEN = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "CallPathTests", "Invites", "broken")


def cases():
    """(name, datagram, response) of every file, and of some datagrams that are made here."""
    with open(os.path.join(BROKEN, "broken.tsv"), encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith(("#", "file"))]
    for name, response in rows:
        with open(os.path.join(BROKEN, name), "rb") as file:
            yield name, file.read(), response
    noise = random.Random(61)
    yield "empty", b"", "drop"
    yield "keep-alive", b"\r\n\r\n", "drop"
    yield "one-byte", b"I", "drop"
    for size in (7, 600, 8000):
        yield f"noise-{size}", bytes(noise.randrange(256) for _ in range(size)), "drop"
    yield "64-kilobytes-of-A", b"A" * 65507, "drop"
    start = b"INVITE sip:x@127.0.0.1 SIP/2.0\r\n"
    yield "64-kilobytes-of-colons", start + b":" * (65507 - len(start)), "drop"
    yield "64-kilobytes-of-fields", start + b"a:b\r\n" * ((65507 - len(start)) // 5), "drop"


def response_to(trunk, gateway, datagram):
    """The status that comes back within 0.4 s, 100 not counted, or 'drop'."""
    own = b"%s:%d" % (trunk.getsockname()[0].encode(), trunk.getsockname()[1])
    # The sender's address replaces that of the file, so that a response arrives with or without rport.
    trunk.sendto(datagram.replace(b"203.0.113.111:5060", own), gateway)
    while True:
        try:
            response = trunk.recv(65535)
        except socket.timeout:
            return "drop"
        status = re.match(rb"SIP/2\.0 (\d{3}) ", response)
        if status and status.group(1) != b"100":
            return status.group(1).decode()


def run(trunk_address, gateway):
    """The differences, one line each, and how many cases there were."""
    differences, count = [], 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trunk:
        trunk.bind(trunk_address)
        for name, datagram, expected in cases():
            if expected == "forward":
                continue
            count += 1
            trunk.settimeout(0.15 if expected == "drop" else 20)
            got = response_to(trunk, gateway, datagram)
            if got != expected:
                differences.append(f"{name}: expected {expected}, got {got}")
    return differences, count


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    wrong, total = run((sys.argv[1], int(sys.argv[2])), (sys.argv[3], int(sys.argv[4])))
    print("\n".join(wrong + [f"{total - len(wrong)} of {total} as expected"]))
    sys.exit(1 if wrong else 0)
