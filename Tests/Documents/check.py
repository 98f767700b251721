# SPDX-License-Identifier: Apache-2.0
"""Gives each block of the pages to the check that fits: command lines, YAML, JSON, XML, files of a recipe, or output."""
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from heraldtest import ROOT

from . import blocks, commands, reasons

SHELL = ("sh", "bash", "shell", "console", "indented")
SECTION = re.compile(r"(?m)^(?=[a-z_]+:)")
# Files whose YAML another test reads.
ELSEWHERE = {}


# Files that configurations on pages name.
SECRETS = ("api-key", "acme-key", "beta-key", "pages-token", "hep-key", "ledger-password", "kafka-password",
           "push-key.pem")
CLUSTER = "cluster-secret"
CERTIFICATE = ("admin-certificate.pem", "admin-key.pem")


class Checker:
    """Checks blocks with the programs of a folder; files go into `work`."""

    def __init__(self, programs, work):
        self.programs, self.work = programs, work
        self.grammars = commands.grammars(programs)
        self.count = 0
        for name in SECRETS:
            with open(os.path.join(work, name), "w", encoding="ascii") as file:
                file.write("secret-of-a-page\n")
            os.chmod(file.name, 0o600)
        with open(os.path.join(work, CLUSTER), "w", encoding="ascii") as file:
            file.write("00112233445566778899aabbccddeeff\n")
        os.chmod(file.name, 0o600)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "30", "-subj", "/CN=herald.example", "-out", os.path.join(work, CERTIFICATE[0]),
             "-keyout", os.path.join(work, CERTIFICATE[1])], check=True, capture_output=True, timeout=60)
        self.readme = self.readme_configuration()

    @staticmethod
    def readme_configuration():
        """The complete configuration that README.md prints."""
        for block in blocks.of_page("README.md"):
            if found := re.search(r"(?ms)^listen:\n.*?(?=^END$|\Z)", block.text):
                return found.group(0)
        raise ValueError("README.md prints no configuration of the gateway")

    def mistakes(self, block):
        """What is wrong with a block; [] if all of it is checked and right."""
        if reasons.is_history(block.page):
            return []
        if block.title[0] and block.page in reasons.NOT_RUN:
            return self.xml(block) if block.language == "xml" else []
        if block.title[0] and block.page in reasons.RECIPES and block.language != "yaml":
            return []
        if block.language == "yaml":
            return self.yaml(block)
        if block.language == "json":
            return self.json(block)
        if block.language == "text" or reasons.of_output(block):
            return []
        if block.language in SHELL and not block.title[0]:
            return self.shell(block)
        return [f"a block of language '{block.language}' that no test runs; see Tests/Documents/reasons.py"]

    def shell(self, block):
        """Checks each command line."""
        lines = list(commands.lines_of(block))
        if block.language == "indented" and not (lines and self.is_command(lines[0])):
            return ["neither commands nor known output; use a ```text fence, or Tests/Documents/reasons.py"]
        found = []
        for line in lines:
            parts = commands.simple_commands(line)
            if not parts:
                found.append(f"{line}: cannot be read as a command")
            for words in parts:
                if mistake := self.command(block.page, words):
                    found.append(f"{line}: {mistake}")
        if "<<" in block.text and "listen:" in block.text:
            found += self.configuration(self.readme)
        return found

    def is_command(self, line):
        """True if a line of an indented block begins with a program that some page runs."""
        first = line.split()[0]
        known = {"sudo", *self.grammars, *(name for _, name, _ in reasons.PROGRAMS)}
        known.update(*EXECUTED.values())
        return first in known or first.startswith(("Deploy/", "Tests/"))

    def command(self, page, words):
        """The mistake in one command, or None."""
        program = words[0]
        if program in self.grammars:
            return self.grammars[program].mistake(words[1:])
        if program.startswith(("Deploy/", "Tests/")):
            return repository_program(words)
        if program in EXECUTED.get(page, ()) or program in EXECUTED["*"]:
            return None
        if reasons.of_program(page, program):
            return None
        return f"no test runs '{program}'; run it in Tests/Peers/steps/documents, or see Tests/Documents/reasons.py"

    def yaml(self, block):
        """Checks a configuration of the gateway or the directory; a part takes the place of README's section."""
        path, _ = block.title
        if path and os.path.basename(path) in ELSEWHERE:
            return []
        if path and os.path.basename(path) not in ("herald.yaml", "herald-directory.yaml"):
            return [f"no test reads {path}"]
        if os.path.basename(path) == "herald-directory.yaml":
            return self.directory(block.text)
        return self.configuration(with_sections(self.readme, block.text))

    def configuration(self, text):
        path = self.write("herald.yaml", text)
        return self.run("herald", "check-config", "--config", path)

    def directory(self, text):
        path = self.write("herald-directory.yaml", with_sections("state: state\n", re.sub(r"(?m)^state:.*\n", "", text)))
        return self.run("herald-directory", "accounts", "add", "page", "--config", path)

    def run(self, program, *words):
        done = subprocess.run([os.path.join(self.programs, program), *words], capture_output=True, text=True, timeout=60,
                              check=False, cwd=self.work)
        return [] if done.returncode == 0 else [(done.stderr or done.stdout).strip()]

    def write(self, name, text):
        self.count += 1
        folder = os.path.join(self.work, str(self.count))
        os.makedirs(folder)
        for file in (*SECRETS, *CERTIFICATE, CLUSTER):
            shutil.copy(os.path.join(self.work, file), folder)
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    @staticmethod
    def json(block):
        try:
            json.loads(block.text)
            return []
        except ValueError:
            pass
        try:
            for line in block.lines:
                json.loads(line)
            return []
        except ValueError as error:
            return [f"no JSON: {error}"]

    @staticmethod
    def xml(block):
        try:
            ElementTree.fromstring(block.text)
            return []
        except ElementTree.ParseError as error:
            return [f"no XML: {error}"]


