# SPDX-License-Identifier: Apache-2.0
"""The directory under load: prepared once, its cost read from the kernel's own counters, its answers read as clients do."""
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import zlib

from directory import ADDRESS, Directory, Failed

HOST, PORT = ADDRESS.split(":")
BRANDS = 50_000
GATEWAYS = 200


def rows(count):
    for position in range(count):
        brand = position % BRANDS
        yield (f"+44{7_000_000_000 + position:010}", f"Company {brand}", f"https://logos.example/{brand}/icon-256.png",
               f"Reason {brand}")


class MeasuredDirectory(Directory):
    """A directory with so many numbers and a key for each gateway."""

    def __init__(self, bench, numbers):
        super().__init__(os.path.join(bench, "run"))
        self.template = os.path.join(bench, f"template-{numbers}")
        self.keys = os.path.join(self.template, "keys")
        self.numbers = numbers

    def prepare(self):
        """A fresh copy of the prepared database, which is made when it is not there yet."""
        if not os.path.exists(self.keys):
            self.make_template()
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(os.path.join(self.template, "directory"), self.state)
        with open(self.keys, encoding="ascii") as file:
            self.first_key = file.readline().strip()

    def make_template(self):
        shutil.rmtree(self.template, ignore_errors=True)
        maker = Directory(self.template)
        maker.put(rows(self.numbers))
        keys = [maker.command("key", "create", f"gateway-{n}").strip() for n in range(GATEWAYS)]
        with open(self.keys, "w", encoding="ascii") as file:
            file.write("\n".join(keys) + "\n")

    def process(self, name):
        with open(f"/proc/{self.child.pid}/{name}", encoding="ascii") as file:
            return file.read()

    def cpu_seconds(self):
        fields = self.process("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def written_bytes(self):
        return int(re.search(r"^write_bytes: (\d+)", self.process("io"), re.MULTILINE).group(1))

    def highest_megabytes(self):
        return int(re.search(r"VmHWM:\s+(\d+)", self.process("status")).group(1)) / 1024

    def forget_highest(self):
        with open(f"/proc/{self.child.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")


class Cost:
    """What the server used between two moments."""

    def __init__(self, directory):
        self.directory = directory
        directory.forget_highest()
        self.began = time.monotonic(), directory.cpu_seconds(), directory.written_bytes()

    def end(self):
        seconds, cpu, written = (
            now - then for now, then in zip(
                (time.monotonic(), self.directory.cpu_seconds(), self.directory.written_bytes()), self.began))
        return {"seconds": round(seconds, 2), "server_cpu_s": round(cpu, 2), "written_mb": round(written / 1e6, 1),
                "peak_rss_mb": round(self.directory.highest_megabytes(), 1)}


class Load:
    """A run of the sender in the background."""

    def __init__(self, *words):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([os.environ["SENDER"], *map(str, words)], stdout=subprocess.PIPE)
        self.cpu = 0.0

    @classmethod
    def events(cls, directory, seconds, rate, batch, prefix):
        return cls("events", HOST, PORT, directory.keys, seconds, 64, rate, batch, 20, prefix)

    @classmethod
    def polls(cls, directory, seconds, interval, cursor):
        return cls("polls", HOST, PORT, directory.keys, seconds, GATEWAYS, interval, cursor)

    def result(self):
        with self.process.stdout as output:
            text = output.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = status
        if status:
            raise Failed(f"the sender ended with {status}")
        return {**json.loads(text), "sender_cpu_s": round(usage.ru_utime + usage.ru_stime, 2)}


class FullSync(threading.Thread):
    """Reads one full answer to its end, as fast as it comes."""

    def __init__(self, key, gzip):
        super().__init__(daemon=True)
        self.key, self.gzip = key, gzip
        self.first = self.seconds = self.trouble = None
        self.bytes = self.records = 0
        self.cursor = None

    def run(self):
        try:
            self.read()
        except OSError as trouble:
            self.trouble = str(trouble)

    def read(self):
        began = time.monotonic()
        with socket.create_connection((HOST, int(PORT)), timeout=600) as stream:
            stream.sendall(
                f"GET /mobile/branding/sync HTTP/1.1\r\nHost: {ADDRESS}\r\nX-API-Key: {self.key}\r\n"
                f"X-Client-Type: herald\r\nAccept-Encoding: {'gzip' if self.gzip else 'identity'}\r\n"
                "Connection: close\r\n\r\n".encode())
            buffer, counter = bytearray(1 << 18), Records(self.gzip)
            while size := stream.recv_into(buffer):
                self.first = self.first or time.monotonic() - began
                self.bytes += size
                counter.take(bytes(buffer[:size]))
        self.seconds = time.monotonic() - began
        self.records, self.cursor = counter.count, counter.cursor


class Records:
    """Counts the records of an answer while it comes, without keeping it."""
    mark = b'"phone_number_e164"'

    def __init__(self, gzip):
        self.inflate = zlib.decompressobj(31) if gzip else None
        self.head, self.chunk, self.rest = b"", b"", b""
        self.is_head, self.left, self.count, self.cursor = True, 0, 0, None

    def take(self, data):
        if self.is_head:
            self.head += data
            head, blank, data = self.head.partition(b"\r\n\r\n")
            if not blank:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                raise OSError(f"the sync was answered {head[:60]!r}")
            self.is_head = False
        self.chunk += data
        while self.chunk:
            if self.left == 0:
                size, end, more = self.chunk.lstrip(b"\r\n").partition(b"\r\n")
                if not end:
                    return
                self.left, self.chunk = int(size, 16), more
                if self.left == 0:
                    return
            piece, self.chunk = self.chunk[:self.left], self.chunk[self.left:]
            self.left -= len(piece)
            self.text(self.inflate.decompress(piece) if self.inflate else piece)

    def text(self, text):
        text = self.rest + text
        if self.cursor is None and (found := re.search(rb'"synced_at":"([^"]+)"', text)):
            self.cursor = found.group(1).decode()
        self.count += text.count(self.mark)
        # A mark cut in two is counted with the next piece, and none twice.
        self.rest = text[-len(self.mark) + 1:]
