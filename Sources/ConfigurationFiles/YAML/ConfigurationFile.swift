// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Yams

/// A YAML file that is parsed into a configuration.
struct ConfigurationFile {
    /// The environment variables for secrets.
    let environment: [String: String]
    private let path: String
    /// The text of the file.
    let text: String

    init(path: String, environment: [String: String]) throws(ConfigurationError) {
        self.path = path
        self.environment = environment
        guard let data = FileManager.default.contents(atPath: path) else {
            let reason = SystemError.ofReading(path)
            let remedy = reason == SystemError.text(EACCES) ? "; run the command as root or herald: sudo -u herald" : ""
            throw Self.refusal(path, "cannot be read: \(reason)\(remedy)")
        }
        guard let text = String(data: data, encoding: .utf8) else { throw Self.refusal(path, "is not UTF-8 text") }
        self.text = text
    }

    /// A file whose text is at hand.
    init(path: String, text: String) {
        self.path = path
        self.text = text
        environment = [:]
    }

    /// Reads the top-level mapping with `read`.
    ///
    /// - Throws: `ConfigurationError` with every problem, in the order of the file.
    func read<Value>(_ read: (ConfigurationSection) -> Value?) throws(ConfigurationError) -> Value {
        try self.read(read, values: { _, _ in })
    }

    /// Reads the top-level mapping with `read`, and hands on the values of a file without problems.
    ///
    /// - Throws: `ConfigurationError` with every problem, in the order of the file.
    func read<Value>(
        _ read: (ConfigurationSection) -> Value?, values: (inout Value, ConfigurationValues) -> Void
    ) throws(ConfigurationError) -> Value {
        let problems = ProblemList(file: path)
        let root = try root()
        let section = ConfigurationSection(root, path: "", place: (1, 1), problems: problems)
        let value = read(section)
        section.finish()
        let found = problems.problems.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        if !found.isEmpty { throw ConfigurationError(problems: found.map(\.element)) }
        guard var value else { throw Self.refusal(path, "is not complete") }
        values(&value, ConfigurationValues(root, contents: section.contents.hashes))
        return value
    }

    /// The file's folder; empty for the present one.
    var folder: String { (path as NSString).deletingLastPathComponent }

    /// Returns a path relative to the file's folder.
    func resolved(_ other: String) -> String {
        other.hasPrefix("/") || folder.isEmpty ? other : folder + "/" + other
    }

    private func root() throws(ConfigurationError) -> Node.Mapping {
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw refusal(error)
        } catch {
            throw Self.refusal(path, "is not valid YAML")
        }
        guard let node else { throw Self.refusal(path, "is empty") }
        guard let mapping = node.mapping else { throw Self.refusal(path, "must contain keys and values") }
        return mapping
    }

    private static func refusal(
        _ path: String, line: Int = 0, column: Int = 0, _ message: String
    ) -> ConfigurationError {
        ConfigurationError(
            problems: [ConfigurationProblem(file: path, line: line, column: column, key: "", message: message)])
    }

    /// Returns the parser's message without its quotation from the file, which may contain a secret.
    private func refusal(_ error: YamlError) -> ConfigurationError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let cause = isTab(line: mark.line, column: mark.column) ? "a tab; indent with spaces" : problem
            return Self.refusal(path, line: mark.line, column: mark.column, "is not valid YAML here: \(cause)")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            let message = "duplicate key: \(names)"
            return Self.refusal(path, line: context.mark.line, column: context.mark.column, message)
        default:
            return Self.refusal(path, "is not valid YAML")
        }
    }

    /// True if the character at the position is a tab. Line and column count from 1.
    private func isTab(line: Int, column: Int) -> Bool {
        let lines = text.split(separator: "\n", maxSplits: line, omittingEmptySubsequences: false)
        guard line >= 1, line <= lines.count else { return false }
        return lines[line - 1].unicodeScalars.prefix(column).last == "\t"
    }
}
