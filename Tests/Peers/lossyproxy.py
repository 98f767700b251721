# SPDX-License-Identifier: Apache-2.0
"""A proxy between gateway and directory that loses responses of the directory."""
import http.client
import http.server
import random
import threading

ADDRESS = ("127.0.0.41", 8088)


class Server(http.server.ThreadingHTTPServer):
    """Reports no clients that are killed in the middle of a request."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


class LossyProxy:
    """Forwards requests and responses; drops a share of the responses to events with their connection."""

    def __init__(self, directory, share, seed):
        """`directory`: host and port; `share`: of the responses to events, 0 to 1."""
        self.directory, self.share = directory, share
        self.chance = random.Random(seed)
        self.lock = threading.Lock()
        self.responses = self.lost = self.events_lost = 0
        self.server = Server(ADDRESS, self.handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    url = f"http://{ADDRESS[0]}:{ADDRESS[1]}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def is_to_be_lost(self, body):
        """Decides whether one response to an event is dropped, and counts it."""
        with self.lock:
            is_lost = self.chance.random() < self.share
            self.responses += 1
            self.lost += is_lost
            self.events_lost += body.count(b'"event_key"') if is_lost else 0
            return is_lost

    def handler(proxy):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def relay(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                line = http.client.HTTPConnection(*proxy.directory, timeout=30)
                try:
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                    line.request(self.command, self.path, body, headers)
                    response = line.getresponse()
                    data = response.read()
                except (OSError, http.client.HTTPException):
                    return self.drop()
                finally:
                    line.close()
                # The directory has responded, so the event is in its ledger.
                is_taken = response.status < 300 and b'"event_key"' in body
                if is_taken and proxy.is_to_be_lost(body):
                    return self.drop()
                self.send_response(response.status)
                for name, value in response.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_HEAD = relay

            def drop(self):
                self.close_connection = True
                self.connection.close()

            def log_message(self, *_):
                pass

        return Handler
