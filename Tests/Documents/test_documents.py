# SPDX-License-Identifier: Apache-2.0
"""Tests of the checks of pages. `Tests/Documents/run` runs them first."""
import os
import tempfile
import unittest
from unittest import mock

from heraldtest import ROOT

from . import blocks, check, commands
from .blocks import Block

PAGE = """\
# Title

    herald calls          # a comment

1. An item
    with text that is indented

## Files

```ini
; /etc/asterisk/pjsip.conf, in [carrier] type=identify
match=192.0.2.10
```

```yaml
log:
  level: debug
```
"""


class Blocks(unittest.TestCase):
    def test_fenced_and_indented_blocks_are_found_and_text_of_items_is_not(self):
        found = list(blocks.read("a.md", PAGE.split("\n")))
        self.assertEqual([(b.language, b.line, b.heading) for b in found], [
            ("indented", 3, "Title"), ("ini", 11, "Files"), ("yaml", 16, "Files")])
        self.assertEqual(found[1].title, ("/etc/asterisk/pjsip.conf", "in [carrier] type=identify"))

    def test_the_file_of_a_block_may_be_named_below_a_first_line(self):
        block = Block("a.md", 1, "", "sh", ("#!KAMAILIO", "# /etc/kamailio/kamailio.cfg, behind Herald"))
        self.assertEqual(block.title, ("/etc/kamailio/kamailio.cfg", "behind Herald"))


class Lines(unittest.TestCase):
    def test_comments_here_documents_and_continued_lines(self):
        block = Block("README.md", 1, "", "sh", ("# all", "cat <<'END'", "herald nonsense", "END", "herald \\", "  calls # x"))
        self.assertEqual(list(commands.lines_of(block)), ["cat <<'END'", "herald   calls # x"])

    def test_aliases_of_a_page_are_written_out(self):
        block = Block("README.md", 1, "", "sh", ("alias hd='sudo -u herald herald-directory'", "hd numbers list"))
        with mock.patch.object(commands, "aliases", return_value={"hd": "sudo -u herald herald-directory"}):
            self.assertEqual(list(commands.lines_of(block)), ["sudo -u herald herald-directory numbers list"])
        self.assertEqual(commands.ALIAS.findall("    " + block.lines[0]), [("hd", "sudo -u herald herald-directory")])

    def test_sudo_pipes_and_redirections(self):
        line = "sudo -u herald herald-directory keys add g | sudo install -m 640 /dev/stdin /x > /dev/null  # why"
        self.assertEqual(commands.simple_commands(line), [
            ["herald-directory", "keys", "add", "g"], ["install", "-m", "640", "/dev/stdin", "/x"]])


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.checker = check.Checker(os.environ.get("BINARIES", os.path.join(ROOT, ".build", "debug")), cls.work.name)

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def mistakes(self, language, *lines, page="docs/operating.md"):
        return self.checker.mistakes(Block(page, 1, "", language, lines))

    def test_command_lines_that_the_programs_take(self):
        for line in ("herald calls show ID", "herald calls --since 1h", "herald calls list --wide", "herald lookup +61 --trunk carrier", "herald sync --full",
                     "sudo -u herald herald-directory numbers set +61491570110 --brand mine", "herald events",
                     "Deploy/test-peers recipes", "Deploy/test --no-scenarios"):
            self.assertEqual(self.mistakes("indented", line), [], line)

    def test_command_lines_that_nobody_takes(self):
        for line in ("herald calls shwo ID", "herald lokup +61", "herald lookup --called", "herald lookup 1 2",
                     "herald calls --limit", "herald-directory brands add", "herald-directory accounts change", "herald events --state nonsense",
                     "Deploy/nothing", "Deploy/test --nonsense", "Deploy/test-peers nonsense", "frobnicate", "sqlite3 x",
                     "herald calls | frobnicate", "herald calls 'open"):
            self.assertEqual(len(self.mistakes("sh", line)), 1, line)

    def test_configurations(self):
        self.assertEqual(self.mistakes("yaml", "log:", "  level: debug"), [])
        self.assertIn("levle", self.mistakes("yaml", "log:", "  levle: debug")[0])
        self.assertEqual(self.mistakes("yaml", "# /etc/herald/herald-directory.yaml", "events: {keep_days: 30}"), [])
        self.assertEqual(len(self.mistakes("yaml", "# /etc/herald/herald-directory.yaml", "events: {keep: 30}")), 1)
        self.assertEqual(len(self.mistakes("yaml", "# /etc/other.yaml", "a: 1")), 1)

    def test_blocks_that_no_test_runs(self):
        self.assertEqual(self.mistakes("text", "any output"), [])
        for language, line in (("indented", "any output"), ("", "any output"), ("ini", "; /etc/x.conf"), ("json", "{"),
                               ("ini", "[section]"), ("sh", "# /etc/x.conf")):
            self.assertEqual(len(self.mistakes(language, line)), 1, language)

    def test_broken_xml_of_a_page_that_is_not_run(self):
        page = "docs/recipes/freeswitch.md"
        self.assertEqual(self.mistakes("xml", "<!-- /etc/x.xml -->", "<a/>", page=page), [])
        self.assertEqual(len(self.mistakes("xml", "<!-- /etc/x.xml -->", "<a>", page=page)), 1)

    def test_commands_in_the_text_of_a_page(self):
        found = list(commands.inline("Run `herald lokup` and `sudo -u herald herald calls show`.\n```\n`herald x`\n```"))
        self.assertEqual(found, [(1, ["herald", "lokup"]), (1, ["herald", "calls", "show"])])
        found = list(commands.short(
            "| `numbers remove +61491570157` | `numbers remov +61` | `report 2026-11` | `events` | `a word` |",
            self.checker.grammars))
        self.assertEqual([(text, bool(mistake)) for _, text, mistake in found], [
            ("numbers remove +61491570157", False), ("numbers remov +61", True), ("report 2026-11", False)])
        with mock.patch.object(blocks, "pages", return_value=["README.md"]):
            self.assertTrue(all(mistake is None for _, mistake in check.of_pages(self.checker)))
