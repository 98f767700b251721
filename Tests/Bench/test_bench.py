# SPDX-License-Identifier: Apache-2.0
"""Tests of the bench's own calculations. Run it in Tests by `python3 -m unittest Bench.test_bench`."""
import array
import base64
import contextlib
import io
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time
import types
import unittest
from xml.dom import minidom

from heraldtest import probes, signing
from heraldtest.child import Failed
from heraldtest.processes import Process, session_of, total
from . import (
    allocations, code_order, compare, dataset, delay, directory_load, executed, functions, index, kept,
    instructions, kept_functions, kinds, overload, parts, plot, profile, report, shipping, signer_chains, stolen, verifying)


def executed_by_second_thread(*blocks):
    """A table of blocks (start, instructions, bytes, runs by the second thread)."""
    words = array.array("Q")
    for start, instructions, size, runs in blocks:
        words.extend([start, instructions, size, 0, runs] + [0] * (executed.THREADS - 2))
    return executed.Executed(words)


class Emulation(unittest.TestCase):
    def test_instructions_and_code_of_a_thread_are_those_it_ran_meanwhile(self):
        before = executed_by_second_thread((0x1000, 4, 10, 7), (0x5000, 9, 30, 3))
        now = executed_by_second_thread((0x1000, 4, 10, 17), (0x5000, 9, 30, 3), (0x1030, 2, 64, 5))
        first, second, *_ = now.since(before)
        self.assertEqual((now.work(first), now.work(second)), (0, 10 * 4 + 5 * 2))
        # 0x1000 to 0x1009 is in the line of 0x1000, 0x1030 to 0x106f in that and the next.
        self.assertEqual(now.code(second, often=1), 2 * 64)
        self.assertEqual(now.code(second, often=6), 64)
        self.assertEqual(now.code(second, often=1, unit=executed.PAGE), 4096)

    def test_functions_are_ordered_by_when_a_call_first_runs_them(self):
        executed_now = executed_by_second_thread(
            (0x7010, 1, 4, 20), (0x5034, 1, 4, 9), (0x5020, 1, 4, 20), (0x7014, 1, 4, 20), (0x5000, 1, 4, 20))
        places = executed_now.places(executed_now.runs[1], often=10)
        # The program lies at 0x5000; what is at 0x7000 belongs to a library.
        functions = code_order.Functions(
            "0000000000000010 0000000000000004 t before\n0000000000000020 0000000000000010 T last\n"
            "0000000000000030 0000000000000008 r data\n0000000000000038 t mark\n"
            "0000000000000040 0000000000000008 W weak\n")
        self.assertEqual(code_order.names(places, (0x5000, 0x6000), functions), ["last"])
        self.assertEqual(code_order.names([0x5044, 0x5024, 0x5011, 0x5014, 0x5038, 0x5021], (0x5000, 0x6000), functions),
                         ["weak", "last", "before"])

    def test_functions_of_a_call_are_those_of_either_kind(self):
        self.assertEqual(executed.either([1, 0, 3], [0, 2]), [1, 2, 3])

    def test_functions_with_one_title_are_one(self):
        first, second = "$s4main3foo1xyx_tlFSi_Tg5", "$s4main3foo1xyx_tlFSS_Tg5"
        self.assertEqual(functions.by_title({first: 3, second: 4, "_ZN5swift3barEv": 2, "(libc)": 1}),
                         {"specialized foo<A>(x:)": 7, "swift::bar()": 2, "(libc)": 1})

    def test_libraries_are_named_without_their_version(self):
        names = {name for _, _, name in functions.libraries(os.getpid())}
        self.assertIn("libc", names)
        self.assertFalse([name for name in names if ".so" in name])

    def test_a_program_without_names_leaves_the_order_as_it_was(self):
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
            file.write("kept\n")
            file.flush()
            with self.assertRaises(Failed):
                code_order.write(file.name, [])
            file.seek(0)
            self.assertEqual(file.read(), "kept\n")
            code_order.write(file.name, ["first", "second"])
            file.seek(0)
            self.assertEqual(file.read(), code_order.HEADER + "first\nsecond\n")

    def test_what_an_idle_program_runs_is_taken_off(self):
        resting = executed_by_second_thread((0x1000, 4, 10, 0))
        before = executed_by_second_thread((0x1000, 4, 10, 2), (0x2000, 1, 1, 1))
        now = executed_by_second_thread((0x1000, 4, 10, 30), (0x2000, 1, 1, 11), (0x3000, 1, 1, 1))
        used = executed.less(now.since(before), before.since(resting, share=4))
        self.assertEqual(used[1], [30 - 2 - 2 * 4, 11 - 1 - 1 * 4, 1])


