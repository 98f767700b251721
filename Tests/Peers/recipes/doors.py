# SPDX-License-Identifier: Apache-2.0
"""Doors: an Asterisk that has the carrier's calls itself and asks by HTTP; a Kamailio that asks by a redirection."""
import os
import time

from ..readme_site import BRAND, CALLER, CARRIER, EDGE, PBX, readme_configuration
from ..recipe_peers import HERE, Kamailio, printed, within
from .asterisk import running, usual_files
from .calls import SCENARIOS

PAGE = "docs/doors.md"
REDIRECT_PAGE = "docs/doors-redirect.md"
SCRIPT = "/etc/kamailio/kamailio.cfg"
USUAL = "answered/carrier.xml"
NAMELESS, PRESENT = "+61491570999", "WIRELESS CALLER"
MODULES = "load=res_curl.so\nload=func_curl.so\nload=func_uri.so\n"


def files_of_page():
    """The usual files, with the carrier as the trunk and the dialplan of the page."""
    files = usual_files()
    files["pjsip.conf"] = within(files["pjsip.conf"], "carrier", "identify", f"match={CARRIER}")
    files["extensions.conf"] = "[from-carrier]\n" + printed(PAGE, "/etc/asterisk/extensions.conf")
    with open(os.path.join(HERE, "asterisk", "modules.conf"), encoding="utf-8") as modules:
        files["modules.conf"] = modules.read() + MODULES
    return files


def private(test):
    """The usual call with a Privacy header beside its From, and without P-Asserted-Identity."""
    with open(os.path.join(SCENARIOS, USUAL), encoding="utf-8") as file:
        lines = file.read().split("\n")
    asserted = [number for number, line in enumerate(lines) if line.startswith("P-Asserted-Identity:")]
    for number in asserted:
        lines[number] = "Privacy: id"
    path = os.path.join(test.folder, "private.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return path


def shows(test, phone, what, caller, name, script=USUAL, remote=PBX):
    """A call past Herald shows the phone this name."""
    phone.forget()
    trouble = test.went(test.carrier(script, caller=caller, remote=remote))
    test.check(f"{what}: the call reaches the phone past Herald", trouble is None, trouble)
    sender = phone.received("From")
    test.check(f"{what}: the phone shows {name}", sender.startswith(f'"{name}" <sip:'), sender)


def recipe(test):
    # Client and Herald are on one machine here, and a request has the address that it goes to.
    door = printed(PAGE, "/etc/herald/herald.yaml").replace("[192.0.2.20]", "[192.0.2.20, 192.0.2.10]")
    test.site.restart_gateway(readme_configuration() + door)
    before = len(test.site.calls())
    try:
        with running(test, 22, files_of_page()), test.phone(PBX) as phone:
            shows(test, phone, "a brand", CALLER, BRAND)
            shows(test, phone, "no brand", NAMELESS, PRESENT)
            shows(test, phone, "a caller who asks for privacy", CALLER, PRESENT, private(test))
            test.check("no request is a call of the ledger", len(test.site.calls()) == before)
            test.site.gateway.stop()
            shows(test, phone, "no Herald", CALLER, PRESENT)
    finally:
        if not test.site.gateway.is_running():
            test.site.start_gateway()
        test.site.restart_gateway(readme_configuration())


def redirect(test):
    """Kamailio between carrier and PBX sends each INVITE to Herald first."""
    files = usual_files()
    files["pjsip.conf"] = within(files["pjsip.conf"], "carrier", "identify", f"match={EDGE}")
    test.site.write(SCRIPT, printed(REDIRECT_PAGE, SCRIPT))
    test.site.restart_gateway(readme_configuration() + printed(REDIRECT_PAGE, "/etc/herald/herald.yaml"))
    before = len(test.site.calls())
    kamailio = Kamailio("kamailio", test.folder)
    try:
        with running(test, 22, files), test.phone(PBX) as phone:
            time.sleep(0.5)
            shows(test, phone, "a brand", CALLER, BRAND, remote=EDGE)
            shows(test, phone, "no brand", NAMELESS, PRESENT, remote=EDGE)
            shows(test, phone, "a caller who asks for privacy", CALLER, PRESENT, private(test), remote=EDGE)
            status = test.site.run("herald", "status")
            test.check("herald status counts by result", all(
                word in status for word in ("1 matched", "1 no_match", "1 privacy")), status)
            test.check("no request is a call of the ledger", len(test.site.calls()) == before)
            test.site.gateway.stop()
            shows(test, phone, "no Herald", CALLER, PRESENT, remote=EDGE)
    finally:
        kamailio.stop()
        if not test.site.gateway.is_running():
            test.site.start_gateway()
        test.site.restart_gateway(readme_configuration())
