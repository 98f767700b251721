# SPDX-License-Identifier: Apache-2.0
"""Situations of running a gateway: targets that fail, limits, reload, drain, several workers, commands.

Each is a function of the testbed, a folder for its files and the runner; each leaves the usual gateway behind.
"""
import os
import time

from heraldtest.addresses import HOST, OTHER_TRUNK_HOST
from heraldtest.child import Failed, tail, wait_until
from . import (accepted_streams, adoption, calling_names, certificate_hosts, clock, commands, control, customers, doctor,
               door_outcomes, doors, monitoring, push_burst, redirections, replay, shared_ledger, shadow, signed, state,
               syncing, takeover, testcalls, torture, tracing, verdicts, wrong_peers)
from .situations import ALL_BRANDED, CAUSE_16, GAVE_UP, SEEN, answered, both, brand, step


# A port without a listener, for a target that never responds.
NOBODY = 15089

# Bytes of a receive buffer (UDPSocket.wantedBuffer).
WANTED_BUFFER = 8 << 20


def restart(testbed, **changes):
    """Ends the gateway and starts it with another configuration."""
    testbed.gateway.stop()
    testbed.write_config(**changes)
    testbed.start_gateway()


def usual(testbed):
    restart(testbed)


def target_up(testbed, port):
    """Whether calls go to a port of the PBX's."""
    return testbed.metric(f'herald_target_up{{kind="pbx",peer="office",address="{HOST}:{port}",transport="udp"}}')


def silent_target(testbed, folder, run):
    """A silent target is abandoned after health.patience, and later calls do not go there."""
    targets = (f"    targets:\n      - {{address: {HOST}:{NOBODY}, priority: 0}}\n"
               f"      - {{address: {HOST}:{run.ports.pbx}, priority: 1}}\n    probe: false\n")
    restart(testbed, pbx=targets, more="health:\n  patience: 3s\n")
    try:
        with wrong_peers.silence():
            for number in range(3):
                run.place(answered(), brand(1047), os.path.join(folder, str(number)))
        run.expect_events(testbed, brand(1047), SEEN * 3)
        down = target_up(testbed, NOBODY)
        failovers = testbed.metric("herald_failovers_total")
        if (down, failovers) != (0.0, 2.0):
            raise Failed(f"expected 2 failovers and the target down after them, found {failovers} and up={down}")
    finally:
        usual(testbed)


def probed_target(testbed, folder, run):
    """OPTIONS detect a dead target before any call does; calls go to the other one."""
    targets = (f"    targets:\n      - {{address: {HOST}:{NOBODY}, priority: 0}}\n"
               f"      - {{address: {HOST}:{run.ports.pbx}, priority: 1}}\n    probe: true\n")
    health = "health:\n  interval: 200ms\n  timeout: 100ms\n  down_after: 2\n  up_after: 1\n"
    restart(testbed, pbx=targets, more=health)
    try:
        wait_until(lambda: target_up(testbed, NOBODY) == 0, 60, "the dead target was not noticed")
        # The other target responds to no OPTIONS either while no scenario runs there; then no target is up.
        wait_until(lambda: target_up(testbed, run.ports.pbx) == 0, 60, "the silent PBX was not noticed")
        run.place(step("refused-for-now/carrier.xml"), brand(1048), os.path.join(folder, "down"))
        run.expect_events(testbed, brand(1048), ("error FAILED",))
    finally:
        usual(testbed)


def limits(testbed, folder, run):
    """Calls above a trunk's limit get 503 with Retry-After; calls below it are branded."""
    restart(testbed, trunk="    limits: {calls: 1}\n")
    try:
        long = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), brand(1049), os.path.join(folder, "long"))
        try:
            wait_until(lambda: testbed.metric("herald_calls_in_progress") == 1, 60, "the call does not count")
            run.place(step("refused-for-now/carrier.xml", host=OTHER_TRUNK_HOST), brand(1049),
                      os.path.join(folder, "refused"))
            if not long.finish():
                raise Failed("the call in progress suffered\n" + long.trouble())
        finally:
            long.stop()
        run.place(answered(), brand(1049), os.path.join(folder, "after"))
    finally:
        usual(testbed)


