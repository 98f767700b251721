# SPDX-License-Identifier: Apache-2.0
"""Tests of the bench of doors. Run it in Tests by `python3 -m unittest Bench.test_doors`."""
import http.server
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from heraldtest.child import Failed
from . import door_requests, door_tables, doors, sender

HERE = os.path.dirname(os.path.abspath(__file__))
CALLER = "+12025550100"


class Requests(unittest.TestCase):
    def test_a_lookup_has_the_digits_in_reverse_order_under_the_zone(self):
        query = door_requests.lookup(CALLER, 65_537)
        self.assertEqual(struct.unpack("!HHHHHH", query[:12]), (1, 0x0100, 1, 0, 0, 0))
        self.assertEqual(query[12:], b"\x010\x010\x011\x010\x015\x015\x015\x012\x010\x012\x011"
                         b"\x04cnam\x05bench\x07example\x00\x00\x23\x00\x01")

    def test_a_redirection_has_the_length_of_its_body(self):
        head, _, body = door_requests.redirection(CALLER, 7).partition(b"\r\n\r\n")
        self.assertIn(b"Content-Length: %d" % len(body), head)
        self.assertEqual(head.count(CALLER.encode()), 3)

    def test_verifications_have_both_shapes_in_turn_and_each_a_token_of_its_own(self):
        class Signer:
            count = 0

            def token(self, caller, issued):
                self.count += 1
                return f"{caller}.{issued}.{self.count}"
        made = list(door_requests.verifications(Signer(), [CALLER, "+12025550101"], 4))
        self.assertEqual(len(set(made)), 4)
        for place, request in enumerate(made):
            head, _, body = request.partition(b"\r\n\r\n")
            self.assertIn(b"Content-Length: %d" % len(body), head)
            members = json.loads(body)["verificationRequest"]
            self.assertEqual("identityHeader" in members, place % 2 == 1)
            self.assertEqual("identity" in members, place % 2 == 0)
            self.assertEqual(members["from"]["tn"], ("12025550100", "12025550101")[place % 2])


def found(**other):
    return {"statuses": {"200": 1000}, "lost": 0, "sent": 1000, "responses": 1000, "marked": 500, **other}


class Checks(unittest.TestCase):
    def test_responses_that_are_not_those_of_the_door_are_no_figure(self):
        doors.NAMES.check(found(), 100, 1000)
        for wrong, cause in (({"statuses": {"200": 999, "403": 1}}, "status"), ({"lost": 1}, "no response"),
                             ({"marked": 0}, "expected 50%"), ({"marked": 1000}, "expected 50%"),
                             ({"sent": 999}, "999 of 1000 requests are sent")):
            with self.assertRaisesRegex(Failed, cause):
                doors.NAMES.check(found(**wrong), 100, 1000)

    def test_a_repeated_token_is_no_figure(self):
        verifications = doors.DOORS[-1]
        verifications.check(found(marked=1000), 1000)
        with self.assertRaisesRegex(Failed, "repeated token"):
            verifications.check(found(marked=1000), 999)


class Senders(unittest.TestCase):
    def test_a_sender_ends_with_its_block(self):
        with self.assertRaisesRegex(Failed, "no sender"):
            with sender.Sender("sleep", 60) as running:
                raise Failed("no sender is waited for")
        self.assertIsNotNone(running.process.returncode)

    def test_a_sender_has_its_line_and_its_cpu(self):
        with sender.Sender("echo", '{"sent": 3}') as ended:
            self.assertEqual(ended.result(), {"sent": 3, "sender_cpu_s": 0.0})
        with sender.Sender("false") as failed, self.assertRaisesRegex(Failed, "the sender ended with 1"):
            failed.result()


