# SPDX-License-Identifier: Apache-2.0
"""Messages with the faults and oddities that RFC 4475 and RFC 5118 list, through a running gateway over UDP and TCP.

Tests/Torture/expected.tsv names each message with its rule and its allowed results.
"""
import csv
import os
import re
import socket
import time

from heraldtest import ROOT
from heraldtest.addresses import HOST, OTHER_TRUNK_HOST

MESSAGES = os.path.join(ROOT, "Tests", "Torture")
PBX_STATUS = "480"  # no message here gets this status from a proxy
STATUS_LINE = re.compile(rb"SIP/2\.0 (\d{3})")


def cases(is_stream):
    """(file, message, allowed results) of every message: statuses, 'forward', 'drop', 'close'."""
    with open(os.path.join(MESSAGES, "expected.tsv"), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            with open(os.path.join(MESSAGES, row["file"]), "rb") as file:
                yield row["file"], file.read(), set(row["stream" if is_stream else "datagram"].split("|"))


def call_id(message):
    found = re.search(rb"(?im)^(?:call-id|i)[ \t]*:[ \t]*(?:\r?\n[ \t]+)?(\S+)", message)
    return found.group(1) if found else None


def via_port(message):
    """The port for responses in the topmost Via (RFC 3261 §18.2.2)."""
    found = re.search(rb"(?im)^v(?:ia)?[ \t]*:\s*SIP\s*/\s*2\.0\s*/\s*\w+\s+(\[[^\]]*\]|[^\s;:,]+)\s*(?::\s*(\d+))?", message)
    port = int(found.group(2)) if found and found.group(2) else 5060
    return port if 0 < port < 65536 else 5060


class PBX:
    """Keeps what the gateway forwards, by Call-ID.

    It responds 480, so that the gateway sends no retransmission to the next user of the port.
    """

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, port))
        self.seen = []

    def take(self):
        self.socket.setblocking(False)
        try:
            while True:
                message, gateway = self.socket.recvfrom(65535)
                self.seen.append(message)
                if not message.startswith((b"ACK ", b"SIP/2.0 ")):
                    self.socket.sendto(unavailable(message), gateway)
        except BlockingIOError:
            pass

    def forwarded(self, message):
        """The copy of a message that arrived, or None."""
        self.take()
        wanted = call_id(message)
        return next((one for one in self.seen if wanted and call_id(one) == wanted), None)


def unavailable(request):
    """The PBX's response to a request, with the copied fields (RFC 3261 §8.2.6.2)."""
    lines = unfolded(request.partition(b"\r\n\r\n")[0])
    repeated = [line for line in lines if re.match(rb"(?i)(via|v|from|f|to|t|call-id|i|cseq)[ \t]*:", line)]
    status = f"SIP/2.0 {PBX_STATUS} Temporarily Unavailable".encode()
    return b"\r\n".join([status, *repeated, b"Content-Length: 0", b"", b""])


def over_udp(message, gateway, patience):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trunk:
        trunk.bind((OTHER_TRUNK_HOST, via_port(message)))
        trunk.sendto(message, gateway)
        yield from responses(trunk, patience)


def over_tcp(message, gateway, patience):
    with socket.socket() as trunk:
        trunk.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trunk.bind((OTHER_TRUNK_HOST, 0))
        trunk.connect(gateway)
        trunk.sendall(message)
        yield from responses(trunk, patience)


def responses(trunk, patience):
    """Statuses as they come, 'close' for the end of a stream."""
    trunk.settimeout(patience)
    try:
        while True:
            data = trunk.recv(65535)
            if not data:
                yield "close"
                return
            for status in STATUS_LINE.findall(data):
                yield status.decode()
    except (socket.timeout, ConnectionResetError):
        return


def difference(sent, got):
    """The first line that a proxy must not change and that differs; None without one."""
    if b"\nRoute:" in sent and b";lr" not in sent:
        # RFC 3261 §16.6 step 6: a Route without lr takes the place of the Request-URI, which goes to the end.
        return None if sent.partition(b"\r\n\r\n")[2].startswith(got.partition(b"\r\n\r\n")[2]) else "the body"
    head, _, body = sent.lstrip(b"\r\n").partition(b"\r\n\r\n")
    got_head, _, got_body = got.partition(b"\r\n\r\n")
    # Bytes after Content-Length are no part of the message (RFC 3261 §18.3).
    if not body.startswith(got_body):
        return "the body"
    lines = unfolded(head)
    rest = [line for line in unfolded(got_head) if not ours(line)]
    if all(length_of(line) is None for line in lines):
        # A stream may follow: the proxy writes the length a datagram could do without (RFC 3261 §16.6 step 9).
        written = [line for line in rest if length_of(line) is not None]
        if [length_of(line) for line in written] not in ([], [str(len(body)).encode()]):
            return f"the length {written[0]!r}"
        rest = [line for line in rest if line not in written]
    for line in lines:
        if edited(line):
            if rest and edited(rest[0]):
                rest.pop(0)
            continue
        if removed(line):
            continue
        while rest and rest[0] != line and edited(rest[0]):
            rest.pop(0)
        if not rest or rest[0] != line:
            return f"{line[:70]!r} became {rest[0][:70] if rest else b''!r}"
        rest.pop(0)
    return None


def unfolded(head):
    """Header lines, each with its continuation lines."""
    lines = []
    for line in head.split(b"\r\n"):
        if line[:1] in (b" ", b"\t") and lines:
            lines[-1] += b"\r\n" + line
        else:
            lines.append(line)
    return lines


def length_of(line):
    """The value of Content-Length, as written; None for every other field."""
    found = re.match(rb"(?i)(?:content-length|l)[ \t]*:\s*(\d*)", line)
    return found.group(1) if found else None


def ours(line):
    return b"z9hG4bKhd" in line or b";hd=" in line


def edited(line):
    """Fields a proxy changes: the topmost Via and Max-Forwards (RFC 3261 §16.6)."""
    return re.match(rb"(?i)(via|v|max-forwards)\s*:", line) is not None


def removed(line):
    """Fields that hygiene takes from what a trunk sends."""
    return re.match(rb"(?i)(p-preferred-identity|call-info)\s*:", line) is not None


def run(pbx_port, gateway, is_stream):
    """The differences, one line each, and how many messages there were."""
    wrong, count = [], 0
    pbx = PBX(pbx_port)
    try:
        for name, message, expected in cases(is_stream):
            count += 1
            pbx.take()
            pbx.seen.clear()
            # The gateway waits streams.unfinished for the end of an unfinished message.
            patience = 3 if "close" in expected else 0.25
            seen = [one for one in (over_tcp if is_stream else over_udp)(message, gateway, patience)
                    if one not in ("100", PBX_STATUS)]
            copy = pbx.forwarded(message)
            result = "forward" if copy else next((one for one in seen if one != "close"), None)
            result = result or ("close" if "close" in seen else "drop")
            if result not in expected:
                wrong.append(f"{name}: expected {' or '.join(sorted(expected))}, got {result}")
            elif copy:
                changed = difference(message, copy)
                if changed:
                    wrong.append(f"{name}: {changed}")
        time.sleep(0.6)  # longer than T1: a request without a response is sent again
        pbx.take()
    finally:
        pbx.socket.close()
    return wrong, count
