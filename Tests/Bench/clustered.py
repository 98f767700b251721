# SPDX-License-Identifier: Apache-2.0
"""A gateway of a cluster: a sibling that listens, and a shared ledger in PostgreSQL that is written to the disk.

Sibling and PostgreSQL are processes of their own, so their CPU does not count as the gateway's.
"""
import contextlib
import os
import shutil
import sqlite3

from heraldtest import probes
from heraldtest.child import Child, Failed, wait_until
from heraldtest.postgres import Server
from .subjects import ADMIN, HOST, SUBJECT, Herald

SIBLING_HOST, PORT = "127.0.0.2", 5072
SIBLING_ADMIN = f"{SIBLING_HOST}:9470"
PATIENCE = 60


def section(folder, own, other, ledger):
    """The section `cluster` of a gateway's configuration."""
    secret = os.path.join(folder, "cluster-secret")
    with open(secret, "w", encoding="ascii") as file:
        file.write("000102030405060708090a0b0c0d0e0f\n")
    os.chmod(secret, 0o600)
    return (f'cluster: {{secret_file: {secret}, listen: "{own}:{PORT}", siblings: ["{other}:{PORT}"], route: {HOST}, '
            f'limits: each, ledger: "{ledger}"}}')


class Sibling:
    """The other gateway, without calls of its own."""

    def __init__(self, folder, binary, server):
        self.folder, self.runtime = os.path.join(folder, "run", "sibling"), f"/dev/shm/herald-bench-sibling-{os.getpid()}"
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        brands = os.path.join(self.folder, "brands.psv")
        with open(brands, "w", encoding="utf-8") as file:
            file.write("+12025550143|Acme|https://logos.example/a.png|None\n")
        config = os.path.join(self.folder, "herald.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway: {{id: sibling, state: "{self.folder}", runtime: "{self.runtime}", drain: 0s}}
listen: [{{name: sip, address: "{SIBLING_HOST}:{SUBJECT}"}}]
trunks: [{{name: carrier, sources: ["{HOST}:5060"], next_hop: "{HOST}:5060", region: US, trusted: true}}]
pbx: [{{name: office, address: "{HOST}:5080", sources: ["{HOST}:5080"], probe: false}}]
brands: {{file: {brands}}}
{section(self.folder, SIBLING_HOST, HOST, server.url)}
admin: {{listen: "{SIBLING_ADMIN}"}}
log: {{level: notice}}
""")
        self.child = Child("sibling", [binary, "run", "--config", config], self.folder)
        self.child.must_respond(SIBLING_ADMIN)

    def stop(self):
        self.child.stop()
        shutil.rmtree(self.runtime, ignore_errors=True)


class Clustered(Herald):
    """A gateway with a sibling and a shared ledger, which begin with its first start and end with it."""

    def __init__(self, name, folder, binary, data, workers=1):
        super().__init__(f"{name}-cluster", folder, binary, data, workers)
        self.cache, self.server, self.sibling = folder, None, None

    def source(self):
        return f"{super().source()}\n{section(self.folder, HOST, SIBLING_HOST, self.server.url)}"

    def start(self, fresh=True):
        if fresh:
            self.server = Server("--durable")
            self.sibling = Sibling(self.cache, self.binary, self.server)
        super().start(fresh)
        self.wait_until_up()
        wait_until(lambda: self.metrics().get("herald_sibling_up") == 1, PATIENCE, "the sibling is not reached")

    def others(self):
        """CPU seconds of {name: process} beside the gateway."""
        return {"sibling": self.sibling.child.figures.cpu_seconds(), "database": self.server.cpu_seconds()}

    def check(self):
        """The shared ledger has each call, and no update for the sibling was dropped."""
        wait_until(lambda: len(set(self.ended_calls())) == 1, PATIENCE, "the shared ledger does not get all calls")
        if not self.ended_calls()[0]:
            raise Failed("there is no call in the ledger")
        lost = {name: value for name, value in probes.metrics(ADMIN, 10).items()
                if name.startswith("herald_sibling_updates_total") and "dropped" in name and value}
        if lost:
            raise Failed(f"updates for the sibling were dropped: {lost}")

    def ended_calls(self):
        """Their number in the gateway's own ledger, and in the shared one."""
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/herald.sqlite?mode=ro", uri=True)) as ledger:
            own = ledger.execute("SELECT count(*) FROM call WHERE ended_at IS NOT NULL").fetchone()[0]
        return own, int(self.server.query("SELECT count(*) FROM ledger.call WHERE ended_at IS NOT NULL")[0][0])

    def stop(self):
        super().stop()
        if self.sibling:
            self.sibling.stop()
            self.sibling = None
        if self.server:
            self.server.stop()
            self.server = None
