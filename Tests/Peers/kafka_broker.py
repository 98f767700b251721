# SPDX-License-Identifier: Apache-2.0
"""A broker of Kafka's protocol with TLS, SCRAM-SHA-512 and one topic, written after the protocol guide and without librdkafka.

It keeps keys and values, checks the CRC-32C of each batch, and drops batches that an idempotent producer repeats.
"""
import base64
import gzip
import hashlib
import hmac
import os
import socketserver
import ssl
import struct
import threading

TOPIC_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION, AUTHENTICATION_FAILED, TOO_LARGE = 29, 35, 58, 10
# (key, lowest, highest version) without the flexible ones.
PRODUCE, FETCH, METADATA, HANDSHAKE, VERSIONS, PRODUCER_ID, AUTHENTICATE = 0, 1, 3, 17, 18, 22, 36
SUPPORTED = ((PRODUCE, 0, 7), (FETCH, 0, 4), (METADATA, 0, 4), (HANDSHAKE, 0, 1), (VERSIONS, 0, 0), (PRODUCER_ID, 0, 1),
             (AUTHENTICATE, 0, 0))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _crc_row(number):
    for _ in range(8):
        number = (number >> 1) ^ (0x82F63B78 if number & 1 else 0)
    return number


CRC_TABLE = [_crc_row(number) for number in range(256)]


class Reader:
    """Values of a request, in order."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        self.place += count
        return self.data[self.place - count:self.place]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]

    def text(self):
        count = self.number("h")
        return None if count < 0 else self.take(count).decode()

    def octets(self):
        count = self.number("i")
        return b"" if count < 0 else self.take(count)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def varoctets(self):
        count = self.varint()
        return None if count < 0 else self.take(count)


def text(value):
    data = value.encode()
    return struct.pack(">h", len(data)) + data


class Broker(socketserver.ThreadingTCPServer):
    """Serves from its creation until `close`; `records` has (key, value) of every stored record."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address, topic, tls, user, password, partitions=3, after=None):
        """`tls`: the files of certificate and key; clients need a certificate of the same issuer. `after`: the broker before its
        restart, whose log this one has."""
        self.topic, self.user, self.password, self.partitions = topic, user, password, partitions
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*tls)
        self.context.load_verify_locations(tls[0])
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.wrong, self.logins, self.refusal, self.too_large = 0, 0, 0, None
        self.records, self.sequences, self.producers = (
            (after.records, after.sequences, after.producers) if after else ([], {}, 0))
        self.lock, self.open = threading.Lock(), set()
        super().__init__(address, Connection)
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def close(self):
        """Closes the port and all connections, as a killed broker does."""
        self.shutdown()
        self.server_close()
        self.disconnect()

    def disconnect(self):
        for connection in list(self.open):
            try:
                connection.shutdown(2)
            except OSError:
                pass

    def store(self, partition, batch):
        """Stores a batch of records (message format 2); the error code."""
        reader = Reader(batch)
        reader.take(8 + 4 + 4)
        magic, crc = reader.number("b"), reader.number("I")
        if magic != 2 or crc != crc32c(batch[reader.place:]):
            with self.lock:
                self.wrong += 1
            return 2
        attributes = reader.number("h")
        reader.take(4 + 8 + 8)
        producer, epoch, sequence, count = (reader.number(form) for form in "qhii")
        body = batch[reader.place:]
        body = Reader(gzip.decompress(body) if attributes & 7 == 1 else body)
        found = []
        for _ in range(count):
            body.varint()
            body.take(1)
            body.varint()
            body.varint()
            found.append((body.varoctets().decode(), body.varoctets().decode()))
            body.varint()
        if self.too_large and any(self.too_large(value) for _, value in found):
            return TOO_LARGE
        with self.lock:
            expected = self.sequences.get((producer, epoch, partition), 0)
            if sequence == expected:
                self.records += found
                self.sequences[producer, epoch, partition] = sequence + count
        return 0 if sequence <= expected else 45


