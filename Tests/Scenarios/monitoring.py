# SPDX-License-Identifier: Apache-2.0
"""Metrics, alert rules, dashboard and docs/monitoring.md, compared with the pages of a running gateway and directory."""
import contextlib
import json
import os
import re
import subprocess
import urllib.request

from heraldtest import ROOT, probes
from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from .situations import SEEN, answered, brand

RULES = os.path.join(ROOT, "Config", "prometheus", "herald.rules.yml")
RULE_TESTS = os.path.join(ROOT, "Tests", "Monitoring", "herald.rules.test.yml")
DASHBOARD = os.path.join(ROOT, "Config", "grafana", "herald.json")
PAGE = os.path.join(ROOT, "docs", "monitoring.md")
# Families that only a mishap, a server of logos, an output, signed calls, push, a cluster or PostgreSQL makes; their tests are elsewhere.
RARE = {"herald_logo_fetches_total", "herald_logos_failed", "hb_request_errors_total"} | {
    f"herald_sibling_{name}" for name in (
        "calls_corrected_total", "clock_offset_seconds", "rejected_total", "up", "updates_applied_total", "updates_total",
        "waiting")} | {
    f"herald_call_records_{name}" for name in ("failures_total", "sent_total", "waiting")} | {
    f"herald_trust_{name}" for name in (
        "calls_total", "causes_total", "changed_calls_total", "changed_names_total", "clock_offset_seconds",
        "contradictions_total",
        "fetch_hosts_skipped", "fetches_running", "fetches_total", "fetches_waiting", "list_expires_seconds",
        "list_fetch_age_seconds", "list_fetch_failures", "list_fetches_total",
        "requests_dropped_total", "revocations_expire_seconds", "signers", "unknown_addresses")} | {
    f"herald_shared_{name}" for name in (
        "adopted_total", "away_calls", "behind_seconds", "failures_total", "fenced_total", "redials_total", "returns_total",
        "rows_total", "signals_total", "standby_behind_bytes", "standby_behind_seconds", "standbys", "synchronous",
        "waiting")} | {
    f"herald_directory_{name}" for name in (
        "push_attempts_total", "push_devices_removed_total", "push_waiting", "session_connects_total",
        "session_refusals_total", "session_requests_waiting", "session_waits_total", "sessions",
        "standby_behind_bytes", "standby_behind_seconds", "standbys", "synchronous")}
# Series of Prometheus itself.
OWN = {"up"}
# Names inside expressions; functions and labels do not begin so.
NAME = re.compile(r"\b(?:herald|process|hb|http_server)_[a-z0-9_]+|\bup\b")


