// SPDX-License-Identifier: Apache-2.0

/// A JSON object whose reading leaves no choice (RFC 8259, RFC 8725 §2.4).
///
/// Refused are: bytes that are no UTF-8, another value than an object at the top, two members of one name at any level, more
/// than 8 levels, more than 64 members of an object, integers beyond ±2^53, unpaired surrogates, and anything behind the
/// object.
struct StrictJSON: Sendable {
    enum Kind: UInt8, Sendable { case object, array, text, integer, fraction, bool, null }

    /// One value. Members of an object follow it as name and value, elements of an array as values.
    struct Node: Sendable {
        var kind: Kind
        /// Whether the text has an escape.
        var isEscaped = false
        /// The bytes of the value, of text without its quotes.
        var range: Range<Int>
        /// The position of the node behind this one and all its parts.
        var next: Int
    }

    static let mostLevels = 8
    static let mostMembers = 64
    static let largestInteger: Int64 = 1 << 53

    let bytes: [UInt8]
    private(set) var nodes: [Node] = []

    /// Reads the object; nil if any rule is broken.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.contains(where: { $0 > 0x7F }), String(validating: bytes, as: UTF8.self) == nil { return nil }
        nodes.reserveCapacity(32)
        var position = 0
        skipSpace(&position)
        guard position < bytes.count, bytes[position] == UInt8(ascii: "{"), readValue(&position, level: 1)
        else { return nil }
        skipSpace(&position)
        guard position == bytes.count else { return nil }
    }

    // MARK: Reading

    private func skipSpace(_ position: inout Int) {
        while position < bytes.count, bytes[position].isSpace { position += 1 }
    }

    /// Moves behind the byte if it comes next.
    private func skip(_ byte: Unicode.Scalar, _ position: inout Int) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func readValue(_ position: inout Int, level: Int) -> Bool {
        guard position < bytes.count else { return false }
        switch bytes[position] {
        case UInt8(ascii: "{"): return readObject(&position, level)
        case UInt8(ascii: "["): return readArray(&position, level)
        case UInt8(ascii: "\""): return readText(&position)
        case UInt8(ascii: "t"): return readWord("true", .bool, &position)
        case UInt8(ascii: "f"): return readWord("false", .bool, &position)
        case UInt8(ascii: "n"): return readWord("null", .null, &position)
        default: return readNumber(&position)
        }
    }

    private mutating func readObject(_ position: inout Int, _ level: Int) -> Bool {
        guard level <= Self.mostLevels else { return false }
        let index = nodes.count
        let start = position
        nodes.append(Node(kind: .object, range: start..<start, next: index))
        position += 1
        skipSpace(&position)
        var members = 0
        if !skip("}", &position) {
            repeat {
                skipSpace(&position)
                let name = nodes.count
                members += 1
                guard members <= Self.mostMembers, readText(&position), isNew(name, in: index) else { return false }
                skipSpace(&position)
                guard skip(":", &position) else { return false }
                skipSpace(&position)
                guard readValue(&position, level: level + 1) else { return false }
                skipSpace(&position)
            } while skip(",", &position)
            guard skip("}", &position) else { return false }
        }
        close(index, start..<position)
        return true
    }

    private mutating func readArray(_ position: inout Int, _ level: Int) -> Bool {
        guard level <= Self.mostLevels else { return false }
        let index = nodes.count
        let start = position
        nodes.append(Node(kind: .array, range: start..<start, next: index))
        position += 1
        skipSpace(&position)
        if !skip("]", &position) {
            repeat {
                skipSpace(&position)
                guard readValue(&position, level: level + 1) else { return false }
                skipSpace(&position)
            } while skip(",", &position)
            guard skip("]", &position) else { return false }
        }
        close(index, start..<position)
        return true
    }

    private mutating func close(_ index: Int, _ range: Range<Int>) {
        nodes[index].range = range
        nodes[index].next = nodes.count
    }

    private mutating func append(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
        nodes.append(Node(kind: kind, isEscaped: isEscaped, range: range, next: nodes.count + 1))
    }

    /// True if no earlier member of the object has the name.
    private func isNew(_ name: Int, in object: Int) -> Bool {
        var other = object + 1
        while other < name {
            if areEqual(nodes[other], nodes[name]) { return false }
            other = nodes[other + 1].next
        }
        return true
    }

    private func areEqual(_ one: Node, _ other: Node) -> Bool {
        if one.isEscaped || other.isEscaped { return text(of: one) == text(of: other) }
        return bytes[one.range] == bytes[other.range]
    }

    private mutating func readText(_ position: inout Int) -> Bool {
        guard skip("\"", &position) else { return false }
        let start = position
        var isEscaped = false
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                append(.text, start..<position, isEscaped: isEscaped)
                position += 1
                return true
            case UInt8(ascii: "\\"):
                isEscaped = true
                guard skipEscape(&position) else { return false }
            case 0..<0x20: return false
            default: position += 1
            }
        }
        return false
    }

    /// Moves behind one escape. A pair of surrogates is one escape.
    private func skipEscape(_ position: inout Int) -> Bool {
        position += 1
        guard position < bytes.count else { return false }
        let kind = bytes[position]
        position += 1
        guard kind == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(kind) }
        guard let first = readUnit(&position) else { return false }
        switch first {
        case 0xD800..<0xDC00:
            guard skip("\\", &position), skip("u", &position), let second = readUnit(&position) else { return false }
            return (0xDC00..<0xE000).contains(second)
        case 0xDC00..<0xE000: return false
        default: return true
        }
    }

    /// Four hexadecimal digits.
    func readUnit(_ position: inout Int) -> UInt32? {
        guard bytes.count - position >= 4 else { return nil }
        var value: UInt32 = 0
        for index in position..<position + 4 {
            guard let digit = bytes[index].hexadecimal else { return nil }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }

    private mutating func readWord(_ word: StaticString, _ kind: Kind, _ position: inout Int) -> Bool {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, matches(position..<end, word) else { return false }
        append(kind, position..<end)
        position = end
        return true
    }

    private func skipDigits(_ position: inout Int) -> Int {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func readNumber(_ position: inout Int) -> Bool {
        let start = position
        _ = skip("-", &position)
        let first = position
        let digits = skipDigits(&position)
        guard digits > 0, digits == 1 || bytes[first] != UInt8(ascii: "0") else { return false }
        var kind = Kind.integer
        if skip(".", &position) {
            kind = .fraction
            guard skipDigits(&position) > 0 else { return false }
        }
        if skip("e", &position) || skip("E", &position) {
            kind = .fraction
            if !skip("+", &position) { _ = skip("-", &position) }
            guard skipDigits(&position) > 0 else { return false }
        }
        append(kind, start..<position)
        return kind == .fraction || integer(at: nodes.count - 1) != nil
    }
}

// MARK: - Values

extension StrictJSON {
    /// The node of a member's value; nil without such a member, and for a node that is no object.
    func member(_ name: StaticString, of object: Int = 0) -> Int? {
        guard nodes[object].kind == .object else { return nil }
        var index = object + 1
        while index < nodes[object].next {
            if isText(at: index, name) { return index + 1 }
            index = nodes[index + 1].next
        }
        return nil
    }

    /// The node of a member's value by any name.
    func member(named name: String, of object: Int = 0) -> Int? {
        members(of: object).first { text(at: $0.name) == name }?.value
    }

    /// The nodes of the members of an object, empty for another value.
    func members(of object: Int) -> [(name: Int, value: Int)] {
        guard nodes[object].kind == .object else { return [] }
        var members: [(name: Int, value: Int)] = []
        var index = object + 1
        while index < nodes[object].next {
            members.append((index, index + 1))
            index = nodes[index + 1].next
        }
        return members
    }

    /// The node of an array's first element and of each further one through `nodes[…].next`, below `nodes[array].next`.
    func elements(of array: Int) -> [Int] {
        guard nodes[array].kind == .array else { return [] }
        var elements: [Int] = []
        var index = array + 1
        while index < nodes[array].next {
            elements.append(index)
            index = nodes[index].next
        }
        return elements
    }

    /// The integer at a node; nil for another kind and beyond ±2^53.
    func integer(at index: Int) -> Int64? {
        let node = nodes[index]
        guard node.kind == .integer, node.range.count <= 17 else { return nil }
        let isNegative = bytes[node.range.lowerBound] == UInt8(ascii: "-")
        let value = bytes[node.range].dropFirst(isNegative ? 1 : 0).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        guard value <= Self.largestInteger else { return nil }
        return isNegative ? -value : value
    }

    /// The text at a node, without escapes; nil for another kind.
    func text(at index: Int) -> String? { nodes[index].kind == .text ? text(of: nodes[index]) : nil }

    /// The text of a member.
    func text(_ name: StaticString, of object: Int = 0) -> String? {
        member(name, of: object).flatMap { text(at: $0) }
    }

    /// True if the node is the text.
    func isText(at index: Int, _ text: StaticString) -> Bool {
        let node = nodes[index]
        guard node.kind == .text else { return false }
        if node.isEscaped { return self.text(of: node) == "\(text)" }
        return matches(node.range, text)
    }

    /// The telephone number at a node; nil for another kind and for text in another form.
    func number(at index: Int) -> CanonicalNumber? {
        let node = nodes[index]
        guard node.kind == .text, !node.isEscaped else { return text(at: index).flatMap { CanonicalNumber($0) } }
        return CanonicalNumber(bytes.span.extracting(node.range))
    }

    private func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { $0.count == range.count && bytes[range].elementsEqual($0) }
    }

    private func text(of node: Node) -> String {
        guard node.isEscaped else { return String(decoding: bytes[node.range], as: UTF8.self) }
        var text = String.UnicodeScalarView()
        var position = node.range.lowerBound
        var start = position
        while position < node.range.upperBound {
            guard bytes[position] == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            text.append(contentsOf: String(decoding: bytes[start..<position], as: UTF8.self).unicodeScalars)
            position += 1
            text.append(scalar(&position))
            start = position
        }
        text.append(contentsOf: String(decoding: bytes[start..<position], as: UTF8.self).unicodeScalars)
        return String(text)
    }

    /// The character of an escape behind its backslash. The reader has checked the escape.
    private func scalar(_ position: inout Int) -> Unicode.Scalar {
        let kind = bytes[position]
        position += 1
        switch kind {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard var value = readUnit(&position) else { return "\u{FFFD}" }
            if (0xD800..<0xDC00).contains(value) {
                position += 2
                guard let low = readUnit(&position) else { return "\u{FFFD}" }
                value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            }
            return Unicode.Scalar(value) ?? "\u{FFFD}"
        default: return Unicode.Scalar(kind)
        }
    }

    /// The text of a value in the deterministic form of RFC 8225 §9: no white space, members in the order of their names, and
    /// no escape that JSON does not need.
    func canonical(_ index: Int) -> String {
        switch nodes[index].kind {
        case .object:
            let parts = members(of: index).map { (name: text(at: $0.name) ?? "", value: canonical($0.value)) }
                .sorted { $0.name.unicodeScalars.lexicographicallyPrecedes($1.name.unicodeScalars) }
            return "{" + parts.map { Self.quoted($0.name) + ":" + $0.value }.joined(separator: ",") + "}"
        case .array: return "[" + elements(of: index).map { canonical($0) }.joined(separator: ",") + "]"
        case .text: return Self.quoted(text(of: nodes[index]))
        default: return String(decoding: bytes[nodes[index].range], as: UTF8.self)
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{8}": quoted += "\\b"
            case "\u{C}": quoted += "\\f"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
