# SPDX-License-Identifier: Apache-2.0
"""Carrier and phone whose messages pass another gateway each time: CANCEL, ACK, re-INVITE, BYE and responses."""
import collections
import queue
import re
import socket
import threading
import time

from heraldtest.child import Failed

CARRIER, DESK = "203.0.113.7", "192.0.2.31"
SDP = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 30412 RTP/AVP 8\r\n"
# What becomes of a call: who ends it.
KINDS = ("carrier hangs up", "desk hangs up", "carrier gives up")


class Message:
    """A SIP message with the headers that matter here."""

    def __init__(self, text):
        self.first, _, rest = text.partition("\r\n")
        self.headers = collections.defaultdict(list)
        for line in rest.partition("\r\n\r\n")[0].split("\r\n"):
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()].append(value.strip())
        self.status = int(self.first.split()[1]) if self.first.startswith("SIP/2.0 ") else 0
        self.sequence = self.header("cseq")
        self.method = self.sequence.split()[-1]

    def header(self, name):
        return (self.headers.get(name) or [""])[0]

    def response(self, status, tag, contact, sdp=""):
        """The response to this request."""
        to = self.header("to")
        lines = [f"SIP/2.0 {status}", *(f"Via: {value}" for value in self.headers["via"]),
                 *(f"Record-Route: {value}" for value in self.headers["record-route"]),
                 f"From: {self.header('from')}", f"To: {to}" if ";tag=" in to else f"To: {to};tag={tag}",
                 f"Call-ID: {self.header('call-id')}", f"CSeq: {self.header('cseq')}", f"Contact: <{contact}>"]
        return written(lines, sdp)


def written(lines, sdp=""):
    kind = ["Content-Type: application/sdp"] if sdp else []
    return "\r\n".join([*lines, *kind, f"Content-Length: {len(sdp)}", "", sdp])


class Roamer:
    """Both ends, at addresses of their own; each message goes to the next gateway."""

    def __init__(self, cluster, chance):
        self.cluster, self.chance, self.calls, self.over = cluster, chance, {}, threading.Event()
        self.sockets = {}
        for address in (CARRIER, DESK):
            self.sockets[address] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.sockets[address].bind((address, 5060))
            threading.Thread(target=self.read, args=(address,), daemon=True).start()

    def read(self, address):
        while True:
            try:
                data = self.sockets[address].recv(65535)
            except OSError:
                return
            if len(data) > 20:
                message = Message(data.decode("utf-8", "replace"))
                call = self.calls.get(message.header("call-id"))
                if call:
                    call.inbox.put((address, message))

    def send(self, address, text, node):
        try:
            self.sockets[address].sendto(text.encode(), (node.own, 5060))
        except OSError:
            pass  # lost on the way, and sent again

    def begin(self, first, brand, seconds, workers=3):
        """Places calls one after the other in some threads for a while; `first`: the number of the first one."""
        until, turn, lock = time.monotonic() + seconds, iter(range(first, first + 10_000)), threading.Lock()

        def work():
            while time.monotonic() < until and not self.over.is_set():
                with lock:
                    number = next(turn)
                    call = Roaming(self, number, brand(number)[0], KINDS[number % len(KINDS)])
                    self.calls[call.name] = call
                call.run()
                self.over.wait(0.5)
        self.threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        for thread in self.threads:
            thread.start()

    def finish(self):
        """The calls of this round."""
        for thread in self.threads:
            thread.join(120)
        calls, self.calls = list(self.calls.values()), {}
        return calls

    def stop(self):
        self.over.set()
        for side in self.sockets.values():
            side.close()


