# SPDX-License-Identifier: Apache-2.0
"""Signed calls (STIR/SHAKEN) through a gateway whose signers are imported while it runs.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import http.server
import json
import os
import subprocess
import threading
import time

from Bench import signer_chains
from heraldtest import ROOT
from heraldtest.child import Failed, wait_until
from heraldtest.signing import ADDRESS, Laboratory, Signer
from .fetched_hosts import FETCHING, REACHABLE, CertificateHost, Host
from .situations import NO_BRAND, SEEN, SUBSCRIBER, brand, step

OTHER = "+61255502001"


class Carrier:
    """Places calls with tokens of a laboratory's signer."""

    def __init__(self, laboratory, folder, run):
        self.laboratory, self.folder, self.run, self.address = laboratory, folder, run, ADDRESS
        self.signer = Signer(laboratory.path("leaf.key"))
        self.calls = 0

    def call(self, number, is_branded, signed_for=SUBSCRIBER, age=0):
        """A call that is answered, and has a brand at the phone or none; the token may be for another one, or old."""
        names = {} if is_branded else {"name": NO_BRAND}
        self.place(number, signed_for, age, "signed/carrier.xml", f"{'answered' if is_branded else 'unbranded'}/pbx.xml",
                   **names)

    def rejected(self, number, signed_for):
        """A call with a token for another one that the gateway rejects with 438; no PBX is there to get it."""
        self.place(number, signed_for, 0, "signed/carrier-rejected.xml")

    def place(self, number, signed_for, age, *scripts, **names):
        token = self.signer.token(number, int(time.time()) - age, signed_for.lstrip("+"), self.address)
        identity = f"{token};info=<{self.address}>;alg=ES256;ppt=shaken"
        self.calls += 1
        self.run.place(step(*scripts, identity=identity, **names), number, os.path.join(self.folder, str(self.calls)))


class ListHost(Host):
    """A host with a signed list of authorities and the certificate of its signer; of the path `held` it sends half."""

    def __init__(self, administrator, authority):
        super().__init__()
        self.held = None
        token = Signer(administrator.path("leaf.key")).signed(
            {"alg": "ES256", "typ": "JWT", "x5u": self.origin + "/signer.pem"},
            {"version": "1.0", "sequence": 1, "exp": int(time.time()) + 86400, "trustList": [authority]})
        self.bodies = {"/ca-list": json.dumps({"status": "success", "caList": token}).encode(),
                       "/signer.pem": administrator.signer_chain().encode()}

    def way_of(self, path):
        return "half" if path == self.held else "good"


def prepared(testbed, folder, run, mode, regime="", trunk=""):
    """A gateway whose usual trunk needs full attestation for a brand, with signatures in this mode; its carrier.

    `regime` and `trunk` are further lines of both.
    """
    laboratory = Laboratory(os.path.join(folder, "laboratory")).make()
    laboratory.write("lab.yaml", laboratory.read("lab.yaml") + regime)
    testbed.gateway.stop()
    testbed.write_config(trunk=f"    policy: strict\n    signatures: {mode}\n{trunk}",
                         more=laboratory.configuration() + "\n")
    testbed.start_gateway()
    return Carrier(laboratory, folder, run)


def usual(testbed, address=ADDRESS):
    # Another laboratory has the same address and other keys. A situation that failed may have no signer there.
    remove(testbed, address)
    testbed.gateway.stop()
    testbed.write_config()
    testbed.start_gateway()


def remove(testbed, *words):
    """Removes a signer or a list, if it is stored."""
    subprocess.run([testbed.herald_binary, "trust", "remove", *words, "--config", testbed.config], capture_output=True,
                   timeout=60, check=False)


def known_signers(testbed, count):
    wait_until(lambda: testbed.metric("herald_trust_signers") == count, 60,
               f"the gateway does not know {count} signers")


def listed(testbed, *words):
    return testbed.command(testbed.herald_binary, "trust", "list", "--wide", *words, "--config", testbed.config)


def shown(testbed, address):
    return testbed.command(testbed.herald_binary, "trust", "show", address, "--config", testbed.config)


def fetches(testbed, result):
    """How many fetches of certificates ended so."""
    return testbed.metric(f'herald_trust_fetches_total{{result="{result}"}}') or 0


def latest(testbed, number):
    return ([call for call in testbed.calls() if call.get("caller") == number] or [{}])[-1]


