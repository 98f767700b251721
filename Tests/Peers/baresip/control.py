#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Talks to baresip's ctrl_tcp: JSON in netstrings.

control.py HOST PORT events SECONDS      prints events, one JSON object a line
control.py HOST PORT COMMAND [WORD...]   sends one command and prints its response
"""
import json
import socket
import sys
import time


def messages(connection, deadline):
    """The messages that arrive until the deadline."""
    received = b""
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            part = connection.recv(65536)
        except socket.timeout:
            return
        if not part:
            return
        received += part
        while b":" in received:
            length, _, rest = received.partition(b":")
            size = int(length)
            if len(rest) <= size:
                break
            yield json.loads(rest[:size])
            received = rest[size + 1:]


def main():
    host, port, command, *words = sys.argv[1:]
    with socket.create_connection((host, int(port)), 5) as connection:
        if command == "events":
            for message in messages(connection, time.monotonic() + float(words[0])):
                print(json.dumps(message), flush=True)
            return
        request = json.dumps({"command": command, "params": " ".join(words), "token": "1"}).encode()
        connection.sendall(b"%d:%s," % (len(request), request))
        for message in messages(connection, time.monotonic() + 5):
            if message.get("response"):
                print(json.dumps(message))
                return
    sys.exit("baresip sent no response within 5 s")


main()
