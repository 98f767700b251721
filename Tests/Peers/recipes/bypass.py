# SPDX-License-Identifier: Apache-2.0
"""docs/network.md: Asterisk without Herald."""
import re

from heraldtest.child import wait_until

from ..readme_site import CALLER, HERALD, PBX
from ..recipe_peers import printed, within
from .asterisk import PJSIP, running, usual_files

PAGE = "docs/network.md"


def herald_state(asterisk):
    """The state of the contact that is Herald: Avail, Unavail or another word."""
    found = re.search(rf"herald/sip:{re.escape(HERALD)}\S*\s+\S+\s+(\w+)", asterisk.cli("pjsip show contacts"))
    return found.group(1) if found else "none"


def recipe(test):
    files = usual_files()
    files["pjsip.conf"] = within(files["pjsip.conf"], "carrier", "identify", printed(PAGE, PJSIP, "in [carrier]"))
    files["pjsip.conf"] += "\n" + printed(PAGE, PJSIP, "added")
    dialplan = files["extensions.conf"]
    files["extensions.conf"] = dialplan[:dialplan.index("[from-desk]")] + printed(PAGE, "/etc/asterisk/extensions.conf")
    with running(test, 22, files) as asterisk, test.phone(PBX) as phone:
        wait_until(lambda: herald_state(asterisk) == "Avail", 15, "Asterisk does not reach Herald")
        test.usual_calls(phone, PBX)
        test.site.gateway.stop()
        try:
            wait_until(lambda: herald_state(asterisk) == "Unavail", 15, "Asterisk does not see that Herald is down")
            phone.forget()
            trouble = test.went(test.carrier("answered/carrier.xml", remote=PBX))
            test.check("without Herald a call of the carrier reaches the phone", trouble is None, trouble)
            test.check("it is unbranded", phone.received("From").startswith('"WIRELESS CALLER" <sip:'),
                       phone.received("From"))
            trouble = test.dial(phone, f"sip:{CALLER}@{PBX}")
            test.check("without Herald the phone calls the carrier", trouble is None, trouble)
        finally:
            test.site.start_gateway()
        wait_until(lambda: herald_state(asterisk) == "Avail", 15, "Asterisk does not see Herald again")
        test.outbound(phone, f"sip:{CALLER}@{PBX}")
