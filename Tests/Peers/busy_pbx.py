# SPDX-License-Identifier: Apache-2.0
"""A PBX that responds to OPTIONS and is busy for every call, and a carrier that calls it; each can go and come back."""
import socket
import threading
import uuid

from heraldtest.gateway import CALLER, CARRIER, GATEWAY, PBX


def fields(message):
    """The header lines by their lower-case names, the first of a name; and every Via."""
    lines = message.split("\r\n\r\n")[0].split("\r\n")[1:]
    found = {}
    for line in lines:
        name, _, value = line.partition(":")
        found.setdefault(name.strip().lower(), value.strip())
    return found, [line for line in lines if line.lower().startswith("via:")]


class BusyPBX:
    """Responds by UDP until `stop`; then its address is silent."""

    def __init__(self, address=PBX):
        self.address = address
        self.socket = None

    def start(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((self.address, 5060))
        threading.Thread(target=self._serve, args=(self.socket,), daemon=True).start()

    def stop(self):
        if self.socket:
            # A blocked receive ends with the shutdown, not with the close.
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.socket.close()
            self.socket = None

    @staticmethod
    def _serve(server):
        while True:
            try:
                data, sender = server.recvfrom(65535)
            except OSError:
                return
            text = data.decode("utf-8", "replace")
            method = text.split(" ", 1)[0]
            if not data or method == "ACK":
                if not data:
                    return
                continue
            found, vias = fields(text)
            status = "486 Busy Here" if method == "INVITE" else "200 OK"
            lines = [f"SIP/2.0 {status}", *vias, f"From: {found['from']}", f"To: {found['to']};tag=pbx",
                     f"Call-ID: {found['call-id']}", f"CSeq: {found['cseq']}", "Content-Length: 0", "", ""]
            server.sendto("\r\n".join(lines).encode(), sender)


def call(caller=CALLER, called="+49300000001", *, name="", lines=(), method="INVITE", sender=CARRIER, call_id=""):
    """One request of the carrier, by default a call from the brand's number; returns the final status.

    `name`: the display name with its quotes; `lines`: further header lines; `sender`: another address.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as carrier:
        carrier.bind((sender, 5060))
        carrier.settimeout(20)
        mark = uuid.uuid4().hex
        head = (f"Via: SIP/2.0/UDP {sender}:5060;branch=z9hG4bK{mark}\r\nMax-Forwards: 70\r\n"
                f"From: {name}<sip:{caller}@{sender}>;tag={mark[:8]}\r\nCall-ID: {call_id or mark}@{sender}\r\n")
        target = f"sip:{called}@{GATEWAY}"
        more = "".join(f"{line}\r\n" for line in lines)
        carrier.sendto(
            (f"{method} {target} SIP/2.0\r\n{head}To: <{target}>\r\nCSeq: 1 {method}\r\n{more}"
             f"Contact: <sip:{sender}:5060>\r\nContent-Length: 0\r\n\r\n").encode(), (GATEWAY, 5060))
        while True:
            text = carrier.recv(65535).decode("utf-8", "replace")
            status = int(text.split(" ")[1]) if text.startswith("SIP/2.0 ") else 0
            if status >= 200:
                break
        if method == "INVITE":
            to = fields(text)[0]["to"]
            carrier.sendto(
                f"ACK {target} SIP/2.0\r\n{head}To: {to}\r\nCSeq: 1 ACK\r\nContent-Length: 0\r\n\r\n".encode(),
                (GATEWAY, 5060))
        return status