class Roaming:
    """One call."""

    def __init__(self, roamer, number, caller, kind):
        self.roamer, self.caller, self.called, self.kind = roamer, caller, f"+493099{number:06}", kind
        self.name, self.inbox, self.trouble = f"{number}-roaming", queue.Queue(), None
        # From the 2xx to the first BYE, and to its 200.
        self.seconds = self.most_seconds = None
        self.nodes = list(roamer.cluster.nodes)
        roamer.chance.shuffle(self.nodes)
        self.turn = self.branches = 0
        # Longer than health.patience: the gateway that sent the INVITE has had no response to it.
        self.rings_long, self.rings = number % 5 == 0, False
        self.moments = []
        self.last = {}

    def next_node(self):
        self.turn += 1
        return self.nodes[self.turn % len(self.nodes)]

    def send(self, address, text):
        self.moments.append(time.time())
        self.roamer.send(address, text, self.next_node())

    def said_between(self, begin, end):
        """Whether it sent a message between two times, in seconds since 1970."""
        return any(begin <= moment <= end for moment in self.moments)

    def exchange(self, address, text, wanted, what):
        """Sends until the wanted (address, message) arrives, each time through the next gateway."""
        end, patience = time.monotonic() + 50, 0.5
        self.send(address, text)
        again = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                place, message = self.inbox.get(timeout=max(0.01, again - time.monotonic()))
            except queue.Empty:
                patience = min(4, patience * 2)
                again = time.monotonic() + patience
                self.send(address, text)
                continue
            if wanted(place, message):
                return message
            if self.rings and place == CARRIER and message.status >= 300 and message.method == "INVITE":
                raise Failed(f"the carrier got {message.status} though the phone rings")
            # A repeated request gets the same response again.
            if not message.status and message.sequence in self.last and place == self.last[message.sequence][0]:
                self.send(*self.last[message.sequence])
        raise Failed(f"{what} has no response in 50 s")

    def request(self, side, method, sequence, branch=None):
        """A request inside the dialog."""
        if not branch:
            self.branches += 1
            branch = f"z9hG4bK{self.name}{side[-1]}{self.branches}"
        target, routes, sender, receiver = self.dialog[side]
        return written([
            f"{method} {target} SIP/2.0", f"Via: SIP/2.0/UDP {side}:5060;branch={branch};rport",
            *(f"Route: {route}" for route in routes), "Max-Forwards: 70", f"From: {sender}", f"To: {receiver}",
            f"Call-ID: {self.name}", f"CSeq: {sequence} {method}", f"Contact: <sip:roamer@{side}:5060>"],
            SDP if method == "INVITE" else "")

    def run(self):
        try:
            self.play()
        except (Failed, OSError) as trouble:
            self.trouble = f"{self.kind}, {self.called}: {trouble}"

    def play(self):
        uri, sender = f"sip:{self.called}@192.0.2.9:5060", f"<sip:{self.caller}@carrier.example>;tag=c{self.name}"
        head = [f"Via: SIP/2.0/UDP {CARRIER}:5060;branch=z9hG4bK{self.name};rport", "Max-Forwards: 70", f"From: {sender}",
                f"Call-ID: {self.name}"]
        to = f"<sip:{self.called}@pbx.example>"
        invite = written([f"INVITE {uri} SIP/2.0", *head, f"To: {to}", "CSeq: 1 INVITE",
                          f"P-Asserted-Identity: <sip:{self.caller}@carrier.example>",
                          f"Contact: <sip:roamer@{CARRIER}:5060>"], SDP)
        came = self.exchange(CARRIER, invite, lambda at, m: at == DESK and m.method == "INVITE" and not m.status, "INVITE")
        ringing = came.response("180 Ringing", "d" + self.name, f"sip:desk@{DESK}:5060")
        self.exchange(DESK, ringing, lambda at, m: at == CARRIER and m.status == 180, "180")
        self.rings = True
        if self.rings_long:
            time.sleep(self.roamer.chance.uniform(4.5, 6))
        if self.kind == "carrier gives up":
            self.rings = False
            cancel = written([f"CANCEL {uri} SIP/2.0", *head, f"To: {to}", "CSeq: 1 CANCEL"])
            stop = self.exchange(CARRIER, cancel, lambda at, m: at == DESK and m.method == "CANCEL" and not m.status, "CANCEL")
            self.send(DESK, stop.response("200 OK", "d" + self.name, f"sip:desk@{DESK}:5060"))
            ended = came.response("487 Request Terminated", "d" + self.name, f"sip:desk@{DESK}:5060")
            final = self.exchange(DESK, ended, lambda at, m: at == CARRIER and m.status == 487, "487")
            ack = written([f"ACK {uri} SIP/2.0", *head, f"To: {final.header('to')}", "CSeq: 1 ACK"])
            return self.send(CARRIER, ack)
        answer = came.response("200 OK", "d" + self.name, f"sip:desk@{DESK}:5060", SDP)
        self.last[came.sequence] = DESK, answer
        final = self.exchange(DESK, answer, lambda at, m: at == CARRIER and m.status == 200 and m.method == "INVITE", "200")
        began = time.monotonic()
        self.dialog = {
            CARRIER: (uri_of(final.header("contact")), final.headers["record-route"][::-1], sender, final.header("to")),
            DESK: (uri_of(came.header("contact")), came.headers["record-route"], final.header("to"), sender)}
        self.exchange(CARRIER, self.request(CARRIER, "ACK", 1), lambda at, m: at == DESK and m.method == "ACK", "ACK")
        time.sleep(self.roamer.chance.uniform(0.5, 2))
        self.answered(CARRIER, DESK, "INVITE", 2)
        time.sleep(self.roamer.chance.uniform(0.2, 1))
        ends, other = (CARRIER, DESK) if self.kind == "carrier hangs up" else (DESK, CARRIER)
        self.seconds = time.monotonic() - began
        self.answered(ends, other, "BYE", 3)
        self.most_seconds = time.monotonic() - began

    def answered(self, side, other, method, sequence):
        """A request inside the dialog, its 200 and, if it is an INVITE, its ACK."""
        # By its number: the first INVITE may come again, because its responses pass another gateway.
        name = f"{sequence} {method}"
        came = self.exchange(side, self.request(side, method, sequence),
                             lambda at, m: at == other and m.sequence == name and not m.status, method)
        self.last[name] = other, came.response("200 OK", "", f"sip:roamer@{other}:5060", SDP if method == "INVITE" else "")
        self.exchange(*self.last[name], lambda at, m: at == side and m.sequence == name and m.status == 200, f"200 to {method}")
        if method == "INVITE":
            self.exchange(side, self.request(side, "ACK", sequence),
                          lambda at, m: at == other and m.sequence == f"{sequence} ACK", "ACK")


def uri_of(contact):
    return re.search(r"<([^>]*)>", contact).group(1)
