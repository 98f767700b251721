#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a manual page, in man(7), from the help texts of a program.

    herald --experimental-dump-help | Deploy/debian/manual.py 0.2.0 "27 November 2026" >herald.1

The input is the JSON of swift-argument-parser. A command of the program becomes a section of the page.
"""
import json
import re
import sys

# Each subcommand inherits these two; the page lists them once.
INHERITED = {"help", "version"}
FILES = {
    "herald": (
        ("/etc/herald/herald.yaml", "The configuration. /usr/share/doc/herald/examples/herald.yaml explains every key."),
        ("/etc/herald/NAME.yaml", "The configuration of the instance herald@NAME."),
        ("/var/lib/herald", "Calls, events and brands."),
        ("/run/herald", "The ring of call updates, and the control socket."),
        ("/usr/share/doc/herald-common", "The licences of the software inside the programs."),
    ),
    "herald-directory": (
        ("/etc/herald/herald-directory.yaml", "The configuration, with every key and its default."),
        ("/var/lib/herald-directory", "The database, uploaded logos and long logs of phones."),
        ("/usr/share/herald/logos", "Logos of the sample brands in /usr/share/herald/sample-brands.csv."),
    ),
}
SEE_ALSO = {"herald": "herald-directory", "herald-directory": "herald"}


def escaped(text):
    """Text in which roff finds no request, no escape and no hyphen that copies badly."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def name(option):
    """An option's name as a user types it."""
    return {"short": "-", "long": "--", "longWithSingleDash": "-"}[option["kind"]] + option["name"]


def usage(argument):
    """An argument in a synopsis, such as `[--limit <limit>]`."""
    if argument["kind"] == "positional":
        text = f"<{argument['valueName']}>"
    else:
        text = name(argument["preferredName"])
        if argument["kind"] == "option":
            text += f" <{argument['valueName']}>"
    text += " ..." if argument["isRepeating"] else ""
    return f"[{text}]" if argument["isOptional"] else text


def names(argument):
    """An argument as the head of its paragraph, such as `-c, --config <file>`."""
    if argument["kind"] == "positional":
        return f"<{argument['valueName']}>"
    spellings = sorted(argument["names"], key=lambda option: len(option["name"]))
    text = ", ".join(name(option) for option in spellings)
    return text + (f" <{argument['valueName']}>" if argument["kind"] == "option" else "")


def paragraphs(text):
    """Paragraphs of a help text; indented lines are an example and keep their layout."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines.append(".PP")
        indented = False
        for line in block.split("\n"):
            if line.startswith("  ") != indented:
                indented = not indented
                lines += [".PP", ".RS 4", ".nf"] if indented else [".fi", ".RE", ".PP"]
            lines.append(escaped(line.strip()))
        if indented:
            lines += [".fi", ".RE"]
    return lines


def shown(command, inherited):
    """The arguments of a command that its page lists."""
    return [
        argument for argument in command.get("arguments", [])
        if argument["shouldDisplay"] and (inherited or argument["valueName"] not in INHERITED)]


def described(arguments):
    """One paragraph an argument: names, text, values and default."""
    lines = []
    for argument in arguments:
        lines += [".TP", f".B {escaped(names(argument))}"]
        text = argument.get("abstract", "")
        if argument.get("allValues"):
            text += f" Values: {', '.join(argument['allValues'])}."
        if argument.get("defaultValue"):
            text += f" Default: {argument['defaultValue']}."
        lines.append(escaped(text.strip()) or "\\&")
    return lines


def section(path, command):
    """The sections of a command and of its subcommands."""
    arguments = shown(command, inherited=False)
    subcommands = [each for each in command.get("subcommands", []) if each["commandName"] != "help"]
    words = " ".join(["<subcommand>"] if subcommands else [usage(argument) for argument in arguments])
    lines = [f".SS {escaped(path)}", f".B {escaped(path)}", escaped(words), ".PP", escaped(command.get("abstract", ""))]
    if command.get("discussion"):
        lines += paragraphs(command["discussion"])
    lines += described(arguments)
    for each in subcommands:
        lines += section(f"{path} {each['commandName']}", each)
    return lines


def page(root, version, date):
    """The whole page."""
    program = root["commandName"]
    abstract = root["abstract"].rstrip(".")
    lines = [
        '.\\" Written by Deploy/debian/manual.py from the help texts of the program.',
        f'.TH {program.upper()} 1 "{date}" "{program} {version}" "User Commands"',
        ".SH NAME", f"{escaped(program)} \\- {escaped(abstract[0].lower() + abstract[1:])}",
        ".SH SYNOPSIS", f".B {escaped(program)}", escaped("<subcommand> [option ...]"),
        ".SH DESCRIPTION"]
    lines += paragraphs(root.get("discussion", ""))[1:]
    lines += [".SH OPTIONS", "Every command has these options."] + described(shown(root, inherited=True))
    lines.append(".SH COMMANDS")
    for each in root["subcommands"]:
        if each["commandName"] != "help" and each.get("shouldDisplay", True):
            lines += section(f"{program} {each['commandName']}", each)
    lines += [
        ".SH EXIT STATUS", ".TP", ".B 0", "Success.", ".TP", ".B 1", "Failure. Standard error has the reason.", ".TP",
        ".B 64", "Unknown command or option."]
    lines.append(".SH FILES")
    for path, text in FILES[program]:
        lines += [".TP", f".I {escaped(path)}", escaped(text)]
    lines += [".SH SEE ALSO", f".BR {escaped(SEE_ALSO[program])} (1)"]
    return "\n".join(line for line in lines if line) + "\n"


def main():
    version, date = sys.argv[1:]
    sys.stdout.write(page(json.load(sys.stdin)["command"], version, date))


if __name__ == "__main__":
    main()