class KeptFigures(unittest.TestCase):
    PAGE = ("# Performance\n\n" + kept.TITLE + "\n\nCounted.\n\n"
            "| since | call | instructions | of it recorder | allocations | of it recorder | reason of a rise |\n"
            "|---|---|--:|--:|--:|--:|---|\n"
            "| 1 April | mixed | 190,000 | | 48.0 | | |\n"
            "| 1 May | branded | 200,000 | 90,000 | 50.0 | 20.0 | |\n"
            "| 2 May | branded | 260,000 | 90,000 | 50.0 | 20.0 | signed calls |\n"
            "| 1 May | unbranded | 150,000 | 60,000 | 30.0 | 10.0 | |\n"
            "| 1 May | refused | 30,000 | 0 | 5.0 | 0.0 | |\n\n## Next\n\n| a | b | 1 | 1 | 1 | 1 | |\n")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page, self.functions = (os.path.join(folder.name, name) for name in ("page.md", "functions.txt"))
        with open(self.page, "w", encoding="utf-8") as file:
            file.write(self.PAGE)
        kept_functions.write([self.result("branded", 260_000, messages={
            "grows": 100_000, "shrinks": 60_000, "vanishes": 8_000, "is small": 100})], self.functions)

    @staticmethod
    def result(kind, figure, count="instructions", **functions):
        return {"name": "herald", "kind": kind, "count": count, "figure": figure, "recorder": figure / 4,
                "functions": functions}

    def compared(self, *results):
        """(errors, what is printed)"""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            return kept.Kept(self.page, self.functions).compare(results), printed.getvalue()

    def written(self):
        with open(self.page, encoding="utf-8") as file:
            return file.read()

    def keep(self, branded, reason="", allocations=50.0):
        results = [self.result("branded", branded, messages={"a": branded}),
                   self.result("branded", allocations, count="allocations", allocations={"b": allocations})]
        return kept.keep(results, reason, self.page, self.functions)

    def test_the_last_row_of_a_kind_is_what_counts(self):
        rows = kept.latest(kept.rows(self.page))
        self.assertEqual({name: row.day for name, row in rows.items()},
                         {"mixed": "1 April", "branded": "2 May", "unbranded": "1 May", "refused": "1 May"})
        self.assertEqual(rows["branded"].figures, {"instructions": 260_000, "allocations": 50})
        self.assertIsNone(rows["mixed"].recorder["instructions"])

    def test_a_figure_more_than_a_fiftieth_above_the_kept_one_is_an_error_of_its_kind(self):
        errors, printed = self.compared(self.result("branded", 265_199.0), self.result("unbranded", 120_000.0))
        self.assertEqual(errors, [])
        self.assertIn("herald: branded call: 265,200 instructions, kept 260,000 (2 May), +2.0%", printed)
        errors, _ = self.compared(self.result("branded", 265_300.0), self.result("unbranded", 153_100.0))
        self.assertEqual([error.split(" instructions")[0] for error in errors],
                         ["herald: branded call: 265,300", "herald: unbranded call: 153,100"])
        self.assertIn("--keep --reason", errors[0])

    def test_a_rise_of_less_than_half_an_allocation_is_none(self):
        self.assertEqual(self.compared(self.result("refused", 5.4, count="allocations"))[0], [])
        self.assertEqual(len(self.compared(self.result("refused", 5.6, count="allocations"))[0]), 1)

    def test_a_rise_names_the_functions_that_grew_most_and_those_that_are_gone(self):
        (error,), _ = self.compared(self.result("branded", 300_000, messages={
            "grows": 120_000, "shrinks": 50_000, "is small": 130, "is new": 41_000}))
        self.assertEqual([line.strip() for line in error.split("\n")[1:]], [
            "+40,660 to    41,000  messages: is new (new, or small before)", "+20,000 to   120,000  messages: grows",
            "-8,000 to         0  messages: vanishes (gone)"])
        many = {f"function {place:02}": 1_000 + place for place in range(30)}
        self.assertEqual(len(kept_functions.grown({"messages": {"(all)": 100_000}}, {"messages": many})), 10)

    def test_a_kind_without_kept_functions_is_named(self):
        (error,), _ = self.compared(self.result("refused", 40_000, messages={"a": 40_000}))
        self.assertIn("no functions of this kind are kept", error)

    def test_a_missing_kept_file_is_named_before_anything_is_counted(self):
        os.remove(self.functions)
        with self.assertRaisesRegex(Failed, "functions.txt is missing; .*--keep"):
            kept.Kept(self.page, self.functions)

    def test_a_page_without_the_table_is_named(self):
        with open(self.page, "w", encoding="utf-8") as file:
            file.write("# Performance\n")
        with self.assertRaisesRegex(Failed, "has no figures"):
            kept.Kept(self.page, self.functions)

    def test_a_kind_without_a_kept_figure_is_an_error_with_the_figure(self):
        errors, printed = self.compared(self.result("signed", 400_000.0), self.result("branded", 260_000.0))
        self.assertEqual(errors, ["herald: signed call: 400,000 instructions; no figure of this kind is kept, "
                                  "Deploy/bench profile --keep adds it"])
        self.assertIn("branded call: 260,000", printed)

    def test_a_fall_takes_the_place_of_the_last_row_and_its_functions_are_kept(self):
        self.assertEqual(self.keep(240_000.0, allocations=51.0), [])
        row = kept.latest(kept.rows(self.page))["branded"]
        self.assertEqual((row.figures, row.recorder), (
            {"instructions": 240_000, "allocations": 50}, {"instructions": 60_000, "allocations": 20}))
        # It is above the row before it, so the reason still holds.
        self.assertEqual(row.reason, "signed calls")
        self.assertEqual(kept_functions.read(self.functions)["branded"]["messages"], {"(all)": 240_000, "a": 240_000})
        self.assertEqual(self.keep(150_000.0), [])
        self.assertEqual(kept.latest(kept.rows(self.page))["branded"].reason, "")

    def test_a_rise_is_kept_as_a_row_with_its_reason_alone(self):
        before = self.written()
        errors = self.keep(280_000.0)
        self.assertEqual(len(errors), 1)
        self.assertIn("branded call: 280,000 instructions instead of 260,000", errors[0])
        self.assertEqual(self.written(), before)
        self.assertEqual(self.keep(280_000.0, "two names"), [])
        lines = before.split("\n")
        place = next(place for place, line in enumerate(lines) if "signed calls" in line) + 1
        lines.insert(place, f"| {time.strftime('%-d %B %Y')} | branded | 280,000 | 70,000 | 50.0 | 12.5 | two names |")
        self.assertEqual(self.written(), "\n".join(lines))

    def test_a_new_kind_is_kept_as_the_last_row(self):
        results = [self.result("signed", 400_000.0, messages={"a": 400_000.0}),
                   self.result("signed", 42.0, count="allocations", allocations={"b": 42.0})]
        self.assertEqual(kept.keep(results, "", self.page, self.functions), [])
        row = kept.rows(self.page)[-1]
        self.assertEqual((row.kind, row.figures, row.reason), ("signed", {"instructions": 400_000, "allocations": 42}, ""))

    def test_many_small_rises_are_not_kept(self):
        for figure in (264_000.0, 265_000.0):
            self.assertEqual(self.keep(figure), [])
        self.assertEqual(self.written(), self.PAGE)
        self.assertEqual(len(self.keep(268_000.0)), 1)

    def test_each_rise_on_the_page_has_its_reason(self):
        table = kept.rows()
        for kind in {row.kind for row in table}:
            rows = [row for row in table if row.kind == kind]
            for before, row in zip(rows, rows[1:]):
                self.assertFalse(before.risen(row) and not row.reason, (row.kind, row.day))
        kept.latest(table)

    def test_the_kept_functions_are_of_the_calls_on_the_page(self):
        functions = kept_functions.read()
        rows = kept.latest(kept.rows())
        for name, row in ((kind.name, rows[kind.name]) for kind in kinds.KINDS if kind.name in rows):
            whole = {part: figures["(all)"] for part, figures in functions[name].items()}
            self.assertAlmostEqual((whole["messages"] + whole["recorder"]) / row.figures["instructions"], 1, delta=0.03)
            self.assertAlmostEqual(whole["allocations"], row.figures["allocations"], delta=2)


