// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Primitives
import Yams

/// A mapping in a configuration file.
///
/// Returns values by key and reports invalid ones. The section records every requested key, so that `finish` can report
/// unknown keys. An invalid value reads as its default, so that one run reports all problems.
final class ConfigurationSection {
    let path: String
    private let mapping: Node.Mapping
    private let problems: ProblemList
    /// Contents of the files that the configuration names.
    let contents: ReadContents
    private var asked: [String] = []
    private let place: (line: Int, column: Int)
    /// Called with every requested key, in this section and below. Tests compare the keys with the sample file.
    private var listener: ((String) -> Void)?

    init(
        _ mapping: Node.Mapping, path: String, place: (line: Int, column: Int), problems: ProblemList,
        contents: ReadContents = ReadContents()
    ) {
        self.mapping = mapping
        self.path = path
        self.place = place
        self.problems = problems
        self.contents = contents
    }

    /// Calls `listener` with every key requested from now on, in this section and below.
    func observeKeys(_ listener: @escaping (String) -> Void) { self.listener = listener }

    // MARK: Single values

    /// True if the file has the key.
    func has(_ key: String) -> Bool { node(key) != nil }

    /// True if the key has an empty list.
    func isEmptyList(_ key: String) -> Bool { node(key)?.sequence?.isEmpty ?? false }

