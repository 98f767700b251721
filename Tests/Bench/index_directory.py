# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the directory: numbers of brands, and sync responses that change them."""
import http.server
import multiprocessing
import time

BRANDS = 50_000
ADDRESS = ("127.0.0.1", 8088)
FIRST, STEP = 447_000_000_000, 7
RECENT = "2026-01-01T00:00:00Z"


def number(position):
    return FIRST + STEP * position


def brand_of(position):
    return position * 7_919 % BRANDS


def fields(brand):
    return (f"Harbour Power & Water {brand}", f"b-{brand}", f"https://logos.example.net/v1/{brand}/icon-256.png",
            f"About your appointment {brand}")


def record(position, name, changed):
    """One record of a sync response, as JSON."""
    _, brand_id, logo, reason = fields(brand_of(position))
    return (
        f'{{"phone_number_e164":"+{number(position)}","brand_name":"{name}","brand_id":"{brand_id}",'
        f'"logo_url":"{logo}","call_reason":"{reason}","updated_at":"{changed}"}}')


def changed(count, step, name, moment):
    """A response that renames every `step`-th number, `count` in all."""
    rows = [record(position * step, name, moment) for position in range(count)]
    return [f'{{"success":true,"synced_at":"{moment}","branding":['.encode(), ",".join(rows).encode(), b"]}"]


def everything(count, name, moment):
    """A full response that renames every number."""
    yield f'{{"success":true,"synced_at":"{moment}","branding":['.encode()
    for start in range(0, count, 1000):
        rows = [record(position, f"{name} {brand_of(position)}", moment) for position in range(start, start + 1000)]
        yield (("," if start else "") + ",".join(rows)).encode()
    yield b"]}"


class Directory:
    """The stand-in, in a process of its own, so that it does not delay the calls."""

    def __init__(self):
        self.pipe, end = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(end,), daemon=True)
        self.process.start()

    def offer(self, is_full, *what):
        """Sets the response to the next full or incremental sync: the arguments of `everything` or `changed`."""
        self.pipe.send((is_full, what))

    def sent(self):
        """The time at which the last byte of the response was sent; None until then."""
        return self.pipe.recv() if self.pipe.poll() else None

    def stop(self):
        self.process.terminate()
        self.process.join()


def serve(pipe):
    server = http.server.ThreadingHTTPServer(ADDRESS, Responder)
    server.daemon_threads = True
    # A killed gateway leaves its connections; that is no error.
    server.handle_error = lambda *_: None
    server.pipe = pipe
    server.serve_forever()


class Responder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_parts([b'{"success":true}'])

    def do_GET(self):
        if "/mobile/branding/sync" not in self.path:
            self.send_error(404)
            return
        is_full = "since=" not in self.path
        if not self.server.pipe.poll():
            if is_full:
                self.send_error(503)
            else:
                self.send_parts([f'{{"success":true,"synced_at":"{RECENT}","branding":[]}}'.encode()])
            return
        wants_full, what = self.server.pipe.recv()
        if is_full != wants_full:
            raise SystemExit("the gateway asked for another kind of sync")
        parts = list(everything(*what) if is_full else changed(*what))
        self.send_parts(parts)
        self.server.pipe.send(time.time())

    def send_parts(self, parts):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")
