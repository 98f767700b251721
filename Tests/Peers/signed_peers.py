# SPDX-License-Identifier: Apache-2.0
"""Peers of signed calls: secsipidx and an Asterisk that sign, an Asterisk that verifies, and a carrier with any Identity."""
import email.utils
import functools
import http.server
import os
import re
import socket
import subprocess
import threading
import time
import uuid

from heraldtest.child import Failed
from heraldtest.gateway import CARRIER, GATEWAY, PBX
from .recipe_peers import Asterisk

CERTIFICATES = ("127.0.0.60", 8000)
# Asterisk takes 15 s by default; RFC 8224 recommends 60.
FRESH = 60
MODULES = ("res_clioriginate", "app_originate", "app_verbose", "res_curl", "res_crypto", "res_stir_shaken",
           "res_pjsip_stir_shaken")
SDP = "v=0\r\no=- 1 1 IN IP4 {0}\r\ns=-\r\nc=IN IP4 {0}\r\nt=0 0\r\nm=audio 6000 RTP/AVP 0\r\n"
ENDPOINT = """\
[global]
type=global
endpoint_identifier_order=ip

[udp]
type=transport
protocol=udp
bind={address}:5060

[gateway]
type=endpoint
context=from-gateway
transport=udp
aors=gateway
disallow=all
allow=ulaw
trust_id_inbound=yes
stir_shaken_profile={profile}

[gateway]
type=aor
contact=sip:{gateway}:5060

[gateway]
type=identify
endpoint=gateway
match={gateway}/32
"""
SIGNING = """\
[attestation]
private_key_file=/lab-signer/etc/leaf.key
public_cert_url={address}
attest_level=A

{numbers}
[sign]
type=profile
endpoint_behavior=attest
"""
VERIFYING = """\
[verification]
ca_file=/lab/etc/roots.pem
cert_cache_dir=/lab/var/cache
failure_action=continue
relax_x5u_port_scheme_restrictions=yes
x5u_deny=0.0.0.0/0.0.0.0
x5u_permit=127.0.0.0/8
max_iat_age={fresh}
max_date_header_age={fresh}

[check]
type=profile
endpoint_behavior=verify
"""
# A value of Asterisk's log; the dialplan prints one a line, since a value may have commas and spaces.
SEEN = {
    "count": "STIR_SHAKEN(count)", "result": "STIR_SHAKEN(0,verify_result)", "attest": "STIR_SHAKEN(0,attestation)",
    "first": "PJSIP_HEADER(read,Identity,1)", "second": "PJSIP_HEADER(read,Identity,2)",
    "indicator": "PJSIP_HEADER(read,P-Attestation-Indicator)", "trust": "PJSIP_HEADER(read,X-Herald-Trust)",
    "pai": "PJSIP_HEADER(read,P-Asserted-Identity)", "from": "PJSIP_HEADER(read,From)",
}


