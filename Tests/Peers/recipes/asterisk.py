# SPDX-License-Identifier: Apache-2.0
"""docs/recipes/asterisk.md."""
from contextlib import contextmanager

from Documents import blocks, check, commands

from ..readme_site import PBX
from ..recipe_peers import Asterisk, printed
from .calls import Test

PAGE = "docs/recipes/asterisk.md"
PJSIP = "/etc/asterisk/pjsip.conf"
# Separators of Asterisk's dialplan inside a reason, and a logo beside it.
AWKWARD_CALLER, AWKWARD_REASON = "+61491570158", "Ready: now, (today) or later? Ask :) us"

__all__ = ["Test", "recipe", "running", "usual_files"]


def usual_files(dialplan="for Asterisk 20.19"):
    """The two files of the page, with one of its dialplans."""
    return {"pjsip.conf": printed(PAGE, PJSIP), "extensions.conf": printed(PAGE, "/etc/asterisk/extensions.conf", dialplan)}


def printed_commands():
    """The commands of Asterisk's console that the page prints."""
    lines = [line for block in blocks.of_page(PAGE) if block.language in check.SHELL for line in commands.lines_of(block)]
    return [words[2] for line in lines for words in commands.simple_commands(line) if words[:2] == ["asterisk", "-rx"]]


@contextmanager
def running(test, kind, files):
    """An Asterisk with these files."""
    asterisk = Asterisk(kind, test.folder, files)
    try:
        asterisk.start()
        yield asterisk
    finally:
        asterisk.stop()


def awkward_reason(test, phone):
    """A reason with the separators of the dialplan must arrive whole."""
    if "awkward" not in test.site.run("herald-directory", "brands", "list"):
        test.site.run("herald-directory", "brands", "add", "Awkward", "--id", "awkward", "--logo", "acme-256x256.png",
                      "--reason", AWKWARD_REASON)
        test.site.run("herald-directory", "numbers", "set", AWKWARD_CALLER, "--brand", "awkward")
    test.site.run("herald", "sync")
    test.call("a reason with commas, colons and brackets", "answered/carrier.xml", phone, caller=AWKWARD_CALLER)
    info = phone.received("Call-Info")
    test.check("it arrives whole", f'call-reason="{AWKWARD_REASON}"' in info, info)


def recipe(test, kind, dialplan):
    with running(test, kind, usual_files(dialplan)) as asterisk:
        test.check("Asterisk knows Herald's address as the carrier",
                   "192.0.2.10/32" in asterisk.cli("pjsip show identifies"))
        with test.phone(PBX) as phone:
            for line in printed_commands():
                shown = asterisk.cli(line)
                test.check(f"asterisk -rx '{line}' shows something", "Objects found: 0" not in shown and len(shown) > 100
                           and "No such command" not in shown, shown)
            test.usual_calls(phone, PBX)
            awkward_reason(test, phone)