def field(call, name):
    # testbed.calls() has names without underscores.
    return call.get(name.replace("_", ""))


def expect(call, **fields):
    found = {name: field(call, name) for name in fields}
    if found != fields:
        raise Failed(f"the call has {found} instead of {fields}")


def signed_call(testbed, folder, run):
    """A signature brands a call once its signer is imported, beside the running gateway, also after a kill."""
    number = brand(1084)
    carrier = prepared(testbed, folder, run, "decide")
    try:
        carrier.call(number, is_branded=False)
        wait_until(lambda: ADDRESS in listed(testbed, "--unknown"), 60, "the unknown signer is not listed")
        wait_until(lambda: field(latest(testbed, number), "signature_causes") == ["signer_not_yet_known"], 60,
                   "the call has not the cause of an unknown signer")
        carrier.laboratory.install(testbed.herald_binary, testbed.config)
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        wait_until(lambda: field(latest(testbed, number), "signature") == "passed", 60, "no call passed")
        expect(latest(testbed, number), attestation="A", provider="700B", signature_counts=True, diversions=0)
        story = testbed.command(testbed.herald_binary, "calls", "show", field(latest(testbed, number), "call_id"),
                                "--config", testbed.config)
        for part in ("700B", "Bench leaf", "checked here"):
            if part not in story:
                raise Failed(f"herald calls show has no '{part}':\n{story}")
        carrier.call(number, is_branded=False, signed_for=OTHER)
        carrier.call(number, is_branded=False, age=7200)
        wait_until(lambda: field(latest(testbed, number), "signature_causes") == ["stale"], 60, "no call is stale")
        expect(latest(testbed, number), signature="failed", decision="failed_verification", signature_code=403)
        if testbed.metric('herald_trust_causes_total{cause="called_mismatch"}') != 1:
            raise Failed("the token for another number is not counted")
        testbed.gateway.kill()
        testbed.start_gateway()
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN * 2)
    finally:
        usual(testbed)


def shadowed_call(testbed, folder, run):
    """In shadow a verdict is reported, and the call stays as the trunk's word makes it."""
    number = brand(1085)
    carrier = prepared(testbed, folder, run, "shadow")
    try:
        carrier.laboratory.install(testbed.herald_binary, testbed.config)
        known_signers(testbed, 1)
        carrier.call(number, is_branded=False)
        wait_until(lambda: field(latest(testbed, number), "signature") == "passed", 60, "no call passed")
        expect(latest(testbed, number), decision="policy", signature_counts=False)
        if testbed.metric("herald_trust_changed_calls_total") != 1:
            raise Failed("the call that the signature would have branded is not counted")
    finally:
        usual(testbed)


def rejected_call(testbed, folder, run):
    """With on_failed: reject a call with another call's token ends with 438, and every view of it has the cause."""
    number = brand(1097)
    carrier = prepared(testbed, folder, run, "decide", trunk="    on_failed: reject\n")
    try:
        carrier.laboratory.install(testbed.herald_binary, testbed.config)
        known_signers(testbed, 1)
        carrier.rejected(number, OTHER)
        wait_until(lambda: field(latest(testbed, number), "outcome"), 60, "the rejected call is not recorded")
        expect(latest(testbed, number), signature="failed", signature_causes=["called_mismatch"], signature_code=438,
               signature_rejected=True, decision="failed_verification")
        identifier = field(latest(testbed, number), "call_id")
        views = {
            "calls --outcome failed": (["calls", "--outcome", "failed", "--json"], (number, '"sip_status":438')),
            "calls show": (["calls", "show", identifier], (
                "rejected for its signature", "called_mismatch", "dest lacks the called number", "438")),
            "status": (["status"], ("a call of trunk carrier got 438", "the signature of the call failed"))}
        for name, (words, parts) in views.items():
            # Long lines are wrapped at white space. Rejections are counted for some seconds before they are shown.
            wait_until(lambda words=words, parts=parts: all(part in " ".join(testbed.command(
                testbed.herald_binary, *words, "--config", testbed.config).split()) for part in parts), 60,
                f"herald {name} has not all of {parts}")
        wait_until(lambda: "the signature of the call failed" in testbed.gateway.tail(100_000), 60,
                   "the log has no line of the rejected call")
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN)
    finally:
        usual(testbed)


