# SPDX-License-Identifier: Apache-2.0
"""Verdicts on signed calls by a door (STI-VS), in both shapes, beside a call of the same trunk, with reloads and a kill."""
import http.client
import json
import os
import time

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from heraldtest.signing import ADDRESS, Laboratory
from .control import expect
from .signed import OTHER, Carrier, field, known_signers, latest, usual
from .situations import SEEN, SUBSCRIBER, brand

# Of the door; no other part of a run has it.
PORT = 15083
CALLER = brand(1066)
BASE, OTHER_BASE = "/StirShakenWeb/resources", "/sti"
SHAPES = ("ATIS-1000082", "3GPP Annex V")
PASSED, FAILED, NONE = "TN-Validation-Passed", "TN-Validation-Failed", "No-TN-Validation"


class Client:
    """A session border controller with one connection, which it keeps."""

    def __init__(self, base=BASE):
        self.base, self.count = base, 0
        self.connection = http.client.HTTPConnection(HOST, PORT, timeout=30)

    def post(self, body, path=None, method="POST"):
        """(status, JSON of the response); the response reflects the identifier of the request."""
        self.count += 1
        identifier = f"request-{self.count}"
        self.connection.request(method, path or f"{self.base}/v1/verification", body, {
            "Content-Type": "application/json", "X-RequestID": identifier})
        response = self.connection.getresponse()
        content = response.read()
        if response.headers["X-RequestID"] != identifier:
            raise Failed(f"the response has the identifier {response.headers['X-RequestID']} instead of {identifier}")
        return response.status, json.loads(content)

    def ask(self, shape, token, caller=CALLER, called=SUBSCRIBER):
        """(verstat, code of the reason, cause); token None as in a heartbeat."""
        members = {"from": {"tn": caller}, "to": {"tn": [called]}, "time": int(time.time())}
        path = None
        if token:
            identity = f"{token};info=<{ADDRESS}>;alg=ES256;ppt=shaken"
            members["identity" if shape == SHAPES[0] else "identityHeader"] = identity
        if shape == SHAPES[1]:
            members["to"]["tn"], path = called, "/stir/v1/verification"
        status, content = self.post(json.dumps({"verificationRequest": members}), path)
        if status != 200:
            raise Failed(f"{shape}: {status} {content}")
        return verdict(shape if token else None, content["verificationResponse"])


def verdict(shape, response):
    """(verstat, code, cause) of a response in one shape; without a shape that of a heartbeat, which has both verstats."""
    if shape == SHAPES[1]:
        result = response["verifyResults"][0]["verifyResult"]
        if (result["status"] == "pass") != (response["verstatValue"] == PASSED):
            raise Failed(f"result and verstat differ: {response}")
        found = response["verstatValue"], result.get("reasonCode"), result.get("reasonDescription")
    else:
        reasons = {key.lower(): value for key, value in response.items() if key.lower().startswith("reason")}
        found = response["verstat"], reasons.get("reasoncode"), reasons.get("reasondesc")
        if not shape and response != {"verstat": NONE, "verstatValue": NONE}:
            raise Failed(f"a heartbeat gets {response}")
    # Oracle takes a code in quotes for none.
    if found[1] is not None and type(found[1]) is not int:
        raise Failed(f"the code is no number: {response}")
    return *found[:2], found[2].partition(":")[0] if found[2] else None


def expect_verdict(client, wanted, token, **parties):
    """Compares the verdict in both shapes."""
    for shape in SHAPES:
        if (found := client.ask(shape, token, **parties)) != wanted:
            raise Failed(f"{shape}: {found} instead of {wanted}")


def configuration(laboratory, door=""):
    return laboratory.configuration() + (
        f"\ndoors:\n  verification: {{listen: '{HOST}:{PORT}', trunk: carrier, {door}}}\n")


def reload(testbed, laboratory, door):
    testbed.write_config(trunk="    signatures: decide\n", more=configuration(laboratory, door))
    expect(testbed, 0, "", "reload")


