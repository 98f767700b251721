# SPDX-License-Identifier: Apache-2.0
"""Calls one by one from two trunks, with the time that each takes to ring: for stalls of milliseconds to half a minute."""
import email.utils
import heapq
import itertools
import re
import select
import socket
import threading
import time

from .subjects import CARRIER, HOST, SUBJECT

# RFC 3261 §17.1.1.2: Timer A doubles from 500 ms, Timer B ends the transaction.
FIRST_REPEAT, LIMIT = 0.5, 32.0
SDP = ("v=0\r\no=border 4711 4711 IN IP4 203.0.113.17\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 30412 RTP/AVP 8 0\r\n"
       "a=rtpmap:8 PCMA/8000\r\na=rtpmap:0 PCMU/8000\r\n")
CALLED = "+12025550142"


class Placed:
    """One call: when it began, when it rang, and its state."""

    def __init__(self, name, caller, identity, began):
        self.name, self.caller, self.identity, self.began = name, caller, identity, began
        self.rang = self.status = None
        self.has_response, self.wait, self.invite, self.ended = False, FIRST_REPEAT, b"", False


class Trunk:
    """A carrier at one address; `place` starts calls, a thread of its own does the rest."""

    def __init__(self, address):
        self.address = address
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind((address, CARRIER))
        self.calls, self.names, self.due, self.over = {}, itertools.count(), [], False
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def place(self, caller, identity=None):
        """Sends an INVITE; `identity`: a value of Identity."""
        name = f"single-{self.address}-{next(self.names)}-{time.monotonic_ns()}"
        call = Placed(name, caller, identity, 0.0)
        call.invite = self.request(call, "INVITE", f"sip:{CALLED}@{HOST}:{SUBJECT}", 1, body=SDP)
        call.began = time.monotonic()
        with self.lock:
            self.calls[name] = call
            heapq.heappush(self.due, (call.began + FIRST_REPEAT, name))
        self.socket.sendto(call.invite, (HOST, SUBJECT))
        return call

    def request(self, call, method, uri, sequence, to="", routes=(), body="", branch=""):
        lines = [
            f"{method} {uri} SIP/2.0",
            f"Via: SIP/2.0/UDP {self.address}:{CARRIER};branch=z9hG4bK{call.name.replace('.', '')}{branch};rport",
            *routes, "Max-Forwards: 70", f"From: <sip:{call.caller}@carrier.example>;tag={call.name.rsplit('-', 1)[1]}",
            to or f"To: <sip:{CALLED}@{HOST}>", f"Call-ID: {call.name}", f"CSeq: {sequence} {method}",
            f"Contact: <sip:{call.caller}@{self.address}:{CARRIER}>"]
        if body:
            lines += [f"Date: {email.utils.formatdate(usegmt=True)}", "Content-Type: application/sdp"]
        if call.identity and method == "INVITE":
            lines.append(f"Identity: {call.identity}")
        return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode()

    def run(self):
        while not self.over:
            with self.lock:
                pause = max(0.0, min(0.1, self.due[0][0] - time.monotonic())) if self.due else 0.1
            if select.select([self.socket], [], [], pause)[0]:
                self.receive(self.socket.recv(65536).decode("utf-8", "replace"), time.monotonic())
            self.repeat(time.monotonic())

    def repeat(self, now):
        """Sends again each INVITE that has had no response for the time of Timer A."""
        with self.lock:
            while self.due and self.due[0][0] <= now:
                _, name = heapq.heappop(self.due)
                call = self.calls[name]
                if call.has_response or now - call.began > LIMIT:
                    continue
                self.socket.sendto(call.invite, (HOST, SUBJECT))
                call.wait *= 2
                heapq.heappush(self.due, (now + call.wait, name))

    def receive(self, text, now):
        found = re.search(r"(?im)^(?:Call-ID|i) *: *(\S+)", text)
        call = self.calls.get(found[1]) if found else None
        if not call:
            return
        if not text.startswith("SIP/2.0 "):
            # Nothing but the end of a call comes from the other side.
            if not text.startswith("ACK "):
                self.respond(text)
            return
        status = int(text[8:11])
        call.has_response = True
        if not re.search(r"(?im)^CSeq *: *1 INVITE", text) or status == 100:
            return
        if call.rang is None and status < 300:
            call.rang = now
        if status < 200:
            return
        call.status = call.status or status
        to = re.search(r"(?im)^(?:To|t) *: .*?(?=\r?$)", text)[0]
        if status >= 300:
            self.send(self.request(call, "ACK", f"sip:{CALLED}@{HOST}:{SUBJECT}", 1, to))
            return
        contact = re.search(r"(?im)^(?:Contact|m) *: *<([^>]+)>", text)[1]
        routes = [f"Route: {value}" for value in reversed(re.findall(r"(?im)^Record-Route *: *(.*?)\r?$", text))]
        self.send(self.request(call, "ACK", contact, 1, to, routes, branch="a"))
        if not call.ended:
            call.ended = True
            self.send(self.request(call, "BYE", contact, 2, to, routes, branch="b"))

    def respond(self, text):
        head = [line for line in text.split("\r\n") if re.match(r"(?i)(via|v|from|f|to|t|call-id|i|cseq) *:", line)]
        self.send("\r\n".join(["SIP/2.0 200 OK", *head, "Content-Length: 0", "", ""]).encode())

    def send(self, message):
        self.socket.sendto(message, (HOST, SUBJECT))

    def placed(self):
        """All calls, in their order."""
        with self.lock:
            return list(self.calls.values())

    def wait(self):
        """Waits until each call rings, was refused, or has reached the limit."""
        while any(call.rang is None and call.status is None and time.monotonic() - call.began < LIMIT
                  for call in self.placed()):
            time.sleep(0.1)

    def stop(self):
        self.over = True
        self.thread.join()
        self.socket.close()


def milliseconds(call):
    """The time until a call rang; that of the limit for one that did not."""
    return 1000 * (min(call.rang - call.began, LIMIT) if call.rang is not None else LIMIT)
