# SPDX-License-Identifier: Apache-2.0
"""herald doctor against real servers, and certificates that are renewed while the programs run.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading

from heraldtest.addresses import HOST
from heraldtest.child import Child, Failed, wait_until

# The types of records (RFC 1035 §3.2.2, RFC 2782).
A, SRV = 1, 33


class Authority:
    """An authority of a test with its certificates, by openssl."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.root, self.key = self.path("root.pem"), self.path("root.key")
        self.openssl("req", "-x509", *EC, "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.root)

    def path(self, file):
        return os.path.join(self.folder, f"{self.name}-{file}".replace(" ", "-"))

    @staticmethod
    def openssl(*arguments):
        subprocess.run(("openssl", *arguments), check=True, capture_output=True)

    def certificate(self, host, days=2):
        """(certificate, key) for a host name; `days` below 0 for one that has expired."""
        certificate, key, request, names = (self.path(f"{host}{days}.{end}") for end in ("pem", "key", "csr", "ext"))
        with open(names, "w", encoding="ascii") as file:
            file.write(f"subjectAltName=DNS:{host}\n")
        self.openssl("req", *EC, "-subj", f"/CN={host}", "-keyout", key, "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.root, "-CAkey", self.key, "-CAcreateserial",
                     "-days", str(days), "-extfile", names, "-out", certificate)
        return certificate, key


EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Directory(http.server.BaseHTTPRequestHandler):
    """A directory with a remote configuration for whoever gets through TLS."""

    def do_GET(self):  # pylint: disable=invalid-name
        body = b'{"success":true}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
        pass


class Server:
    """A directory on a free port, with the files of a certificate, or without TLS."""

    def __init__(self, files=None):
        self.http = http.server.ThreadingHTTPServer((HOST, 0), Directory)
        if files:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*files)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        # A refused handshake is what these servers are for.
        self.http.handle_error = lambda request, client: None
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def url(self, scheme="https"):
        return f"{scheme}://localhost:{self.http.server_port}"

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def doctor(testbed, folder, **changes):
    """The lines of herald doctor for a configuration of its own, by area."""
    usual = testbed.config
    testbed.config = os.path.join(folder, "doctor.yaml")
    try:
        testbed.write_config(**changes)
        with open(testbed.config, encoding="utf-8") as file:
            text = file.read()
        if "url" in changes.get("directory", ""):
            text = text.replace(f"  url: http://{HOST}:{testbed.ports.directory}\n", "")
            with open(testbed.config, "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run(
            [testbed.herald_binary, "doctor", "--config", testbed.config], capture_output=True, text=True, timeout=120,
            check=False)
    finally:
        testbed.config = usual
    return done.stdout + done.stderr


def expect(output, *lines):
    """Each is (level, area, words): a line of that level and area has the words."""
    for level, area, words in lines:
        if not any(line.startswith(f"{level:8}{area:14}") and words in line for line in output.split("\n")):
            raise Failed(f"herald doctor has no line '{level} {area} … {words}':\n{output}")


def wrong_certificates(testbed, folder, run):
    """The doctor names what is wrong with a directory's certificate, and what to do about it."""
    os.makedirs(folder, exist_ok=True)
    ours, other = Authority(folder, "Our authority"), Authority(folder, "Another authority")
    rows = (
        ("good", ours.certificate("localhost"), "https", ("ok", "responds and accepts the key")),
        ("expired", ours.certificate("localhost", days=-1), "https",
         ("error", "expired on ", "the directory's operator must renew it")),
        ("wrong name", ours.certificate("elsewhere.example"), "https",
         ("error", "its certificate for elsewhere.example is not for localhost: write one of its names in directory.url")),
        ("unknown issuer", other.certificate("localhost"), "https",
         ("error", "is issued by CN=Another authority, and no trusted root vouches for that", "directory.tls.roots")),
        ("plain HTTP at https", None, "https", ("error", "the server does not speak TLS; see directory.url")),
        ("TLS at http", ours.certificate("localhost"), "http", ("error", "not available")),
    )
    for name, files, scheme, (level, *words) in rows:
        server = Server(files)
        try:
            output = doctor(
                testbed, folder, directory=f"  url: {server.url(scheme)}\n  tls: {{roots: {ours.root}}}\n")
        finally:
            server.close()
        for part in words:
            try:
                expect(output, (level, "directory", part))
            except Failed as trouble:
                raise Failed(f"{name}: {trouble}") from None


