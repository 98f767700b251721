# SPDX-License-Identifier: Apache-2.0
"""Full sync responses of the directory, read as fast as they come and not kept."""
import re
import socket
import threading
import time
import zlib

from heraldtest.directory import ADDRESS
from .meanwhile import Meanwhile

HOST, PORT = ADDRESS.split(":")


class FullSync(threading.Thread):
    """Reads one full sync response to its end, as fast as it comes."""

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
    """Counts the records of a response while it comes, without keeping it."""
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
                raise OSError(f"the sync got the response {head[:60]!r}")
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
        # A mark that is cut in two is counted with the next piece; no mark is counted twice.
        self.rest = text[-len(self.mark) + 1:]


class FullSyncs(Meanwhile):
    """Reads full sync responses one after the other until the end of its `with`."""

    def __init__(self, directory):
        super().__init__(patience=600)
        self.directory, self.done = directory, []

    def run(self):
        while not self.over.is_set():
            sync = FullSync(self.directory.first_key, gzip=len(self.done) % 2 == 1)
            sync.run()
            self.done.append(sync)