class Bounds(unittest.TestCase):
    @staticmethod
    def results(a_second=30_000, p99_us=400, beside=100.0, other=101.0):
        rows = [{"door": door.name, "rate": rate, "a_second": a_second, "cpu_us": 30.0, "sender_us": 9.0, "p50_us": 90,
                 "p99_us": p99_us, "p999_us": 800, "max_us": 900} for door in doors.DOORS for rate in (0, door.pace)]
        calls = [{"round": number, "way": way, "calls_us": micros + number, "recorder_us": 50.0, "p50_us": 70.0, "p99_us": 90.0}
                 for number in range(3)
                 for way, micros in zip(door_tables.WAYS, (100.0, beside, other))]
        return {"doors": rows, "calls": calls, "rate": 500, "names": 5000}

    def test_each_bound_is_an_error_with_its_figure(self):
        self.assertEqual(door_tables.missed(self.results()), [])
        for other, error in (({"a_second": 19_999}, "19,999 names a second on one core, wanted 20,000"),
                             ({"p99_us": 1200}, "redirections: p99 1.20 ms, wanted 1 ms"),
                             ({"beside": 104.0}, "calls beside names of their gateway take +2.9% CPU")):
            self.assertIn(error, "\n".join(door_tables.missed(self.results(**other))))

    def test_the_load_of_the_machine_is_in_the_table_and_is_no_error(self):
        loaded = self.results(beside=111.0, other=110.0)
        self.assertEqual(door_tables.missed(loaded), [])
        self.assertIn("+10.9%", door_tables.change_table(loaded)[1][1])

    def test_changes_are_those_within_a_round(self):
        middle, low, high = door_tables.changes(
            self.results(beside=110.0), door_tables.BESIDE, door_tables.ALONE, "calls_us")
        self.assertEqual((round(low, 4), round(middle, 4), round(high, 4)), (0.0980, 0.0990, 0.1))

    def test_one_part_alone_has_its_own_tables(self):
        whole = self.results()
        self.assertEqual([len(door_tables.tables({**whole, **part})) for part in ({"calls": []}, {"doors": []}, {})], [1, 2, 3])
        for _, rows in door_tables.tables(whole):
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})


class Pages(http.server.BaseHTTPRequestHandler):
    """Responds to /yes with a mark, to any other path without; each response comes in two parts."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"MARK" if self.path == "/yes" else b"none"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.flush()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@unittest.skipUnless(shutil.which("gcc"), "there is no gcc")
class Sender(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.program, cls.requests = (os.path.join(cls.temporary.name, name) for name in ("door_sender", "requests"))
        subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", cls.program, os.path.join(HERE, "door_sender.c")],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def sent(self, kind, port, requests, connections, rate, seconds):
        door_requests.write(self.requests, requests)
        return json.loads(subprocess.run(
            [self.program, kind, str(port), self.requests, str(connections), str(rate), str(seconds), "MARK"],
            check=True, capture_output=True, timeout=30).stdout)

    def test_requests_go_over_kept_connections_at_their_rate(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            result = self.sent("stream", server.server_address[1], [
                b"GET /%s HTTP/1.1\r\nHost: door\r\n\r\n" % path for path in (b"yes", b"no")], 3, 20, 0.5)
        finally:
            server.shutdown()
            server.server_close()
        self.assertEqual((result["sent"], result["responses"], result["marked"], result["lost"]), (10, 10, 5, 0))
        self.assertEqual(result["statuses"], {"200": 10})
        self.assertGreater(result["max_us"], result["p50_us"] - 1)

    def test_a_stall_delays_requests_and_leaves_none_out(self):
        wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        wire.bind(("127.0.0.1", 0))
        wire.settimeout(10)

        def respond():
            for number in range(10):
                _, sender = wire.recvfrom(100)
                time.sleep(0 if number else 0.8)
                wire.sendto(b"SIP/2.0 302 Moved MARK\r\n\r\n", sender)
        thread = threading.Thread(target=respond)
        thread.start()
        result = self.sent("datagram", wire.getsockname()[1], [b"a"], 1, 20, 0.5)
        thread.join()
        wire.close()
        self.assertEqual((result["sent"], result["responses"], result["lost"]), (10, 10, 0))
        self.assertGreater(result["p50_us"], 300_000)

    def test_datagrams_have_the_status_of_sip_or_of_dns_and_one_without_a_response_is_lost(self):
        wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        wire.bind(("127.0.0.1", 0))
        wire.settimeout(10)
        responses = {b"a": b"SIP/2.0 302 Moved MARK\r\n\r\n", b"b": b"\x00\x01\x81\x85MARK", b"c": None}

        def respond():
            for _ in range(6):
                request, sender = wire.recvfrom(100)
                if responses[request]:
                    wire.sendto(responses[request], sender)
        thread = threading.Thread(target=respond)
        thread.start()
        result = self.sent("datagram", wire.getsockname()[1], responses, 2, 12, 0.5)
        thread.join()
        wire.close()
        self.assertEqual(result["statuses"], {"5": 2, "302": 2})
        self.assertEqual((result["sent"], result["marked"], result["lost"]), (6, 4, 2))


if __name__ == "__main__":
    unittest.main()
