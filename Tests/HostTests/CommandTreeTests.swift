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
            CommandTree("keys", [CommandTree("list"), CommandTree("add"), CommandTree("remove")], isComplete: true),
            CommandTree("numbers", [CommandTree("list"), CommandTree("set")], isComplete: true),
            CommandTree(
                "targets", [CommandTree("list"), CommandTree("enable"), CommandTree("disable")], isComplete: true),
            CommandTree("events", [CommandTree("list"), CommandTree("retry")], isComplete: true),
        ])
    private static let names = tree.commands.map(\.name).joined(separator: ", ")

    @Test(arguments: [
        (["satus"], "herald has no command \"satus\"; did you mean \"status\"? See herald --help"),
        (["STATUS", "--json"], "herald has no command \"STATUS\"; did you mean \"status\"? See herald --help"),
        (["zzz"], "herald has no command \"zzz\"; there are \(CommandTreeTests.names)"),
        (["trust", "lsit"], "herald trust has no command \"lsit\"; did you mean \"list\"? See herald trust --help"),
        (
            ["brands", "shwo", "acme"],
            "herald brands has no command \"shwo\"; did you mean \"show\"? See herald brands --help"
        ),
        (["st\u{1B}[2Jatus"], "herald has no command \"st\\x1b[2Jatus\"; there are \(CommandTreeTests.names)"),
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
        ("keys create gateway", "keys", "create", "add"), ("keys revoke gateway", "keys", "revoke", "remove"),
        ("keys DELETE gateway", "keys", "DELETE", "remove"), ("key list", "", "key", "keys"),
        ("numbers create", "numbers", "create", "set"), ("numbers add +1", "numbers", "add", "set"),
        ("brands get acme", "brands", "get", "show"), ("brands ls", "brands", "ls", "list"),
        ("targets cordon", "targets", "cordon", "disable"),
    ])
    func `a verb of another program has the one of Herald`(line: String, command: String, word: String, verb: String) {
        let path = command.isEmpty ? "herald" : "herald \(command)"
        #expect(
            Self.tree.problem(in: line.split(separator: " ").map(String.init))
                == "\(path) has no command \"\(word)\"; did you mean \"\(verb)\"? See \(path) --help")
    }

    @Test(arguments: [
        ("targets --disable 192.0.2.20:5060", "targets", "disable", "disable"),
        ("targets --json --enable=192.0.2.20", "targets", "enable", "enable"),
        ("brands --show acme", "brands", "show", "show"),
        ("events --customer acme --retry-refused", "events", "retry-refused", "retry"),
    ])
    func `an option that is a verb has the command`(line: String, command: String, option: String, verb: String) {
        #expect(
            Self.tree.problem(in: line.split(separator: " ").map(String.init))
                == "herald \(command) has no option --\(option); did you mean \"herald \(command) \(verb)\"? "
                + "See herald \(command) --help")
    }

    @Test(arguments: [
        [], ["status"], ["status", "sattus"], ["--help"], ["--satus"], ["help", "satus"], ["trust"],
        ["trust", "--help"],
        ["brands"], ["brands", "acme"], ["brands", "--limit", "5"], ["trust", "why", "lsit"],
        ["events", "--state", "refused"], ["targets", "--", "--disable"], ["trust", "--why", "x"],
        ["targets", "disable", "--enable"],
    ])
    func `everything else is left to the parser of arguments`(arguments: [String]) {
        #expect(Self.tree.problem(in: arguments) == nil)
    }
}
