# SPDX-License-Identifier: Apache-2.0
"""The count of Deploy/test and the graphs of Deploy/import-graph.

Run it in Tests by `python3 -m unittest heraldtest.test_heraldtest`.
"""
import contextlib
import io
import os
import sys
import tempfile
import unittest

from . import counts, import_graph, suite
from .suite import Step, judged


class Counts(unittest.TestCase):
    def test_a_step_without_numbers_counts_as_one(self):
        self.assertEqual(judged(Step("a", 1, ()), 0, None), (1, 0))
        self.assertEqual(judged(Step("a", 1, ()), 1, None), (0, 1))

    def test_a_step_that_must_count_and_wrote_nothing_has_failed(self):
        self.assertEqual(judged(Step("a", 1, (), counts=True), 0, None), (0, 1))
        self.assertEqual(judged(Step("a", 1, (), counts=True), 0, (0, 0)), (0, 1))

    def test_a_step_that_died_after_its_count_has_failed(self):
        self.assertEqual(judged(Step("a", 1, (), counts=True), 139, (7, 0)), (7, 1))
        self.assertEqual(judged(Step("a", 1, (), counts=True), 1, (7, 2)), (7, 2))

    def test_a_step_that_left_itself_out_is_a_note(self):
        step = Step("step", 10, (sys.executable, "-c", "print('left out: no emulator'); raise SystemExit(77)"), optional=True)
        with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())) as printed:
            self.assertEqual(suite.run([step], work), (0, 0))
            printed.seek(0)
            self.assertEqual(printed.read(), "== step\nleft out: no emulator\nnote: step left out: no emulator\n")
            self.assertEqual(suite.run([step._replace(optional=False)], work), (0, 1))

    def run_step(self, *command, **options):
        step = Step("step", 10, (sys.executable, "-c", *command), **options)
        with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            status = suite.execute(step, work)
            return judged(step, status, suite.written(step, work))

    def test_a_program_writes_its_numbers(self):
        program = "from heraldtest import counts; counts.write(3, 0)"
        os.environ["PYTHONPATH"] = os.path.join(suite.ROOT, "Tests")
        self.assertEqual(self.run_step(program, counts=True), (3, 0))
        self.assertEqual(self.run_step(program + "; import os; os.abort()", counts=True), (3, 1))
        self.assertEqual(self.run_step("import os; os.abort()", counts=True), (0, 1))

    def test_a_step_that_never_ends_has_failed(self):
        with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            self.assertEqual(judged(Step("a", 1, ()), suite.execute(Step("a", 1, ("sleep", "30")), work), None), (0, 1))

    def test_a_report_of_swift_testing_is_read(self):
        with tempfile.TemporaryDirectory() as work:
            with open(f"{work}/unit.xml", "w", encoding="utf-8") as file:
                file.write('<testsuites><testsuite name="T" errors="0" tests="12" failures="2"/></testsuites>')
            self.assertEqual(suite.written(Step("unit", 1, ()), work), (10, 2))
            with open(f"{work}/unit-swift-testing.xml", "w", encoding="utf-8") as file:
                file.write("<testsuites>")
            self.assertIsNone(suite.written(Step("unit", 1, ()), work))

    def test_a_file_that_is_no_count_is_none(self):
        self.assertIsNone(counts.read(os.devnull))


class Graphs(unittest.TestCase):
    def test_files_are_tied_by_the_types_they_name(self):
        graph = import_graph.file_graph({
            "A.swift": "package struct Alpha { var beta: Beta }\nprivate struct Own {}",
            "B.swift": "enum Beta { struct Inner {} }",
            "C.swift": "final class Own { let inner: Beta.Inner }"})
        self.assertEqual({file: dict(others) for file, others in graph.items()}, {
            "A.swift": {"B.swift": {"Beta"}, "C.swift": {"Own"}}, "B.swift": {}, "C.swift": {"B.swift": {"Beta"}}})

    def test_comments_and_texts_name_no_types(self):
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8", suffix=".swift") as file:
            file.write('// Alpha\nlet a = "Beta \\" Gamma" /* Delta */\n/// Epsilon\nlet b: Zeta\n')
            file.flush()
            self.assertEqual(import_graph.WORD.findall(import_graph.code_of(file.name)), ["Zeta"])

    def test_a_cycle_is_found_with_its_cheapest_cut(self):
        graph = {"a": {"b": {"X", "Y"}}, "b": {"c": {"Z"}}, "c": {"a": {"V", "W"}, "d": {"D"}}, "d": {}}
        self.assertEqual(import_graph.cycles(graph), [["a", "b", "c"]])
        self.assertEqual(import_graph.cheapest_cut(graph, ["a", "b", "c"]), (0, "b", "c", ["Z"]))


if __name__ == "__main__":
    unittest.main()
