# SPDX-License-Identifier: Apache-2.0
"""Certificate hosts that fail, and a kill in the middle of a fetch, through a gateway with fetch: on.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import time

from heraldtest.child import Failed, wait_until
from .fetched_hosts import FETCHING, SHAKEN, CertificateHost
from .signed import fetches, field, known_signers, latest, listed, prepared, shown, usual
from .situations import SEEN, brand

# The hosts: how each responds, the label of its fetch, and a part of the reason in `herald trust show`.
FAULTS = (
    ("refuses", "network", "the connection failed"),
    ("silent", "timeout", "no complete response within"),
    ("slow", "timeout", "no complete response within"),
    ("500", "status", "the server returned 500"),
    ("redirect", "redirect", "it redirects (302), which is not followed"),
    ("page", "not_pem", "something else than certificates in PEM"),
    ("huge", "too_large", "it is larger than 65536 bytes"),
)


def faulty_hosts(testbed, folder, run):
    """Seven hosts fail at once: each call goes on in its usual time, each reason is shown, and a good host comes through."""
    number = brand(1063)
    carrier = prepared(testbed, folder, run, "decide", FETCHING)
    hosts = [CertificateHost(address=f"127.0.0.{60 + place}", way=way) for place, (way, _, _) in enumerate(FAULTS)]
    good = CertificateHost(carrier.laboratory, address="127.0.0.80")
    carrier.address = hosts[0].address
    try:
        carrier.call(number, is_branded=False)
        began = time.monotonic()
        carrier.call(number, is_branded=False)
        usual_seconds = time.monotonic() - began
        for host in hosts:
            carrier.address, began = host.address, time.monotonic()
            carrier.call(number, is_branded=False)
            # A fetch has five seconds: a call that waited for one would take as long.
            if time.monotonic() - began > usual_seconds + 3:
                raise Failed(f"the call of {host.way} took {time.monotonic() - began:.1f} s, usually {usual_seconds:.1f}")
        results = [result for _, result, _ in FAULTS]
        wait_until(lambda: all(fetches(testbed, result) == results.count(result) for result in results), 60,
                   "the fetches have not ended as expected")
        for host, (_, _, reason) in zip(hosts, FAULTS):
            # A result is counted before it is stored.
            wait_until(lambda: reason in shown(testbed, host.address), 10, f"herald trust show has no '{reason}'")
        carrier.address = good.address
        carrier.call(number, is_branded=False)
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        wait_until(lambda: field(latest(testbed, number), "signature") == "passed", 60, "no call passed")
        run.expect_events(testbed, number, SEEN)
    finally:
        for host in (*hosts, good):
            host.stop()
        usual(testbed, good.address)


def killed_fetch(testbed, folder, run):
    """A kill in the middle of a certificate leaves no signer; the next call has it fetched."""
    number = brand(1064)
    carrier = prepared(testbed, folder, run, "decide", FETCHING)
    host = CertificateHost(carrier.laboratory, address="127.0.0.80", way="half")
    carrier.address = host.address
    try:
        carrier.call(number, is_branded=False)
        wait_until(lambda: host.holds(SHAKEN), 60, "nothing is fetched")
        testbed.gateway.kill()
        if "no signers" not in listed(testbed):
            raise Failed(f"half a certificate has left a signer:\n{listed(testbed)}")
        host.way = "good"
        testbed.start_gateway()
        carrier.call(number, is_branded=False)
        known_signers(testbed, 1)
        carrier.call(number, is_branded=True)
        run.expect_events(testbed, number, SEEN)
    finally:
        host.stop()
        if not testbed.gateway.is_running():
            testbed.start_gateway()
        usual(testbed, host.address)


HOSTS = (
    ("certificate hosts that fail", faulty_hosts),
    ("a certificate is fetched, over a kill", killed_fetch),
)
