# SPDX-License-Identifier: Apache-2.0
"""A directory that is killed in a burst of push messages, on SQLite and on PostgreSQL.

Each is a function of the testbed, a folder for its files and the runner; the gateway has no part in it.
"""
import collections
import http.server
import json
import os
import subprocess
import threading
import urllib.request

from heraldtest.child import Child, Failed, wait_until
from heraldtest.postgres import Server

ADDRESS = "127.0.0.85:15185"
BRAND, PERSON = "+61491570156", "+61255501001"
DEVICES, CALLS, BATCH = 20, 500, 250
# Attempts at once of one directory (PushService.concurrency), of which a kill repeats as many.
AT_ONCE = 32
# The subscription of RFC 8291 §5, with an endpoint for each device.
KEYS = {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg"}


class PushService:
    """Counts the messages by device and topic (RFC 8030 §5.4)."""

    def __init__(self):
        self.received = collections.Counter()
        lock, received = threading.Lock(), self.received

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    received[self.path, self.headers["Topic"]] += 1
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.86", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class PushDirectory:
    """herald-directory with a brand, and with browsers of one person."""

    def __init__(self, program, folder, database=None):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.child = folder, None
        self.program = program
        self.key = os.path.join(folder, "api-key")
        self.config = os.path.join(folder, "herald-directory.yaml")
        key = os.path.join(folder, "push-key.pem")
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"listen: {ADDRESS}\nstate: {folder}/state\npublic_url: http://{ADDRESS}\n"
                       "rate_limits: {web: 0, herald: 0, key: 0}\nlog: {level: warning}\n"
                       f"push:\n  web: {{subject: 'mailto:ops@example.com', key_file: {key}}}\n"
                       "  allow_private_addresses: true\n")
            if database:
                file.write(f'database: {{url: "{database}"}}\n')

    def command(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--config", self.config], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode:
            raise Failed(f"herald-directory {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")

    def start(self):
        self.child = Child("push-directory", [self.program, "run", "--config", self.config], self.folder)
        self.child.must_respond(ADDRESS)

    def post(self, path, body):
        with open(self.key, encoding="ascii") as file:
            key = file.read().strip()
        request = urllib.request.Request(
            f"http://{ADDRESS}/{path}", json.dumps(body).encode(),
            {"X-API-Key": key, "Content-Type": "application/json"}, method="POST")
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def prepare(self, service):
        self.start()
        brands = os.path.join(self.folder, "brands.csv")
        with open(brands, "w", encoding="utf-8") as file:
            file.write(f"number,brand_name,brand_id\n{BRAND},Harbour Dental,dental\n")
        self.command("import", brands)
        self.command("keys", "add", "gateway", "--write", self.key)
        for place in range(DEVICES):
            endpoint = f"http://127.0.0.86:{service.port}/push/{place}"
            self.post("mobile/device/push", {
                "device_id": f"browser-{place}", "platform": "web", "numbers": [PERSON],
                "subscription": {"endpoint": endpoint, "keys": KEYS}})
            self.command("push", "confirm", f"browser-{place}")

    def report(self, calls):
        """A gateway reports missed calls in one batch."""
        self.post("mobile/sync/batch", {"operations": [
            {"type": "create", "resource": "event", "data": {
                "phone_number_e164": BRAND, "outcome": "missed", "event_key": f"missed:call-{call}",
                "meta": {"call_event_id": f"call-{call}", "destination_number_e164": PERSON,
                         "call_outcome": "MISSED"}}}
            for call in calls]})


def burst(testbed, folder, database=None):
    """Ten thousand messages, and a kill when a third of them is sent: none is lost, few come twice."""
    service = PushService()
    directory = PushDirectory(testbed.directory_binary, folder, database)
    wanted = DEVICES * CALLS
    try:
        directory.prepare(service)
        for first in range(0, CALLS, BATCH):
            directory.report(range(first, first + BATCH))
        wait_until(lambda: len(service.received) > wanted // 3, 300, "a third of the messages has not come")
        directory.child.kill()
        if len(service.received) == wanted:
            raise Failed("the burst was over before the kill")
        directory.start()
        # The gateway repeats its events, as after a lost response.
        directory.report(range(BATCH))
        # Leases of the killed program end after a minute.
        wait_until(lambda: len(service.received) == wanted, 600,
                   f"not all of {wanted} messages have come; see {directory.child.log}")
        directory.child.stop(60)
        twice = sum(1 for count in service.received.values() if count == 2)
        most = max(service.received.values())
        if len(service.received) != wanted or most > 2 or twice > AT_ONCE:
            raise Failed(f"{len(service.received)} of {wanted} messages, {twice} of them twice, one {most} times")
    finally:
        if directory.child:
            directory.child.stop()
        service.stop()


def on_sqlite(testbed, folder, _run):
    """kill -9 in a burst on SQLite."""
    burst(testbed, os.path.join(folder, "sqlite"))


def on_postgresql(testbed, folder, _run):
    """kill -9 in a burst on PostgreSQL."""
    server = Server()
    try:
        burst(testbed, os.path.join(folder, "postgresql"), server.url)
    finally:
        server.stop()


BURSTS = (
    ("a kill in a burst of push messages", on_sqlite),
    ("a kill in a burst of push messages, PostgreSQL", on_postgresql),
)