def with_modules():
    """The usual modules of Asterisk, with those that sign and verify."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "asterisk", "modules.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return text + "".join(f"load={name}.so\n" for name in MODULES if f"load={name}.so" not in text)


class SigningAsterisk(Asterisk):
    """The carrier's Asterisk, which signs calls of its numbers: {number: attestation}.

    `others`: {number: laboratory} of numbers that another laboratory has certified.
    """

    def __init__(self, folder, laboratory, numbers, others):
        sections = "".join(
            f"[{number.lstrip('+')}]\ntype=tn\nattest_level={level}\n"
            + (f"private_key_file=/lab-signer/etc/{others[number].code}.key\npublic_cert_url={others[number].address}\n"
               if number in others else "") + "\n" for number, level in numbers.items())
        super().__init__(22, folder, {
            **{f"{other.code}.key": other.read("leaf.key") for other in others.values()},
            "modules.conf": with_modules(), "leaf.key": laboratory.read("leaf.key"),
            "pjsip.conf": ENDPOINT.format(address=CARRIER, gateway=GATEWAY, profile="sign"),
            "stir_shaken.conf": SIGNING.format(address=laboratory.address, numbers=sections),
            "extensions.conf": "".join(
                f"[from{number}]\nexten => _[+0-9].,1,Set(CALLERID(all)=<{number}>)\n"
                " same => n,Dial(PJSIP/${EXTEN}@gateway,10)\n" for number in numbers),
        }, instance="signer")

    def place(self, caller, called):
        """One call, which ends when the callee hangs up."""
        self.cli(f"channel originate Local/{called}@from{caller} application Wait 3")


class VerifyingAsterisk(Asterisk):
    """The PBX: it verifies, prints what it sees of each call, and answers for a moment."""

    def __init__(self, folder, roots):
        lines = "".join(f" same => n,Verbose(1,SEEN ${{CALLID}} {name} ${{{value}}})\n" for name, value in SEEN.items())
        super().__init__(22, folder, {
            "modules.conf": with_modules(), "roots.pem": roots,
            "pjsip.conf": ENDPOINT.format(address=PBX, gateway=GATEWAY, profile="check"),
            "stir_shaken.conf": VERIFYING.format(fresh=FRESH),
            "extensions.conf": "[from-gateway]\nexten => _[+0-9].,1,Set(CALLID=${PJSIP_HEADER(read,Call-ID)})\n"
            + lines + " same => n,Answer()\n same => n,Wait(0.2)\n same => n,Hangup()\n",
        })

    def seen(self):
        """{Call-ID: {name: value}} of its calls, in their order."""
        calls = {}
        for line in self.log():
            if found := re.search(r"SEEN (\S+) (\w+) ?(.*)$", line):
                calls.setdefault(found[1], {})[found[2]] = found[3]
        return calls


class CertificateHost:
    """Serves files of a folder; the peers fetch from it, the gateway does not."""

    def __init__(self, files):
        """`files`: {path: text}"""
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(handler):
                self.asked.append(handler.path)
                body = files.get(handler.path, "").encode()
                handler.send_response(200 if body else 404)
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(handler, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(CERTIFICATES, Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def secsipidx(key, *, caller, called, address, attest="A", issued=None):
    """A value of Identity that secsipidx signs; `issued`: seconds since 1970 instead of now."""
    # Version 1.2.0 takes -iat with -sign alone, which prints the token without its parameters.
    command = ["secsipidx", *(["-sign", "-iat", str(issued)] if issued else ["-sign-full"]), "-k", key,
               "-o", caller.lstrip("+"), "-d", called.lstrip("+"), "-a", attest, "-x5u", address, "-orig-id", str(uuid.uuid4())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    value = done.stdout.strip()
    if done.returncode or value.count(".") < 2:
        raise Failed(f"secsipidx ended with {done.returncode}: {done.stdout}{done.stderr}")
    return value + (f";info=<{address}>;alg=ES256;ppt=shaken" if issued else "")


class Caller:
    """The carrier's side of calls with any header fields, one after another, by UDP."""

    PORT = 5070

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((CARRIER, self.PORT))
        self.socket.settimeout(0.5)

    def call(self, caller, called, fields=()):
        """(Call-ID, final status, the responses) of a call with further header fields; the callee ends it."""
        name = uuid.uuid4().hex
        uri = f"sip:{called}@{GATEWAY}"
        message = functools.partial(self.message, name, caller, called)
        body = SDP.format(CARRIER)
        invite = message("INVITE", uri, 1, (
            f"Date: {email.utils.formatdate(usegmt=True)}", *fields, f"Contact: <sip:carrier@{CARRIER}:{self.PORT}>",
            "Content-Type: application/sdp"), body)
        responses = self.responses(invite, name)
        status = int(responses[-1].split()[1])
        to = next(line for line in responses[-1].split("\r\n") if line.lower().startswith("to:"))
        if status >= 300:
            self.send(message("ACK", uri, 1, to=to))
        else:
            contact = re.search(r"(?im)^Contact: *<([^>]+)>", responses[-1])[1]
            routes = [f"Route: {value}" for value in reversed(re.findall(r"(?im)^Record-Route: *(.*?)\r?$", responses[-1]))]
            self.send(message("ACK", contact, 1, routes, to=to, branch="ack"))
            self.end(name)
        return name, status, responses

    def message(self, name, caller, called, method, uri, sequence, fields=(), body="", to=None, branch=""):
        return "\r\n".join([
            f"{method} {uri} SIP/2.0", f"Via: SIP/2.0/UDP {CARRIER}:{self.PORT};branch=z9hG4bK{name}{branch}",
            "Max-Forwards: 70", f"From: <sip:{caller}@carrier.example>;tag=c{name[:8]}", to or f"To: <sip:{called}@{GATEWAY}>",
            f"Call-ID: {name}", f"CSeq: {sequence} {method}", *fields, f"Content-Length: {len(body)}", "", body])

    def send(self, message):
        self.socket.sendto(message.encode(), (GATEWAY, 5060))

    def received(self, name):
        """The next message of the call; None after half a second without one."""
        try:
            text = self.socket.recv(65536).decode("utf-8", "replace")
        except TimeoutError:
            return None
        return text if name in text else None

    def responses(self, invite, name, seconds=20):
        """The responses to an INVITE, the last one final."""
        found, end = [], time.monotonic() + seconds
        self.send(invite)
        while time.monotonic() < end:
            text = self.received(name)
            if text and text.startswith("SIP/2.0 "):
                found.append(text)
                if int(text.split()[1]) >= 200:
                    return found
            elif not found:
                self.send(invite)
        raise Failed(f"no final response to the call {name} within {seconds} s: {found}")

    def end(self, name, seconds=10):
        """Waits for the callee's BYE and responds to it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = self.received(name)
            if text and text.startswith("BYE "):
                head = [line for line in text.split("\r\n") if re.match(r"(?i)(via|from|to|call-id|cseq):", line)]
                self.send("\r\n".join(["SIP/2.0 200 OK", *head, "Content-Length: 0", "", ""]))
                return
        raise Failed(f"the callee did not end the call {name}")

    def stop(self):
        self.socket.close()