def wrong_clock(testbed, folder, run):
    """With a clock 90 s behind its signers a gateway calls no token false for long, brands none, and doctor has the offset."""
    number = brand(1065)
    carrier = prepared(testbed, folder, run, "decide")
    # One worker needs eight signers with another time, and each has its own.
    count = 24
    try:
        testbed.command(testbed.herald_binary, "trust", "import", *signer_chains.write(
            carrier.laboratory, count, os.path.join(folder, "chains")), "--config", testbed.config)
        known_signers(testbed, count)
        carrier.address = signer_chains.address(0)
        carrier.call(number, is_branded=False, age=-90)
        wait_until(lambda: field(latest(testbed, number), "signature_causes") == ["future"], 60, "no call is early")
        expect(latest(testbed, number), signature="failed", decision="failed_verification")
        for place in range(1, count):
            carrier.address = signer_chains.address(place)
            carrier.call(number, is_branded=False, age=-90)
        wait_until(lambda: field(latest(testbed, number), "signature_causes") == ["clock_suspect"], 60,
                   "the clock is not suspect")
        expect(latest(testbed, number), signature="none", decision="policy")
        offset = testbed.metric("herald_trust_clock_offset_seconds")
        if not offset or not 80 <= offset <= 90:
            raise Failed(f"the clock is {offset} s behind by the metric")
        found = subprocess.run([testbed.herald_binary, "doctor", "--config", testbed.config], capture_output=True, text=True,
                               timeout=60, check=False).stdout
        if "s behind the tokens of most signers" not in " ".join(found.split()):
            raise Failed(f"doctor has not found the clock:\n{found}")
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN)
    finally:
        for place in range(count):
            remove(testbed, signer_chains.address(place))
        usual(testbed)


def fetched_signer(testbed, folder, run):
    """With fetch: on the certificate of an unknown signer is fetched beside its call, once, and is kept over a kill."""
    number = brand(1086)
    carrier = prepared(testbed, folder, run, "decide", FETCHING)
    host = CertificateHost(carrier.laboratory, way="503")
    carrier.address = host.address
    try:
        carrier.call(number, is_branded=False)
        wait_until(lambda: fetches(testbed, "status") == 1, 60, "nothing is fetched")
        wait_until(lambda: "certificate_unreachable" in listed(testbed, "--unknown"), 60, "the failed fetch is not listed")
        host.way = "good"

        def fetched():
            # A pause of 30 s runs, spread by a fifth; the first call after it fetches again.
            if fetches(testbed, "fetched") == 1:
                return True
            carrier.call(number, is_branded=False)
            return False
        wait_until(fetched, 120, "the certificate is not fetched after the pause")
        known_signers(testbed, 1)
        if len(host.requests) != 2:
            raise Failed(f"the host got {len(host.requests)} requests instead of 2")
        carrier.call(number, is_branded=True)
        why = shown(testbed, host.address)
        for part in ("fetched", "kept until", "next fetch"):
            if part not in why:
                raise Failed(f"herald trust show has no '{part}':\n{why}")
        host.way = "503"
        testbed.gateway.kill()
        testbed.start_gateway()
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN * 2)
        if len(host.requests) != 2:
            raise Failed("a known certificate is fetched again")
    finally:
        host.stop()
        usual(testbed, host.address)


def fetched_list(testbed, folder, run):
    """A kill in the middle of a list, or of the certificate of its signer, leaves nothing; the next start has both."""
    number = brand(1092)
    administrator = Laboratory(os.path.join(folder, "administrator"), code="900A").make()
    # The authority of the call's signer comes by the list alone.
    authority = Laboratory(os.path.join(folder, "laboratory")).make()
    host = ListHost(administrator, authority.read("root.pem"))
    authority.write("administrator.pem", administrator.read("root.pem"))
    authority.write("lab.yaml", authority.read("lab.yaml").replace("[root.pem]", f'["{host.origin}/ca-list"]') + (
        "list_root: administrator.pem\n" + REACHABLE))
    testbed.gateway.stop()
    testbed.write_config(trunk="    policy: strict\n    signatures: decide\n", more=authority.configuration() + "\n")
    authority.install(testbed.herald_binary, testbed.config)
    carrier = Carrier(authority, folder, run)
    try:
        for path in host.bodies:
            host.held = path
            testbed.start_gateway()
            wait_until(lambda path=path: host.holds(path), 60, f"{path} is not fetched")
            testbed.gateway.kill()
            text = listed(testbed)
            if "sequence" in text or "/signer.pem" in text or "not fetched yet" not in text:
                raise Failed(f"the half of {path} has left something:\n{text}")
        host.held = None
        testbed.start_gateway()
        wait_until(lambda: testbed.metric('herald_trust_list_fetches_total{result="fetched"}') == 1, 60,
                   "the list is not fetched after the kills")
        # The signer of the call and that of the list.
        known_signers(testbed, 2)
        if "list of authorities of regime lab: 1, sequence 1, until" not in listed(testbed):
            raise Failed(f"the list is not in force:\n{listed(testbed)}")
        carrier.call(number, is_branded=True)
        testbed.gateway.kill()
        fetched = len(host.requests)
        testbed.start_gateway()
        known_signers(testbed, 2)
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN * 2)
        if len(host.requests) != fetched:
            raise Failed("a list in force is fetched again at a start")
    finally:
        host.stop()
        if not testbed.gateway.is_running():
            testbed.start_gateway()
        remove(testbed, "--list", "lab")
        remove(testbed, host.origin + "/signer.pem")
        usual(testbed)


