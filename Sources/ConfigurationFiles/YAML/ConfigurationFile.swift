// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostSystem
import Yams

/// A YAML file on its way to become a configuration.
struct ConfigurationFile {
    /// The environment secrets may come from.
    let environment: [String: String]
    private let path: String
    private let text: String

    init(path: String, environment: [String: String]) throws(ConfigurationError) {
        self.path = path
        self.environment = environment
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Self.refusal(path, "cannot be read: \(SystemReason.ofReading(path))")
        }
        guard let text = String(data: data, encoding: .utf8) else { throw Self.refusal(path, "is no UTF-8 text") }
        self.text = text
    }

    /// Reads the file's one mapping with `read`; throws every problem it noted, in the order of the file.
    func read<Value>(_ read: (ConfigurationSection) -> Value?) throws(ConfigurationError) -> Value {
        let problems = ProblemList(file: path)
        let section = ConfigurationSection(try root(), path: "", place: (1, 1), problems: problems)
        let value = read(section)
        section.finish()
        let found = problems.problems.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        if !found.isEmpty { throw ConfigurationError(problems: found.map(\.element)) }
        guard let value else { throw Self.refusal(path, "is not complete") }
        return value
    }

    /// The path as seen from the file's own folder.
    func resolved(_ other: String) -> String {
        let folder = (path as NSString).deletingLastPathComponent
        return other.hasPrefix("/") || folder.isEmpty ? other : folder + "/" + other
    }

    private func root() throws(ConfigurationError) -> Node.Mapping {
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw refusal(error)
        } catch {
            throw Self.refusal(path, "is no YAML")
        }
        guard let node else { throw Self.refusal(path, "is empty") }
        guard let mapping = node.mapping else { throw Self.refusal(path, "must hold keys and values") }
        return mapping
    }

    private static func refusal(
        _ path: String, line: Int = 0, column: Int = 0, _ message: String
    ) -> ConfigurationError {
        ConfigurationError(
            problems: [ConfigurationProblem(file: path, line: line, column: column, key: "", message: message)])
    }

    /// What the parser says, without the piece of the file it would quote: a secret might stand there.
    private func refusal(_ error: YamlError) -> ConfigurationError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let cause = isTab(line: mark.line, column: mark.column) ? "a tab; indent with blanks" : problem
            return Self.refusal(path, line: mark.line, column: mark.column, "is no YAML here: \(cause)")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            let message = "the same key twice in one place: \(names)"
            return Self.refusal(path, line: context.mark.line, column: context.mark.column, message)
        default:
            return Self.refusal(path, "is no YAML")
        }
    }

    /// True where a tab is the character at the place, both counted from 1, or all that is before it in its line.
    private func isTab(line: Int, column: Int) -> Bool {
        let lines = text.split(separator: "\n", maxSplits: line, omittingEmptySubsequences: false)
        guard line >= 1, line <= lines.count else { return false }
        return lines[line - 1].unicodeScalars.prefix(column).last == "\t"
    }
}
