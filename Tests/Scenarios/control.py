# SPDX-License-Identifier: Apache-2.0
"""The commands for a running gateway: herald status, reload, drain, log-level, targets, simulate and doctor."""
import json
import os
import subprocess
import urllib.error
import urllib.request

from heraldtest.addresses import HOST
from heraldtest.child import Failed
from .situations import SEEN, answered, brand, step


def herald(testbed, *arguments, text=None):
    """(exit status, output, errors) of a command."""
    done = subprocess.run(
        [testbed.herald_binary, *arguments, "--config", testbed.config], capture_output=True, text=True, input=text,
        timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def expect(testbed, status, words, *arguments):
    found, output, errors = herald(testbed, *arguments)
    if found != status or words not in output + errors:
        raise Failed(f"herald {' '.join(arguments)}: expected {status} and '{words}', found {found}:\n{output}{errors}")
    return output


def readiness(testbed):
    try:
        with urllib.request.urlopen(f"http://{HOST}:{testbed.ports.admin}/readyz", timeout=30) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def drained(testbed, folder, run):
    """A drained gateway rejects new calls and shows it; after --off calls are branded again."""
    expect(testbed, 0, "draining: new calls get 503 except emergency calls; 0 calls in progress", "drain")
    expect(testbed, 0, "ready     no: the gateway drains", "status")
    if readiness(testbed) != 503 or testbed.metric("herald_draining") != 1:
        raise Failed("a drained gateway is ready, or its metric says so")
    run.place(step("refused-for-now/carrier.xml"), brand(1075), os.path.join(folder, "drained"))
    expect(testbed, 0, "0 calls in progress", "drain", "--wait", "--timeout", "5s")
    expect(testbed, 0, "not draining: new calls are taken", "drain", "--off")
    if readiness(testbed) != 200:
        raise Failed("the gateway is not ready after drain --off")
    run.place(answered(), brand(1075), os.path.join(folder, "taken"))
    run.expect_events(testbed, brand(1075), SEEN)
    state = json.loads(expect(testbed, 0, "", "status", "--json"))
    if state["branded_calls"] < 1 or state["gateway"]["draining"] or "obstacle" in state:
        raise Failed(f"status --json: {state}")


def ordered_level(testbed, folder, run):
    """The log level changes and returns by order; a disabled target gets no call, over a restart too, until it is enabled."""
    expect(testbed, 0, "debug until ", "log-level", "debug", "--for", "10m")
    expect(testbed, 0, "info\n", "log-level", "--reset")
    expect(testbed, 1, "is no level of the log; choose one of trace, debug", "log-level", "loud")
    office = f"pbx office {HOST}:{run.ports.pbx}"
    expect(testbed, 0, "disabled", "targets", "disable", office)
    run.place(step("refused-for-now/carrier.xml"), brand(1061), os.path.join(folder, "disabled"))
    testbed.gateway.stop()
    # It is not ready without the only target of its PBX.
    testbed.start_gateway(wait_for_sync=False)
    expect(testbed, 0, "is disabled", "status")
    run.place(step("refused-for-now/carrier.xml"), brand(1061), os.path.join(folder, "after-restart"))
    expect(testbed, 0, " up ", "targets", "enable", office)
    run.place(answered(), brand(1075), os.path.join(folder, "enabled"))
    counts = {target["group"]: (target["calls"], target["calls_sent"]) for target in map(
        json.loads, expect(testbed, 0, "", "targets", "--json").splitlines())}
    if counts["pbx office"] != (0, 1) or counts["trunk carrier"] != (0, 0):
        raise Failed(f"calls by target: {counts}")
    expect(testbed, 1, "no target is named nowhere; there are ", "targets", "disable", "nowhere")


def ordered_reload(testbed, folder, run):
    """A reload reports a file with a problem with exit status 1, and the old configuration stays."""
    expect(testbed, 0, "the configuration is in force", "reload")
    with open(testbed.config, encoding="utf-8") as file:
        text = file.read()
    good = testbed.config + ".good"
    with open(good, "w", encoding="utf-8") as file:
        file.write(text)
    try:
        with open(testbed.config, "a", encoding="utf-8") as file:
            file.write("helth: {interval: 5s}\n")
        done = subprocess.run(
            [testbed.herald_binary, "reload", "--config", good], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 1 or "helth" not in done.stderr or "keeps the old one" not in done.stderr:
            raise Failed(f"herald reload of a bad file: {done.returncode}\n{done.stdout}{done.stderr}")
    finally:
        os.replace(good, testbed.config)
    expect(testbed, 0, "the configuration is in force", "reload")


def simulated(testbed, folder, run):
    """A pasted INVITE is branded as a call of that number is; the doctor finds the running gateway."""
    invite = (f"INVITE sip:+61255502000@{HOST} SIP/2.0\nVia: SIP/2.0/UDP {HOST}:{run.ports.trunk};branch=z9hG4bKsim\n"
              f"Max-Forwards: 70\nFrom: <sip:{brand(1075)}@{HOST}>;tag=1\nTo: <sip:+61255502000@{HOST}>\n"
              f"Call-ID: simulated\nCSeq: 1 INVITE\n\n")
    status, output, errors = herald(testbed, "simulate", "-", "--trunk", "carrier", text=invite)
    if status != 0 or "decision    show the brand" not in output or "\n+ From: " not in output:
        raise Failed(f"herald simulate: {status}\n{output}{errors}")
    _, output, _ = herald(testbed, "doctor")
    if "ok      directory" not in output or "in use, by the running gateway" not in output:
        raise Failed(f"herald doctor:\n{output}")


CONTROL = (
    ("herald drain and status", drained),
    ("herald log-level and targets", ordered_level),
    ("herald reload", ordered_reload),
    ("herald simulate and doctor", simulated),
)