def printed(title):
    """The first commands behind a title of docs/trust.md."""
    with open(os.path.join(ROOT, "docs", "trust.md"), encoding="utf-8") as page:
        return page.read().split(f"### {title}\n", 1)[1].split("```sh\n", 1)[1].split("```", 1)[0]


def run_block(block, folder):
    os.makedirs(folder, exist_ok=True)
    return subprocess.run(
        ["sh", "-e", "-c", block], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def documented_login(_, folder, __):
    """The commands of docs/trust.md write the login of the administrator, and keep the former one if it is refused."""
    received, status = [], [200]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            body = json.dumps({"status": "success", "accessToken": f"t0ken.{len(received)}", "refreshToken": "other"}).encode()
            self.send_response(status[0])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    block = printed("Renew a login").replace(
        "https://authenticate-api.iconectiv.com", f"http://127.0.0.1:{server.server_port}")
    os.makedirs(folder, exist_ok=True)
    user, login = {"userId": "carrier-api", "password": "p\"ss"}, os.path.join(folder, "sti-pa-login")
    with open(os.path.join(folder, "sti-pa-user.json"), "w", encoding="ascii") as file:
        json.dump(user, file)
    try:
        for code, ends, text in ((200, 0, "t0ken.1"), (200, 0, "t0ken.2"), (401, 1, "t0ken.2")):
            status[0] = code
            done = run_block(block, folder)
            with open(login, encoding="ascii") as file:
                found = (done.returncode, file.read().strip(), os.stat(login).st_mode & 0o777)
            if found != (ends, text, 0o600):
                raise Failed(f"after {code} there is {found}: {done.stderr[-500:]}")
        if received != [("/api/v1/auth/login", user)] * 3:
            raise Failed(f"the host got {received}")
    finally:
        server.shutdown()
        server.server_close()


def documented_laboratory(testbed, folder, _):
    """The commands of docs/trust.md make a root, a regime and a signer that counts under it."""
    done = run_block(printed("Make a laboratory"), folder)
    if done.returncode:
        raise Failed(f"the block ended with {done.returncode}: {done.stderr[-500:]}")
    config = os.path.join(folder, "herald.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"gateway: {{state: {folder}, runtime: {folder}}}\n"
                   "listen: [{name: sip, address: '127.0.0.1:5060'}]\n"
                   "trunks: [{name: carrier, sources: ['127.0.0.1:5061'], next_hop: '127.0.0.1:5061', region: US}]\n"
                   "pbx: [{name: office, address: '127.0.0.1:5062', sources: ['127.0.0.1:5062']}]\n"
                   "trust: {regimes: [lab.yaml]}\n")
    text = testbed.command(
        testbed.herald_binary, "trust", "import", os.path.join(folder, "chain.pem"), "--config", config)
    if "CN=Signer 700B: lab passed" not in text:
        raise Failed(f"the signer does not count:\n{text}")


SIGNED = (
    ("the laboratory of docs/trust.md", documented_laboratory),
    ("the login of docs/trust.md", documented_login),
    ("a signed call", signed_call),
    ("a signed call in shadow", shadowed_call),
    ("a signed call is rejected", rejected_call),
    ("signed calls and a wrong clock", wrong_clock),
    ("a signer is fetched", fetched_signer),
    ("a list is fetched, over two kills", fetched_list),
)