    /// Returns a text that is not empty.
    func string(_ key: String) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = Self.text(node) else { return wrongType(key, node, "text") }
        return text
    }

    /// Returns a text of the given form.
    func string(_ key: String, form: String, _ hasForm: (String) -> Bool) -> String? {
        guard let text = string(key) else { return nil }
        guard hasForm(text) else {
            problem(key, "must be \(form)")
            return nil
        }
        return text
    }

    func bool(_ key: String, default value: Bool) -> Bool {
        guard let node = node(key) else { return value }
        switch node.scalar?.style == .plain ? node.scalar?.string : nil {
        case "true": return true
        case "false": return false
        default: return wrongType(key, node, "true or false") ?? value
        }
    }

    func integer(_ key: String, default value: Int, in range: ClosedRange<Int>) -> Int {
        guard let node = node(key) else { return value }
        guard let number = Self.text(node).flatMap({ Int($0) }) else {
            return wrongType(key, node, "a whole number") ?? value
        }
        guard range.contains(number) else {
            problem(key, "\(number) is out of range (\(range.lowerBound) to \(range.upperBound))")
            return value
        }
        return number
    }

    /// Returns a duration with a unit: `500ms`, `30s`, `5m`, `24h`, `90d`.
    func duration(_ key: String, default value: Duration, in range: ClosedRange<Duration>) -> Duration {
        guard let node = node(key) else { return value }
        guard let text = Self.text(node), let duration = DurationText.read(text) else {
            return wrongType(key, node, "a time with its unit, such as 500ms, 30s, 5m, 24h or 90d") ?? value
        }
        guard range.contains(duration) else {
            let bounds = "\(DurationText.write(range.lowerBound)) to \(DurationText.write(range.upperBound))"
            problem(key, "\(text) is out of range (\(bounds))")
            return value
        }
        return duration
    }

    /// Returns a share: 1 for `true`, 0 for `false`, or a number between 0 and 1.
    func share(_ key: String, default value: Double) -> Double {
        guard let node = node(key) else { return value }
        switch Self.text(node) {
        case "true": return 1
        case "false": return 0
        case let text:
            guard let share = text.flatMap({ Double($0) }), (0...1).contains(share) else {
                return wrongType(key, node, "true, false or a share between 0 and 1, such as 0.1") ?? value
            }
            return share
        }
    }

    /// Returns one of a fixed set of values.
    func choice<Choice: ConfigurationWord>(_ key: String, default value: Choice) -> Choice {
        guard let node = node(key) else { return value }
        return word(node, child(key)) ?? value
    }

    /// Parses a text with `read`. The error that `read` throws is reported.
    func parsed<Value>(_ key: String, _ read: (String) throws(AddressProblem) -> Value) -> Value? {
        guard let node = node(key) else { return nil }
        return parsed(node, child(key), read)
    }

    /// Returns the values of a mapping whose keys are the operator's, such as provider codes; empty if the key is absent.
    func words<Choice: ConfigurationWord>(_ key: String, _ isName: (String) -> Bool) -> [String: Choice] {
        guard let node = node(key) else { return [:] }
        guard let entries = node.mapping else {
            return wrongType(key, node, "keys and values, such as {123A: deny}") ?? [:]
        }
        var words: [String: Choice] = [:]
        for (name, value) in entries {
            guard let text = Self.text(name), isName(text) else {
                problem(name, child(key), "a key must be \(WordForm.word)")
                continue
            }
            if let word: Choice = word(value, "\(child(key)).\(text)") { words[text] = word }
        }
        return words
    }

    /// Parses the values of a mapping whose keys are the operator's, such as identifiers of brands; empty if the key is absent.
    func named<Value>(
        _ key: String, example: String, _ read: (String) throws(AddressProblem) -> Value
    ) -> [String: Value] {
        guard let node = node(key) else { return [:] }
        guard let entries = node.mapping else {
            return wrongType(key, node, "keys and values, such as \(example)") ?? [:]
        }
        var values: [String: Value] = [:]
        for (name, value) in entries {
            guard let text = Self.text(name) else {
                problem(name, child(key), "a key must be text")
                continue
            }
            values[text] = parsed(value, "\(child(key)).\(text)", read)
        }
        return values
    }

    // MARK: Lists

    /// Returns a list of different values out of a fixed set. A single value counts as a list.
    func choices<Choice: ConfigurationWord>(_ key: String, default value: [Choice]) -> [Choice] {
        guard let elements = elements(key) else { return value }
        var words: [Choice] = []
        for (path, element) in elements {
            guard let word: Choice = word(element, path) else { continue }
            if words.contains(word) { problem(element, path, "\"\(word.word)\" is listed twice") }
            words.append(word)
        }
        if elements.isEmpty { problem(key, "must not be empty") }
        return words.isEmpty ? value : words
    }

    /// Parses each text of a list with `read`. A single text counts as a list.
    func list<Value>(_ key: String, _ read: (String) throws(AddressProblem) -> Value) -> [Value] {
        (elements(key) ?? []).compactMap { path, element in parsed(element, path, read) }
    }

    /// Returns the texts of a list. A single text counts as a list.
    func texts(_ key: String) -> [String] { list(key) { text throws(AddressProblem) in text } }

    /// Reads a nested mapping and reports its unknown keys; nil if the key is absent.
    func section<Value>(_ key: String, _ read: (ConfigurationSection) -> Value?) -> Value? {
        guard let node = node(key) else { return nil }
        return nested(node, path: child(key), read)
    }

    /// Reads a nested mapping, if present, and reports its unknown keys.
    func within(_ key: String, _ read: (ConfigurationSection) -> Void) {
        let _: Void? = section(key) { section -> Void? in read(section) }
    }

    /// Reads a list of mappings and reports their unknown keys.
    ///
    /// - Returns: nil if the key is absent, is not a list, or has an empty list.
    func sections<Value>(_ key: String, _ read: (Int, ConfigurationSection) -> Value?) -> [Value]? {
        guard let node = node(key) else { return nil }
        guard let sequence = node.sequence else { return wrongType(key, node, "a list of entries, each with a dash") }
        guard !sequence.isEmpty else { return wrongType(key, node, "a list with at least one entry") }
        return sequence.enumerated().compactMap { position, element in
            nested(element, path: "\(child(key))[\(position)]") { read(position, $0) }
        }
    }

    // MARK: Contents

    /// Keeps a content that was read under a key, to compare it after a change of its file.
    func keep(_ content: Data, of key: String) { contents.add(content, at: child(key)) }

    // MARK: Problems

    /// Reports a problem at a key's value, or at the section if the key is absent.
    func problem(_ key: String, _ message: String) { problem(node(key), child(key), message) }

    /// Reports a problem at one element of a key's list.
    func problem(_ key: String, element position: Int, _ message: String) {
        let list = node(key)
        let element = list?.sequence.flatMap { position < $0.count ? $0[position] : nil }
        problem(element ?? list, element == nil ? child(key) : "\(child(key))[\(position)]", message)
    }

    /// Reports a problem in a file that the section names.
    func problem(inFile path: String, line: Int, key: String, _ message: String) {
        problems.add(message, inFile: path, key: key, line: line, column: 1)
    }

    /// Reports that a required key is absent.
    func missing(_ key: String, _ example: String) {
        problems.add("is missing; write \(key): \(example)", key: child(key), line: place.line, column: place.column)
    }

    /// Reports every key that was not requested, with the most similar known key.
    func finish() {
        for (keyNode, _) in mapping {
            guard let key = keyNode.scalar?.string else {
                problem(keyNode, path, "a key must be text")
                continue
            }
            if !asked.contains(key) {
                problem(keyNode, child(key), "unknown key" + NearestName.hint(key, among: asked))
            }
        }
    }

    // MARK: Nodes

    private func node(_ key: String) -> Node? {
        listener?(key)
        if !asked.contains(key) { asked.append(key) }
        return mapping[key]
    }

    fileprivate func child(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Returns the text of a scalar that is neither empty nor null.
    private static func text(_ node: Node) -> String? {
        guard let scalar = node.scalar, !scalar.string.isEmpty, node.tag != Tag(.null) else { return nil }
        if scalar.style == .plain, ["~", "null", "Null", "NULL"].contains(scalar.string) { return nil }
        return scalar.string
    }

    /// Returns the elements of a list with their paths; nil if the key is absent or not a list.
    private func elements(_ key: String) -> [(path: String, node: Node)]? {
        guard let node = node(key) else { return nil }
        if Self.text(node) != nil { return [(child(key), node)] }
        guard let sequence = node.sequence else { return wrongType(key, node, "a list") }
        return sequence.enumerated().map { ("\(child(key))[\($0)]", $1) }
    }

    private func parsed<Value>(
        _ node: Node, _ path: String, _ read: (String) throws(AddressProblem) -> Value
    ) -> Value? {
        guard let text = Self.text(node) else {
            problem(node, path, "must be text")
            return nil
        }
        do {
            return try read(text)
        } catch {
            problem(node, path, "\(error)")
            return nil
        }
    }

    private func word<Choice: ConfigurationWord>(_ node: Node, _ path: String) -> Choice? {
        let words = Choice.allCases.map(\.word)
        guard let text = Self.text(node) else {
            problem(node, path, "must be one of \(words.joined(separator: ", "))")
            return nil
        }
        if let choice = Choice.allCases.first(where: { $0.word == text }) { return choice }
        let hint = NearestName.hint(text, among: words)
        problem(node, path, "\"\(text)\" is not one of \(words.joined(separator: ", "))" + hint)
        return nil
    }

    private func nested<Value>(_ node: Node, path: String, _ read: (ConfigurationSection) -> Value?) -> Value? {
        guard let mapping = node.mapping else {
            problem(node, path, "must contain keys and values")
            return nil
        }
        let place = (line: node.mark?.line ?? 0, column: node.mark?.column ?? 0)
        let section = ConfigurationSection(
            mapping, path: path, place: place, problems: problems, contents: contents)
        section.listener = listener
        defer { section.finish() }
        return read(section)
    }

    private func wrongType<Value>(_ key: String, _ node: Node, _ expected: String) -> Value? {
        problem(node, child(key), "must be \(expected)")
        return nil
    }

    private func problem(_ node: Node?, _ path: String, _ message: String) {
        let mark = node?.mark
        problems.add(message, key: path, line: mark?.line ?? place.line, column: mark?.column ?? place.column)
    }
}

extension ConfigurationSection {
    /// Reports a file that this user cannot read.
    func checkReadable(_ key: String, _ path: String) {
        guard access(path, R_OK) != 0 else { return contents.add(fileAt: path, at: child(key)) }
        problem(key, "\(path) cannot be read: \(Self.obstacle(ofReading: path))")
    }

    /// Returns the reason for an unreadable file, with the remedy for one that is closed to this user.
    static func obstacle(ofReading path: String) -> String {
        let reason = SystemError.ofReading(path)
        guard access(path, F_OK) == 0, reason == SystemError.text(EACCES) else { return reason }
        return "\(reason); open it for the group of herald: chgrp herald \(path) && chmod 640 \(path)"
    }
}
