# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree whose rules can be inverted when it runs."""
import os
import subprocess

from heraldtest import ROOT

SWITCH = """// SPDX-License-Identifier: Apache-2.0

import Glibc

private let inversion = getenv("HERALD_INVERSION").flatMap { Int(String(cString: $0)) } ?? 0

/// True if this rule is the inverted one.
func isInverted(_ rule: Int) -> Bool { inversion == rule }
"""


def unmatched(numbered):
    """A line for each rule whose text is not exactly once in its file, as the rules before it leave the file."""
    texts, lines = {}, []
    for number, rule in numbered:
        if rule.file not in texts:
            try:
                with open(os.path.join(ROOT, rule.file), encoding="utf-8") as file:
                    texts[rule.file] = file.read()
            except OSError as error:
                texts[rule.file] = ""
                lines.append(f"{rule.file}: {error.strerror}")
        try:
            texts[rule.file] = with_switches(texts[rule.file], [(number, rule)])
        except SystemExit as problem:
            lines.append(f"{number}: {problem}")
    return lines


def with_switches(text, rules):
    """The text of a file, in which each of its rules, given with their numbers, can be inverted."""
    for number, rule in rules:
        before, rest = rule.text.split("«")
        expression, after = rest.split("»")
        plain = before + expression + after
        found = text.count(plain)
        if found != 1:
            raise SystemExit(f"{rule.file} has {found} times: {plain}\ncorrect Tests/Inversions/rules.py")
        text = text.replace(plain, f"{before}(isInverted({number}) ? ({rule.inverted}) : ({expression})){after}")
    return text


def write(path, content):
    """Writes a file if it differs, so that a build finds only what changed."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    with open(path, "wb") as file:
        file.write(content)


def make(folder, rules):
    """Brings the copy up to date with the files of git in this tree, and puts the switches in."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, check=True).stdout.decode().split("\0")
    files = {}
    for name in filter(None, names):
        path = os.path.join(ROOT, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files[name] = (file.read(), os.stat(path).st_mode)
    of_file = {}
    for number, rule in enumerate(rules, 1):
        of_file.setdefault(rule.file, []).append((number, rule))
    for name, numbered in of_file.items():
        if name not in files:
            raise SystemExit(f"{name} does not exist; correct Tests/Inversions/rules.py")
        content, mode = files[name]
        files[name] = (with_switches(content.decode(), numbered).encode(), mode)
        files["/".join(name.split("/")[:2]) + "/Inversion.swift"] = (SWITCH.encode(), 0o644)
    for name, (content, mode) in files.items():
        path = os.path.join(folder, name)
        write(path, content)
        os.chmod(path, mode & 0o777)
    for place in ("Sources", "Tests"):
        for top, _, found in os.walk(os.path.join(folder, place)):
            for name in found:
                path = os.path.join(top, name)
                if os.path.relpath(path, folder) not in files:
                    os.remove(path)
