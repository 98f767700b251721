# SPDX-License-Identifier: Apache-2.0
"""Many signers of a laboratory: copies of its certificate with other serial numbers, subjects and provider codes."""
import base64
import os
import re
import string

from heraldtest.child import Failed
from heraldtest.signing import ADDRESS, Signer

DIGITS = string.digits + string.ascii_uppercase
# Chains in one file.
A_FILE = 1000


def der(pem):
    """The bytes of a PEM text's first block."""
    return base64.b64decode(re.search("-----BEGIN [A-Z ]+-----(.*?)-----END", pem, re.S)[1])


def pem(data):
    text = base64.b64encode(data).decode()
    lines = "\n".join(text[place:place + 64] for place in range(0, len(text), 64))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n"


def element(data, start=0):
    """(start of the contents, end) of the DER element at a place."""
    first = data[start + 1]
    if first < 0x80:
        return start + 2, start + 2 + first
    size = int.from_bytes(data[start + 2:start + 2 + (first & 0x7F)], "big")
    return start + 2 + (first & 0x7F), start + 2 + (first & 0x7F) + size


def wrapped(tag, contents):
    """A DER element."""
    size = len(contents)
    length = bytes([size]) if size < 0x80 else bytes([0x82]) + size.to_bytes(2, "big")
    return bytes([tag]) + length + contents


def code(number):
    """A provider code of four characters."""
    text = ""
    for _ in range(4):
        number, digit = divmod(number, len(DIGITS))
        text = DIGITS[digit] + text
    return text


class Template:
    """The certificate of a laboratory's signer, of which it makes further ones."""

    def __init__(self, laboratory):
        whole = der(laboratory.read("leaf.pem"))
        start, _ = element(whole)
        _, end = element(whole, start)
        self.body = whole[start:end]
        self.algorithm = whole[end:element(whole, end)[1]]
        self.signer = Signer(laboratory.path("intermediate.key"))
        self.old = laboratory.code.encode()
        serial, last = element(self.body, element(self.body, element(self.body)[0])[1])
        self.serial = last - 3
        if last - serial < 8 or self.body.count(b"\x16\x04" + self.old) != 1 or b"Bench leaf" not in self.body:
            raise Failed("the laboratory's certificate has another form than this expects")

    def certificate(self, number):
        """The certificate of one signer, in DER."""
        name = code(number).encode()
        body = self.body.replace(b"\x16\x04" + self.old, b"\x16\x04" + name).replace(b"Bench leaf", b"Bench " + name)
        body = body[:self.serial] + number.to_bytes(3, "big") + body[self.serial + 3:]
        return wrapped(0x30, body + self.algorithm + wrapped(0x03, b"\0" + self.signer.signature(body)))


def address(number):
    """The address of a signer's certificate, as long as the longest published ones."""
    return ADDRESS[:-len("00000000.pem")] + f"{number:08x}.pem"


def write(laboratory, count, folder):
    """Writes the chains of `count` signers into files for an import; their paths."""
    template, issuer, paths = Template(laboratory), laboratory.read("intermediate.pem"), []
    os.makedirs(folder, exist_ok=True)
    for first in range(0, count, A_FILE):
        paths.append(os.path.join(folder, f"chains-{first}.pem"))
        with open(paths[-1], "w", encoding="ascii") as file:
            for number in range(first, min(first + A_FILE, count)):
                file.write(f"x5u: {address(number)}\n{pem(template.certificate(number))}{issuer}")
    return paths
