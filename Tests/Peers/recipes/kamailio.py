# SPDX-License-Identifier: Apache-2.0
"""docs/recipes/kamailio.md: behind Herald as the registrar, and in front of it as the dispatcher."""
import time

from ..readme_site import EDGE, PBX, readme_configuration
from ..recipe_peers import Kamailio, printed, within
from .asterisk import running, usual_files

PAGE = "docs/recipes/kamailio.md"
SCRIPT, LIST = "/etc/kamailio/kamailio.cfg", "/etc/kamailio/dispatcher.list"
GATEWAY = "/etc/herald/herald.yaml"


def behind(test):
    test.site.write(SCRIPT, printed(PAGE, SCRIPT, "behind Herald"))
    test.site.restart_gateway(readme_configuration() + printed(PAGE, GATEWAY, "the subscriber"))
    kamailio = Kamailio("kamailio", test.folder)
    try:
        time.sleep(0.5)
        with test.phone(PBX) as phone:
            test.usual_calls(phone, PBX)
    finally:
        kamailio.stop()
        test.site.restart_gateway(readme_configuration())


def configuration_with_edge():
    """README's configuration with the trunk of the page in place of its own."""
    text = readme_configuration()
    start, end = text.index("trunks:"), text.index("pbx:")
    return text[:start] + printed(PAGE, GATEWAY, "the trunk") + text[end:]


def in_front(test):
    files = usual_files()
    files["pjsip.conf"] = within(files["pjsip.conf"], "carrier", "identify", printed(PAGE, "/etc/asterisk/pjsip.conf"))
    test.site.write(SCRIPT, printed(PAGE, SCRIPT, "in front of Herald"))
    test.site.write(LIST, printed(PAGE, LIST))
    test.site.restart_gateway(configuration_with_edge())
    kamailio = Kamailio("kamailio", test.folder)
    try:
        with running(test, 22, files), test.phone(PBX) as phone:
            time.sleep(1)
            test.usual_calls(phone, PBX, remote=EDGE)
            bypass(test, phone)
    finally:
        kamailio.stop()
        if not test.site.gateway.is_running():
            test.site.start_gateway()
        test.site.restart_gateway(readme_configuration())


def bypass(test, phone):
    """Without Herald the next calls reach the PBX, unbranded; with it they are branded again."""
    test.site.gateway.stop()
    for which in ("first", "second"):
        phone.forget()
        started = time.monotonic()
        trouble = test.went(test.carrier("answered/carrier.xml", remote=EDGE))
        test.check(f"without Herald the {which} call reaches the phone", trouble is None, trouble)
        test.report.check(f"{test.name}: it is unbranded", phone.received("From").startswith('"WIRELESS CALLER" <sip:')
                          and not phone.received("Call-Info"), phone.received("From"))
        print(f"      the {which} call took {time.monotonic() - started:.1f} s", flush=True)
    test.site.start_gateway()
    time.sleep(12)
    test.call("with Herald again the call passes it", "answered/carrier.xml", phone, remote=EDGE)