def with_tokens(testbed, folder, run):
    """With directory.bearer the doctor tries the gateway's own session, and neither signs in nor renews a token."""
    os.makedirs(folder, exist_ok=True)
    bearer = "  bearer: true\n"
    tokens = os.path.join(testbed.gateway_state, "directory-tokens")
    expect(doctor(testbed, folder, directory=bearer), ("ok", "directory", "responds and accepts the key"))
    if os.path.exists(tokens):
        raise Failed("the doctor has signed in")
    testbed.gateway.stop()
    testbed.write_config(directory=bearer)
    testbed.start_gateway()
    try:
        wait_until(lambda: os.path.exists(tokens), 60, "the gateway does not sign in")
        with open(tokens, "rb") as file:
            before = file.read()
        expect(doctor(testbed, folder, directory=bearer), ("ok", "directory", "accepts the gateway's session"))
        with open(tokens, "rb") as file:
            if file.read() != before:
                raise Failed("the doctor has changed the tokens")
        # The gateway renews a token that the directory does not take; the doctor leaves it alone.
        stored = json.loads(before)
        stored["access"] = "hdt_unknown"
        with open(tokens, "w", encoding="ascii") as file:
            json.dump(stored, file)
        expect(doctor(testbed, folder, directory=bearer),
               ("ok", "directory", "the access token has expired, and the gateway renews it with its next request"))
        with open(tokens, encoding="ascii") as file:
            if json.load(file) != stored:
                raise Failed("the doctor has changed the tokens")
        with open(tokens, "wb") as file:
            file.write(before)
    finally:
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()
        if os.path.exists(tokens):
            os.remove(tokens)


class NameServer:
    """A name server on loopback with the records of a zone; a name without records does not exist."""

    def __init__(self, zone):
        self.zone = zone
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                query, client = self.socket.recvfrom(4096)
            except OSError:
                return
            self.socket.sendto(self.response(query), client)

    def response(self, query):
        labels, position = [], 12
        while query[position]:
            labels.append(query[position + 1:position + 1 + query[position]].decode("ascii"))
            position += 1 + query[position]
        name, end = ".".join(labels).lower(), position + 5
        kind = struct.unpack(">H", query[position + 1:position + 3])[0]
        records = [self.record(data, kind) for found, data in self.zone.get(name, []) if found == kind]
        code = 0 if name in self.zone else 3
        return query[:2] + struct.pack(">BBHHHH", 0x84, code, 1, len(records), 0, 0) + query[12:end] + b"".join(records)

    @staticmethod
    def record(data, kind):
        return struct.pack(">HHHIH", 0xC00C, kind, 1, 60, len(data)) + data

    @staticmethod
    def service(priority, weight, port, target):
        labels = b"".join(struct.pack("B", len(label)) + label.encode("ascii") for label in target.split(".") if label)
        return SRV, struct.pack(">HHH", priority, weight, port) + labels + b"\0"

    def close(self):
        self.socket.close()


def service_names(testbed, folder, run):
    """The doctor follows SRV records, sends OPTIONS to what they name, and reports names that lead nowhere."""
    os.makedirs(folder, exist_ok=True)
    phone = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    phone.bind((HOST, 0))
    port = phone.getsockname()[1]

    def respond():
        while True:
            try:
                request, client = phone.recvfrom(65535)
            except OSError:
                return
            head = [line for line in request.decode().split("\r\n") if line.split(":")[0] in (
                "Via", "From", "To", "Call-ID", "CSeq")]
            phone.sendto("\r\n".join(["SIP/2.0 200 OK", *head, "Content-Length: 0", "", ""]).encode(), client)

    threading.Thread(target=respond, daemon=True).start()
    server = NameServer({
        "_sip._udp.pbx.example": [NameServer.service(1, 1, port, "a.pbx.example")],
        "a.pbx.example": [(A, socket.inet_aton(HOST))],
        "_sip._udp.closed.example": [NameServer.service(0, 0, 0, ".")],
        "_sip._udp.empty.example": [NameServer.service(1, 1, 5060, "gone.example")],
    })

    def of(host):
        return doctor(
            testbed, folder, pbx=f"    address: {host}\n    probe: false\n",
            more=f"dns: {{servers: ['{HOST}:{server.port}']}}\n")
    try:
        expect(of("pbx.example"), ("ok", "names", f"pbx.example over UDP is {HOST}:{port}"),
               ("ok", "options", f"pbx office at {HOST}:{port} responds to OPTIONS with 200 OK"))
        expect(of("closed.example"), ("error", "names", "closed.example over UDP declines SIP in its SRV records"))
        expect(of("empty.example"), ("error", "names", "the name does not exist; check its spelling and its zone"))
        expect(of("nowhere.example"), ("error", "names", "the name does not exist; check its spelling and its zone"))
    finally:
        server.close()
        phone.close()


