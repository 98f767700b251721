# SPDX-License-Identifier: Apache-2.0
"""herald trace and the HEP export beside real calls: ladder, JSON, pcap, masking, withheld numbers.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import json
import os
import signal
import socket
import ssl
import stat
import struct
import subprocess
import threading

from heraldtest.addresses import HOST, OTHER_TRUNK_HOST
from heraldtest.child import Failed, wait_until
from .situations import answered, brand, step, unbranded

COLLECTOR = 15094
# The chunk types of the HEP3 specification that every message has, and the lengths of their values.
CHUNKS = {1: 1, 2: 1, 3: 4, 4: 4, 7: 2, 8: 2, 9: 4, 10: 4, 11: 1, 12: 4}


class Trace:
    """`herald trace` in a process of its own, with its output in a file."""

    def __init__(self, testbed, folder, name, *options):
        self.path = os.path.join(folder, name)
        self.errors = self.path + ".err"
        os.makedirs(folder, exist_ok=True)
        with open(self.path, "wb") as output, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [testbed.herald_binary, "trace", "--config", testbed.config, *options], stdout=output, stderr=errors,
                stdin=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.json = "--json" in options
        wait_until(self.has_begun, 60, "the trace does not begin")

    def has_begun(self):
        if self.process.poll() is not None:
            raise Failed("herald trace ended: " + open(self.errors, encoding="utf-8").read())
        # The socket of the command is connected once the gateway has begun the trace.
        return bool(self.text()) if not self.json else True

    def text(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def events(self):
        lines = self.text().split("\n")
        return [json.loads(line) for line in lines[:-1]]

    def interrupt(self):
        """The exit status after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def pcap_records(path):
    """(source port, destination port, payload) of every packet of a pcap file of raw IPv4."""
    with open(path, "rb") as file:
        data = file.read()
    magic, _, _, _, _, _, link = struct.unpack("<IHHiIII", data[:24])
    if (magic, link) != (0xA1B2C3D4, 101):
        raise Failed(f"the pcap file begins with {data[:24].hex()}")
    position, records = 24, []
    while position < len(data):
        length = struct.unpack("<I", data[position + 8:position + 12])[0]
        packet = data[position + 16:position + 16 + length]
        records.append((*struct.unpack(">HH", packet[20:24]), packet[28:]))
        position += 16 + length
    return records