# Programs that Tests/Peers/steps/documents runs from the page, on all pages or on one.
EXECUTED = {
    "*": ("curl", "systemctl"),
    "docs/backup.md": ("install", "cp"),
    "docs/recipes/asterisk.md": ("asterisk",),
}


def with_sections(whole, part):
    """A configuration with the top-level sections of another in place of its own."""
    sections = {}
    for text in (whole, part):
        for section in SECTION.split(text):
            if found := re.match(r"([a-z_]+):", section):
                sections[found.group(1)] = section if section.endswith("\n") else section + "\n"
    return "".join(sections.values())


def repository_program(words):
    """A program of this repository must exist, with the options and the names that the line gives it."""
    path = os.path.join(ROOT, words[0])
    if not os.access(path, os.X_OK):
        return f"{words[0]} is no program of this repository"
    known = sources(words[0])
    for word in words[1:]:
        name = word.split("=")[0]
        if name.startswith("--") and name not in known:
            return f"{words[0]} does not know {name}"
    folder = {"Deploy/test-peers": "Tests/Peers/steps"}.get(words[0])
    for word in words[1:] if folder else []:
        if not word.startswith("-") and not os.path.exists(os.path.join(ROOT, folder, word)):
            return f"{words[0]} has no step {word}"
    return None


def sources(program):
    """The text of a program and of the Python packages behind it."""
    text = ""
    paths = [program, "Tests/Peers/run", "Tests/Peers/namespace.sh"]
    for package in ("heraldtest", "Bench", "Scenarios", "Documents"):
        for folder, _, names in os.walk(os.path.join(ROOT, "Tests", package)):
            paths += [os.path.join(folder, name) for name in names
                      if name.endswith(".py") and not name.startswith("test_")]
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text += file.read()
    return text


def of_pages(checker):
    """Yields (place, what is wrong) for each mistake, and (place, None) for each block or inline command that is right."""
    for page in blocks.pages():
        for block in blocks.of_page(page):
            found = checker.mistakes(block)
            yield from ((block.place, mistake) for mistake in found or [None])
        if page in reasons.NOT_RUN:
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                if "**Not run.**" not in file.read():
                    yield page, "the page does not say **Not run.**"
        if not reasons.is_history(page):
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                text = file.read()
            for number, line, mistake in commands.short(text, checker.grammars):
                yield f"{page}:{number}", mistake and f"`{line}`: {mistake}"
            for number, words in commands.inline(text):
                if words[0] in checker.grammars:
                    mistake = checker.grammars[words[0]].mistake(words[1:], partial=True)
                    yield f"{page}:{number}", mistake and f"`{' '.join(words)}`: {mistake}"
