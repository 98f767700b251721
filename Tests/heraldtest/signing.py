# SPDX-License-Identifier: Apache-2.0
"""Signers of a laboratory and the tokens of their calls: one shaken with attestation A a call (RFC 8588)."""
import base64
import ctypes
import json
import os
import shutil
import subprocess
import time
import uuid

from . import probes
from .child import Failed

CALLED = "12025550142"
# The series of calls with a good signature and attestation A.
PASSED = 'herald_trust_calls_total{result="passed_a"}'
# As long as the longest published addresses, so that a token has 487 bytes.
ADDRESS = "https://certificates.sti.bench.example/providers/700B/shaken/2026/1f8c40d2b7e94a35a1d06c528b3e7f019c4d.pem"
# The longest that a regime can have: a round under emulation lasts longer than the usual minute.
REGIME = "# A laboratory of tests and benches.\nanchors: [root.pem]\ntnauthlist: spc\nmax_age: 1h\n"
CONFIGURATION = """\
[req]
distinguished_name = subject
prompt = no
[subject]
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[intermediate]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
1.3.6.1.5.5.7.1.26 = ASN1:SEQUENCE:authority
[authority]
code = EXPLICIT:0,IA5STRING:{code}
"""
KEYS = {"p256": ("ec", "-pkeyopt", "ec_paramgen_curve:P-256"), "rsa": ("rsa:2048",)}


class Laboratory:
    """A root, an intermediate and a signer that it has certified; all in one folder."""

    def __init__(self, folder, admin=None, address=ADDRESS, code="700B", authority="p256"):
        """`admin`: the address of the gateway that counts the calls, for `passed`.

        `address`: that of the signer's certificate; `code`: its provider code; `authority`: the kind of its issuers' keys.
        """
        self.folder, self.admin, self.address, self.code, self.authority = folder, admin, address, code, authority
        # What a call of the carrier has beside its other header fields; SIPp puts the token in.
        self.identity = f"\nIdentity: [field1];info=<{address}>;alg=ES256;ppt=shaken"
        self.regime, self.chain, self.calls = (self.path(name) for name in ("lab.yaml", "chain.pem", "signed.csv"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self):
        """Makes new keys and certificates, and the regime that trusts them."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.write("openssl.cnf", CONFIGURATION.format(code=self.code))
        self.certify("root", keys=self.authority)
        self.certify("intermediate", "root", self.authority)
        self.certify("leaf", "intermediate")
        self.write("lab.yaml", REGIME)
        self.bundle()
        return self

    def bundle(self):
        """Writes the chain for an import, with the address of the signer's certificate."""
        self.write("chain.pem", f"x5u: {self.address}\n" + self.signer_chain())

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    def signer_chain(self):
        """The certificate of its signer and the one above it, in PEM."""
        return self.read("leaf.pem") + self.read("intermediate.pem")

    def certify(self, name, issuer=None, keys="p256"):
        """A key and its certificate, by an earlier one or by itself."""
        command = ["openssl", "req", "-x509", "-new", "-newkey", *KEYS[keys], "-noenc", "-config", self.path("openssl.cnf"),
                   "-extensions", name, "-subj", f"/O=Bench {self.code}/CN=Bench {name}", "-sha256", "-days", "30",
                   "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.pem")]
        if issuer:
            command += ["-CA", self.path(f"{issuer}.pem"), "-CAkey", self.path(f"{issuer}.key")]
        run(command)

    def configuration(self):
        """The section of a gateway that trusts the signer."""
        return f"trust: {{regimes: [{self.regime}]}}"

    def install(self, binary, configuration):
        """Takes the signer into the state folder of a gateway, before its start."""
        run([binary, "trust", "import", self.chain, "--config", configuration])

    def sign(self, callers, calls):
        """SIPp's file of the first `calls` numbers of another, each with a token of this moment; its path."""
        signer = Signer(self.path("leaf.key"))
        with open(callers, encoding="ascii") as file:
            head, *numbers = file.read().split()
        with open(self.calls, "w", encoding="ascii") as file:
            file.write(head + "\n")
            for place in range(calls):
                # A field ends with a semicolon, which no token has.
                number = numbers[place % len(numbers)]
                file.write(f"{number};{signer.token(number, int(time.time()), address=self.address)}\n")
        return self.calls

    def passed(self):
        """The calls whose signature the gateway has found good since its start."""
        return probes.metrics(self.admin, 10).get(PASSED, 0)


class Signer:
    """Signs tokens with a P-256 key by libcrypto, in some tens of microseconds each."""

    def __init__(self, path):
        self.library = ctypes.CDLL("libcrypto.so.3")
        for name, result, *arguments in (
                ("BIO_new_file", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p),
                ("BIO_free", ctypes.c_int, ctypes.c_void_p),
                ("PEM_read_bio_PrivateKey", ctypes.c_void_p, *[ctypes.c_void_p] * 4),
                ("EVP_sha256", ctypes.c_void_p),
                ("EVP_MD_CTX_new", ctypes.c_void_p),
                ("EVP_MD_CTX_free", None, ctypes.c_void_p),
                ("EVP_DigestSignInit", ctypes.c_int, *[ctypes.c_void_p] * 5),
                ("EVP_DigestSign", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t),
                 ctypes.c_char_p, ctypes.c_size_t)):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        file = self.library.BIO_new_file(path.encode(), b"r")
        self.key = file and self.library.PEM_read_bio_PrivateKey(file, None, None, None)
        if not self.key:
            raise Failed(f"libcrypto cannot read the key in {path}")
        self.library.BIO_free(file)

    def token(self, caller, issued, called=CALLED, address=ADDRESS):
        """A token of a call from `caller` to `called` at `issued`, seconds since 1970. No two are the same."""
        head = {"alg": "ES256", "ppt": "shaken", "typ": "passport", "x5u": address}
        claims = {"attest": "A", "dest": {"tn": [called]}, "iat": issued, "orig": {"tn": caller.lstrip("+")},
                  "origid": str(uuid.uuid4())}
        return self.signed(head, claims)

    def signed(self, head, claims):
        """A token of any header and claims."""
        signed = b".".join(base64url(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
        return (signed + b"." + base64url(raw(self.signature(signed)))).decode()

    def signature(self, data):
        """The ECDSA signature over data, in DER."""
        context, size = self.library.EVP_MD_CTX_new(), ctypes.c_size_t(128)
        found = ctypes.create_string_buffer(size.value)
        try:
            if (self.library.EVP_DigestSignInit(context, None, self.library.EVP_sha256(), None, self.key) != 1
                    or self.library.EVP_DigestSign(context, found, ctypes.byref(size), data, len(data)) != 1):
                raise Failed("libcrypto does not sign")
        finally:
            self.library.EVP_MD_CTX_free(context)
        return found.raw[:size.value]


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def raw(der):
    """The 64 bytes of a signature in a token (RFC 7518 §3.4), of the two numbers that DER has."""
    first, second = der[4:4 + der[3]], der[6 + der[3]:]
    return b"".join(int.from_bytes(number, "big").to_bytes(32, "big") for number in (first, second))


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
