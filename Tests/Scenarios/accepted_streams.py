# SPDX-License-Identifier: Apache-2.0
"""Calls that came by TCP or TLS from an ephemeral port: the PBX's later requests use that connection, else the next hop.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import os
import socket
import ssl
import time

from heraldtest.addresses import HOST, OTHER_TRUNK_HOST
from heraldtest.child import Failed
from .situations import brand

KEPT = ("Via", "From", "To", "Call-ID", "CSeq", "Record-Route")
METHODS = ("INVITE", "UPDATE", "INFO", "REFER", "NOTIFY", "BYE")


def lines_of(message, *names):
    """The header lines with these names, in their order."""
    return [line for line in message.split("\r\n") if line.split(":")[0] in names]


def response(message, status, to_tag="", contact=""):
    lines = [line + (to_tag if line.startswith("To:") and ";tag=" not in line else "") for line in lines_of(message, *KEPT)]
    return "\r\n".join(
        [f"SIP/2.0 {status}", *lines, *([f"Contact: {contact}"] if contact else []), "Content-Length: 0", "", ""])


class Stream:
    """One connection, cut into messages."""

    def __init__(self, connected):
        self.socket = connected
        self.socket.settimeout(15)
        self.received = b""

    def send(self, text):
        self.socket.sendall(text.encode())

    def next(self, start):
        """The next message that begins so; messages before it are left out."""
        while True:
            head, found, rest = self.received.partition(b"\r\n\r\n")
            if not found:
                more = self.socket.recv(65535)
                if not more:
                    raise Failed(f"the connection ended before a message {start}")
                self.received += more
                continue
            self.received = rest
            if head.startswith(start.encode()):
                return head.decode() + "\r\n\r\n"

    def close(self):
        self.socket.close()


class Carrier:
    """A carrier that connects from an ephemeral port and names it in Contact; its next hop listens elsewhere."""

    def __init__(self, run, transport, files):
        self.run, self.transport, self.files = run, transport, files
        self.listener = socket.create_server((OTHER_TRUNK_HOST, 0))
        self.listener.settimeout(15)
        self.port = self.listener.getsockname()[1]
        self.stream = None

    def connect(self):
        plain = socket.create_connection((HOST, self.run.ports.gateway), 60, (OTHER_TRUNK_HOST, 0))
        if self.transport == "tls":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            plain = context.wrap_socket(plain)
        self.stream = Stream(plain)
        self.source = f"{OTHER_TRUNK_HOST}:{plain.getsockname()[1]}"

    def accept(self):
        """The connection that the gateway opens to the next hop."""
        plain = self.listener.accept()[0]
        if self.transport == "tls":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.files)
            plain = context.wrap_socket(plain, server_side=True)
        return Stream(plain)

    def request(self, method, call, to_tag="", routes=()):
        self.stream.send("\r\n".join([
            f"{method} sip:100@{HOST} SIP/2.0",
            f"Via: SIP/2.0/{self.transport.upper()} {self.source};branch=z9hG4bK{call}{method}",
            f"From: \"Carrier\" <sip:{brand(1001)}@carrier.example>;tag=a", f"To: <sip:100@{HOST}>{to_tag}",
            f"Call-ID: {call}", f"CSeq: 1 {method}", f"Contact: <sip:c@{self.source};transport={self.transport}>",
            "Max-Forwards: 70", *[f"Route: {route}" for route in routes], "Content-Length: 0", "", ""]))


class PBX:
    """A PBX on UDP that answers one call and sends requests in it."""

    def __init__(self, run):
        self.gateway = (HOST, run.ports.gateway)
        self.port = run.ports.pbx
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, self.port))
        self.socket.settimeout(15)

    def next(self, start, call):
        while True:
            message = self.socket.recv(65535).decode()
            if message.startswith(start) and f"Call-ID: {call}\r\n" in message:
                return message

    def answer(self, call):
        self.invite = self.next("INVITE ", call)
        self.socket.sendto(
            response(self.invite, "200 OK", ";tag=p", f"<sip:100@{HOST}:{self.port}>").encode(), self.gateway)

    def send(self, method, call, number, contact):
        routes = [line.partition(": ")[2] for line in lines_of(self.invite, "Record-Route")]
        caller = lines_of(self.invite, "From")[0].partition(": ")[2]
        self.socket.sendto("\r\n".join([
            f"{method} {contact} SIP/2.0", f"Via: SIP/2.0/UDP {HOST}:{self.port};branch=z9hG4bKp{call}{number}",
            f"From: <sip:100@{HOST}>;tag=p", f"To: {caller}", f"Call-ID: {call}", f"CSeq: {number} {method}",
            "Max-Forwards: 70", *[f"Route: {route}" for route in routes], "Content-Length: 0", "", ""]).encode(),
            self.gateway)

    def close(self):
        self.socket.close()


def begin(carrier, pbx, call):
    """A call of the carrier that the PBX answers; the URI of the carrier's Contact."""
    carrier.connect()
    carrier.request("INVITE", call)
    pbx.answer(call)
    taken = carrier.stream.next("SIP/2.0 200")
    to_tag = lines_of(taken, "To")[0].partition(">")[2]
    carrier.request("ACK", call, to_tag, [line.partition(": ")[2] for line in lines_of(taken, "Record-Route")])
    pbx.next("ACK ", call)
    return f"sip:c@{carrier.source};transport={carrier.transport}"


