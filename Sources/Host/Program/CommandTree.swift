// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The commands of a program with their subcommands, to find a mistyped one before the arguments are parsed.
///
/// The parser of arguments suggests options, and no commands.
public struct CommandTree: Hashable, Sendable {
    /// As on the command line.
    public let name: String
    public let commands: [CommandTree]
    /// True if the command works without a subcommand.
    public let isComplete: Bool

    public init(_ name: String, _ commands: [CommandTree] = [], isComplete: Bool = false) {
        (self.name, self.commands, self.isComplete) = (name, commands, isComplete)
    }

    /// The problem of the first word that is no command, with a similar one; nil for any other arguments.
    ///
    /// - Parameter arguments: without the name of the program.
    public func problem(in arguments: [String]) -> String? {
        guard let word = arguments.first, word != "help", !commands.isEmpty else { return nil }
        guard !word.hasPrefix("-") else { return problem(ofOptions: arguments) }
        if let command = commands.first(where: { $0.name == word }) {
            return command.within(name).problem(in: Array(arguments.dropFirst()))
        }
        guard let similar = similar(to: word) else {
            // A word may be an argument of the command itself.
            guard !isComplete else { return nil }
            let names = commands.map(\.name)
            return "\(name) has no command \"\(shown(word))\"; there are \(names.joined(separator: ", "))"
        }
        return "\(name) has no command \"\(shown(word))\"; did you mean \"\(similar)\"? See \(name) --help"
    }

    /// The problem of an option that is a verb, such as `--disable`; nil without one.
    private func problem(ofOptions arguments: [String]) -> String? {
        guard isComplete else { return nil }
        for option in arguments.prefix(while: { $0 != "--" }) where option.hasPrefix("--") {
            let word = option.dropFirst(2).prefix { $0 != "=" }
            let verb = String(word.prefix { $0 != "-" })
            let names = commands.map(\.name)
            guard let command = CommandVerbs.find(verb, among: names) else { continue }
            return
                "\(name) has no option --\(shown(String(word))); did you mean \"\(name) \(command)\"? See \(name) --help"
        }
        return nil
    }

    /// The command that a word means, or one with a similar name.
    private func similar(to word: String) -> String? {
        let names = commands.map(\.name)
        return CommandVerbs.find(word, among: names) ?? NearestName.find(word, among: names)
    }

    /// The same command, named with the words before it.
    private func within(_ parent: String) -> CommandTree {
        CommandTree("\(parent) \(name)", commands, isComplete: isComplete)
    }

    private func shown(_ word: String) -> String { TerminalText.visible(String(word.prefix(64))) }
}