class Connection(socketserver.BaseRequestHandler):
    """One client: the handshake of TLS and SCRAM, then requests."""

    def handle(self):
        broker = self.server
        try:
            self.request.settimeout(60)
            self.request = broker.context.wrap_socket(self.request, server_side=True)
            broker.open.add(self.request)
            self.user, self.first, self.sent = None, None, None
            while True:
                data = self.read(struct.unpack(">i", self.read(4))[0])
                answer = self.respond(Reader(data))
                self.request.sendall(struct.pack(">i", len(answer)) + answer)
        except (OSError, EOFError):
            pass
        finally:
            broker.open.discard(self.request)
            self.request.close()

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.request.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def respond(self, reader):
        key, version, number = reader.number("h"), reader.number("h"), reader.number("i")
        reader.text()
        head = struct.pack(">i", number)
        if key == VERSIONS:
            error = UNSUPPORTED_VERSION if version > 0 else 0
            rows = b"".join(struct.pack(">hhh", *row) for row in SUPPORTED)
            return head + struct.pack(">hi", error, len(SUPPORTED)) + rows
        if key == HANDSHAKE:
            return head + struct.pack(">hi", 0 if reader.text() == "SCRAM-SHA-512" else 33, 1) + text("SCRAM-SHA-512")
        if key == AUTHENTICATE:
            error, message, data = self.scram(reader.octets().decode())
            return head + struct.pack(">h", error) + text(message) + struct.pack(">i", len(data)) + data
        if self.user is None:
            raise EOFError
        self.version = version
        return head + {PRODUCE: self.produce, METADATA: self.metadata, PRODUCER_ID: self.producer_id}[key](reader)

    def scram(self, message):
        """RFC 5802 without channel binding."""
        broker = self.server
        fields = dict(part.split("=", 1) for part in message.split(",") if "=" in part)
        if self.first is None:
            self.first = message.removeprefix("n,,")
            salt = base64.b64encode(os.urandom(16)).decode()
            self.sent = f"r={fields['r']}{os.urandom(9).hex()},s={salt},i=4096"
            return 0, "", self.sent.encode()
        sent = dict(part.split("=", 1) for part in self.sent.split(","))
        salted = hashlib.pbkdf2_hmac("sha512", broker.password.encode(), base64.b64decode(sent["s"]), 4096)
        client = hmac.digest(salted, b"Client Key", "sha512")
        signed = ",".join((self.first, self.sent, message.rsplit(",p=", 1)[0])).encode()
        signature = hmac.digest(hashlib.sha512(client).digest(), signed, "sha512")
        proof = bytes(one ^ two for one, two in zip(client, signature))
        user = dict(part.split("=", 1) for part in self.first.split(","))["n"]
        if user != broker.user or not hmac.compare_digest(proof, base64.b64decode(fields["p"])):
            return AUTHENTICATION_FAILED, "Authentication failed during authentication due to invalid credentials", b""
        self.user = user
        broker.logins += 1
        server = hmac.digest(hmac.digest(salted, b"Server Key", "sha512"), signed, "sha512")
        return 0, "", b"v=" + base64.b64encode(server)

    def metadata(self, reader):
        broker = self.server
        host, port = broker.server_address
        count = reader.number("i")
        wanted = [broker.topic] if count < 0 else [reader.text() for _ in range(count)]
        answer = struct.pack(">iii", 0, 1, 1) + text(host) + struct.pack(">ih", port, -1) + text("test")
        answer += struct.pack(">ii", 1, len(wanted))
        for topic in wanted:
            partitions = broker.partitions if topic == broker.topic else 0
            answer += struct.pack(">h", 0 if partitions else 3) + text(topic) + struct.pack(">bi", 0, partitions)
            answer += b"".join(struct.pack(">hiiiiii", 0, number, 1, 1, 1, 1, 1) for number in range(partitions))
        return answer

    def producer_id(self, _):
        broker = self.server
        with broker.lock:
            broker.producers += 1
            return struct.pack(">ihqh", 0, 0, broker.producers, 0)

    def produce(self, reader):
        broker = self.server
        reader.text()
        reader.take(2 + 4)
        answer = struct.pack(">i", reader.number("i"))
        for _ in range(struct.unpack(">i", answer)[0]):
            topic, count = reader.text(), reader.number("i")
            answer += text(topic) + struct.pack(">i", count)
            for _ in range(count):
                partition, batch = reader.number("i"), reader.octets()
                error = broker.refusal or broker.store(partition, batch)
                answer += struct.pack(">ihqq", partition, error, 0, -1)
                answer += struct.pack(">q", 0) if self.version >= 5 else b""
        return answer + struct.pack(">i", 0)