def reload(testbed, folder, run):
    """SIGHUP changes trunks and policy between two messages: a call in progress does not notice."""
    call = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), brand(1037), os.path.join(folder, "long"))
    try:
        wait_until(lambda: testbed.metric("herald_calls_in_progress") >= 1, 60, "the call did not begin")
        testbed.write_config(trunk="    carrier_name: keep\n")
        testbed.reload()
        testbed.write_config(trunk="    carrier_nam: keep\n")
        testbed.reload()
        if "carrier_name" not in tail(testbed.gateway.log, 3):
            raise Failed("the refused file is not explained:\n" + testbed.gateway.tail(3))
        testbed.write_config(
            trunk="    carrier_name: keep\n", more="timers: {t1: 600ms}\nlimits: {max_transactions: 5000}\n")
        testbed.reload()
        wait_until(lambda: "limits.max_transactions" in tail(testbed.gateway.log, 3), 60,
                   "what waits for a restart is not named")
        if not call.finish():
            raise Failed("the call in progress suffered\n" + call.trouble())
    finally:
        call.stop()
    # The last good file applies: names as the carrier sent them, logo and reason added.
    run.place(answered(name="WIRELESS CALLER"), brand(1038), os.path.join(folder, "kept"))
    testbed.write_config()
    testbed.reload()
    run.place(answered(name=ALL_BRANDED), brand(1038), os.path.join(folder, "replaced"))
    run.expect_events(testbed, brand(1037), SEEN)
    run.expect_events(testbed, brand(1038), SEEN * 2)


def drain(testbed, folder, run):
    """SIGTERM: new calls and OPTIONS get 503, the call in progress ends in its own time, then the gateway does."""
    restart(testbed, gateway="  drain: 30s\n")
    call = run.start(step("long-call/carrier.xml", "answered/pbx.xml"), brand(1039), os.path.join(folder, "long"))
    try:
        wait_until(lambda: testbed.metric("herald_calls_in_progress") >= 1, 60, "the call did not begin")
        testbed.gateway.process.terminate()
        wait_until(lambda: "draining" in testbed.gateway.tail(5), 60, "the gateway does not say that it drains")
        run.place(step("refused-for-now/carrier.xml", host=OTHER_TRUNK_HOST), brand(1039),
                  os.path.join(folder, "refused"))
        if not call.finish():
            raise Failed("the call in progress suffered\n" + call.trouble())
        if testbed.gateway.process.wait(60) != 0:
            raise Failed(f"the gateway ended with {testbed.gateway.process.returncode}\n" + testbed.gateway.tail())
    finally:
        call.stop()
        testbed.write_config()
        testbed.start_gateway()
    run.expect_events(testbed, brand(1039), SEEN)


def unprivileged(testbed, folder, run):
    """Missing rights are logged once at the start with the remedy; calls are branded all the same."""
    testbed.gateway.stop()
    # Root without the capabilities that lift these limits; other users do not have them.
    without = ("setpriv", "--bounding-set=-sys_nice,-net_admin", "--inh-caps=-sys_nice,-net_admin")
    testbed.start_gateway(under=("prlimit", "--rtprio=0", "--nice=0", *(without if os.geteuid() == 0 else ())))
    try:
        run.place(answered(), brand(1057), folder)
        run.expect_events(testbed, brand(1057), SEEN)
        with open("/proc/sys/net/core/rmem_max", encoding="ascii") as file:
            is_small = int(file.read()) < WANTED_BUFFER
        for said, times in (("allow the service LimitRTPRIO=1 and LimitNICE=", 1),
                            (f"allow net.core.rmem_max={WANTED_BUFFER}", int(is_small))):
            found = testbed.gateway.tail(50).count(said)
            if found != times:
                raise Failed(f"expected {times} times {said!r}, found {found}:\n" + testbed.gateway.tail(50))
    finally:
        testbed.gateway.stop()
        testbed.start_gateway()


def several_workers(testbed, folder, run):
    """Two workers share the ports: a hundred calls at once, whose two sides may reach different workers."""
    restart(testbed, gateway="  workers: 2\n")
    try:
        # SIPp with a socket a call, so that the kernel spreads the calls over the workers.
        many = answered(calls=100, host=OTHER_TRUNK_HOST, options=("-t", "un"))
        run.place(many, brand(1052), folder)
        run.expect_events(testbed, brand(1052), SEEN * 100)
        time.sleep(0.2)
        testbed.gateway.must_run()
    finally:
        usual(testbed)


