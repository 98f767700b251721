# SPDX-License-Identifier: Apache-2.0
"""Addresses and ports of a run on loopback."""

HOST = "127.0.0.1"
UNTRUSTED_TRUNK = "127.0.0.3"
# The trusted trunk also sends from this address, from any port.
OTHER_TRUNK_HOST = "127.0.0.4"


class Ports:
    """Fixed ports of one run, so that every scenario can be repeated by hand."""

    def __init__(self, first):
        self.trunk = first + 60
        self.gateway = first + 70
        self.pbx = first + 80
        self.directory = first + 90
        self.admin = first + 95
        self.logos = first + 96
