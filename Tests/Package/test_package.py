# SPDX-License-Identifier: Apache-2.0
"""The manual page, the Debian changelog, the commands of a page, their effort, and the rules of the Dockerfile.

Run it in Tests by `python3 -m unittest Package.test_package`.
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from . import dockerfile, readme, typing_effort

FILES = os.path.join(dockerfile.ROOT, "Deploy", "debian")


def load(name):
    """A program of Deploy/debian as a module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(FILES, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


manual, changelog, sbom = load("manual"), load("changelog"), load("sbom")


def argument(kind, value, **fields):
    return {
        "kind": kind, "valueName": value, "isOptional": True, "isRepeating": False, "shouldDisplay": True,
        "names": [{"kind": "long", "name": value}], "preferredName": {"kind": "long", "name": value}, **fields}


class Manual(unittest.TestCase):
    def page(self, **fields):
        command = {"commandName": "check", "abstract": "Check it.", "arguments": [], **fields}
        root = {"commandName": "herald", "abstract": "A proxy.", "subcommands": [command]}
        return manual.page(root, "1.2.3", "1 January 2026")

    def test_a_line_of_help_is_never_a_request_of_roff(self):
        page = self.page(discussion=".TH evil\n'quoted' and a back\\slash")
        self.assertIn("\\&.TH evil", page)
        self.assertIn("\\&'quoted' and a back\\eslash", page)

    def test_an_option_has_its_names_text_values_and_default(self):
        page = self.page(arguments=[argument(
            "option", "limit", abstract="Largest number.", defaultValue="20", allValues=["10", "20"],
            names=[{"kind": "long", "name": "limit"}, {"kind": "short", "name": "l"}])])
        self.assertIn(".B \\-l, \\-\\-limit <limit>\nLargest number. Values: 10, 20. Default: 20.\n", page)
        self.assertIn("[\\-\\-limit <limit>]", page)

    def test_hidden_options_stay_hidden(self):
        self.assertNotIn("secret", self.page(arguments=[argument("flag", "secret", shouldDisplay=False)]))

    def test_an_example_keeps_its_lines(self):
        self.assertIn(".nf\nherald check\nherald run\n.fi", self.page(discussion="Example:\n  herald check\n  herald run"))

    def test_commands_within_commands_have_sections(self):
        inner = {"commandName": "create", "abstract": "Create one.", "arguments": [argument("positional", "name")]}
        self.assertIn(".SS herald check create\n", self.page(subcommands=[inner]))


class Changelog(unittest.TestCase):
    text = "# Changelog\n\n## 0.2.0, 3 March 2026\n\n### Added\n\n- One\n  line.\n- Two.\n\n## 0.1.0, 1 January 2026\n\n- First.\n"

    def test_each_version_is_an_entry_with_its_date(self):
        versions = changelog.versions(self.text)
        self.assertEqual([(number, bullets) for number, _, bullets in versions], [
            ("0.2.0", ["One line.", "Two."]), ("0.1.0", ["First."])])
        entry = changelog.entry("herald", "0.2.0-1", versions[0][1], versions[0][2], "A <a@b.example>")
        self.assertEqual(entry.splitlines()[0], "herald (0.2.0-1) unstable; urgency=medium")
        self.assertEqual(entry.splitlines()[-1], " -- A <a@b.example>  Tue, 03 Mar 2026 00:00:00 +0000")

    def test_changes_without_a_version_are_those_of_the_newest(self):
        text = "## Unreleased\n\n- new\n  line\n\n## 1.0.0, 1 January 2026\n\n- old\n\n## 0.9.0, 1 May 2025\n\n- older\n"
        self.assertEqual([found[2] for found in changelog.versions(text)], [["new line", "old"], ["older"]])

    def test_a_heading_that_is_no_version_is_refused(self):
        with self.assertRaises(SystemExit):
            changelog.versions("## Unreleased\n")

    def test_the_first_version_is_the_one_of_the_programs(self):
        with open(os.path.join(dockerfile.ROOT, "CHANGELOG.md"), encoding="utf-8") as page:
            number = changelog.versions(page.read())[0][0]
        header = os.path.join(dockerfile.ROOT, "Sources/CVersion/include/CVersion.h")
        with open(header, encoding="utf-8") as file:
            self.assertEqual(re.search(r'HERALD_VERSION "(.*)"', file.read())[1], number)


class Parts(unittest.TestCase):
    """The list of parts: CycloneDX 1.5 (ECMA-424) and package URLs."""

    PINS = [
        {"identity": "swift-nio", "location": "https://github.com/apple/swift-nio.git",
         "state": {"version": "2.101.2", "revision": "a" * 40}},
        {"identity": "grdb.swift", "location": "https://github.com/groue/GRDB.swift",
         "state": {"version": "7.10.0", "revision": "b" * 40}},
    ]

    def document(self, pins=None, libraries=(), checkouts="/nowhere"):
        return sbom.document("1.2.3", self.PINS if pins is None else pins, checkouts, libraries, 1_700_000_000)

    def test_a_package_url_names_host_owner_and_version(self):
        for location in ("https://github.com/apple/swift-nio", "https://github.com/apple/swift-nio.git",
                         "git@github.com:apple/swift-nio.git"):
            self.assertEqual(sbom.package_url(location, "2.0.0"), "pkg:swift/github.com/apple/swift-nio@2.0.0")

    def test_each_package_has_its_version_and_revision(self):
        parts = {part["name"]: part for part in self.document()["components"]}
        self.assertEqual(parts["swift-nio"]["version"], "2.101.2")
        self.assertEqual(parts["swift-nio"]["pedigree"]["commits"][0]["uid"], "a" * 40)
        self.assertEqual(parts["grdb.swift"]["purl"], "pkg:swift/github.com/groue/GRDB.swift@7.10.0")

    def test_a_library_of_the_system_is_a_package_of_debian(self):
        part = self.document(libraries=[("libosip2-15", "1:5.3.1+b1-1", "amd64")])["components"][-1]
        self.assertEqual(part["purl"], "pkg:deb/debian/libosip2-15@1%3A5.3.1%2Bb1-1?arch=amd64")

    def test_the_libraries_of_swift_are_a_part(self):
        said = "swift-driver version: 1.127 Apple Swift version 6.3.1 (swift-6.3.1-RELEASE)"
        self.assertEqual(sbom.runtime_version(said), "6.3.1")
        self.assertIsNone(sbom.runtime_version("command not found"))
        document = sbom.document("1.2.3", self.PINS, "/nowhere", (), 1_700_000_000, "6.3.1")
        self.assertEqual(document["components"][-1]["purl"], "pkg:github/swiftlang/swift@swift-6.3.1-RELEASE")

    def test_every_reference_is_there_once(self):
        document = self.document(libraries=[("libpq5", "15.1", "amd64")])
        names = [part["bom-ref"] for part in document["components"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(document["dependencies"][0]["dependsOn"], names)
        self.assertEqual(document["dependencies"][0]["ref"], document["metadata"]["component"]["bom-ref"])

    def test_the_same_parts_make_the_same_document(self):
        self.assertEqual(self.document(), self.document(pins=list(reversed(self.PINS))))
        self.assertRegex(self.document()["serialNumber"], r"^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.assertNotEqual(self.document()["serialNumber"], self.document(pins=self.PINS[:1])["serialNumber"])
        self.assertEqual(self.document()["metadata"]["timestamp"], "2023-11-14T22:13:20Z")

    def test_licences_are_read_from_the_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("swift-nio", "Apache License\n   Version 2.0, January 2004"),
                               ("GRDB.swift", "Permission is hereby granted, free of charge, to any")):
                os.makedirs(os.path.join(folder, name))
                with open(os.path.join(folder, name, "LICENSE.txt"), "w", encoding="utf-8") as file:
                    file.write(text)
            found = {part["name"]: part["licenses"] for part in self.document(checkouts=folder)["components"]}
        self.assertEqual(found["swift-nio"], [{"license": {"id": "Apache-2.0"}}])
        self.assertEqual(found["grdb.swift"], [{"license": {"id": "MIT"}}])


class Versions(unittest.TestCase):
    """Deploy/check-versions, on a copy of the script's folder with lists of its own."""

    PIN = {"identity": "swift-nio", "kind": "remoteSourceControl", "location": "https://github.com/apple/swift-nio"}

    def check(self, version, revision, listed, *options):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "Deploy"))
            for name in ("check-versions", "lib.sh"):
                shutil.copy(os.path.join(dockerfile.ROOT, "Deploy", name), os.path.join(root, "Deploy"))
            with open(os.path.join(root, "Deploy", "versions"), "w", encoding="utf-8") as file:
                file.write("# a comment\n" + listed)
            with open(os.path.join(root, "Package.resolved"), "w", encoding="utf-8") as file:
                json.dump({"pins": [{**self.PIN, "state": {"version": version, "revision": revision}}]}, file)
            ended = subprocess.run([os.path.join(root, "Deploy", "check-versions"), *options], check=False,
                                   capture_output=True, text=True)
        return ended.returncode, ended.stdout

    def test_the_tested_revision_passes(self):
        self.assertEqual(self.check("2.0.0", "abc", "swift-nio 2.0.0 abc\n", "--exact")[0], 0)

    def test_a_moved_tag_is_an_error(self):
        status, text = self.check("2.0.0", "def", "swift-nio 2.0.0 abc\n")
        self.assertEqual(status, 1)
        self.assertIn("swift-nio 2.0.0 has the revision def here, and was tested with abc: its tag was moved", text)

    def test_another_version_is_a_note_and_no_release(self):
        status, text = self.check("2.0.1", "def", "swift-nio 2.0.0 abc\n")
        self.assertEqual((status, text.split(":")[0]), (0, "note"))
        status, text = self.check("2.0.1", "def", "swift-nio 2.0.0 abc\n", "--exact")
        self.assertEqual((status, text.split(":")[0]), (1, "error"))

    def test_a_package_that_one_list_lacks_is_an_error(self):
        self.assertEqual(self.check("2.0.0", "abc", "")[0], 1)
        self.assertEqual(self.check("2.0.0", "abc", "swift-nio 2.0.0 abc\nyams 6.0.0 abc\n")[0], 1)

    def test_every_listed_package_has_a_revision(self):
        with open(os.path.join(dockerfile.ROOT, "Deploy", "versions"), encoding="utf-8") as file:
            rows = [line.split() for line in file if not line.startswith("#")]
        for row in rows:
            self.assertEqual(len(row), 3, row)
            self.assertRegex(row[2], "^[0-9a-f]{40}$")


class Help(unittest.TestCase):
    def test_every_program_of_deploy_explains_itself_and_ends_with_0(self):
        folder = os.path.join(dockerfile.ROOT, "Deploy")
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.isdir(path) or not os.access(path, os.X_OK):
                continue
            with self.subTest(name):
                ended = subprocess.run([path, "--help"], check=False, capture_output=True, text=True, timeout=60)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertIn(name, ended.stdout)

    def test_a_wrong_option_ends_with_2(self):
        for name in ("demo", "dist", "image", "package", "check-versions"):
            ended = subprocess.run([os.path.join(dockerfile.ROOT, "Deploy", name), "--nonsense"], check=False,
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, 2, name)


class Commands(unittest.TestCase):
    page = "## A\n\n**1. One**:\n\n    one\n\n**2. Two**\n\n```sh\ntwo <<'END'\n**bold**\nEND\n```\n\n## B\n\n    three\n"

    def test_commands_of_a_paragraph_are_found(self):
        self.assertEqual(list(readme.commands(readme.section(self.page, "A"), ["**1."])), ["one"])
        self.assertEqual(
            list(readme.commands(readme.section(self.page, "A"), ["**2."])), ["two <<'END'", "**bold**", "END"])

    def test_a_section_ends_at_the_next_heading(self):
        self.assertEqual(list(readme.commands(readme.section(self.page, "B"), [])), ["three"])
        with self.assertRaises(SystemExit):
            readme.section(self.page, "C")


class TypingEffort(unittest.TestCase):
    def test_a_person_types_command_lines_without_their_comments(self):
        found = typing_effort.effort("herald sync            # fetches the change\n\n# a remark\nherald calls\n", [])
        self.assertEqual((found.lines, found.characters), (2, len("herald sync\nherald calls\n")))

    def test_a_person_pastes_a_here_document_and_types_the_lines_around_it(self):
        found = typing_effort.effort("cat >a <<'END'\none: # not typed\ntwo\nEND\nherald run\n", [])
        self.assertEqual((found.lines, found.pasted), (3, 2))
        self.assertEqual(found.characters, len("cat >a <<'END'\nEND\nherald run\n"))

    def test_a_person_replaces_the_example_addresses_of_a_configuration_but_not_of_its_comments(self):
        found = typing_effort.effort("", ["bind=192.0.2.20:5060\n; from 203.0.113.5\nsources: [203.0.113.0/24]  # 192.0.2.1\n"])
        self.assertEqual((found.replaced, found.replaced_characters), (2, len("192.0.2.20") + len("203.0.113.0")))

    def test_forty_words_are_two_hundred_characters(self):
        self.assertEqual(typing_effort.effort("x" * 199 + "\n", []).minutes, 1.0)
        self.assertEqual(typing_effort.effort("", ["x" * 199]).minutes_without_paste, 1.0)


class Dockerfile(unittest.TestCase):
    good = (
        "FROM debian:bookworm AS a\nRUN apt-get update && apt-get install -y --no-install-recommends x && "
        "rm -rf /var/lib/apt/lists/*\nUSER 990\nHEALTHCHECK CMD [\"true\"]\nENTRYPOINT [\"/x\"]\n")

    def rules(self, old="", new=""):
        self.assertIn(old, self.good)
        return [rule for rule, _, _ in dockerfile.remarks(self.good.replace(old, new))]

    def test_the_images_keep_every_rule(self):
        with open(dockerfile.PATH, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(dockerfile.remarks(text), [])
        self.assertEqual([stage.name for stage in dockerfile.stages(text)], ["build", "system", "herald", "herald-directory"])

    def test_each_breach_is_found(self):
        self.assertEqual(self.rules(), [])
        for old, new, rule in (
                ("debian:bookworm", "debian", "DL3006"), ("debian:bookworm", "debian:latest", "DL3006"),
                (" -y", "", "DL3014"), (" --no-install-recommends", "", "DL3015"),
                (" && rm -rf /var/lib/apt/lists/*", "", "DL3009"), ("apt-get update && ", "", "DL3009"),
                ("apt-get update", "sudo apt-get update", "DL3004"), ("apt-get update", "cd /x && apt-get update", "DL3003"),
                ("USER 990", "USER root", "DL3002"), ("USER 990\n", "", "DL3002"), ("USER 990", "USER herald", "numeric-user"),
                ("HEALTHCHECK CMD [\"true\"]\n", "", "DL3057"), ("[\"/x\"]", "/x", "DL3025"),
                ("USER 990", "RUN a | b\nUSER 990", "DL4006"), ("USER 990", "ADD x /\nUSER 990", "DL3020"),
                ("USER 990", "COPY --from=b /x /x\nUSER 990", "DL3022"), ("USER 990", "USES 990", "DL1000")):
            self.assertIn(rule, self.rules(old, new), f"{old!r} -> {new!r}")

    def test_a_stage_has_the_steps_of_the_stage_it_begins_with(self):
        found = dockerfile.stages("FROM x:1 AS a\nRUN one\nFROM a AS b\nRUN two\n")
        self.assertEqual([step.text for step in dockerfile.inherited(found, "b")], ["one", "two"])


if __name__ == "__main__":
    unittest.main()
