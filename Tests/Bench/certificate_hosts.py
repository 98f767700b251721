# SPDX-License-Identifier: Apache-2.0
"""Certificate hosts of signed calls: one that responds at once, one that is slow, one that is dead."""
import fcntl
import http.server
import multiprocessing
import os
import select
import struct
import subprocess
import threading
import time

PORT = 8000
# Documentation addresses (RFC 5737): no program takes them for its own machine.
RESPONDING, SWALLOWING, DEAD = "198.51.100.10", "203.0.113.1/24", "203.0.113.10"
SLOW_SECONDS = 1.5
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
INTERFACE = "swallow"


class Server(http.server.ThreadingHTTPServer):
    # Fifty connections at once wait for their thread.
    request_queue_size = 128

    def handle_error(self, *_):
        """A program that no longer waits for a slow response is no error of the host."""


class RespondingHost:
    """Serves one chain at every path, at once or after `SLOW_SECONDS`, in a process of its own."""

    def __init__(self, chain):
        """`chain`: the certificates as text."""
        subprocess.run(["ip", "addr", "replace", f"{RESPONDING}/32", "dev", "lo"], check=True)
        self.asked = multiprocessing.Value("i", 0)
        self.process = multiprocessing.get_context("fork").Process(target=self.serve, args=(chain.encode(),), daemon=True)
        self.process.start()

    def serve(self, body):
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with asked.get_lock():
                    asked.value += 1
                if self.path.startswith("/slow/"):
                    time.sleep(SLOW_SECONDS)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        Server((RESPONDING, PORT), Handler).serve_forever()

    def requests(self):
        """Requests since the start."""
        return self.asked.value

    def stop(self):
        self.process.terminate()
        self.process.join()


class DeadHost:
    """A route to a network whose packets are read and dropped, so that no SYN is ever answered."""

    def __init__(self):
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", INTERFACE.encode(), IFF_TUN | IFF_NO_PI))
        subprocess.run(["ip", "link", "set", INTERFACE, "up"], check=True)
        subprocess.run(["ip", "addr", "add", SWALLOWING, "dev", INTERFACE], check=True)
        self.connections, self.over = set(), False
        self.reader = threading.Thread(target=self.swallow, daemon=True)
        self.reader.start()

    def swallow(self):
        while not self.over:
            if not select.select([self.tun], [], [], 0.2)[0]:
                continue
            packet = os.read(self.tun, 65536)
            if started := connection(packet):
                self.connections.add(started)

    def requests(self):
        """TCP connections that were tried since the start; a repeated SYN counts once."""
        return len(self.connections)

    def stop(self):
        self.over = True
        self.reader.join()
        os.close(self.tun)


def connection(packet):
    """(source port, sequence number) of an IPv4 packet that begins a TCP connection; None for another packet."""
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != 6:
        return None
    start = (packet[0] & 15) * 4
    port, _, sequence, _, _, flags = struct.unpack_from("!HHIIBB", packet, start)
    return (port, sequence) if flags & 0x12 == 0x02 else None
