# SPDX-License-Identifier: Apache-2.0
"""The gateway in a step of Peers, inside the step's namespace, with its metrics and its ledger."""
import os
import subprocess

from . import probes
from .child import Child, Failed, wait_until
from .records import read_json

CARRIER, GATEWAY, PBX = "127.0.0.10", "127.0.0.20", "127.0.0.30"
CALLER, BRAND = "+4989123456", "Acme Bank"
LOGO = "https://logos.example/acme.png"
ADMIN = "127.0.0.1:9470"


class Gateway:
    """Herald between one trusted carrier and one PBX, with one brand."""

    def __init__(self, folder, carrier=CARRIER, pbx=PBX, listen=(GATEWAY,), strangers="refuse", directory=None,
                 admin=ADMIN, outcomes="retry_window: 0s", state=None, trunk="trusted: true", office="probe: false", more=""):
        """`listen`: the address towards the carrier and, when it is another one, the address towards the PBX.

        `directory`: that section of the configuration; without it the brand comes from a file.
        `outcomes`: that section; one number calls all the time, so a call after a failed one is no other attempt.
        `state`: folder of the databases, if not `folder`. `trunk`, `office`: further keys of both; `more`: further sections.
        """
        self.folder = folder
        self.admin = admin
        self.config = os.path.join(folder, "herald.yaml")
        self.child = None
        os.makedirs(folder, exist_ok=True)
        source = f"directory: {directory}"
        if not directory:
            brands = os.path.join(folder, "brands.psv")
            source = f"brands: {{file: {brands}}}"
            with open(brands, "w", encoding="utf-8") as file:
                file.write(f"{CALLER}|{BRAND}|{LOGO}|Your appointment\n")
        entries = "\n".join(f'  - {{name: side{n}, address: "{address}:5060"}}' for n, address in enumerate(listen))
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway: {{state: {state or folder}, runtime: {folder}}}
listen:
{entries}
trunks:
  - {{name: carrier, sources: ["{carrier}"], next_hop: "{carrier}:5060", region: DE, {trunk}, listen: side0}}
pbx:
  - {{name: office, address: "{pbx}:5060", sources: ["{pbx}"], listen: side{len(listen) - 1}, {office}}}
{source}
outcomes: {{{outcomes}}}
strangers: {strangers}
admin: {{listen: "{admin}"}}
log: {{level: notice}}
{more}""")

    def start(self):
        self.child = Child("herald", [os.environ["HERALD"], "run", "--config", self.config], self.folder)
        self.child.must_respond(self.admin)

    def stop(self):
        if self.child:
            self.child.stop()

    def metric(self, name, **labels):
        """The sum of a family's series that carry the labels."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return int(sum(
            value for series, value in probes.metrics(self.admin).items()
            if probes.family_of(series) == name and all(label in series for label in wanted)))

    def calls(self, *words):
        """Every call of the ledger, oldest first; `words`: further options."""
        done = subprocess.run(
            [os.environ["HERALD"], "calls", "--json", "--limit", "1000000", *words, "--config", self.config],
            capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise Failed(f"herald calls ended with {done.returncode}: {done.stderr.strip()}")
        return read_json(done.stdout)

    def resident_kilobytes(self):
        """(all, anonymous) resident memory."""
        figures = self.child.figures
        return figures.resident() // 1024, figures.anonymous() // 1024

    def highest_resident_kilobytes(self):
        """Its peak resident memory."""
        return self.child.figures.highest() // 1024

    def cpu_seconds(self):
        """User and system time since its start."""
        return self.child.figures.cpu_seconds()

    def open_files(self):
        return self.child.figures.open_files()

    def quiet_within(self, seconds):
        """True once no transaction and no call is open any more."""
        try:
            wait_until(self.is_quiet, seconds, "")
            return True
        except Failed:
            return False

    def is_quiet(self):
        return self.metric("herald_transactions") == 0 and self.metric("herald_open_calls") == 0