def renewed_certificates(testbed, folder, run):
    """A renewed certificate of admin.tls is served after a reload, by the gateway and by the directory."""
    os.makedirs(folder, exist_ok=True)
    first, second = Authority(folder, "First"), Authority(folder, "Second")
    files = [os.path.join(folder, name) for name in ("admin.pem", "admin.key")]

    def install(authority):
        for source, target in zip(authority.certificate("localhost"), files):
            shutil.copy(source, target)

    def served(port):
        with open(files[0], encoding="ascii") as file:
            return ssl.get_server_certificate((HOST, port)) == file.read()

    tls = f"tls: {{certificate: {files[0]}, key: {files[1]}}}"
    token = os.path.join(folder, "token")
    with open(token, "w", encoding="ascii") as file:
        file.write("0123456789abcdef0123456789abcdef")
    os.chmod(token, 0o600)
    install(first)
    # The admin port of the testbed speaks HTTP, so this gateway has no directory and a folder of its own.
    gateway = os.path.join(folder, "gateway.yaml")
    port, other = free_port(), free_port()
    with open(gateway, "w", encoding="utf-8") as file:
        file.write(
            f"gateway: {{state: {folder}/state, runtime: {folder}/state}}\n"
            f"listen: [{{name: sip, address: '127.0.0.9:5060'}}]\n"
            "trunks: [{name: carrier, sources: [127.0.0.10], next_hop: '127.0.0.10:5060', region: AU}]\n"
            "pbx: [{name: office, address: '127.0.0.11:5060', probe: false}]\n"
            f"admin: {{listen: '{HOST}:{port}', token_file: {token}, {tls}}}\n")
    directory = os.path.join(folder, "directory.yaml")
    text = (f"listen: {HOST}:{free_port()}\nstate: {folder}/directory\n"
            f"admin: {{listen: '{HOST}:{other}', {tls}}}\n")
    with open(directory, "w", encoding="utf-8") as file:
        file.write(text)
    children = [Child("renewing-gateway", [testbed.herald_binary, "run", "--config", gateway], folder),
                Child("renewing-directory", [testbed.directory_binary, "run", "--config", directory], folder)]
    try:
        for child, own in zip(children, (port, other)):
            wait_until(lambda own=own: listens(own), 60, f"{child.name} does not listen:\n{child.tail()}")
            if not served(own):
                raise Failed(f"{child.name} has another certificate than its file")
        install(second)
        testbed.command(testbed.herald_binary, "reload", "--config", gateway)
        testbed.command(testbed.directory_binary, "check-config", "--config", directory)
        with open(directory, "w", encoding="utf-8") as file:
            file.write(text + "log: {level: warning}\nconnections: 100\n")
        children[1].process.send_signal(signal.SIGHUP)
        for child, own in zip(children, (port, other)):
            wait_until(lambda own=own: served(own), 60, f"{child.name} serves the old certificate:\n{child.tail()}")
        wait_until(lambda: "some changes need a restart keys=connections" in children[1].tail(), 60,
                   "the directory does not name what waits:\n" + children[1].tail())
        # A file that cannot be used changes nothing.
        with open(files[0], "w", encoding="ascii") as file:
            file.write("no certificate")
        done = subprocess.run(
            [testbed.herald_binary, "reload", "--config", gateway], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 1 or "admin.tls" not in done.stderr:
            raise Failed(f"herald reload of a bad certificate: {done.returncode}\n{done.stdout}{done.stderr}")
        done = subprocess.run(
            [testbed.directory_binary, "check-config", "--config", directory], capture_output=True, text=True, timeout=60,
            check=False)
        if done.returncode != 1 or "admin.tls.certificate: " not in done.stderr:
            raise Failed(f"check-config of a bad certificate: {done.returncode}\n{done.stdout}{done.stderr}")
        children[1].process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the old one stays in force" in children[1].tail(), 60, "the directory does not refuse the file")
        if not all(child.is_running() and listens(own) for child, own in zip(children, (port, other))):
            raise Failed("a refused certificate has ended a program")
    finally:
        for child in children:
            child.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def listens(port):
    try:
        socket.create_connection((HOST, port), 5).close()
        return True
    except OSError:
        return False


DOCTOR = (
    ("herald doctor and wrong certificates", wrong_certificates),
    ("herald doctor and tokens", with_tokens),
    ("herald doctor and SRV records", service_names),
    ("renewed certificates of admin.tls", renewed_certificates),
)
