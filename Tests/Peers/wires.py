# SPDX-License-Identifier: Apache-2.0
"""Carrier and PBX in namespaces of their own, each joined to the gateway's by a lossy wire."""
import os
import re
import subprocess
import sys

from heraldtest.child import Child, Failed, wait_until

HERE = os.environ.get("NETNS", "")
CARRIER, TOWARDS_CARRIER = "10.71.1.1", "10.71.1.2"
PBX, TOWARDS_PBX = "10.71.2.1", "10.71.2.2"


class Wires:
    """Two wires of wire.py; the last line of each has its counts."""

    def __init__(self, folder, options):
        self.carrier, self.pbx = HERE + "-carrier", HERE + "-pbx"
        self.children = []
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wire.py")
        ends = ((self.carrier, CARRIER, TOWARDS_CARRIER), (self.pbx, PBX, TOWARDS_PBX))
        try:
            for seed, (space, far, near) in enumerate(ends, start=1):
                ip("netns", "add", space)
                ip("-n", space, "link", "set", "lo", "up")
                child = Child(f"wire{seed}", [
                    sys.executable, script, "--a", f"{space},far,{far}/24", "--b", f"{HERE},near{seed},{near}/24",
                    "--queue", "20000", "--seed", str(seed), *options], folder)
                self.children.append(child)
                wait_until(lambda child=child: "wire up" in child.tail() or not child.is_running(), 10, "no wire")
                if not child.is_running():
                    raise Failed(f"the wire broke:\n{child.tail()}")
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Ends both wires and returns their counts: carried, lost, doubled."""
        for child in self.children:
            child.stop()
        for space in (self.carrier, self.pbx):
            subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL, check=False)
        return [" ".join(re.findall(r"\w+=\d+", child.tail(1))) for child in self.children]


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)