def promtool(*arguments, text=None):
    """Runs promtool; `Failed` with its output unless it accepts everything without a remark."""
    done = subprocess.run(
        ["promtool", *arguments], input=text, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    if done.returncode != 0 or text is not None and (done.stdout + done.stderr).strip():
        raise Failed(f"promtool {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def expressions():
    """(place, expression) of every panel of the dashboard."""
    for panel in json.loads(text_of(DASHBOARD))["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def names_in(text):
    """The families that a text of rules or expressions uses; series of a histogram count as their family."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in NAME.findall(text)} - OWN


def alerts_have_tests():
    alerts = set(re.findall(r"- alert: (\w+)", text_of(RULES)))
    tested = set(re.findall(r'alertname="(\w+)",alertstate', text_of(RULE_TESTS)))
    if alerts != tested or not alerts:
        raise Failed(f"alerts without a test: {sorted(alerts - tested)}; tests without an alert: {sorted(tested - alerts)}")
    unexplained = sorted(alert for alert in alerts if f"`{alert}`" not in text_of(PAGE))
    if unexplained:
        raise Failed(f"docs/monitoring.md does not explain {unexplained}")


def dashboard_is_promql(folder):
    """Every expression of the dashboard is accepted by promtool, as a rule would be."""
    path = os.path.join(folder, "dashboard.rules.yml")
    rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
             for number, (_, expression) in enumerate(expressions())]
    if len(rules) < 40:
        raise Failed(f"the dashboard has {len(rules)} expressions")
    with open(path, "w", encoding="utf-8") as file:
        # JSON is YAML.
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
    promtool("check", "rules", path)


def metrics_text(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as response:
        return response.read().decode("utf-8")


def helps(text):
    """{family: help text} of a page."""
    return dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE))


def with_everything(testbed, folder, ports):
    """Starts a gateway that uses every part with metrics: TLS, logos, lookups and a customer."""
    certificate, key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    testbed.command(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90",
        "-subj", "/CN=herald", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
    testbed.gateway.stop()
    testbed.write_config(
        listen=f"  - {{name: tls, address: '{HOST}:{ports.gateway}', transport: tls, "
               f"certificate: {certificate}, key: {key}}}\n",
        directory="  lookup: {enabled: true}\n",
        more=f"logos: {{listen: '{HOST}:{ports.logos}', hosts: [{HOST}], allow_http: true, allow_private: true}}\n"
             f"customers: [{{name: acme, directory: {{api_key_file: {testbed.key_file}}}}}]\n"
             "routes: {table: [{numbers: +6175550*, pbx: office, customer: acme}]}\n")
    testbed.start_gateway()
    wait_until(
        lambda: testbed.metric('herald_customer_sync_age_seconds{customer="acme"}') is not None, 60,
        "the metrics of the customer are missing")


def monitoring(testbed, folder, run):
    """promtool accepts pages, rules and dashboard; each metric of them exists, and the page on monitoring has all."""
    promtool("check", "rules", RULES)
    promtool("test", "rules", RULE_TESTS)
    alerts_have_tests()
    dashboard_is_promql(folder)
    gateway, directory = f"{HOST}:{run.ports.admin}", f"{HOST}:{run.ports.directory}"
    testbed.command(
        testbed.directory_binary, "backup", os.path.join(folder, "copy.sqlite"), "--state", testbed.directory_state)
    try:
        with_everything(testbed, folder, run.ports)
        run.place(answered(), brand(1062), os.path.join(folder, "call"))
        run.expect_events(testbed, brand(1062), SEEN)
        wait_until(lambda: 'outcome="ANSWERED"' in metrics_text(gateway), 60, "the ended call is not counted")
        # A hostile client makes no series of its own.
        for number in range(50):
            probes.status(directory, f"/no/such/path/{number}")
            probes.status(gateway, f"/no/such/path/{number}")
        probes.status(f"{HOST}:{run.ports.logos}", "/logos/none.png")
        # The first request is counted once it has ended.
        pages = [{address: metrics_text(address) for address in (gateway, directory)} for _ in range(2)][-1]
    finally:
        testbed.gateway.stop()
        testbed.write_config()
        testbed.start_gateway()
    for address, text in pages.items():
        promtool("check", "metrics", text=text)
        if "/no/such" in text:
            raise Failed(f"{address} has series of invented paths")
        for route in ("/metrics", "NotFound"):
            if f'http_route="{route}"' not in text:
                raise Failed(f"{address} has no requests of the route {route}")
    compare(pages.values())


def compare(pages):
    """The families of the pages against rules, dashboard and docs/monitoring.md."""
    found = {}
    for text in pages:
        found.update(helps(text))
    used = names_in(text_of(RULES)) | names_in("\n".join(expression for _, expression in expressions()))
    listed = dict(re.findall(r"^\| `([a-z_]+)` \| (.*?) \|$", text_of(PAGE), re.MULTILINE))
    listed = {name: meaning for name, meaning in listed.items() if NAME.fullmatch(name)}
    troubles = {
        "rules or dashboard use metrics that do not exist": used - set(found) - RARE,
        "docs/monitoring.md lists metrics that do not exist": set(listed) - set(found) - RARE,
        "docs/monitoring.md lacks": set(found) - set(listed),
        "docs/monitoring.md has another text than the help of":
            {name for name, text in found.items() if name in listed and not listed[name].startswith(text)},
    }
    wrong = [f"{what} {sorted(names)}" for what, names in troubles.items() if names]
    if wrong or len(found) < 90:
        raise Failed("\n".join([f"{len(found)} families", *wrong]))


def directory_disk_full(testbed, folder, run):
    """A directory whose disk is full is not ready and says so; once there is space again it is ready."""
    small = os.path.join(folder, "small")
    os.makedirs(small)
    address = f"{HOST}:{run.ports.logos}"
    # In a mount namespace of its own, which needs no root.
    program = subprocess.Popen(
        ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"', small,
         testbed.directory_binary, "run", "--listen", address, "--state", os.path.join(small, "directory")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    filler = f"/proc/{program.pid}/root{small}/filler"
    try:
        wait_until(lambda: probes.status(address, "/readyz") == 200, 60, "the directory does not start")
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass
        wait_until(lambda: probes.status(address, "/readyz") == 503, 60, "the full disk is not noticed")
        if probes.metrics(address).get("herald_directory_store_writable") != 0:
            raise Failed("the metric says that the store can be written")
        os.remove(filler)
        wait_until(lambda: probes.status(address, "/readyz") == 200, 60, "free space is not noticed")
    finally:
        program.terminate()
        program.wait(60)


MONITORING = (
    ("metrics, rules and dashboard", monitoring),
    ("full disk of the directory", directory_disk_full),
)