def in_dialog(carrier, pbx, call):
    """Each method reaches the carrier by its own connection, and its response the PBX."""
    contact = begin(carrier, pbx, call)
    for number, method in enumerate(METHODS, start=2):
        pbx.send(method, call, number, contact)
        request = carrier.stream.next(f"{method} {contact} ")
        if "To: \"Carrier\" <" not in request:
            raise Failed("To does not have the carrier's own name:\n" + request)
        carrier.stream.send(response(request, "200 OK", contact=f"<{contact}>"))
        pbx.next("SIP/2.0 200", call)
        if method == "INVITE":
            pbx.send("ACK", call, number, contact)
            carrier.stream.next(f"ACK {contact} ")


def after_a_loss(carrier, pbx, call, lose):
    """Without its connection the call can still be hung up: the BYE reaches the next hop."""
    contact = begin(carrier, pbx, call)
    lose()
    # The gateway must have seen the end: a request that is under way meanwhile is lost with the connection.
    time.sleep(0.5)
    pbx.send("BYE", call, 2, contact)
    stream = carrier.accept()
    stream.send(response(stream.next(f"BYE {contact} "), "200 OK"))
    pbx.next("SIP/2.0 200", call)
    stream.close()


def streams(transport):
    def scenario(testbed, folder, run):
        os.makedirs(folder, exist_ok=True)
        files = [os.path.join(folder, name) for name in ("certificate.pem", "key.pem")]
        testbed.command(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90",
            "-subj", "/CN=carrier", "-addext", f"subjectAltName=IP:{HOST},IP:{OTHER_TRUNK_HOST}", "-keyout", files[1],
            "-out", files[0])
        testbed.gateway.stop()
        carrier, pbx = Carrier(run, transport, files), PBX(run)
        try:
            keys = f", certificate: {files[0]}, key: {files[1]}, roots: {files[0]}" if transport == "tls" else ""
            testbed.write_config(
                listen=f"  - {{name: stream, address: '{HOST}:{run.ports.gateway}', transport: {transport}{keys}}}\n",
                trunk="    listen: stream\n")
            with open(testbed.config, encoding="utf-8") as file:
                text = file.read()
            with open(testbed.config, "w", encoding="utf-8") as file:
                file.write(text.replace(
                    f"next_hop: {HOST}:{run.ports.trunk}\n", f"next_hop: {OTHER_TRUNK_HOST}:{carrier.port}\n"))
            testbed.start_gateway()
            mark = f"{transport}{int(time.time())}"
            in_dialog(carrier, pbx, mark + "held")
            carrier.stream.close()
            after_a_loss(carrier, pbx, mark + "lost", lambda: carrier.stream.close())

            def restart():
                testbed.gateway.stop()
                testbed.start_gateway(wait_for_sync=False)

            after_a_loss(carrier, pbx, mark + "restarted", restart)
        except (socket.timeout, ssl.SSLError, OSError) as error:
            raise Failed(f"{transport}: {error!r}\n" + testbed.gateway.tail()) from error
        finally:
            carrier.listener.close()
            pbx.close()
            testbed.gateway.stop()
            testbed.write_config()
            testbed.start_gateway()

    return scenario


ACCEPTED_STREAMS = (
    ("requests back by the carrier's TCP connection", streams("tcp")),
    ("requests back by the carrier's TLS connection", streams("tls")),
)
