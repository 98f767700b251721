# SPDX-License-Identifier: Apache-2.0
"""Delay of an INVITE in a subject, by the kernel's time stamps on the loopback device; needs CAP_NET_RAW."""
import ctypes
import re
import socket
import struct
import threading

from .subjects import SUBJECT

ETH_P_IP, PACKET_OUTGOING = 0x0800, 4
SO_ATTACH_FILTER, SO_TIMESTAMPNS, SO_RCVBUFFORCE = 26, 35, 33
CALL_ID = re.compile(rb"\r\n(?:Call-ID|i)[ \t]*:[ \t]*([^\r]+)", re.IGNORECASE)
# Classic BPF over an IPv4 packet without options: not outgoing, UDP, from or to the subject's port, begins with "INVI".
FILTER = [
    (0x20, 0, 0, 0xFFFFF000 + 4), (0x15, 9, 0, PACKET_OUTGOING),
    (0x30, 0, 0, 9), (0x15, 0, 7, 17),
    (0x28, 0, 0, 20), (0x15, 2, 0, SUBJECT),
    (0x28, 0, 0, 22), (0x15, 0, 3, SUBJECT),
    (0x20, 0, 0, 28), (0x15, 0, 1, int.from_bytes(b"INVI", "big")),
    (0x06, 0, 0, 2048),
    (0x06, 0, 0, 0),
]


class Delays:
    """Records while the `with` block runs."""

    def __enter__(self):
        self.came, self.taken = {}, []
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        self.tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        try:
            self.tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        except PermissionError:
            self.tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in FILTER))
        self.tap.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", len(FILTER), ctypes.addressof(code)))
        self.tap.bind(("lo", ETH_P_IP))
        self.tap.settimeout(0.2)
        self.over = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.reader.join()
        self.tap.close()

    def read(self):
        while not self.over:
            try:
                packet, ancillary, _, _ = self.tap.recvmsg(2048, 64)
            except TimeoutError:
                continue
            call = CALL_ID.search(packet)
            if not call:
                continue
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            stamp = seconds * 1_000_000_000 + nanoseconds
            if struct.unpack_from("!H", packet, 22)[0] == SUBJECT:
                self.came.setdefault(call[1], stamp)
            elif call[1] in self.came:
                came = self.came.pop(call[1])
                self.taken.append((came / 1e9, (stamp - came) / 1000))

    def microseconds(self, begin=0.0, end=float("inf")):
        """Delays of the INVITEs that came from `begin` to `end`, in seconds since 1970."""
        return [microseconds for came, microseconds in list(self.taken) if begin <= came < end]


def percentile(values, share):
    """The value that a share of the values does not exceed; None without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None
