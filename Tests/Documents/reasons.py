# SPDX-License-Identifier: Apache-2.0
"""The parts of pages that no test runs, each with its reason, and the recipes that a step of Deploy/test-peers runs."""
import fnmatch

# Pages of history: alternatives that were rejected.
HISTORY = ("docs/decisions/*",)

# Pages whose titled blocks Deploy/test-peers starts a peer with: page, steps. The step recipes checks that it used each.
RECIPES = {
    "docs/recipes/asterisk.md": "recipes",
    "docs/recipes/freepbx.md": "recipes",
    "docs/recipes/kamailio.md": "recipes",
    "docs/trunks.md": "recipes",
    "docs/doors.md": "recipes",
    "docs/doors-redirect.md": "recipes",
    "docs/network.md": "network recipes",
}

# Pages of products that Debian 12 does not have. They must say "Not run".
NOT_RUN = {
    "docs/recipes/freeswitch.md": "no FreeSWITCH in Debian 12; the XML is read",
    "docs/recipes/opensips.md": "no OpenSIPS in Debian 12",
    "docs/recipes/3cx.md": "a closed product",
}

LABORATORY = 'the scenario "the laboratory of docs/trust.md" of Deploy/test runs the block'

SIGNERS = "the site has no regime and no signer; TrustCommandTests and the scenarios of signed calls"

LOGIN = 'the scenario "the login of docs/trust.md" of Deploy/test runs the block'

TEST_CALL = 'the scenario "herald test-call" of Deploy/test runs the scripts'

# Programs of command lines that no test runs from the page: (page, program, reason).
PROGRAMS = (
    ("*", "swift", "Deploy/test and Deploy/release build with it"),
    ("*", "journalctl", "shows the log of systemd"),
    ("*", "sngrep", "a program of the terminal, which shows files and packets"),
    ("*", "tshark", "shows a file of packets"),
    ("*", "apt", "Deploy/test-package installs the packages by it"),
    ("*", "xdg-open", "opens a browser; Deploy/test-peers pages and directory-pages use the pages"),
    ("*", "ssh", "needs a second machine"),
    ("README.md", "git", "the clone is where the test runs"),
    ("README.md", "cd", "the clone is where the test runs"),
    ("README.md", "apt-get", "Deploy/lib.sh installs the same packages"),
    ("README.md", "install", "Deploy/test-package runs the steps of README.md"),
    ("README.md", "systemctl", "Deploy/test-package runs the steps of README.md"),
    ("docs/install.md", "gpg", "shows the fingerprint of a key"),
    ("docs/install.md", "gpgv", "Deploy/test-package checks the signature of a release"),
    ("docs/install.md", "sha256sum", "Deploy/test-package checks the sums of a release"),
    ("docs/install.md", "*", "Deploy/test-package runs the steps of this page"),
    ("docs/pages.md", "install", "makes a file for a token"),
    ("docs/pages.md", "openssl", "makes a token"),
    ("docs/pages.md", "tee", "makes a file for a token"),
    ("docs/customers.md", "install", "makes a file for a key"),
    ("docs/cluster.md", "head", "makes a secret; Deploy/test-peers siblings uses such files"),
    ("docs/cluster.md", "install", "makes a file for a secret"),
    ("docs/cluster.md", "od", "shows a secret as the file has it"),
    ("docs/cluster.md", "tr", "shows a secret as the file has it"),
    ("docs/commands.md", "cd", TEST_CALL),
    ("docs/commands.md", "./run", TEST_CALL),
    ("docs/trust.md", "cat", LABORATORY),
    ("docs/trust.md", "echo", LABORATORY),
    ("docs/trust.md", "key=*", LABORATORY),
    ("docs/trust.md", "mv", LOGIN),
    ("docs/trust.md", "openssl", LABORATORY),
    ("docs/trust.md", "printf", LABORATORY),
    ("docs/trust.md", "sed", LOGIN),
    ("docs/trust.md", "test", LOGIN),
    ("docs/trust.md", "umask", LOGIN),
    ("docs/push.md", "chgrp", "opens the key for the group of the service"),
    ("docs/push.md", "chmod", "opens the key for the group of the service"),
    ("docs/push.md", "openssl", 'the scenario "a kill in a burst of push messages" of Deploy/test makes such a key'),
    ("docs/phones.md", "nft", "a rule as in network.md, which Deploy/test-peers network loads"),
)

# Commands that are checked, but not run by Deploy/test-peers documents: (beginning, reason).
NOT_EXECUTED = (
    ("herald run", "it runs until it is ended; the site has one"),
    ("herald-directory run", "it runs until it is ended; the site has one"),
    ("herald-directory push", "the site has no push service; PushRouteTests and PushServiceTests"),
    ("herald drain", "the site would take no more calls"),
    ("herald trace", "it waits for calls"),
    ("herald test-call", 'the site has no PBX between its calls; the scenario "herald test-call" of Deploy/test'),
    ("herald doctor", "its exit code is 1, because the site has no PBX between its calls; CommandLineTests"),
    ("herald trust import", SIGNERS),
    ("herald trust list", SIGNERS),
    ("herald trust show", SIGNERS),
    ("herald trust check", SIGNERS),
    ("herald simulate signed.txt", SIGNERS),
    ("herald replay", 'the files are the reader\'s; the scenario "recorded calls under another policy" of Deploy/test'),
    ("curl -sSf -H Content-Type: application/json --data-binary @sti-pa-user.json", LOGIN),
    ("herald-directory copy", "the site has no PostgreSQL; DatabaseCopyTests copies"),
    ("herald-directory keys add gateway --write", "the site has this key; the scenarios make theirs"),
)

# Blocks that are neither commands nor configuration: (page, beginning of its first line, reason).
OUTPUT = (
    ("README.md", "From: \"WIRELESS CALLER\"", "an INVITE; Deploy/demo compares one"),
    ("docs/doors-redirect.md", "Contact: <sip:", "fields of a 302; RedirectRulesTests has them"),
    ("docs/monitoring.md", "INVITE from 198.51.100.9:5060 rejected", "log lines"),
    ("docs/limits.md", "INVITE from 203.0.113.5:5060", "a log line"),
    ("docs/monitoring.md", "call ended call_id=", "a log line"),
    ("docs/operating.md", "at most 32768 transactions", "a log line"),
    ("docs/performance/method.md", "carrier (SIPp)", "a drawing"),
    ("docs/shared-ledger.md", "CREATE ROLE herald_owner", "GatewayClusterTests ship with such roles"),
    ("docs/shared-ledger.md", "GRANT USAGE ON SCHEMA", "GatewayClusterTests ship with such rights"),
    ("docs/shared-ledger.md", "CREATE INDEX CONCURRENTLY", "ClaimTests compares them with the schema"),
    ("docs/shared-ledger.md", "HERALD_SHARED_CALLS", "a measurement, which takes minutes; the suite runs without it"),
    ("docs/pages.md", "xdg-open", "opens a browser; Deploy/test-peers pages uses the pages"),
)


def of_program(page, program):
    """The reason why a program's line on a page is not run, or None."""
    fits = (why for pattern, name, why in PROGRAMS if fnmatch.fnmatch(program, name) and fnmatch.fnmatch(page, pattern))
    return next(fits, None)


def of_output(block):
    """The reason why a block is not run, or None."""
    first = block.lines[0] if block.lines else ""
    return next((why for page, begin, why in OUTPUT if page == block.page and first.startswith(begin)), None)


def is_history(page):
    return any(fnmatch.fnmatch(page, pattern) for pattern in HISTORY)
