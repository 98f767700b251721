# SPDX-License-Identifier: Apache-2.0
"""Situations of the directory's side: an operator's sync, and responses as SecureNode publishes them."""
import http.server
import json
import os
import subprocess
import threading

from heraldtest.addresses import HOST
from heraldtest.child import Failed, wait_until
from heraldtest.records import read_json
from .situations import ALL_BRANDED, SEEN, answered, brand, unbranded


# Callers that brands.csv does not have.
NEW = brand(1060)
PUBLISHED = brand(1059)


class FixedDirectory:
    """A directory that gives every sync one response, and every event the short response of the quickstart."""

    def __init__(self, port, sync):
        self.sync = sync
        fixed = self

        class Handler(http.server.BaseHTTPRequestHandler):
            # Each response closes its connection, so that none outlives this server.
            protocol_version = "HTTP/1.0"

            def log_message(self, *_):
                pass

            def respond(self, status, kind, body):
                body = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if "/branding/sync" in self.path:
                    self.respond(*fixed.sync)
                else:
                    self.respond(404, "text/plain", "")

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.respond(200, "application/json", json.dumps(
                    {"success": True, "event_id": "e-1", "displayed_at": "2026-05-04T12:00:00Z"}))

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer((HOST, port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def sync_now(testbed, *options):
    """`herald sync`: (exit status, output and errors)."""
    done = subprocess.run(
        [testbed.herald_binary, "sync", *options, "--config", testbed.config], capture_output=True, text=True,
        timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def expect_sync(testbed, status, words, *options):
    found, text = sync_now(testbed, *options)
    if found != status or words not in text:
        raise Failed(f"herald sync {' '.join(options)}: expected {status} and '{words}', found {found}:\n{text}")


def ordered(testbed, folder, run):
    """A number the directory has just got is branded with the next call after herald sync."""
    run.place(unbranded("answered"), NEW, os.path.join(folder, "before"))
    testbed.command(
        testbed.directory_binary, "numbers", "set", NEW, "--brand", "harbour-dental", "--state", testbed.directory_state)
    expect_sync(testbed, 0, "1 written, 0 removed")
    run.place(answered(), NEW, os.path.join(folder, "after"))
    run.expect_events(testbed, NEW, SEEN)
    expect_sync(testbed, 0, "full sync: nothing has changed", "--full")
    testbed.directory.stop()
    expect_sync(testbed, 1, "Connection refused")
    testbed.start_directory(folder)
    testbed.gateway.stop()
    expect_sync(testbed, 1, "no gateway runs on this configuration")
    testbed.start_gateway()


def published(testbed, folder, run):
    """The Android SDK's example brands a call; a firewall's 403 takes no brand away and refuses no event."""
    sync = {
        "branding": [{
            "phone_number_e164": PUBLISHED, "brand_name": ALL_BRANDED,
            "logo_url": "https://logos.example/harbour-128x128.png", "call_reason": "Your appointment",
            "updated_at": "2026-05-04T10:11:12Z"}],
        "synced_at": "2026-05-04T10:15:00Z",
        "config": {"branding_enabled": True, "voip_dialer_enabled": False, "mode": "live"}}
    testbed.directory.stop()
    fixed = FixedDirectory(run.ports.directory, (200, "application/json", json.dumps(sync)))
    try:
        expect_sync(testbed, 0, "1 numbers in use", "--full")
        run.place(answered(), PUBLISHED, os.path.join(folder, "published"))
        wait_until(lambda: set(states(testbed)) == {"delivered"}, 60, f"its events: {states(testbed)}")
        fixed.sync = (403, "text/html", "<h1>Blocked</h1>")
        expect_sync(testbed, 1, "a proxy or firewall sent it")
        run.place(answered(), PUBLISHED, os.path.join(folder, "firewall"))
    finally:
        fixed.stop()
        testbed.start_directory(folder)
    expect_sync(testbed, 0, "full sync: ", "--full")


def cards(testbed, folder, run):
    """The public cards of a directory's account are known after a sync, and gone once a sync is without them."""
    sync = {
        "branding": [{
            "phone_number_e164": PUBLISHED, "brand_name": ALL_BRANDED, "brand_id": "harbour dental",
            "updated_at": "2026-05-04T10:11:12Z"}],
        "synced_at": "2026-05-04T10:15:00Z",
        "config": {"branding_enabled": True, "card_url": "https://cards.example/b/{brand_id}"}}
    address = "https://cards.example/b/harbour%20dental"

    def shown(*command):
        return address in testbed.command(testbed.herald_binary, *command, "--config", testbed.config)

    testbed.directory.stop()
    fixed = FixedDirectory(run.ports.directory, (200, "application/json", json.dumps(sync)))
    try:
        expect_sync(testbed, 0, "1 numbers in use", "--full")
        if not shown("lookup", PUBLISHED) or not shown("brands", "show", "harbour dental"):
            raise Failed("lookup and brands show lack the address of the card")
        del sync["config"]["card_url"]
        fixed.sync = (200, "application/json", json.dumps(sync))
        expect_sync(testbed, 0, "full sync: ", "--full")
        if shown("lookup", PUBLISHED):
            raise Failed("lookup shows a card that the account has closed")
    finally:
        fixed.stop()
        testbed.start_directory(folder)
    expect_sync(testbed, 0, "full sync: ", "--full")


def states(testbed):
    """The states of the published number's events, none of which is known to count."""
    text = testbed.command(testbed.herald_binary, "events", "--json", "--limit", "1000", "--config", testbed.config)
    own = [event for event in read_json(text) if event["number"] == PUBLISHED]
    if any("counted" in event for event in own):
        raise Failed(f"an event is said to count or not, which the directory did not say: {own}")
    return [event["state"] for event in own]


SYNCING = (
    ("herald sync", ordered),
    ("a published sync response", published),
    ("public cards of a directory", cards),
)
