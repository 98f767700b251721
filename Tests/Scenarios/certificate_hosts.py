# SPDX-License-Identifier: Apache-2.0
"""Certificate hosts that fail, and a kill in the middle of a fetch, through a gateway with fetch: on.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import http.server
import threading
import time

from heraldtest.child import Failed, wait_until
from .signed import field, known_signers, latest, prepared, usual
from .situations import SEEN, brand

OPEN = "fetch: on\nx5u_ports: [any]\nx5u_http: true\nx5u_private: true\n"
# The hosts: how each responds, the label of its fetch, and a part of the reason in `herald trust show`.
FAULTS = (
    ("refuses", "network", "the connection failed"),
    ("silent", "timeout", "no complete response within"),
    ("slow", "timeout", "no complete response within"),
    ("500", "status", "the server returned 500"),
    ("redirect", "redirect", "it redirects (302), which is not followed"),
    ("page", "not_pem", "something else than certificates in PEM"),
    ("huge", "too_large", "it is larger than 65536 bytes"),
)


class Host:
    """A certificate host at a loopback address of its own, which responds in one way until `way` changes."""

    def __init__(self, address, way, chain=b""):
        self.way, self.requests, self.ended = way, 0, threading.Event()
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                host.requests += 1
                try:
                    getattr(self, "respond_" + host.way)()
                except OSError:
                    # The gateway has closed the connection.
                    self.close_connection = True

            def begin(self, status, size, *fields):
                self.send_response(status)
                for name, value in (("Content-Length", str(size)), *fields):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.flush()

            def respond_good(self):
                self.begin(200, len(chain))
                self.wfile.write(chain)

            def respond_half(self):
                self.begin(200, len(chain))
                self.wfile.write(chain[:len(chain) // 2])
                self.wfile.flush()
                host.ended.wait(60)

            def respond_silent(self):
                host.ended.wait(60)

            def respond_slow(self):
                self.begin(200, 1000)
                while not host.ended.wait(0.2):
                    self.wfile.write(b".")
                    self.wfile.flush()

            def respond_500(self):
                self.begin(500, 0)

            def respond_redirect(self):
                self.begin(302, 0, ("Location", "http://127.0.0.1:22/"))

            def respond_page(self):
                self.begin(200, 13)
                self.wfile.write(b"<html></html>")

            def respond_huge(self):
                self.begin(200, 10_000_000)
                for _ in range(1000):
                    self.wfile.write(b"-" * 10_000)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://{address}:{self.server.server_port}/shaken.pem"
        if way == "refuses":
            self.server.server_close()
        else:
            threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.ended.set()
        if self.way != "refuses":
            self.server.shutdown()
            self.server.server_close()


def listed(testbed):
    return testbed.command(testbed.herald_binary, "trust", "list", "--wide", "--config", testbed.config)


def shown(testbed, address):
    return testbed.command(testbed.herald_binary, "trust", "show", address, "--config", testbed.config)


def fetched(testbed, result):
    return testbed.metric(f'herald_trust_fetches_total{{result="{result}"}}') or 0


def faulty_hosts(testbed, folder, run):
    """Seven hosts fail at once: each call goes on in its usual time, each reason is shown, and a good host comes through."""
    number = brand(1063)
    carrier = prepared(testbed, folder, run, "decide", OPEN)
    chain = (carrier.laboratory.read("leaf.pem") + carrier.laboratory.read("intermediate.pem")).encode()
    hosts = [Host(f"127.0.0.{60 + place}", way) for place, (way, _, _) in enumerate(FAULTS)]
    good = Host("127.0.0.80", "good", chain)
    carrier.address = hosts[0].address
    try:
        carrier.call(number, is_branded=False)
        began = time.monotonic()
        carrier.call(number, is_branded=False)
        usual_seconds = time.monotonic() - began
        for host in hosts:
            carrier.address, began = host.address, time.monotonic()
            carrier.call(number, is_branded=False)
            # A fetch has five seconds: a call that waited for one would take as long.
            if time.monotonic() - began > usual_seconds + 3:
                raise Failed(f"the call of {host.way} took {time.monotonic() - began:.1f} s, usually {usual_seconds:.1f}")
        results = [result for _, result, _ in FAULTS]
        wait_until(lambda: all(fetched(testbed, result) == results.count(result) for result in results), 60,
                   "the fetches have not ended as expected")
        for host, (_, _, reason) in zip(hosts, FAULTS):
            # A result is counted before it is stored.
            wait_until(lambda: reason in shown(testbed, host.address), 10, f"herald trust show has no '{reason}'")
        carrier.address = good.address
        carrier.call(number, is_branded=False)
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        wait_until(lambda: field(latest(testbed, number), "signature") == "passed", 60, "no call passed")
        run.expect_events(testbed, number, SEEN)
    finally:
        for host in (*hosts, good):
            host.stop()
        usual(testbed, good.address)


def killed_fetch(testbed, folder, run):
    """A kill in the middle of a certificate leaves no signer; the next call has it fetched."""
    number = brand(1064)
    carrier = prepared(testbed, folder, run, "decide", OPEN)
    chain = (carrier.laboratory.read("leaf.pem") + carrier.laboratory.read("intermediate.pem")).encode()
    host = Host("127.0.0.80", "half", chain)
    carrier.address = host.address
    try:
        carrier.call(number, is_branded=False)
        wait_until(lambda: host.requests == 1, 60, "nothing is fetched")
        testbed.gateway.kill()
        if "no signers" not in listed(testbed):
            raise Failed(f"half a certificate has left a signer:\n{listed(testbed)}")
        host.way = "good"
        testbed.start_gateway()
        carrier.call(number, is_branded=False)
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN)
    finally:
        host.stop()
        if not testbed.gateway.is_running():
            testbed.start_gateway()
        usual(testbed, host.address)


HOSTS = (
    ("certificate hosts that fail", faulty_hosts),
    ("a certificate is fetched, over a kill", killed_fetch),
)
