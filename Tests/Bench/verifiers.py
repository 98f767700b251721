# SPDX-License-Identifier: Apache-2.0
"""Programs that verify signed calls of one trunk, with a second trunk beside it whose calls are unsigned."""
import os
import subprocess

from heraldtest import ROOT
from heraldtest.child import Failed, wait_until
from .subjects import ADMIN, HOST, PBX, SUBJECT, Herald, Subject

# The trunk of signed calls; the other one is the carrier of each bench.
SIGNING = "127.0.0.2"
HERE = os.path.dirname(os.path.abspath(__file__))


class VerifyingHerald(Herald):
    """A gateway whose trunks have `signatures: decide` under the regime private, and that knows no signer."""

    # Certificates that it fetches: none, some (within its limits), or all.
    fetches = "none"

    def __init__(self, name, folder, binary, roots):
        super().__init__(name, folder, binary, None)
        self.roots = roots

    def command(self):
        config = os.path.join(self.folder, "herald.yaml")
        os.makedirs(os.path.join(self.folder, "regimes"), exist_ok=True)
        with open(os.path.join(self.folder, "regimes", "lab.pem"), "w", encoding="ascii") as file:
            file.write(self.roots)
        keys = "region: US, trusted: true, signatures: decide, limits: {calls_per_second: 100000, calls: 1000000}"
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"""\
gateway: {{state: "{self.folder}", runtime: "{self.runtime}", drain: 0s}}
listen:
  - {{name: sip, address: "{HOST}:{SUBJECT}"}}
trunks:
  - {{name: unsigned, sources: ["{HOST}:5060"], next_hop: "{HOST}:5060", {keys}}}
  - {{name: signed, sources: ["{SIGNING}:5060"], next_hop: "{SIGNING}:5060", {keys}}}
pbx:
  - {{name: office, address: "{HOST}:{PBX}", sources: ["{HOST}:{PBX}"], probe: false}}
trust: {{regimes: [private]{", fetch: on" if self.fetches == "some" else ""}}}
admin: {{listen: "{ADMIN}"}}
log: {{level: notice}}
""")
        return [self.binary, "run", "--config", config]

    def start(self, fresh=True):
        super().start(fresh)
        self.wait_until_up()

    def version(self):
        return first_line([self.binary, "--version"])


class FetchingHerald(VerifyingHerald):
    """The same with `fetch: on`, which asks for 20 new addresses a minute."""

    fetches = "some"


class VerifyingKamailio(Subject):
    """Kamailio with Debian's secsipid module."""

    fetches = "all"

    def command(self):
        cache = os.path.join(self.folder, "cache")
        os.makedirs(cache, exist_ok=True)
        return ["kamailio", "-DD", "-E", "-f", os.path.join(HERE, "secsipid.cfg"), "-x", "fm", "-X", "fm", "-m", "256",
                "-M", "32", "-b", "4194304", "-Y", self.folder, "-w", self.folder, "-A", f'CACHE="{cache}"']

    def start(self, fresh=True):
        super().start(fresh)
        wait_until(lambda: listens(self.child), 20, f"Kamailio does not listen:\n{self.child.tail()}")

    def version(self):
        return first_line(["kamailio", "-v"]).removeprefix("version: ")