class Collector:
    """A HEP collector that decodes by the chunk table of the specification."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, COLLECTOR))
        self.packets = []
        self.problems = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                data = self.socket.recv(65535)
            except OSError:
                return
            try:
                self.packets.append(self.decoded(data))
            except (AssertionError, struct.error) as trouble:
                self.problems.append(f"{trouble}: {data[:80].hex()}")

    @staticmethod
    def decoded(data):
        assert data[:4] == b"HEP3" and struct.unpack(">H", data[4:6])[0] == len(data), "head"
        chunks, position = {}, 6
        while position < len(data):
            vendor, kind, length = struct.unpack(">HHH", data[position:position + 6])
            assert vendor == 0 and length >= 6 and position + length <= len(data), f"chunk {kind}"
            chunks[kind] = data[position + 6:position + length]
            position += length
        for kind, length in CHUNKS.items():
            assert len(chunks.get(kind, b"")) == length, f"chunk {kind}"
        return chunks

    def close(self):
        self.socket.close()


def traced_call(testbed, folder, run):
    """A call is in the ladder with decision, evidence and outcome; JSON and pcap have its messages, masked."""
    number = brand(1001)
    hidden = number[3:-3]
    pcap = os.path.join(folder, "call.pcap")
    os.makedirs(folder, exist_ok=True)
    ladder = Trace(testbed, folder, "ladder", "--wide", "--number", number, "--pcap", pcap)
    lines = Trace(testbed, folder, "lines", "--trunk", "carrier", "--json", "--numbers", "full", "--for", "2m")
    try:
        place_until_traced(run, folder, number, lines)
        wait_until(lambda: "outcome: ANSWERED" in ladder.text(), 60, "the ladder has no outcome:\n" + ladder.text())
        text = ladder.text()
        for part in ("INVITE", "180 Ringing", "200 OK", "BYE", "carrier", "herald", "office", "decision: ",
                     "from P-Asserted-Identity; trusted trunk, not verified; policy "):
            if part not in text:
                raise Failed(f"the ladder has no '{part}':\n{text}")
        records = pcap_records(pcap)
        ports = {(source, destination) for source, destination, _ in records}
        if (run.ports.trunk, run.ports.gateway) not in ports or (run.ports.gateway, run.ports.pbx) not in ports:
            raise Failed(f"the pcap file has the ports {ports}")
        everything = text.encode() + b"".join(payload for _, _, payload in records)
        if hidden.encode() in everything:
            raise Failed(f"{hidden} is not masked")
        if stat.S_IMODE(os.stat(pcap).st_mode) != 0o600:
            raise Failed("the pcap file is open to others")
        if not any(number in event.get("message", "") for event in lines.events()):
            raise Failed("--numbers full does not show the number")
        by_tshark(pcap, len(records))
        if ladder.interrupt() != 0:
            raise Failed("herald trace did not end well after Ctrl-C")
    finally:
        ladder.stop()
        lines.stop()


def place_until_traced(run, folder, number, lines):
    """Calls until the trace has a call: the command begins while the first call may already pass."""
    for attempt in range(5):
        run.place(answered(), number, os.path.join(folder, f"call-{attempt}"))
        events = lines.events()
        if any(event["event"] == "message" and event["summary"] == "BYE" for event in events) and any(
                event["event"] == "decision" for event in events):
            return
    raise Failed("no call was traced:\n" + lines.text())


def by_tshark(path, count):
    """tshark reads every packet of the file as SIP, where it is installed."""
    try:
        done = subprocess.run(["tshark", "-r", path, "-Y", "sip"], capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        return
    found = len(done.stdout.splitlines())
    if done.returncode != 0 or found != count:
        raise Failed(f"tshark reads {found} of {count} packets as SIP: {done.stderr}")


def withheld_call(testbed, folder, run):
    """A withheld number is in no ladder, JSON, pcap or HEP packet, whatever the numbers option says."""
    number = brand(1013)
    shown = brand(1001)
    collector = Collector()
    pcap = os.path.join(folder, "withheld.pcap")
    testbed.write_config(more=f"trace: {{hep: {{collector: '{HOST}:{COLLECTOR}', capture_id: 77, numbers: full}}}}\n")
    testbed.reload()
    lines = Trace(testbed, folder, "lines", "--json", "--numbers", "full", "--pcap", pcap)
    try:
        for attempt in range(5):
            run.place(unbranded("withheld", "Anonymous"), number, os.path.join(folder, f"call-{attempt}"))
            if collector.packets and any(event["event"] == "decision" for event in lines.events()):
                break
        wait_until(lambda: any(event["event"] == "outcome" for event in lines.events()), 60, "no outcome")
        if collector.problems or not collector.packets:
            raise Failed(f"the collector has {len(collector.packets)} packets and the problems {collector.problems[:3]}")
        wait_until(lambda: any(b"BYE" in packet[15] for packet in collector.packets), 60, "no BYE at the collector")
        first = collector.packets[0]
        if (first[1], first[2], first[11], first[12]) != (b"\x02", b"\x11", b"\x01", struct.pack(">I", 77)):
            raise Failed(f"the first packet has {first}")
        with open(pcap, "rb") as file:
            capture = file.read()
        digits = number[-7:].encode()
        for name, content in (("JSON", lines.text().encode()), ("pcap", capture),
                              ("HEP", b"".join(b"".join(packet.values()) for packet in collector.packets))):
            if digits in content:
                raise Failed(f"the withheld number is in {name}")
            if b"INVITE" not in content or b"anonymous.invalid" not in content:
                raise Failed(f"{name} has no INVITE of the call")
        # A branded call is exported with its number.
        run.place(answered(), shown, os.path.join(folder, "shown"))
        wait_until(lambda: any(shown.encode() in packet[15] for packet in collector.packets), 60,
                   "the shown call is not exported")
    finally:
        lines.stop()
        collector.close()
        testbed.write_config()
        testbed.reload()


class TLSCarrier:
    """A carrier with one TLS connection to the gateway, from the address of the trusted trunk."""

    def __init__(self, port, number, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection((HOST, port), 60, (OTHER_TRUNK_HOST, 0))
        self.stream = context.wrap_socket(plain)
        self.source = f"{OTHER_TRUNK_HOST}:{self.stream.getsockname()[1]}"
        self.number, self.name = number, name
        self.received = b""

    def send(self, method, sequence, to_tag="", routes=()):
        self.stream.sendall("\r\n".join([
            f"{method} sip:100@{HOST} SIP/2.0", f"Via: SIP/2.0/TLS {self.source};branch=z9hG4bK{self.name}{method}",
            f"From: <sip:{self.number}@carrier.example>;tag=a", f"To: <sip:100@{HOST}>{to_tag}", f"Call-ID: {self.name}",
            f"CSeq: {sequence} {method}", f"Contact: <sip:carrier@{self.source};transport=tls>", "Max-Forwards: 70",
            *[f"Route: {route}" for route in routes], "Content-Length: 0", "", ""]).encode())

    def response(self, status):
        """The first response with the status, as lines."""
        while True:
            head, found, rest = self.received.partition(b"\r\n\r\n")
            if not found:
                self.received += self.stream.recv(65535)
                continue
            self.received = rest
            lines = head.decode().split("\r\n")
            if lines[0].startswith(f"SIP/2.0 {status}"):
                return lines

    def call(self):
        """A call that the PBX takes, and its end."""
        self.send("INVITE", 1)
        taken = self.response(200)
        to_tag = next(line for line in taken if line.startswith("To:")).partition(">")[2]
        routes = [line.partition(": ")[2] for line in taken if line.startswith("Record-Route:")]
        self.send("ACK", 1, to_tag, routes)
        self.send("BYE", 2, to_tag, routes)
        self.response(200)


class TakingPBX:
    """A PBX on UDP that takes each call until `stop`, which frees its port."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, port))
        # A thread that waits in recvfrom keeps the port of a closed socket.
        self.socket.settimeout(0.2)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over.is_set():
            try:
                request, gateway = self.socket.recvfrom(65535)
            except TimeoutError:
                continue
            lines = request.decode().split("\r\n")
            if lines[0].startswith("ACK "):
                continue
            kept = [line + (";tag=p" if line.startswith("To:") and ";tag=" not in line else "") for line in lines
                    if line.split(":")[0] in ("Via", "From", "To", "Call-ID", "CSeq", "Record-Route")]
            self.socket.sendto("\r\n".join(
                ["SIP/2.0 200 OK", *kept, f"Contact: <sip:pbx@{HOST}:{self.port}>", "Content-Length: 0", "",
                 ""]).encode(), gateway)

    def stop(self):
        self.is_over.set()
        self.thread.join()
        self.socket.close()