def over_tcp(testbed, folder, run):
    """UDP and TCP mixed: each side by either, in-dialog requests both ways, and both sides see the right names."""
    tcp = f"  - name: tcp\n    address: {HOST}:{run.ports.gateway}\n    transport: tcp\n"
    pbx = f"    address: {HOST}:{run.ports.pbx}\n    probe: false\n"
    by_tcp = "    listen: tcp\n"
    stream = ("-t", "t1")
    sides = (
        ("carrier", by_tcp, "", stream, ()), ("pbx", "", by_tcp, (), stream), ("both", by_tcp, by_tcp, stream, stream))
    try:
        for name, trunk, target, carrier_options, pbx_options in sides:
            restart(testbed, listen=tcp, trunk=trunk, pbx=pbx + target)
            for number, one in enumerate((answered(), both("re-invite"), both("re-invite-from-pbx"), both("missed", reason=CAUSE_16),
                                          both("hung-up-by-pbx"))):
                run.place(one, brand(1053), os.path.join(folder, f"{name}-{number}"), carrier_options, pbx_options)
        run.expect_events(testbed, brand(1053), (SEEN * 4 + GAVE_UP) * 3)
    finally:
        usual(testbed)


def over_ipv6(testbed, folder, run):
    """A trunk on IPv6 and a PBX on IPv4: in-dialog requests of both find their way over both families."""
    six = (f'  - name: six\n    sources: ["[::1]"]\n    next_hop: "[::1]:{run.ports.trunk}"\n    listen: six\n'
           "    region: AU\n    trusted: true\n")
    restart(testbed, listen=f'  - name: six\n    address: "[::1]:{run.ports.gateway}"\n', trunk=six)
    try:
        for number, one in enumerate((answered(host="::1"), both("re-invite-from-pbx", host="::1"),
                                      both("hung-up-by-pbx", host="::1"))):
            run.place(one, brand(1054), os.path.join(folder, str(number)))
        run.expect_events(testbed, brand(1054), SEEN * 3)
    finally:
        usual(testbed)


def torture_messages(testbed, folder, run):
    """Every message of Tests/Torture is forwarded, rejected or dropped as expected, over UDP and TCP."""
    tcp = f"  - name: tcp\n    address: {HOST}:{run.ports.gateway}\n    transport: tcp\n"
    try:
        for is_stream in (False, True):
            # A new start each time, since the same messages again would be retransmissions.
            restart(testbed, gateway="  drain: 0s\n", listen=tcp, more="streams: {unfinished: 1s}\n")
            wrong, count = torture.run(run.ports.pbx, (HOST, run.ports.gateway), is_stream)
            testbed.gateway.must_run()
            if wrong:
                raise Failed(f"{len(wrong)} of {count} by {'TCP' if is_stream else 'UDP'}:\n  " + "\n  ".join(wrong))
            run.place(answered(), brand(1055), os.path.join(folder, f"after-{is_stream}"))
        run.expect_events(testbed, brand(1055), SEEN * 2)
    finally:
        usual(testbed)


OPERATION = (
    ("silent target", silent_target),
    ("probed targets, all down", probed_target),
    ("limit of a trunk", limits),
    ("reload", reload),
    ("drain", drain),
    ("a start without privileges", unprivileged),
    ("several workers", several_workers),
    ("TCP on either side", over_tcp),
    ("IPv6 and IPv4", over_ipv6),
    ("herald calls and herald events", commands.accounts),
    ("torture messages", torture_messages),
    *control.CONTROL,
    *testcalls.TESTCALLS,
    *doctor.DOCTOR,
    *doors.DOORS,
    *door_outcomes.DOOR_OUTCOMES,
    *calling_names.CALLING_NAMES,
    *redirections.REDIRECTIONS,
    *clock.CLOCKS,
    *wrong_peers.WRONG_PEERS,
    *accepted_streams.ACCEPTED_STREAMS,
    *syncing.SYNCING,
    *state.STATES,
    *monitoring.MONITORING,
    *tracing.TRACES,
    *shared_ledger.SHARED,
    *takeover.TAKEOVER,
    *adoption.ADOPTION,
    *customers.CUSTOMER_SITUATIONS,
    *signed.SIGNED,
    *verdicts.VERDICTS,
    *certificate_hosts.HOSTS,
    *shadow.SHADOW,
    *replay.REPLAY,
    *push_burst.BURSTS,
)
