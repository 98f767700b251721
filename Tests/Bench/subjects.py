# SPDX-License-Identifier: Apache-2.0
"""The measured programs: they receive at port 5070, between the carrier at port 5060 and the PBX at port 5080."""
import os
import shutil
import signal
import time

from heraldtest import probes
from heraldtest.child import Child
from heraldtest.processes import Process, session_of, total

HOST = "127.0.0.1"
CARRIER, SUBJECT, PBX = 5060, 5070, 5080
ADMIN = f"{HOST}:9470"
TRUSTED = """\
    region: US
    trusted: true
    policy: standard
    limits: {calls_per_second: 100000, calls: 1000000}"""


class Subject:
    """One program with all processes it starts; its session is its own."""

    brands = True
    port = SUBJECT
    # Commands to start it under, such as taskset.
    under = ()

    def __init__(self, name, folder):
        self.name = name
        self.folder = os.path.join(folder, "run", name)
        self.child = None
        self.started = 0.0

    def command(self):
        raise NotImplementedError

    def signer(self):
        """The laboratory that signs its calls; None for unsigned ones."""
        return None

    def start(self, fresh=True):
        """`fresh`: without the files of an earlier run."""
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
        command = [*self.under, *self.command()]
        self.started = time.monotonic()
        self.child = Child(self.name, command, self.folder, outlives_us=True)

    def stop(self, patience=8):
        """Ends all its processes; after `patience` seconds by force."""
        if not self.child:
            return
        before = {process.pid for process in self.processes()}
        self.child.stop(patience)
        for process in self.processes():
            if process.pid in before:
                os.kill(process.pid, signal.SIGKILL)
        self.child = None

    def crash(self):
        """Kills it."""
        self.child.kill()
        self.child = None

    def processes(self):
        return session_of(self.child.pid)

    def cpu_seconds(self):
        return total(Process.cpu_seconds, self.processes())

    def thread_seconds(self):
        """{thread id: CPU seconds} of their threads that live"""
        return {thread: used for process in self.processes() for thread, used in process.thread_seconds().items()}

    def thread_names(self):
        """{thread id: name} of their threads that live"""
        return {thread: name for process in self.processes() for thread, name in process.thread_names().items()}

    def memory(self):
        """Bytes in memory; a page that several of them share counts once."""
        return total(Process.share, self.processes())

    def written(self):
        """Bytes they wrote to the disk."""
        return total(Process.written, self.processes())


class Herald(Subject):
    """The gateway with everything on: privacy, policy, durable outcomes, metrics, limits."""

    # The laboratory whose signatures decide; without one the gateway verifies nothing.
    laboratory = None
    admin = ADMIN

    def __init__(self, name, folder, binary, data, workers=1, environment=()):
        super().__init__(name, folder)
        self.binary, self.data, self.workers = os.path.abspath(binary), data, workers
        # The ring is in memory and the ledger on a disk, as in an installation.
        self.runtime = os.path.join("/dev/shm", f"herald-bench-{os.getpid()}")
        if environment:
            self.under = ("env", *environment)

    def source(self):
        """The source of brands, as a section of the configuration."""
        return f"brands: {{file: {self.data.brands}}}"

    def trunk(self):
        """The keys of its trunks."""
        return TRUSTED + ("\n    signatures: decide" if self.laboratory else "")

    def command(self):
        config = os.path.join(self.folder, "herald.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway: {{state: "{self.folder}", runtime: "{self.runtime}", workers: {self.workers}, drain: 0s}}
listen:
  - {{name: sip, address: "{HOST}:{self.port}"}}
  - {{name: stream, address: "{HOST}:{self.port}", transport: tcp}}
trunks:
  - name: carrier
    sources: ["{HOST}:{CARRIER}"]
    next_hop: {HOST}:{CARRIER}
{self.trunk()}
  - name: stream-carrier
    listen: stream
    sources: [127.0.0.2]
{self.trunk()}
pbx:
  - {{name: office, address: "{HOST}:{PBX}", sources: ["{HOST}:{PBX}"], probe: false}}
{self.source()}
{self.laboratory.configuration() if self.laboratory else ""}
admin: {{listen: "{self.admin}"}}
limits: {{max_transactions: 1000000}}
log: {{level: notice}}
""")
        if self.laboratory:
            self.laboratory.install(self.binary, config)
        return [self.binary, "run", "--config", config]

    def stop(self):
        super().stop()
        shutil.rmtree(self.runtime, ignore_errors=True)

    def wait_until_up(self):
        self.child.must_respond(self.admin, seconds=60)

    def metrics(self):
        """{family: sum over its series}"""
        return probes.families(probes.metrics(self.admin, 10))


class Kamailio(Subject):
    """Kamailio with `proxy.cfg`, its faster allocator, and the defines of one variant."""

    def __init__(self, name, folder, data, defines=()):
        super().__init__(name, folder)
        self.data, self.defines = data, defines

    def command(self):
        config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy.cfg")
        # Private memory is large because loading takes the whole table as one result.
        command = ["kamailio", "-DD", "-E", "-f", config, "-x", "fm", "-X", "fm", "-m", "4096", "-M", "1024",
                   "-b", "4194304", "-Y", self.folder, "-w", self.folder]
        for define in (f'BRANDS="sqlite:///{self.data.database}"', *self.defines):
            command += ["-A", define]
        return command


class Relay(Subject):
    """Forwards datagrams unread: the kernel's cost of a call, for one of the ways of relay.c."""

    brands = False

    def __init__(self, name, folder, way="single"):
        super().__init__(name, folder)
        self.binary, self.way = os.path.join(folder, "relay"), way

    def command(self):
        return [self.binary, self.way, str(SUBJECT), str(CARRIER), str(PBX)]
