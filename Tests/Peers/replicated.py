# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL with a synchronous standby, and nodes of herald-directory on it."""
import contextlib
import glob
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from heraldtest.child import Child, Failed, wait_until

PROGRAM = os.environ.get("HERALD_DIRECTORY", "")


class Servers:
    """A primary and a synchronous standby, on Unix sockets of one folder and, if wanted, on an address."""

    def __init__(self, address="", networks=()):
        """`networks`: those that may connect to the address, without a password."""
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        # A path of a socket has at most 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="herald-postgres.", dir="/tmp")
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.servers = {}
        self.address, self.networks = address, networks

    def url(self, database="herald"):
        """The address of both servers for a program."""
        if self.address:
            return f"postgres://herald@{self.address}:5432,{self.address}:5433/{database}"
        return f"postgres://herald@/{database}?host={self.folder},{self.folder}&port=5432,5433"

    def command(self, program, *arguments):
        become = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"] if os.geteuid() == 0 else []
        return [*become, os.path.join(self.programs, program), *arguments]

    def run(self, program, *arguments):
        done = subprocess.run(self.command(program, *arguments), capture_output=True, text=True, check=False,
                              cwd=self.folder)
        if done.returncode:
            raise Failed(f"{program} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start(self, name, port):
        log = open(os.path.join(self.folder, f"{name}.log"), "ab")
        arguments = ["-D", os.path.join(self.folder, name), "-k", self.folder, "-p", str(port), "-c",
                     f"listen_addresses={self.address}", "-c", "wal_retrieve_retry_interval=500ms"]
        self.servers[name] = subprocess.Popen(self.command("postgres", *arguments), stdout=log, stderr=log,
                                              stdin=subprocess.DEVNULL, cwd=self.folder)
        ready = self.command("pg_isready", "-q", "-h", self.folder, "-p", str(port))
        wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, 30, f"{name} did not start")

    def begin(self, *databases):
        """Both servers run, with a database herald and `databases` beside it."""
        data = os.path.join(self.folder, "primary")
        self.run("initdb", "-D", data, "--no-sync", "-U", "herald", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8")
        with open(os.path.join(data, "pg_hba.conf"), "a", encoding="ascii") as file:
            file.writelines(f"host all all {network} trust\n" for network in self.networks)
        self.start("primary", 5432)
        for database in ("herald", *databases):
            self.run("createdb", "-h", self.folder, "-p", "5432", "-U", "herald", database)
        self.run("pg_basebackup", "-h", self.folder, "-p", "5432", "-U", "herald", "-R", "-X", "stream",
                 "--checkpoint=fast", "--no-sync", "-D",
                 os.path.join(self.folder, "standby"))
        self.start("standby", 5433)
        self.query(5432, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.query(5432, "SELECT pg_reload_conf()")
        wait_until(lambda: self.query(5432, "SELECT sync_state FROM pg_stat_replication") == ["sync"], 30,
                   "the standby is not synchronous")

    def query(self, port, sql, database="herald"):
        done = self.run("psql", "-h", self.folder, "-p", str(port), "-U", "herald", "-AtX", "-d", database, "-c", sql)
        return done.splitlines()

    def kill(self, name):
        """A crash: the server and all its processes end at once."""
        server = self.servers[name]
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server.pid)], capture_output=True, text=True, check=False)
        for pid in [str(server.pid), *children.stdout.split()]:
            subprocess.run(["kill", "-KILL", pid], stderr=subprocess.DEVNULL, check=False)
        server.wait()

    def fail_over(self):
        self.kill("primary")
        self.run("pg_ctl", "promote", "-D", os.path.join(self.folder, "standby"), "-w")

    def stop(self):
        for server in self.servers.values():
            if server.poll() is None:
                server.send_signal(signal.SIGQUIT)
                server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class DirectoryNode:
    """One herald-directory of several on a database."""

    def __init__(self, folder, address, url):
        self.address, self.folder, self.child = address, folder, None
        os.makedirs(folder, exist_ok=True)
        self.config = os.path.join(folder, "herald-directory.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"listen: {address}\nstate: state\npublic_url: http://{address}\n"
                       f"database: {{url: \"{url}\"}}\nrate_limits: {{herald: 0, key: 0}}\n")

    def start(self):
        self.child = Child("node-" + os.path.basename(self.folder), [PROGRAM, "run", "--config", self.config], self.folder)
        self.child.must_respond(self.address)

    def stop(self):
        if self.child:
            self.child.stop()

    def command(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments, "--config", self.config], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise Failed(f"herald-directory {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout


class Balancer:
    """One address before several nodes: each connection goes to the next node that takes it."""

    def __init__(self, address, nodes):
        self.nodes, self.turn = [place_of(node) for node in nodes], itertools.count()
        self.listener = socket.create_server(place_of(address))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.carry, args=(near,), daemon=True).start()

    def carry(self, near):
        with contextlib.closing(near):
            for _ in self.nodes:
                try:
                    far = socket.create_connection(self.nodes[next(self.turn) % len(self.nodes)], timeout=5)
                except OSError:
                    continue
                with contextlib.closing(far):
                    far.settimeout(None)
                    back = threading.Thread(target=pump, args=(far, near), daemon=True)
                    back.start()
                    pump(near, far)
                    back.join(60)
                return

    def stop(self):
        self.listener.close()


def place_of(address):
    host, port = address.rsplit(":", 1)
    return host, int(port)


def pump(source, sink):
    """Carries bytes until one side ends; the other side then ends too."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for side in (source, sink):
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
