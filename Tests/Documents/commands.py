# SPDX-License-Identifier: Apache-2.0
"""Command lines of pages: their words, and their check against the programs' own description of their options."""
import functools
import json
import os
import re
import shlex
import subprocess

from heraldtest import ROOT

PROGRAMS = ("herald", "herald-directory")
# Marks of optional words in a line of text.
OPTIONAL = str.maketrans("", "", "[]…")
PUNCTUATION = set("|&;()<>")
ALIAS = re.compile(r"(?m)^ *alias (\w+)='([^']+)'")
# Words of a page that a reader replaces: NUMBER, FILE. In their place no list of values is checked.
PLACEHOLDER = re.compile(r"^[A-Z][A-Z0-9_-]*$")


@functools.cache
def aliases(page):
    """The aliases that a page defines for its other lines: {name: command}."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return dict(ALIAS.findall(file.read()))


def lines_of(block):
    """Yields the command lines of a block, without comments and here-documents, continued lines joined, no aliases."""
    pending, end = "", None
    short = aliases(block.page)
    for line in block.lines:
        if end is not None:
            end = None if line == end else end
            continue
        pending += line
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        if pending.strip() and not pending.lstrip().startswith("#"):
            if found := re.search(r"<<'?(\w+)'?", pending):
                end = found.group(1)
            first, _, rest = pending.strip().partition(" ")
            if first != "alias":
                yield f"{short.get(first, first)} {rest}".rstrip()
        pending = ""


def simple_commands(line):
    """The commands of a line, each a list of words, without sudo, assignments and redirections."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    commands, current, skip = [], [], False
    for word in words:
        if set(word) <= PUNCTUATION:
            skip = set(word) <= set("<>&") and word[0] in "<>"
            if not skip:
                commands.append(current)
                current = []
        elif skip:
            skip = False
        else:
            current.append(word)
    return [found for command in [*commands, current] if (found := bare(command))]


def bare(words):
    """A command without what is in front of it: sudo with its options, and assignments of variables."""
    words = list(words)
    while words and (words[0] == "sudo" or re.match(r"^[A-Z_]+=", words[0])):
        words.pop(0)
        if words[:1] == ["-u"]:
            words = words[2:]
    return words


class Grammar:
    """The commands and options of one program, from the program itself."""

    def __init__(self, path):
        done = subprocess.run([path, "--experimental-dump-help"], capture_output=True, text=True, timeout=60, check=True)
        self.root = json.loads(done.stdout)["command"]

    def mistake(self, words, partial=False):
        """Why the program would not take the words, or None. `partial`: required arguments may be missing."""
        command, given, words = self.root, [], list(words)
        while words:
            word = words.pop(0)
            if not any(c["commandName"] == word for c in command.get("subcommands", [])):
                command = with_usual(command)
            if word.startswith("-") and len(word) > 1:
                name, equals, value = word.partition("=")
                argument = self.option(command, name)
                if argument is None:
                    return f"{command['commandName']} has no option {name}"
                given.append(argument["preferredName"]["name"])
                if argument["kind"] == "option" and not equals:
                    if not words:
                        return None if partial else f"{name} has no value"
                    value = words.pop(0)
                if mistake := wrong_value(argument, name, value):
                    return mistake
                continue
            found = next((c for c in command.get("subcommands", []) if c["commandName"] == word), None)
            if found:
                command = found
            else:
                given.append(word)
        return count_mistake(with_usual(command), given, partial)

    @staticmethod
    def option(command, name):
        bare_name, is_long = name.lstrip("-"), name.startswith("--")
        for argument in command.get("arguments", []):
            for one in argument.get("names", []):
                if one["name"] == bare_name and (one["kind"] == "long") == is_long:
                    return argument
        return None


def with_usual(command):
    """The command itself, or the list that a noun without a verb means."""
    return next((c for c in command.get("subcommands", []) if c["commandName"] == "list"), command)


def wrong_value(argument, name, value):
    """A value outside of the list that an option has."""
    values = argument.get("allValues")
    if argument["kind"] == "option" and values and value not in values and not PLACEHOLDER.match(value):
        return f"{name} is one of {', '.join(values)}, not {value}"
    return None


def count_mistake(command, given, partial):
    """Too many positional words, or required ones that are missing."""
    arguments = command.get("arguments", [])
    options = {a["preferredName"]["name"] for a in arguments if a["kind"] != "positional"}
    words = [word for word in given if word not in options]
    places = [a for a in arguments if a["kind"] == "positional"]
    if len(words) > len(places) and not any(a["isRepeating"] for a in places):
        unknown = words[len(places)]
        return f"{command['commandName']} takes no '{unknown}'"
    if partial:
        return None
    if len(words) < sum(not a["isOptional"] for a in places):
        return f"{command['commandName']} needs {places[len(words)]['valueName']}"
    missing = [a["preferredName"]["name"] for a in arguments
               if a["kind"] == "option" and not a["isOptional"] and a["preferredName"]["name"] not in given]
    if missing:
        return f"{command['commandName']} needs --{missing[0]}"
    below = [c for c in command.get("subcommands", []) if c["commandName"] != "help"]
    if below and "defaultSubcommand" not in command and not {"help", "version"} & set(given):
        return f"{command['commandName']} needs a subcommand"
    return None


def grammars(folder):
    """The grammar of each program in a folder of built programs."""
    return {name: Grammar(os.path.join(folder, name)) for name in PROGRAMS}


def text_lines(page_text):
    """Yields (line number, line) of the lines that belong to no block of code."""
    is_code = False
    for number, line in enumerate(page_text.split("\n"), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        if not is_code and not line.startswith("    "):
            yield number, line


def short(page_text, grammar_of_each):
    """Yields (line number, text, mistake or None) of commands in `backticks` without their program, in tables."""
    names = {c["commandName"] for g in grammar_of_each.values() for c in g.root.get("subcommands", [])}
    for number, line in text_lines(page_text):
        if not line.startswith("|"):
            continue
        for found in re.finditer(r"`([a-z-]+ [^`:;{}=]+)`", line):
            if found.group(1).split()[0] not in names:
                continue
            for words in simple_commands(found.group(1).translate(OPTIONAL)):
                mistakes = [g.mistake(words, partial=True) for g in grammar_of_each.values()]
                yield number, found.group(1), None if None in mistakes else mistakes[-1]


def inline(page_text):
    """Yields (line number, words) of the commands of the programs in `backticks`."""
    for number, line in text_lines(page_text):
        for found in re.finditer(r"`((?:sudo (?:-u \w+ )?)?(?:herald|herald-directory) [^`]+)`", line):
            for words in simple_commands(found.group(1).translate(OPTIONAL)):
                yield number, words