class Kinds(unittest.TestCase):
    COUNTS = {"calls": 100, "ended": 100, "refused": 0, "failed": 0, "retransmissions": 5}

    def test_a_round_has_only_calls_of_its_kind(self):
        self.assertEqual(kinds.BRANDED.counted("herald", self.COUNTS), 100)
        self.assertEqual(kinds.REFUSED.counted("herald", {**self.COUNTS, "ended": 0, "refused": 100}), 100)
        for kind, counts in ((kinds.REFUSED, {}), (kinds.BRANDED, {"ended": 98, "refused": 2}),
                             (kinds.BRANDED, {"ended": 99, "failed": 1}), (kinds.BRANDED, {"retransmissions": 6})):
            with self.assertRaisesRegex(Failed, "--rate"):
                kind.counted("herald", {**self.COUNTS, **counts})

    def test_signed_calls_come_with_those_that_they_are_compared_with_and_not_without_a_laboratory(self):
        for name, laboratory, expected in (
                (None, "lab", "branded unbranded signed refused"), (None, None, "branded unbranded refused"),
                ("signed", "lab", "branded signed"), ("unbranded", "lab", "unbranded"), ("refused", None, "refused")):
            self.assertEqual([kind.name for kind in kinds.chosen(name, laboratory)], expected.split())

    def test_a_run_without_trust_has_no_signed_calls_and_keeps_no_figures(self):
        usual = {"reason": "", "keep": False, "order": None, "kind": None, "without_trust": True, "herald": ["herald"],
                 **dict.fromkeys(("only", "rate", "calls", "warm", "stacks", "cluster"))}
        profile.check(types.SimpleNamespace(**usual))
        for other in ({"kind": "signed"}, {"keep": True}, {"order": "file"}):
            with self.assertRaisesRegex(Failed, "--without-trust"):
                profile.check(types.SimpleNamespace(**{**usual, **other}))

    def test_a_signature_is_what_a_signed_call_has_more_than_a_branded_one(self):
        common = {"calls": 9, "again": 0, "code": 0, "pages": 0, "others": 0}
        results = [{"name": name, "kind": kind, "figure": figure, "recorder": recorder, **common,
                    "threads": {"herald-calls": [allocations_, 0, 8, 0], "NIO-ELT-0": [5, 5, 5, 5]}}
                   for name, kind, figure, recorder, allocations_ in (
                       ("a", "branded", 1000, 100, 4), ("a", "signed", 5000, 130, 6), ("a", "unbranded", 600, 50, 3),
                       ("b", "branded", 1, 1, 1))]
        rows = [row[:6] for row in instructions.rows(results) if row[0].endswith("branded") and "," in row[0]]
        self.assertEqual(rows[-2:], [["a, half branded", "800", "725", "", "", "75"],
                                     ["a, signed less branded", "+4,000", "+3,970", "", "", "+30"]])
        self.assertEqual([row[1:5] for row in allocations.rows(results) if "less branded" in row[0]],
                         [["+2.00", "+0.00", "+0", "+0.00"]])


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl, which makes the certificates")
class SignedCalls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.laboratory = signing.Laboratory(os.path.join(folder.name, "lab")).make()

    def openssl(self, *words, data=None):
        done = subprocess.run(["openssl", *words], input=data, capture_output=True, cwd=self.laboratory.folder, check=False)
        return done.stdout.decode(errors="replace") + done.stderr.decode()

    def test_the_signer_has_a_chain_and_exactly_one_provider_code(self):
        self.assertEqual(self.openssl("verify", "-CAfile", "root.pem", "-untrusted", "intermediate.pem", "leaf.pem"),
                         "leaf.pem: OK\n")
        text = self.openssl("x509", "-in", "leaf.pem", "-noout", "-text")
        for words in ("NIST CURVE: P-256", "CA:FALSE", "Digital Signature", "Authority Key Identifier"):
            self.assertIn(words, text)
        # RFC 8226 §9: SEQUENCE of [0] EXPLICIT IA5String, here of four bytes.
        der = base64.b64decode("".join(self.laboratory.read("leaf.pem").splitlines()[1:-1]))
        self.assertIn(bytes.fromhex("3008a0061604") + b"700B", der)
        self.assertEqual(self.laboratory.read("chain.pem").count("BEGIN CERTIFICATE"), 2)

    def test_each_call_has_a_fresh_token_of_its_own_with_a_good_signature(self):
        callers = self.laboratory.path("callers.csv")
        self.laboratory.write("callers.csv", "SEQUENTIAL\n+12025550001\n+12025550002\n")
        with open(self.laboratory.sign(callers, 3), encoding="ascii") as file:
            head, *lines = file.read().splitlines()
        self.assertEqual((head, [line.split(";")[0] for line in lines]),
                         ("SEQUENTIAL", ["+12025550001", "+12025550002", "+12025550001"]))
        self.laboratory.write("key.pem", self.openssl("x509", "-in", "leaf.pem", "-noout", "-pubkey"))
        tokens = [line.split(";")[1] for line in lines]
        self.assertEqual((len(set(tokens)), {len(token) for token in tokens}), (3, {487}))
        claims = [self.checked(token) for token in tokens]
        self.assertEqual([one["orig"] for one in claims],
                         [{"tn": "12025550001"}, {"tn": "12025550002"}, {"tn": "12025550001"}])
        self.assertEqual(len({one["origid"] for one in claims}), 3)
        for one in claims:
            self.assertEqual((one["attest"], one["dest"]), ("A", {"tn": ["12025550142"]}))
            self.assertLess(abs(time.time() - one["iat"]), 60)

    def checked(self, token):
        """The claims of a token that openssl finds good."""
        head, claims, signature = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.split("."))
        self.assertEqual(json.loads(head), {"alg": "ES256", "ppt": "shaken", "typ": "passport", "x5u": signing.ADDRESS})
        self.assertEqual(len(signature), 64)
        numbers = (f"{name}=INTEGER:0x{signature[place:place + 32].hex()}" for name, place in (("r", 0), ("s", 32)))
        self.laboratory.write("signature.cnf", "\n".join(["asn1=SEQUENCE:both", "[both]", *numbers, ""]))
        self.openssl("asn1parse", "-genconf", "signature.cnf", "-noout", "-out", "signature.der")
        self.assertEqual(self.openssl("dgst", "-sha256", "-verify", "key.pem", "-signature", "signature.der",
                                      data=token.rpartition(".")[0].encode()), "Verified OK\n")
        return json.loads(claims)

    def test_copies_of_a_signer_have_good_certificates_with_codes_and_addresses_of_their_own(self):
        folder = self.laboratory.path("chains")
        self.assertEqual(signer_chains.write(self.laboratory, 1001, folder),
                         [os.path.join(folder, "chains-0.pem"), os.path.join(folder, "chains-1000.pem")])
        with open(os.path.join(folder, "chains-1000.pem"), encoding="ascii") as file:
            text = file.read()
        address, chain = text.split("\n", 1)
        self.assertEqual((address, len(address)), (f"x5u: {signer_chains.address(1000)}", len("x5u: " + signing.ADDRESS)))
        self.laboratory.write("copy.pem", chain)
        self.assertEqual(self.openssl("verify", "-CAfile", "root.pem", "-untrusted", "copy.pem", "copy.pem"), "copy.pem: OK\n")
        # 1,000 in four digits of base 36.
        self.assertIn(bytes.fromhex("3008a0061604") + b"00RS", signer_chains.der(chain))
        self.assertIn("Bench 00RS", self.openssl("x509", "-in", "copy.pem", "-noout", "-subject"))

    def test_a_laboratory_may_have_rsa_authorities_and_an_address_of_its_own(self):
        other = signing.Laboratory(self.laboratory.path("other"), address="http://127.0.0.60/a.pem", code="567B", authority="rsa").make()
        self.assertIn("rsaEncryption", self.openssl("x509", "-in", other.path("intermediate.pem"), "-noout", "-text"))
        self.assertIn("NIST CURVE: P-256", self.openssl("x509", "-in", other.path("leaf.pem"), "-noout", "-text"))
        self.assertTrue(other.read("chain.pem").startswith("x5u: http://127.0.0.60/a.pem\n-----BEGIN"))

    def test_a_signature_has_64_bytes_however_short_its_numbers_are(self):
        for der, expected in (
                ("3006 020101 020102", "01".rjust(64, "0") + "02".rjust(64, "0")),
                ("3046 022100" + "ff" * 32 + "022100" + "80" + "11" * 31, "ff" * 32 + "80" + "11" * 31),
                ("3043 021f" + "22" * 31 + "0220" + "33" * 32, "00" + "22" * 31 + "33" * 32)):
            self.assertEqual(signing.raw(bytes.fromhex(der)).hex(), expected)

    def test_a_call_is_signed_by_a_header_field_that_has_the_address_and_one_that_is_not_has_none(self):
        self.assertTrue(self.laboratory.identity.startswith("\nIdentity: [field1];info=<https://"))
        with open(os.path.join(os.path.dirname(verifying.__file__), "carrier.xml"), encoding="utf-8") as file:
            scenario = file.read()
        # An empty line would end the header fields.
        self.assertEqual(scenario.count("@identity@\nPrivacy:"), 1)

    def test_what_a_signature_adds_is_the_difference_within_a_round(self):
        rows = [{"subject": f"herald-{kind}", "round": number, "what": "cost", "rate": 500, "microseconds": value}
                for kind, values in (("unsigned", (200, 300, 210)), ("signed", (255, 350, 400))) for number, value in enumerate(values)]
        rows += [{"subject": "relay", "round": 0, "what": "cost", "rate": 500, "microseconds": 80},
                 {"subject": "herald-signed", "round": 3, "what": "cost", "rate": 500, "microseconds": 9}]
        self.assertEqual(verifying.added(rows, "herald", 500), (55, 50, 190))
        self.assertEqual(verifying.table(rows, [500, 1000]), [
            ["", "µs a signature at 500/s", "µs a signature at 1000/s"], ["herald", "+55 (+50 to +190)", "–"]])
        self.assertEqual(len(verifying.table(rows[-2:], [500])), 1)


