// SPDX-License-Identifier: Apache-2.0

import Glibc
import HostSystem
import Yams

/// One mapping of a configuration file: hands out values by key, and notes what is wrong with them.
///
/// It knows which keys it was asked for, so `finish` can tell the unknown ones. A value that is wrong reads as its
/// default, so that reading goes on and one look at the file shows everything.
final class ConfigurationSection {
    let path: String
    private let mapping: Node.Mapping
    private let problems: ProblemList
    private var asked: [String] = []
    private let place: (line: Int, column: Int)
    /// Told every key that is asked for, here and below; tests compare them with the sample file.
    private var listener: ((String) -> Void)?

    init(_ mapping: Node.Mapping, path: String, place: (line: Int, column: Int), problems: ProblemList) {
        self.mapping = mapping
        self.path = path
        self.place = place
        self.problems = problems
    }

    /// Tells `listener` every key that is asked for from now on, here and below.
    func noteKeys(_ listener: @escaping (String) -> Void) { self.listener = listener }

    // MARK: Single values

    /// True when the key stands in the file.
    func has(_ key: String) -> Bool { node(key) != nil }

    /// True where a list stands without any element.
    func isEmptyList(_ key: String) -> Bool { node(key)?.sequence?.isEmpty ?? false }

    /// A text that is not empty.
    func string(_ key: String) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = Self.text(node) else { return wrongType(key, node, "text") }
        return text
    }

    /// A text that must have a form.
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

    /// A span of time with its unit: `500ms`, `30s`, `5m`, `24h`, `90d`.
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

    /// `true` for all, `false` for none, or a share between 0 and 1.
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

    /// One of a set of words.
    func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, default value: Choice) -> Choice
    where Choice.RawValue == String {
        guard let node = node(key) else { return value }
        return word(node, child(key)) ?? value
    }

    /// Reads a key through a throwing reader, which says what is wrong with the text.
    func parsed<Value>(_ key: String, _ read: (String) throws(AddressProblem) -> Value) -> Value? {
        guard let node = node(key) else { return nil }
        return parsed(node, child(key), read)
    }

    // MARK: Lists

    /// A list of different words out of a set; a single word counts as a list of one.
    func choices<Choice: RawRepresentable & CaseIterable & Equatable>(_ key: String, default value: [Choice])
        -> [Choice]
    where Choice.RawValue == String {
        guard let elements = elements(key) else { return value }
        var words: [Choice] = []
        for (path, element) in elements {
            guard let word: Choice = word(element, path) else { continue }
            if words.contains(word) { problem(element, path, "\"\(word.rawValue)\" stands here twice") }
            words.append(word)
        }
        if elements.isEmpty { problem(key, "must not be empty") }
        return words.isEmpty ? value : words
    }

    /// A list of texts read through a throwing reader; a single text counts as a list of one.
    func list<Value>(_ key: String, _ read: (String) throws(AddressProblem) -> Value) -> [Value] {
        (elements(key) ?? []).compactMap { path, element in parsed(element, path, read) }
    }

    /// A list of texts as they stand; a single text counts as a list of one.
    func texts(_ key: String) -> [String] { list(key) { text throws(AddressProblem) in text } }

    /// A nested mapping, read and finished; nil when it is not there.
    func section<Value>(_ key: String, _ read: (ConfigurationSection) -> Value?) -> Value? {
        guard let node = node(key) else { return nil }
        return nested(node, path: child(key), read)
    }

    /// A nested mapping, read and finished where it is there.
    func within(_ key: String, _ read: (ConfigurationSection) -> Void) {
        let _: Void? = section(key) { section -> Void? in read(section) }
    }

    /// A list of mappings, each read and finished.
    ///
    /// - Returns: nil when the key is not there, or no list, or an empty one.
    func sections<Value>(_ key: String, _ read: (Int, ConfigurationSection) -> Value?) -> [Value]? {
        guard let node = node(key) else { return nil }
        guard let sequence = node.sequence else { return wrongType(key, node, "a list of entries, each with a dash") }
        guard !sequence.isEmpty else { return wrongType(key, node, "a list with at least one entry") }
        return sequence.enumerated().compactMap { position, element in
            nested(element, path: "\(child(key))[\(position)]") { read(position, $0) }
        }
    }

    // MARK: Problems

    /// Notes a problem at a key's value, or at the section when the key is not there.
    func problem(_ key: String, _ message: String) { problem(node(key), child(key), message) }

    /// Notes a problem at one element of a key's list.
    func problem(_ key: String, element position: Int, _ message: String) {
        let list = node(key)
        let element = list?.sequence.flatMap { position < $0.count ? $0[position] : nil }
        problem(element ?? list, element == nil ? child(key) : "\(child(key))[\(position)]", message)
    }

    /// Notes that a key must be there.
    func missing(_ key: String, _ example: String) {
        problems.add("is missing; write \(key): \(example)", key: child(key), line: place.line, column: place.column)
    }

    /// Notes every key that nobody asked for, with the nearest one that exists.
    func finish() {
        for (keyNode, _) in mapping {
            guard let key = keyNode.scalar?.string else {
                problem(keyNode, path, "a key must be a word")
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

    private func child(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The text of a scalar that is neither empty nor null.
    private static func text(_ node: Node) -> String? {
        guard let scalar = node.scalar, !scalar.string.isEmpty, node.tag != Tag(.null) else { return nil }
        if scalar.style == .plain, ["~", "null", "Null", "NULL"].contains(scalar.string) { return nil }
        return scalar.string
    }

    /// The elements of a list with their paths; nil when the key is not there or no list.
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

    private func word<Choice: RawRepresentable & CaseIterable>(_ node: Node, _ path: String) -> Choice?
    where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        guard let text = Self.text(node) else {
            problem(node, path, "must be one of \(words.joined(separator: ", "))")
            return nil
        }
        if let choice = Choice(rawValue: text) { return choice }
        let hint = NearestName.hint(text, among: words)
        problem(node, path, "\"\(text)\" is none of \(words.joined(separator: ", "))" + hint)
        return nil
    }

    private func nested<Value>(_ node: Node, path: String, _ read: (ConfigurationSection) -> Value?) -> Value? {
        guard let mapping = node.mapping else {
            problem(node, path, "must hold keys and values")
            return nil
        }
        let place = (line: node.mark?.line ?? 0, column: node.mark?.column ?? 0)
        let section = ConfigurationSection(mapping, path: path, place: place, problems: problems)
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
    /// Notes a file that a key names and that this user cannot read.
    func noteUnreadable(_ key: String, _ path: String) {
        guard access(path, R_OK) != 0 else { return }
        problem(key, "\(path) cannot be read: \(SystemReason.ofReading(path))")
    }
}
