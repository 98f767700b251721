# SPDX-License-Identifier: Apache-2.0
"""A gateway with some million stored numbers, and the stand-in directory that changes them."""
import http.server
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import time
import urllib.request

BRANDS = 50_000
DIRECTORY, ADMIN = ("127.0.0.1", 8088), "127.0.0.1:9470"
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
    """One record of a sync answer, as JSON."""
    _, brand_id, logo, reason = fields(brand_of(position))
    return (
        f'{{"phone_number_e164":"+{number(position)}","brand_name":"{name}","brand_id":"{brand_id}",'
        f'"logo_url":"{logo}","call_reason":"{reason}","updated_at":"{changed}"}}')


def changed(count, step, name, moment):
    """An answer that renames every `step`-th number; `count` of them."""
    rows = [record(position * step, name, moment) for position in range(count)]
    return [f'{{"success":true,"synced_at":"{moment}","branding":['.encode(), ",".join(rows).encode(), b"]}"]


def everything(count, name, moment):
    """A full answer that renames every number."""
    yield f'{{"success":true,"synced_at":"{moment}","branding":['.encode()
    for start in range(0, count, 1000):
        rows = [record(position, f"{name} {brand_of(position)}", moment) for position in range(start, start + 1000)]
        yield (("," if start else "") + ",".join(rows)).encode()
    yield b"]}"


class Directory:
    """The stand-in, in a process of its own so that it takes no time from the calls' clock."""

    def __init__(self):
        self.pipe, end = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(end,), daemon=True)
        self.process.start()

    def offer(self, is_full, *what):
        """The answer to the next full or incremental sync: the arguments of `everything` or `changed`."""
        self.pipe.send((is_full, what))

    def answered(self):
        """When the last byte of the answer was sent; None until then."""
        return self.pipe.recv() if self.pipe.poll() else None

    def stop(self):
        self.process.terminate()
        self.process.join()


def serve(pipe):
    server = http.server.ThreadingHTTPServer(DIRECTORY, Answer)
    server.daemon_threads = True
    # A gateway that is killed leaves its connections; nothing is wrong with that.
    server.handle_error = lambda *_: None
    server.pipe = pipe
    server.serve_forever()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer([b'{"success":true}'])

    def do_GET(self):
        if "/mobile/branding/sync" not in self.path:
            self.send_error(404)
            return
        is_full = "since=" not in self.path
        if not self.server.pipe.poll():
            if is_full:
                self.send_error(503)
            else:
                self.answer([f'{{"success":true,"synced_at":"{RECENT}","branding":[]}}'.encode()])
            return
        wants_full, what = self.server.pipe.recv()
        if is_full != wants_full:
            raise SystemExit("the gateway asked for another kind of sync")
        parts = list(everything(*what) if is_full else changed(*what))
        self.answer(parts)
        self.server.pipe.send(time.time())

    def answer(self, parts):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")


class Gateway:
    """The program with its state folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.log = os.path.join(folder, "herald.log")
        self.process = None
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "api-key"), "w", encoding="ascii") as file:
            file.write("hd_0815\n")
        self.config = os.path.join(folder, "herald.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"""
gateway: {{state: {folder}, runtime: {folder}}}
listen: [{{name: sip, address: "127.0.0.1:5070"}}]
trunks: [{{name: bench, sources: ["127.0.0.1:5060"], next_hop: "127.0.0.1:5060", region: GB, trusted: true}}]
pbx: [{{name: bench, address: "127.0.0.1:5080", sources: ["127.0.0.1:5080"]}}]
directory: {{url: "http://{DIRECTORY[0]}:{DIRECTORY[1]}", api_key_file: api-key, sync_interval: 1s,
  full_sync_interval: 30d}}
admin: {{listen: "{ADMIN}"}}
log: {{level: info}}
""")

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "run", "--config", self.config], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def stop(self, by_force=False):
        if by_force:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait()

    def memory(self):
        """Megabytes: resident now, the process's share of them, and the most there ever were."""
        values = {}
        for file in ("status", "smaps_rollup"):
            with open(f"/proc/{self.process.pid}/{file}", encoding="ascii") as lines:
                for line in lines:
                    name, _, rest = line.partition(":")
                    if name in ("VmRSS", "VmHWM", "Pss"):
                        values[name] = int(rest.split()[0]) // 1024
        return {"rss": values["VmRSS"], "pss": values["Pss"], "peak": values["VmHWM"]}

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def cpu(self):
        """Seconds of CPU so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def written(self):
        """Megabytes the process has caused to be written to storage."""
        with open(f"/proc/{self.process.pid}/io", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("write_bytes")).split()[1]) >> 20

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://{ADMIN}/healthz", timeout=2) as response:
                return response.status == 200
        except OSError:
            return False

    def metric(self, name):
        try:
            with urllib.request.urlopen(f"http://{ADMIN}/metrics", timeout=2) as response:
                for line in response.read().decode().splitlines():
                    if line.startswith(name + " "):
                        return float(line.split()[1])
        except OSError:
            pass
        return None

    def change(self, *statements):
        """Changes the stored records while the gateway is not running."""
        with sqlite3.connect(os.path.join(self.folder, "brands.sqlite")) as database:
            for statement in statements:
                database.execute(statement)

    def refresh(self):
        """Forgets the calls of earlier runs, and that their last full sync was long ago or failed."""
        for name in os.listdir(self.folder):
            if name.startswith(("herald.sqlite", "signals.ring", "herald.log")):
                os.remove(os.path.join(self.folder, name))
        self.change(f"UPDATE sync_state SET last_full_sync = {time.time():.0f}")

    def fill(self, count):
        """Stores `count` numbers of 50,000 brands, as a full sync would have; the gateway is not running."""
        shutil.rmtree(self.folder)
        self.__init__(self.program, self.folder)
        self.start()
        wait_until(self.answers, 20)
        self.stop(by_force=True)
        with sqlite3.connect(os.path.join(self.folder, "brands.sqlite"), isolation_level=None) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("CREATE TEMP TABLE kind (id INTEGER PRIMARY KEY, name, brand_id, logo, reason)")
            database.execute("BEGIN")
            database.executemany(
                "INSERT INTO kind VALUES (?, ?, ?, ?, ?)", ((brand, *fields(brand)) for brand in range(BRANDS)))
            database.execute(f"""
                WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i < {count - 1})
                INSERT INTO brand SELECT {FIRST} + {STEP} * i, name, brand_id, logo, reason, '{RECENT}'
                FROM place JOIN kind ON kind.id = i * 7919 % {BRANDS}""")
            database.execute(
                "UPDATE sync_state SET generation = generation + 1, cursor = ?, last_full_sync = ?, last_sync = ?",
                (RECENT, int(time.time()), int(time.time())))
            database.execute("UPDATE sync_state SET changes_since = generation, records = (SELECT COUNT(*) FROM brand)")
            database.execute("COMMIT")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")



def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("error: something did not happen in time; see the gateway's log in the folder of the run")
        time.sleep(0.01)
