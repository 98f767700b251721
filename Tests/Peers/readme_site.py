# SPDX-License-Identifier: Apache-2.0
"""The site of README.md in the step's own mount and network namespace: its addresses, its paths, directory and gateway.

/etc, /var, /run, /usr/local and /usr/share are overlays, so that commands run with the paths that pages print, and
nothing of the machine changes.
"""
import os
import re
import shutil
import signal
import subprocess
import sys

from Documents import blocks
from heraldtest import ROOT
from heraldtest.child import Child, Failed, wait_until
from heraldtest.records import read_json

HERALD, PBX, CARRIER = "192.0.2.10", "192.0.2.20", "203.0.113.5"
EDGE, SECOND_CARRIER, PHONE = "192.0.2.5", "203.0.113.7", "192.0.2.131"
ADMIN, DIRECTORY = "127.0.0.1:9470", "127.0.0.1:8088"
CALLER, BRAND, REASON = "+61491570157", "Harbour Dental", "Your appointment tomorrow"
CALLED = "+61255502000"
OVERLAID = ("/etc", "/var", "/run", "/usr/local", "/usr/share")


def enter_own_mounts(folder):
    """Starts this program again in a mount namespace of its own, once, and overlays the paths that pages name."""
    if os.environ.get("OWN_MOUNTS") != "yes":
        os.environ["OWN_MOUNTS"] = "yes"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    shutil.rmtree(folder, ignore_errors=True)
    layers = os.path.join(folder, "layers")
    os.makedirs(layers)
    mount("-t", "tmpfs", "tmpfs", layers)
    # The names of the network namespaces are mounts below /run.
    os.makedirs(f"{layers}/netns")
    mount("--rbind", "/run/netns", f"{layers}/netns")
    for path in OVERLAID:
        upper, work = (f"{layers}{path}/{kind}" for kind in ("upper", "work"))
        os.makedirs(upper)
        os.makedirs(work)
        mount("-t", "overlay", "overlay", "-o", f"lowerdir={path},upperdir={upper},workdir={work}", path)
    mount("--rbind", f"{layers}/netns", "/run/netns")


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True, timeout=20)


def readme_configuration():
    """The gateway's configuration as README.md prints it."""
    for block in blocks.of_page("README.md"):
        lines = list(block.lines)
        start = next((n for n, line in enumerate(lines) if re.match(r"listen:", line)), None)
        if start is not None:
            end = next((n for n, line in enumerate(lines) if line == "END"), len(lines))
            return "\n".join(lines[start:end]) + "\n"
    raise Failed("README.md prints no configuration of the gateway")


class Site:
    """Directory and gateway, installed and configured as README.md does it."""

    def __init__(self, folder):
        self.folder = folder
        self.gateway = self.directory = None
        for address in (HERALD, PBX, CARRIER, EDGE, SECOND_CARRIER, PHONE):
            subprocess.run(["ip", "addr", "add", f"{address}/32", "dev", "lo"], check=True, timeout=20)
        self.install()

    def install(self):
        """Programs, configuration and sample brands at the paths of README.md, and a key for the gateway."""
        programs = os.path.dirname(os.path.realpath(os.environ["HERALD"]))
        os.makedirs("/usr/local/bin", exist_ok=True)
        for name in ("herald", "herald-directory", "herald-scale-logo"):
            os.symlink(os.path.join(programs, name), f"/usr/local/bin/{name}")
        for path in ("/etc/herald", "/var/lib/herald", "/var/lib/herald-directory", "/run/herald", "/usr/share/herald"):
            os.makedirs(path)
        shutil.copytree(f"{ROOT}/Config/logos", "/usr/share/herald/logos")
        for folder in ("/etc/herald", "/usr/share/herald"):
            shutil.copy(f"{ROOT}/Config/sample-brands.csv", folder)
        with open(f"{ROOT}/Config/herald-directory.yaml", encoding="utf-8") as file:
            text = re.sub(r"(?m)^# logos:", "logos:", file.read())
        self.write("/etc/herald/herald-directory.yaml", text)
        self.run("herald-directory", "import", "/etc/herald/sample-brands.csv", "--config",
                 "/etc/herald/herald-directory.yaml")
        self.run("herald-directory", "keys", "add", "gateway", "--write", "/etc/herald/api-key")
        self.configure(readme_configuration())

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def configure(self, text):
        self.write("/etc/herald/herald.yaml", text)
        self.run("herald", "check-config")

    def run(self, *command, seconds=60):
        """The output of a command; `Failed` with its errors if it does not end with 0."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, cwd=self.folder)
        if done.returncode:
            raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def act(self, unit, verb):
        """Starts, restarts or stops one of the two programs, as systemctl does."""
        child = self.gateway if unit == "herald" else self.directory
        is_running = bool(child) and child.is_running()
        if is_running and verb in ("restart", "stop"):
            child.stop()
        if verb == "restart" or (verb in ("start", "enable") and not is_running):
            if unit == "herald":
                self.run_gateway()
            else:
                self.start_directory()

    def reload(self):
        self.run("herald", "check-config")
        self.gateway.process.send_signal(signal.SIGHUP)

    def start_directory(self):
        self.directory = Child(
            "directory", ["herald-directory", "run", "--config", "/etc/herald/herald-directory.yaml"], self.folder)
        self.directory.must_respond(DIRECTORY)

    def run_gateway(self):
        self.gateway = Child("herald", ["herald", "run"], self.folder)
        self.gateway.must_respond(ADMIN)

    def start_gateway(self):
        """Starts the gateway and waits for its copy of the logo."""
        self.run_gateway()
        self.wait_for_logo()

    def wait_for_logo(self):
        wait_until(lambda: "Call-Info: <http://192.0.2.10:9480/" in self.run("herald", "lookup", CALLER), 60, (
            "the gateway has no copy of the logo"))

    def restart_gateway(self, text):
        """Starts the gateway with another configuration."""
        self.gateway.stop()
        self.configure(text)
        self.start_gateway()

    def calls(self):
        """Every call of the ledger, oldest first."""
        return read_json(self.run("herald", "calls", "--json", "--limit", "100000"))

    def stop(self):
        for child in (self.gateway, self.directory):
            if child:
                child.stop()
