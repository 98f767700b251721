#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A phone on PJSIP without a sound card: registers, sends 180 to each INVITE and then one status.

Prints one JSON object a line: registrations, incoming INVITEs with the name they show, states of calls.
"""
import argparse
import json
import os
import re
import sys
import time

import pjsua2 as pj


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pbx", required=True)
    parser.add_argument("--bind", required=True)
    parser.add_argument("--answer", type=int, default=200, help="the status behind 180; 180 lets it ring")
    parser.add_argument("--seconds", type=float, default=30)
    return parser.parse_args()


def report(**fields):
    print(json.dumps(fields, ensure_ascii=False), flush=True)


def status(code):
    parameters = pj.CallOpParam()
    parameters.statusCode = code
    return parameters


def shown_name(message):
    """The quoted display name of From, or None."""
    found = re.search(r'^From:\s*"((?:[^"\\]|\\.)*)"', message.partition("\r\n\r\n")[0], re.I | re.M)
    return re.sub(r"\\(.)", r"\1", found.group(1)) if found else None


class PhoneCall(pj.Call):
    def onCallState(self, _):
        info = self.getInfo()
        report(event="state", call=info.callIdString, state=info.stateText, code=info.lastStatusCode)
        if info.state == pj.PJSIP_INV_STATE_DISCONNECTED:
            CALLS.pop(info.id, None)


class PhoneAccount(pj.Account):
    def onRegState(self, parameters):
        report(event="registered", code=parameters.code)

    def onIncomingCall(self, parameters):
        call = CALLS[parameters.callId] = PhoneCall(self, parameters.callId)
        report(event="incoming", display=shown_name(parameters.rdata.wholeMsg))
        call.answer(status(180))
        if OPTIONS.answer != 180:
            call.answer(status(OPTIONS.answer))


def endpoint():
    started = pj.Endpoint()
    started.libCreate()
    configuration = pj.EpConfig()
    configuration.logConfig.level = configuration.logConfig.consoleLevel = 0
    configuration.uaConfig.threadCnt = 0
    configuration.uaConfig.mainThreadOnly = True
    started.libInit(configuration)
    started.audDevManager().setNullDev()
    transport = pj.TransportConfig()
    transport.port, transport.boundAddress = 5060, OPTIONS.bind
    started.transportCreate(pj.PJSIP_TRANSPORT_UDP, transport)
    started.libStart()
    return started


def account():
    configuration = pj.AccountConfig()
    configuration.idUri = f'"Desk 200" <sip:phone@{OPTIONS.pbx}>'
    configuration.regConfig.registrarUri = f"sip:{OPTIONS.pbx}"
    configuration.sipConfig.authCreds.append(pj.AuthCredInfo("digest", "*", "phone", 0, "lab-phone-pw"))
    configuration.mediaConfig.transportConfig.boundAddress = OPTIONS.bind
    registered = PhoneAccount()
    registered.create(configuration)
    return registered


def handle_events(phone, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        phone.libHandleEvents(20)


CALLS = {}
OPTIONS = options()
PHONE = endpoint()
ACCOUNT = account()
try:
    handle_events(PHONE, OPTIONS.seconds)
finally:
    PHONE.hangupAllCalls()
    handle_events(PHONE, 1)
    # The destructors of the wrappers run after the library is gone, and abort.
    sys.stdout.flush()
    os._exit(0)