class Figures(unittest.TestCase):
    def test_a_median_is_told_with_the_span_of_its_rounds(self):
        rows = [{"subject": "a", "what": "cost", "rate": 500, "microseconds": value} for value in (9.0, 1.0, 4.0)]
        rows += [{"subject": "b", "what": "cost", "rate": 500, "microseconds": 100.0}, {"subject": "a", "what": "end"}]
        self.assertEqual(compare.medians(rows, "a", "cost", "microseconds", rate=500), (4.0, 1.0, 9.0))
        self.assertIsNone(compare.medians(rows, "a", "cost", "microseconds", rate=1000))

    def test_a_ratio_needs_kamailio_in_the_same_run(self):
        one = {"subject": "herald", "cost": {"500": (100.0, 90.0, 110.0)}}
        other = {"subject": "kamailio", "cost": {"500": (400.0, 1.0, 2.0)}}
        self.assertEqual(compare.ratio(one, [one, other], "500"), "0.25")
        self.assertEqual(compare.ratio(one, [one], "500"), "–")

    def test_recovery_counts_from_the_last_steps_beginning_to_the_first_second_without_refusals(self):
        last = len(overload.SHARES) - 1
        lines = [{"step": step, "second": second, "refused": refused} for step, second, refused in (
            (last - 1, 9.9, 50), (last, 10.0, 40), (last, 10.1, 3), (last, 10.2, 0), (last, 11.3, 7))]
        self.assertAlmostEqual(overload.recovery_seconds({"lines": lines}), 0.2)

    def test_threads_that_began_in_between_count_from_nothing(self):
        found = allocations.difference({1: (5, 4, 100, 0)}, {1: (7, 4, 150, 1), 2: (3, 1, 8, 0)})
        self.assertEqual(found, {1: [2, 0, 50, 1], 2: [3, 1, 8, 0]})

    def test_a_micro_benchmarks_distribution_gives_its_lowest_and_its_median(self):
        text = ("Debug results for index: an INVITE:\n\nTime (wall clock):\n   Value  Percentile\n"
                "  900000.000 0.000000000000  1  1.00\n 1000000.000 0.500000000000  9  2.00\n"
                " 2000000.000 1.000000000000  9\nThroughput (# / s):\n 7.000 0.500000000000 1 2.00\n")
        self.assertEqual(parts.distributions(text), {"index: an INVITE": (900.0, 1000.0)})
        whole = text.replace("index: an INVITE", "brand index: load, 10 numbers")
        self.assertEqual(parts.distributions(whole), {"brand index: load, 10 numbers": (900e3, 1000e3)})
        self.assertEqual((parts.told(52.4), parts.told(1.69e8)), ("52 ns", "169 ms"))

    def test_a_percentile_is_one_of_the_values(self):
        self.assertEqual([delay.percentile([3, 1, 2], share) for share in (0, 0.5, 0.99, 1)], [1, 2, 3, 3])
        self.assertIsNone(delay.percentile([], 0.5))

    def test_a_stall_of_the_machine_and_cores_the_host_took_do_not_make_the_p99_of_calm_windows(self):
        found = delay.Delays()
        # A hundred calls a second, slow in the fourth second and from the ninth on.
        found.taken = [(place / 100, 900 if place // 100 == 3 or place >= 800 else 7) for place in range(1200)]
        host = stolen.Stolen()
        host.moments = [second / 10 for second in range(121)]
        host.taken = [max(0, second / 10 - 8) for second in range(121)]
        self.assertEqual(delay.percentile(found.microseconds(0, 8), 0.99), 900)
        self.assertAlmostEqual(host.between(9, 11), 2)
        figures = index.summary(found, host, 0, 12)
        self.assertEqual((figures["calm p99"], figures["calm seconds"], figures["max"]), (7, 8, 900))
        self.assertEqual(figures["host took, cores"], 0.333)
        self.assertIsNone(index.summary(found, host, 0, 0.5)["calm p99"])

    def test_the_tables_of_index_and_directory_have_a_row_for_each_figure(self):
        results = {10: {"start, s": {"best": 0.5}, "peak, MB": 7}, 20: {"start, s": {"best": 0.25}}}
        self.assertEqual(index.table(results), [
            ["", "10", "20"], ["start, s, best", "0.500", "0.250"], ["peak, MB", "7", "–"]])
        self.assertEqual(directory_load.table({"polls": {"asked": 3}}), [["", "measured"], ["polls: asked", "3"]])

    def test_engines_are_compared_by_the_medians_of_their_rounds(self):
        results = {f"{engine}, round {number}: full, 1 at a time": {"server_cpu_s": value, "bytes": 7}
                   for engine, values in (("sqlite", (4, 2, 9)), ("postgresql", (6, 5, 1)))
                   for number, value in enumerate(values, 1)}
        results["postgresql, round 1: polls"] = {"database_cpu_s": 0.5}
        self.assertEqual(directory_load.compared(results, ["sqlite", "postgresql"]), [
            ["", "sqlite", "postgresql", "postgresql ÷ sqlite"],
            ["full, 1 at a time: server_cpu_s", "4 (2–9)", "5 (1–6)", "1.25"],
            ["polls: database_cpu_s", "–", "0.5 (0.5–0.5)", "–"]])

    def test_a_shared_ledger_has_a_row_for_each_number_of_calls_before(self):
        row = {"calls_a_second": 9000.4, "database_microseconds": 40, "gateway_microseconds": 11.25, "database_cores": 0.36,
               "gateway_cores": 0.1}
        rows = [{"known": 0, **row}, {"known": 0, **row, "calls_a_second": 8000}, {"known": 1_000_000, **row}]
        self.assertEqual([cells[:2] for cells in shipping.table(rows, [0, 1_000_000])[1:]],
                         [["0", "9000 (8000–9000)"], ["1,000,000", "9000 (9000–9000)"]])

    def test_the_callers_of_allocations_are_read_from_every_place_of_the_table(self):
        with tempfile.NamedTemporaryFile() as file:
            table = allocations.Table(file.name)
            for place, frames in ((3, (7,)), (allocations.STACKS - 1, (8, 9))):
                struct.pack_into(f"{5 + len(frames)}Q", table.map, allocations.HEADER + allocations.THREADS
                                 * allocations.THREAD + place * allocations.STACK, 1, 5, 80, 2, len(frames), *frames)
            self.assertEqual(table.stacks(), {(2, (7,)): (5, 80), (2, (8, 9)): (5, 80)})

    def test_allocations_have_a_row_for_each_thread_and_one_for_all(self):
        result = {"name": "herald", "kind": "branded", "calls": 2, "again": 0, "threads": {"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}}
        self.assertEqual(allocations.rows([result])[1:], [
            ["herald, branded, b", "5.00", "6.00", "7", "8.00", "2", "0"], ["herald, branded, a", "1.00", "2.00", "3", "4.00", "2", "0"],
            ["herald, branded, all", "6.00", "8.00", "10", "12.00", "2", "0"]])


class EventsOfARun(unittest.TestCase):
    """Checks of a directory's ledger after a run whose keys begin with 0001."""

    def judge(self, events, accepted, counted=None):
        """(keys, missing, failures)"""
        database = sqlite3.connect(":memory:")
        database.executescript("""
            CREATE TABLE event (event_key TEXT, counted INT);
            CREATE TABLE month_usage (counted INT);
            CREATE TABLE day_outcome (events INT, reason TEXT)""")
        database.executemany("INSERT INTO event VALUES (?, 1)", [(key,) for key in events])
        for table in ("month_usage VALUES (?)", "day_outcome VALUES (?, '')"):
            database.execute(f"INSERT INTO {table}", (len(events) if counted is None else counted,))
        directory = types.SimpleNamespace(query=lambda sql: database.execute(sql).fetchall())
        with tempfile.TemporaryDirectory() as cache:
            bench = directory_load.Bench(types.SimpleNamespace(cache=cache), directory)
            bench.prefix = "0001"
            with open(bench.accepted, "w", encoding="ascii") as file:
                file.write("".join(f"{key}\n" for key in accepted))
            with contextlib.redirect_stdout(io.StringIO()):
                return *bench.ledger(), len(bench.failures)

    def test_an_accepted_key_that_is_missing_is_named_though_the_number_fits(self):
        self.assertEqual(self.judge(["0001-a", "0001-c"], ["0001-a", "0001-b"]),
                         ({"0001-a", "0001-c"}, ["0001-b"], 0))

    def test_events_of_other_runs_are_none_of_this_one(self):
        self.assertEqual(self.judge(["0001-a", "0000-b"], ["0001-a"]), ({"0001-a"}, [], 0))

    def test_a_key_that_is_there_twice_is_a_failure(self):
        self.assertEqual(self.judge(["0001-a", "0001-a"], ["0001-a"])[2], 1)

    def test_counters_that_do_not_fit_are_a_failure(self):
        self.assertEqual(self.judge(["0001-a"], ["0001-a"], counted=2)[2], 1)


class Programs(unittest.TestCase):
    def test_the_figures_of_this_very_process(self):
        own = Process(os.getpid())
        self.assertGreater(own.cpu_seconds(), 0)
        self.assertGreaterEqual(own.highest(), own.resident())
        self.assertGreater(own.resident(), own.anonymous())
        self.assertGreater(own.share(), 0)
        self.assertGreater(own.open_files(), 0)
        self.assertGreaterEqual(own.written(), 0)
        self.assertIn(os.getpid(), own.thread_names())
        self.assertIn(os.getpid(), [process.pid for process in session_of(os.getsid(0))])

    def test_a_process_that_has_ended_is_an_error_alone_and_nothing_in_a_sum(self):
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        for figure in (Process.cpu_seconds, Process.resident, Process.share, Process.written, Process.open_files):
            with self.assertRaises(OSError):
                figure(Process(child))
            self.assertGreaterEqual(total(figure, [Process(child), Process(os.getpid())]), 0)

    def test_metrics_are_read_by_series_and_by_family(self):
        values = probes.parsed('# TYPE a counter\na{x="1 2"} 3\na{x="4"} 4.5\nb 0\n')
        self.assertEqual(values, {'a{x="1 2"}': 3.0, 'a{x="4"}': 4.5, "b": 0.0})
        self.assertEqual(probes.families(values), {"a": 7.5, "b": 0.0})


class Numbers(unittest.TestCase):
    def test_no_number_comes_twice(self):
        numbers = {dataset.number(place) for place in range(200_000)}
        self.assertEqual(len(numbers), 200_000)
        self.assertTrue(all(len(number) == 12 and number.startswith("+1") for number in numbers))


class Pictures(unittest.TestCase):
    def test_scales_end_above_the_highest_value_in_round_steps(self):
        for highest, last in ((343, 400), (0.19, 0.2), (10_472, 12_500), (1, 1)):
            self.assertAlmostEqual(plot.ticks(highest)[-1], last)

    def test_a_logarithmic_scale_has_equal_steps_for_equal_factors(self):
        self.assertEqual(plot.decades([0.4, 32_000]), [0.1, 1, 10, 100, 1000, 10_000, 100_000])
        axes = plot.Axes("t", "u", [1, 100], 1, logarithmic=True)
        self.assertAlmostEqual(axes.y(1) - axes.y(10), axes.y(10) - axes.y(100))
        # A value below the scale is drawn at its end.
        self.assertEqual(axes.y(0), axes.y(1))

    def test_a_page_is_well_formed_whatever_stands_in_names(self):
        panels = [plot.bars("a & b", "<µs>", ["x"], [("herald", [1.5]), ("other", [None])]),
                  plot.curves("c", "y", "x", [("line", [(0, 0), (10, 5)])])]
        document = minidom.parseString(plot.page('"q" <t>', "note", panels))
        self.assertEqual(document.documentElement.tagName, "svg")

    def test_markdown_has_a_cell_for_each_column(self):
        lines = list(report.markdown_table([["", "a"], ["x", "1"]]))
        self.assertEqual(lines, ["|  | a |", "|---|--:|", "| x | 1 |"])


if __name__ == "__main__":
    unittest.main()