def expect_errors(client):
    """A broken request has an error in both shapes, and the connection stays."""
    for wanted, body in (((400, "SVC4006"), "{"), ((400, "SVC4001"), '{"verificationRequest": {}}')):
        status, content = client.post(body)
        found = status, content["requestError"]["serviceException"]["messageId"]
        if found != wanted or not content["error"]:
            raise Failed(f"{body} gets {status} {content}, expected {wanted}")
    status, content = client.post("", path="/other")
    if status != 404 or content["requestError"]["serviceException"]["messageId"] != "SVC4003":
        raise Failed(f"another path gets {status} {content}")


def verdicts(testbed, folder, run):
    """The codes of both shapes for each cause, before and after an import; the call of the same caller has the same verdict."""
    laboratory = Laboratory(os.path.join(folder, "laboratory")).make()
    carrier = Carrier(laboratory, folder, run)

    def token(caller=CALLER, called=SUBSCRIBER, age=0):
        return carrier.signer.token(caller, int(time.time()) - age, called.lstrip("+"))

    testbed.gateway.stop()
    testbed.write_config(trunk="    signatures: decide\n", more=configuration(laboratory, f"base: {BASE}"))
    testbed.start_gateway()
    try:
        client = Client()
        client.ask(SHAPES[0], None)
        expect_verdict(client, (NONE, 436, "signer_not_yet_known"), token())
        wait_until(lambda: ADDRESS in expect(testbed, 0, "", "trust", "list", "--unknown", "--wide"), 60,
                   "the unknown signer of a request is not listed")
        laboratory.install(testbed.herald_binary, testbed.config)
        known_signers(testbed, 1)
        good = token()
        expect_verdict(client, (PASSED, None, None), good)
        expect_verdict(client, (NONE, 403, "stale"), token(age=7200))
        expect_verdict(client, (NONE, 438, "called_mismatch"), token(), called=OTHER)
        expect_verdict(client, (NONE, 438, "caller_mismatch"), token(), caller=brand(1001))
        head, claims, _ = good.split(".")
        _, _, other = token().split(".")
        expect_verdict(client, (FAILED, 438, "bad_signature"), f"{head}.{claims}.{other}")
        expect_errors(client)
        for result, count in (("passed", 2), ("stale", 2), ("bad_signature", 2), ("unsigned", 1), ("invalid", 3)):
            series = f'herald_door_requests_total{{door="verification",result="{result}"}}'
            if testbed.metric(series) != count:
                raise Failed(f"{series} is {testbed.metric(series)} instead of {count}")
        carrier.call(CALLER, is_branded=True)
        wait_until(lambda: field(latest(testbed, CALLER), "signature") == "passed", 60, "the call did not pass")
        reloads_and_kill(testbed, laboratory, token)
        run.expect_events(testbed, CALLER, SEEN)
    finally:
        usual(testbed)


def reloads_and_kill(testbed, laboratory, token):
    """A reload moves the door and changes the spelling of a reason; after a kill the signer is known still."""
    reload(testbed, laboratory, f"base: {OTHER_BASE}, reason_keys: lower")

    def has_moved():
        try:
            return Client(OTHER_BASE).post("{}")[0] == 400
        except (OSError, http.client.HTTPException):
            return False
    wait_until(has_moved, 30, f"the door is not at {OTHER_BASE}")
    client = Client(OTHER_BASE)
    if (status := client.post("{}", f"{BASE}/v1/verification")[0]) != 404:
        raise Failed(f"the path of before the reload gets {status}")
    expect_verdict(client, (PASSED, None, None), token())
    members = {"from": {"tn": CALLER}, "to": {"tn": SUBSCRIBER}, "time": int(time.time()), "identity": "none"}
    response = client.post(json.dumps({"verificationRequest": members}))[1]["verificationResponse"]
    if (response.get("reasoncode"), response["verstat"]) != (438, NONE):
        raise Failed(f"a broken token gets {response}")
    testbed.gateway.kill()
    testbed.start_gateway()
    known_signers(testbed, 1)
    client = Client(OTHER_BASE)
    expect_verdict(client, (PASSED, None, None), token())
    expect_verdict(client, (NONE, 403, "stale"), token(age=7200))


VERDICTS = (
    ("verdicts by a door", verdicts),
)
