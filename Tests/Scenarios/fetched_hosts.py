# SPDX-License-Identifier: Apache-2.0
"""HTTP servers on loopback from which a gateway fetches certificates and lists, and which respond well or in a wrong way."""
import http.server
import threading

# Lines of a regime: its gateway may fetch from such a host, and does so for an unknown signer.
REACHABLE = "x5u_ports: [any]\nx5u_http: true\nx5u_private: true\n"
FETCHING = "fetch: on\n" + REACHABLE
SHAKEN = "/shaken.pem"


class Handler(http.server.BaseHTTPRequestHandler):
    """Responds in the way of its host, which is a status without a body or the name of a method here."""

    def do_GET(self):
        host = self.server.host
        host.requests.append(self.path)
        way = host.way_of(self.path)
        try:
            if way.isdigit():
                self.begin(int(way), 0)
            else:
                getattr(self, "respond_" + way)(host)
        except OSError:
            # The gateway has closed the connection.
            self.close_connection = True

    def begin(self, status, size, *fields):
        self.send_response(status)
        for name, value in (("Content-Length", str(size)), *fields):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def respond_good(self, host):
        body = host.bodies[self.path]
        self.begin(200, len(body))
        self.wfile.write(body)

    def respond_half(self, host):
        body = host.bodies[self.path]
        self.begin(200, len(body))
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        host.halves.append(self.path)
        host.ended.wait(60)

    def respond_silent(self, host):
        host.ended.wait(60)

    def respond_slow(self, host):
        self.begin(200, 1000)
        while not host.ended.wait(0.2):
            self.wfile.write(b".")
            self.wfile.flush()

    def respond_redirect(self, _):
        self.begin(302, 0, ("Location", "http://127.0.0.1:22/"))

    def respond_page(self, _):
        self.begin(200, 13)
        self.wfile.write(b"<html></html>")

    def respond_huge(self, _):
        self.begin(200, 10_000_000)
        for _ in range(1000):
            self.wfile.write(b"-" * 10_000)

    def log_message(self, *_):
        pass


class Host:
    """One server with its texts by path; it responds in one way until `way` changes."""

    def __init__(self, address="127.0.0.1", way="good"):
        self.way, self.bodies = way, {}
        # The paths of all requests, and of those whose first half is sent.
        self.requests, self.halves, self.ended = [], [], threading.Event()
        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.server.host = self
        self.origin = f"http://{address}:{self.server.server_port}"
        self.is_open = way != "refuses"
        if self.is_open:
            threading.Thread(target=self.server.serve_forever, daemon=True).start()
        else:
            self.server.server_close()

    def way_of(self, path):
        return self.way

    def holds(self, path):
        """Whether it has sent the first half of a path last, and holds the rest."""
        return self.way_of(path) == "half" and self.halves[-1:] == [path]

    def stop(self):
        self.ended.set()
        if self.is_open:
            self.server.shutdown()
            self.server.server_close()


class CertificateHost(Host):
    """A host with the chain of a laboratory's signer; without a laboratory it responds in other ways alone."""

    def __init__(self, laboratory=None, **options):
        super().__init__(**options)
        self.address = self.origin + SHAKEN
        if laboratory:
            self.bodies[SHAKEN] = laboratory.signer_chain().encode()
