# SPDX-License-Identifier: Apache-2.0
"""docs/trunks.md: a trunk that registers, and Asterisk behind NAT."""
import os
import re
import shutil
from contextlib import contextmanager

from heraldtest.child import Child, Failed, wait_until

from ..readme_site import CARRIER, PBX, SECOND_CARRIER
from ..recipe_peers import HERE, printed, within
from .asterisk import PJSIP, running, usual_files

PAGE = "docs/trunks.md"


@contextmanager
def registrar(test, use_path):
    """A Kamailio as the carrier's registrar."""
    path = os.path.join(HERE, "recipes", "registrar.cfg")
    name = "with-path" if use_path else "without-path"
    folder = os.path.join(test.folder, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    child = Child(name, ["kamailio", "-DD", "-E", "-f", path, "-Y", folder, "-P", f"{folder}/pid", "-m", "64", "-M", "8",
                         "-A", f"USE_PATH={use_path}"], folder)
    try:
        yield child
    finally:
        child.stop()


def is_registered(asterisk):
    try:
        return bool(wait_until(lambda: "Registered" in asterisk.cli("pjsip show registrations").replace(
            "Unregistered", ""), 20, ""))
    except Failed:
        return False


def registration(test):
    files = usual_files()
    files["pjsip.conf"] += "\n" + printed(PAGE, PJSIP, "added")
    with registrar(test, 1), running(test, 22, files) as asterisk:
        test.check("Asterisk registers through Herald", is_registered(asterisk),
                   asterisk.cli("pjsip show registrations"))
        with test.phone(PBX) as phone:
            test.call("a call to the registered contact passes Herald", "answered/carrier.xml", phone, remote=CARRIER,
                      address=SECOND_CARRIER)
            test.is_branded(phone)
            test.call("the phone hangs up", "hung-up-by-pbx/carrier.xml", phone, hang_up=True, remote=CARRIER,
                      address=SECOND_CARRIER)
    with registrar(test, 0), running(test, 22, files) as asterisk:
        test.check("Asterisk registers where the registrar ignores Path", is_registered(asterisk))
        try:
            wait_until(lambda: "the registrar ignores Path (RFC 3327)" in test.site.gateway.tail(50), 5, "")
            warned = True
        except Failed:
            warned = False
        test.check("Herald's log names the cause", warned, test.site.gateway.tail(5))


def nat(test):
    cure = printed(PAGE, PJSIP, "in [transport-udp]")
    trap = re.sub(r"(?m)^local_net=.*\n", "", cure) + "local_net=192.0.2.0/24\n"
    for name, lines, expected in (("with Herald in local_net", trap, PBX), ("as printed", cure, "198.51.100.77")):
        files = usual_files()
        files["pjsip.conf"] = within(files["pjsip.conf"], "transport-udp", "transport", lines)
        with running(test, 22, files), test.phone(PBX) as phone:
            sipp = test.carrier("answered/carrier.xml")
            trouble = test.went(sipp)
            with open(sipp.log.removesuffix(".calls") + ".messages", encoding="utf-8", errors="replace") as file:
                found = re.findall(r"(?m)^c=IN IP4 (\S+)\r?$", file.read().split("SIP/2.0 200", 1)[-1])
            test.check(f"{name}: the carrier gets the address {expected} for media",
                       trouble is None and found[:1] == [expected], f"{trouble}, {found}")
            phone.forget()