class VerifyingAsterisk(Subject):
    """Asterisk 22 with stir_shaken at one trunk, in the tree of Deploy/test-peers."""

    fetches = "all"

    def __init__(self, name, folder, tree, roots):
        super().__init__(name, folder)
        self.root, self.roots = os.path.join(tree, "root"), roots
        self.inside = f"/bench-{os.getpid()}"

    def command(self):
        outside = self.root + self.inside
        for part in ("etc", "lib", "spool", "run", "agi", "cache", "log/cdr-csv"):
            os.makedirs(os.path.join(outside, part), exist_ok=True)
        modules = next(path for path, _, _ in os.walk(os.path.join(self.root, "usr/lib")) if path.endswith("asterisk/modules"))
        for name, text in self.files(modules.removeprefix(self.root)).items():
            with open(os.path.join(outside, "etc", name), "w", encoding="utf-8") as file:
                file.write(text)
        return ["chroot", self.root, "/usr/sbin/asterisk", "-f", "-C", f"{self.inside}/etc/asterisk.conf"]

    def files(self, modules):
        """{name: text} of /etc/asterisk."""
        folders = {"etc": "etc", "varlib": "lib", "db": "lib", "key": "lib", "spool": "spool", "run": "run", "agi": "agi",
                   "log": "log", "sbin": "run"}
        with open(os.path.join(ROOT, "Tests", "Peers", "asterisk", "modules.conf"), encoding="utf-8") as file:
            usual = file.read()
        more = ("res_curl", "res_crypto", "res_stir_shaken", "res_pjsip_stir_shaken")
        return {
            "asterisk.conf": "[directories]\n" + "".join(
                f"ast{name}dir => {self.inside}/{place}\n" for name, place in folders.items())
            + f"astmoddir => {modules}\nastdatadir => /usr/share/asterisk\n[options]\nverbose = 0\nnocolor = yes\n"
            + "hideconnect = yes\nentityid = 02:00:00:00:00:01\n",
            "modules.conf": usual + "".join(f"load={name}.so\n" for name in more),
            "logger.conf": "[general]\n[logfiles]\nfull => notice,warning,error\n",
            "rtp.conf": "[general]\nrtpstart=20000\nrtpend=29999\n",
            "roots.pem": self.roots,
            "extensions.conf": "[calls]\nexten => _[+0-9].,1,Dial(PJSIP/${EXTEN}@pbx,60)\n same => n,Hangup(${HANGUPCAUSE})\n",
            "stir_shaken.conf": f"""\
[verification]
ca_file={self.inside}/etc/roots.pem
cert_cache_dir={self.inside}/cache
failure_action=continue
relax_x5u_port_scheme_restrictions=yes
x5u_deny=0.0.0.0/0.0.0.0
x5u_permit=0.0.0.0/0.0.0.0

[check]
type=profile
endpoint_behavior=verify
""",
            "pjsip.conf": f"[global]\ntype=global\nendpoint_identifier_order=ip\n\n[udp]\ntype=transport\nprotocol=udp\n"
            f"bind={HOST}:{SUBJECT}\n" + self.endpoint("unsigned", HOST, 5060)
            + self.endpoint("signed", SIGNING, 5060, "stir_shaken_profile=check\n") + self.endpoint("pbx", None, PBX),
            **{f"{name}.conf": "[general]\n" for name in (
                "acl", "ccss", "cel", "cdr", "features", "pjproject", "udptl", "indications")},
        }

    @staticmethod
    def endpoint(name, address, port, more=""):
        text = (f"\n[{name}]\ntype=endpoint\ncontext=calls\ntransport=udp\naors={name}\ndisallow=all\nallow=alaw,ulaw\n"
                f"direct_media=no\nsend_connected_line=no\n{more}\n"
                f"[{name}]\ntype=aor\ncontact=sip:{address or HOST}:{port}\n")
        return text + (f"\n[{name}]\ntype=identify\nendpoint={name}\nmatch={address}/32\n" if address else "")

    def start(self, fresh=True):
        super().start(fresh)
        log = os.path.join(self.root + self.inside, "log", "full")
        wait_until(lambda: listens(self.child), 30, f"Asterisk does not listen; see {log}:\n{self.child.tail()}")

    def stop(self, patience=8):
        super().stop(patience)
        subprocess.run(["rm", "-rf", self.root + self.inside], check=False)

    def version(self):
        return first_line(["chroot", self.root, "/usr/sbin/asterisk", "-V"])


def listens(child):
    """Whether the subject's port is bound; fails once its process has ended."""
    child.must_run()
    return f"{HOST}:{SUBJECT} " in subprocess.run(["ss", "-Hlun"], capture_output=True, text=True, check=True).stdout


def first_line(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise Failed(f"{' '.join(command)} prints no version")
    return done.stdout.splitlines()[0].strip()
