# SPDX-License-Identifier: Apache-2.0
"""Tests of the benches of certificate hosts and of signers. Run it in Tests by `python3 -m unittest Bench.test_trust`."""
import struct
import types
import unittest
from xml.dom import minidom

from heraldtest.child import Failed
from . import certificate_hosts, signers, single_calls, trust


class CertificateHosts(unittest.TestCase):
    def test_a_connection_is_counted_by_its_first_packet(self):
        def packet(flags, protocol=6, sequence=7):
            head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, protocol, 0, bytes(4), bytes(4))
            return head + struct.pack("!HHIIBBHHH", 40000, 8000, sequence, 0, 0x50, flags, 0, 0, 0)
        self.assertEqual(certificate_hosts.connection(packet(0x02)), (40000, 7))
        for other in (packet(0x12), packet(0x10), packet(0x02, protocol=17), packet(0x02)[:30], b"\x60" + packet(0x02)[1:], b""):
            self.assertIsNone(certificate_hosts.connection(other))

    def test_a_call_that_never_rings_counts_with_the_limit(self):
        call = single_calls.Placed("a", "+12025550100", None, 100.0)
        self.assertEqual(single_calls.milliseconds(call), 32_000)
        call.rang = 100.25
        self.assertEqual(single_calls.milliseconds(call), 250)

    def test_a_run_has_a_row_of_the_table_and_a_line_of_the_picture_for_each_program(self):
        rows = [{"subject": name, "situation": situation, "requests": 50, "silent": silent, "signed": [5.0], "signed_silent": 0,
                 "delays": [(number / 10, delay) for number in range(99)] + [(10, 32_000 if silent else delay)]}
                for name, situation, delay, silent in (("herald", "dead host", 0.4, 0), ("kamailio", "dead host", 4900.0, 1))]
        results = {"calls": 50, "machine": "m", "versions": {"herald": "1"}, "rows": rows}
        (_, table), (_, versions) = trust.tables(results)
        self.assertEqual(table[1:], [
            ["herald", "dead host", "0.40 ms", "0.40 ms", "0.40 ms", "0 of 100", "0", "5.00 ms", "50"],
            ["kamailio", "dead host", "4,900 ms", "32,000 ms", "> 32,000 ms", "100 of 100", "1", "5.00 ms", "50"]])
        self.assertEqual(versions[1:], [["herald", "1"]])
        document = minidom.parseString(trust.drawing(results))
        self.assertEqual(len(document.getElementsByTagName("polyline")), 2)

    def test_a_program_that_fetches_nothing_has_no_figures_beside_those_that_do(self):
        row = {"situation": "live host", "requests": 49}
        options = types.SimpleNamespace(calls=50)
        for fetches, wrong, right in (("all", 49, 50), ("some", 0, 1), ("none", 1, 0)):
            subject = types.SimpleNamespace(name="a", fetches=fetches)
            with self.assertRaises(Failed):
                trust.checked({**row, "requests": wrong}, subject, options)
            trust.checked({**row, "requests": right}, subject, options)


class Signers(unittest.TestCase):
    def test_signers_add_the_difference_of_two_starts(self):
        rows = [{"subject": name, "ready": ready, "cpu": 1, "bytes": size}
                for name, ready, size in (("few", 90, 30e6), ("many", 130, 38e6), ("few", 100, 31e6), ("many", 160, 38e6))]
        self.assertEqual(signers.difference(rows, "few", "many", "ready"), (50, 40, 60))
        added = {field: signers.difference(rows, "few", "many", field) for field in ("ready", "cpu", "bytes")}
        self.assertEqual(signers.missed({"count": 20_000, "added": added}), [])
        added["ready"] = (51, 40, 60)
        self.assertEqual(signers.missed({"count": 20_000, "added": added}), ["20000 signers load in 51 ms, wanted 50"])
        self.assertEqual(signers.missed({"count": 30_000, "added": added}), [])


if __name__ == "__main__":
    unittest.main()
