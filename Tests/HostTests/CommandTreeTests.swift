// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("Mistyped commands")
struct CommandTreeTests {
    private static let tree = CommandTree(
        "herald",
        [
            CommandTree("status"), CommandTree("sync"),
            CommandTree("trust", [CommandTree("list"), CommandTree("why")]),
            CommandTree("brands", [CommandTree("list"), CommandTree("show")], isComplete: true),
        ])

    @Test(arguments: [
        (["satus"], "herald has no command \"satus\"; did you mean \"status\"? See herald --help"),
        (["STATUS", "--json"], "herald has no command \"STATUS\"; did you mean \"status\"? See herald --help"),
        (["zzz"], "herald has no command \"zzz\"; there are status, sync, trust, brands"),
        (["trust", "lsit"], "herald trust has no command \"lsit\"; did you mean \"list\"? See herald trust --help"),
        (
            ["brands", "shwo", "acme"],
            "herald brands has no command \"shwo\"; did you mean \"show\"? See herald brands --help"
        ),
        (["st\u{1B}[2Jatus"], "herald has no command \"st\\x1b[2Jatus\"; there are status, sync, trust, brands"),
    ])
    func `a word that is no command has a similar one or the list`(arguments: [String], problem: String) {
        let found = Self.tree.problem(in: arguments)
        if problem.contains("\\x1b") {
            #expect(found?.contains("\u{1B}") == false)
        } else {
            #expect(found == problem)
        }
    }

    @Test(arguments: [
        [], ["status"], ["status", "sattus"], ["--help"], ["--satus"], ["help", "satus"], ["trust"],
        ["trust", "--help"],
        ["brands"], ["brands", "acme"], ["brands", "--limit", "5"], ["trust", "why", "lsit"],
    ])
    func `everything else is left to the parser of arguments`(arguments: [String]) {
        #expect(Self.tree.problem(in: arguments) == nil)
    }
}