def call_by_tls(testbed, folder, run):
    """A call over TLS is in the ladder decrypted, with the TLS side named, and masked."""
    os.makedirs(folder, exist_ok=True)
    number = brand(1001)
    files = [os.path.join(folder, name) for name in ("certificate.pem", "key.pem")]
    testbed.command(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90",
        "-subj", "/CN=herald", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", files[1], "-out", files[0])
    testbed.gateway.stop()
    testbed.write_config(
        listen=f"  - {{name: tls, address: '{HOST}:{run.ports.gateway}', transport: tls, "
               f"certificate: {files[0]}, key: {files[1]}}}\n")
    testbed.start_gateway()
    pbx = TakingPBX(run.ports.pbx)
    ladder, lines = None, None
    try:
        ladder = Trace(testbed, folder, "ladder", "--trunk", "carrier")
        lines = Trace(testbed, folder, "lines", "--json")
        # The commands begin while the first call may already pass.
        for attempt in range(10):
            TLSCarrier(run.ports.gateway, number, f"over-tls-{attempt}").call()
            if sum(event.get("summary") == "BYE" for event in lines.events()) >= 2:
                break
        wait_until(lambda: "outcome: ANSWERED" in ladder.text(), 60, "the ladder has no outcome:\n" + ladder.text())
        text = ladder.text()
        for part in ("INVITE", "200 OK", "BYE", "decision: matched"):
            if part not in text:
                raise Failed(f"the ladder has no '{part}':\n{text}")
        if number[3:-3] in text:
            raise Failed("the number is not masked")
        wait_until(lambda: sum(event.get("summary") == "BYE" for event in lines.events()) >= 2, 60, "the trace has no BYE")
        sides = {(event["transport"], event["summary"]) for event in lines.events() if event["event"] == "message"}
        for wanted in (("tls", "INVITE"), ("udp", "INVITE"), ("tls", "BYE"), ("udp", "BYE")):
            if wanted not in sides:
                raise Failed(f"the trace has no {wanted}: {sides}")
        if not any(event.get("message", "").startswith("INVITE sip:100@") and "SIP/2.0/TLS" in event["message"]
                   for event in lines.events()):
            raise Failed("the INVITE over TLS is not decrypted:\n" + lines.text())
    finally:
        for trace in (ladder, lines):
            if trace:
                trace.stop()
        pbx.stop()
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()


def stopped_gateway(testbed, folder, run):
    """A trace ends with its gateway and says so; a second file of the same name is refused."""
    lines = Trace(testbed, folder, "ladder", "--probes", "--pcap", os.path.join(folder, "x.pcap"))
    try:
        wait_until(lambda: os.path.exists(os.path.join(folder, "x.pcap")), 60, "no file")
        done = subprocess.run(
            [testbed.herald_binary, "trace", "--config", testbed.config, "--pcap", os.path.join(folder, "x.pcap")],
            capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 1 or "exists; name another file" not in done.stderr:
            raise Failed(f"the existing file: {done.returncode} {done.stderr}")

        def has_options():
            # The command may not have been connected before.
            run.place(step("options/carrier.xml"), brand(9003), os.path.join(folder, "options"))
            return "OPTIONS" in lines.text()

        wait_until(has_options, 60, "the trace has no OPTIONS:\n" + lines.text())
        testbed.gateway.stop()
        if lines.process.wait(60) != 0 or "trace ended: the gateway stops" not in lines.text():
            raise Failed(f"the trace ended with {lines.process.returncode}:\n{lines.text()}")
    finally:
        lines.stop()
        testbed.gateway.stop()
        testbed.start_gateway()


TRACES = (
    ("herald trace of a call", traced_call),
    ("trace and HEP of a withheld number", withheld_call),
    ("herald trace of a call over TLS", call_by_tls),
    ("trace ends with the gateway", stopped_gateway),
)
