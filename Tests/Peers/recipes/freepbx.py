# SPDX-License-Identifier: Apache-2.0
"""docs/recipes/freepbx.md: the generated files, and a dialplan with the interfaces of FreePBX's around them."""
from ..readme_site import PBX
from ..recipe_peers import printed
from .asterisk import awkward_reason, running

PAGE = "docs/recipes/freepbx.md"
# The parts of FreePBX that the page relies on: the transport, its include files, one extension, and three contexts.
PJSIP = """\
[0.0.0.0-udp]
type=transport
protocol=udp
bind=192.0.2.20:5060

#include pjsip.endpoint.conf
#include pjsip.aor.conf
#include pjsip.identify.conf

[desk]
type=endpoint
context=from-internal
disallow=all
allow=alaw
direct_media=no
aors=desk
auth=desk
[desk]
type=auth
auth_type=userpass
username=desk
password=change-this
[desk]
type=aor
max_contacts=1
remove_existing=yes
"""
DIALPLAN = """\
#include extensions_custom.conf

[func-set-sipheader]
exten => s,1,Set(HASH(__HEADERS,${ARG1})=${ARG2})
 same => n,Return()

[func-apply-sipheaders]
exten => s,1,Set(NAME=${HASHKEYS(HEADERS)})
 same => n,GotoIf($["${NAME}" = ""]?done)
 same => n,Set(PJSIP_HEADER(add,${NAME})=${HASH(HEADERS,${NAME})})
 same => n(done),Return()

[from-pstn]
exten => _[+0-9].,1,Dial(PJSIP/desk,30,b(func-apply-sipheaders^s^1))
 same => n,Hangup(${HANGUPCAUSE})

[from-internal]
exten => _[+0-9].,1,Dial(PJSIP/${EXTEN}@carrier,60)
 same => n,Hangup(${HANGUPCAUSE})
"""


def recipe(test):
    files = {name: printed(PAGE, f"/etc/asterisk/{name}") for name in (
        "pjsip.endpoint.conf", "pjsip.aor.conf", "pjsip.identify.conf", "extensions_custom.conf")}
    with running(test, 22, {"pjsip.conf": PJSIP, "extensions.conf": DIALPLAN, **files}) as asterisk:
        shown = asterisk.cli("dialplan show from-herald")
        test.check("Asterisk reads the three lines of the dialplan",
                   all(f"{number}. {name}(" in shown for number, name in enumerate(("GotoIf", "Gosub", "Goto"), 1)), shown)
        with test.phone(PBX) as phone:
            test.usual_calls(phone, PBX)
            awkward_reason(test, phone)
