# SPDX-License-Identifier: Apache-2.0
"""herald-directory in a step of Peers or in a bench."""
import os
import random
import sqlite3
import subprocess

from .child import Child, Failed
from .gateway import BRAND, CALLER, LOGO

ADDRESS = "127.0.0.40:8088"


class Directory:
    """herald-directory with Acme's number and as many others as wanted."""

    def __init__(self, folder, rate_limit=None):
        """`rate_limit`: requests a minute of gateways; the default without it."""
        self.folder = folder
        self.state = os.path.join(folder, "directory")
        self.key = os.path.join(folder, "api-key")
        self.program = os.environ["HERALD_DIRECTORY"]
        self.child = None
        os.makedirs(folder, exist_ok=True)
        self.options = []
        if rate_limit:
            path = os.path.join(folder, "herald-directory.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"rate_limits: {{herald: {rate_limit}}}\n")
            self.options = ["--config", path]

    def command(self, *arguments, seconds=600):
        done = subprocess.run(
            [self.program, *arguments, *self.place()], capture_output=True, text=True, timeout=seconds,
            check=False)
        if done.returncode:
            raise Failed(f"herald-directory {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def place(self):
        """Options of a command that name the database."""
        return ["--state", self.state]

    def home(self):
        """Options of the server that name its state folder."""
        return ["--state", self.state]

    def prepare(self):
        """The database, with Acme's number, and the gateways' key."""
        self.put([(CALLER, BRAND, LOGO, "Your appointment")])
        self.command("keys", "add", "gateways", "--write", self.key)

    def put(self, rows):
        """Imports rows of number, name, logo and reason."""
        path = os.path.join(self.folder, f"import-{random.getrandbits(32):08x}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("number,brand_name,logo_url,call_reason,brand_id\n")
            for number, name, logo, reason in rows:
                file.write(f"{number},{name},{logo},{reason},b-{name}\n")
        try:
            self.command("import", path)
        finally:
            os.remove(path)

    def start(self):
        command = [self.program, "run", *self.options, "--listen", ADDRESS, *self.home()]
        self.child = Child("directory", command, self.folder)
        self.child.must_respond(ADDRESS)

    def stop(self):
        if self.child:
            self.child.stop()

    def query(self, sql):
        """Rows straight from its database."""
        with sqlite3.connect(f"file:{self.state}/directory.sqlite?mode=ro", uri=True, timeout=30) as database:
            return database.execute(sql).fetchall()

    def access(self, **keys):
        """The `directory` section of a gateway's configuration."""
        values = {"url": f"http://{ADDRESS}", "api_key_file": self.key, **keys}
        return "{" + ", ".join(f'{key}: "{value}"' if isinstance(value, str) else f"{key}: {value}"
                               for key, value in values.items()) + "}"
