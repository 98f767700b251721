// SPDX-License-Identifier: Apache-2.0

/// The provider codes and telephone numbers that a certificate may sign for: the TNAuthList of RFC 8226 §9.
public struct AuthorityList: Equatable, Sendable {
    /// Numbers of one length that follow each other. A single number is a range of one.
    public struct NumberRange: Equatable, Sendable {
        /// The first number.
        public let start: CanonicalNumber
        /// The count of numbers, at least 1.
        public let count: UInt64

        /// A range; nil if it has no number, or leaves the numbers of its length.
        public init?(start: CanonicalNumber, count: UInt64) {
            guard count > 0 else { return nil }
            if count > 1 {
                guard let value = start.value, count <= Self.limits[start.count] - value else { return nil }
            }
            self.start = start
            self.count = count
        }

        /// True if the number lies in the range.
        public func contains(_ number: CanonicalNumber) -> Bool {
            guard count > 1, number.count == start.count, let value = number.value, let first = start.value else {
                return number == start
            }
            return value >= first && value - first < count
        }

        /// True if each number of the range lies in the other one.
        func lies(in other: NumberRange) -> Bool {
            guard other.contains(start) else { return false }
            guard count > 1, let value = start.value, let first = other.start.value else { return true }
            return count <= other.count - (value - first)
        }

        /// The first value that numbers of a length do not have.
        private static let limits: [UInt64] = (0...15).map { (0..<$0).reduce(1) { value, _ in value * 10 } }
    }

    /// Provider codes, such as `123A`.
    public private(set) var codes: [String]
    /// Ranges of numbers.
    public private(set) var ranges: [NumberRange]

    /// A list of given entries.
    public init(codes: [String] = [], ranges: [NumberRange] = []) {
        self.codes = codes
        self.ranges = ranges
    }

    /// Reads the contents of the extension 1.3.6.1.5.5.7.1.26.
    ///
    /// Nil for anything but a SEQUENCE of 1 to 10,000 entries of the three kinds, such as text or a damaged encoding.
    public init?(der: [UInt8]) { self.init(DERReader(der)) }

    /// Reads the contents in the same way.
    init?(_ reader: DERReader) {
        self.init()
        var outer = reader
        guard var entries = outer.nested(DERReader.sequence), outer.isAtEnd, !entries.isAtEnd else { return nil }
        while !entries.isAtEnd {
            guard codes.count + ranges.count < 10_000, let tag = entries.nextTag, var entry = entries.nested(tag),
                add(tag, &entry), entry.isAtEnd
            else { return nil }
        }
    }

    /// Adds one entry: `[0]` a provider code, `[1]` a range, `[2]` one number.
    private mutating func add(_ tag: UInt8, _ entry: inout DERReader) -> Bool {
        switch tag {
        case 0xA0:
            guard let code = entry.text(DERReader.ia5Text, most: 64) else { return false }
            codes.append(code)
        case 0xA1:
            // Members that a later version appends are ignored.
            guard var range = entry.nested(DERReader.sequence),
                let start = range.text(DERReader.ia5Text, most: 15).flatMap({ CanonicalNumber($0) }),
                let count = range.count(), count > 1, let read = NumberRange(start: start, count: count)
            else { return false }
            ranges.append(read)
        case 0xA2:
            guard let number = entry.text(DERReader.ia5Text, most: 15).flatMap({ CanonicalNumber($0) }),
                let read = NumberRange(start: number, count: 1)
            else { return false }
            ranges.append(read)
        default: return false
        }
        return true
    }
}

extension AuthorityList {
    /// True if the certificate may sign for the number. A provider code names no numbers, so it may sign for all.
    public func covers(_ number: CanonicalNumber) -> Bool { !codes.isEmpty || names(number) }

    /// True if the list has the number itself.
    public func names(_ number: CanonicalNumber) -> Bool { ranges.contains { $0.contains(number) } }

    /// True if the list has the form that a regime wants of a leaf.
    public func satisfies(_ rule: AuthorityRule) -> Bool {
        switch rule {
        case .oneCode: codes.count == 1 && ranges.isEmpty
        case .any: !codes.isEmpty || !ranges.isEmpty
        }
    }

    /// True if a parent with the other list may have issued this one (RFC 9060 §4.1).
    ///
    /// A parent with a provider code may delegate any number. A code itself must be one of the parent's.
    public func isEncompassed(by parent: AuthorityList) -> Bool {
        guard codes.allSatisfy(parent.codes.contains) else { return false }
        return !parent.codes.isEmpty || ranges.allSatisfy { range in parent.ranges.contains { range.lies(in: $0) } }
    }
}

extension AuthorityList {
    /// The contents of the extension as `init(der:)` reads them, codes first; empty without an entry.
    var der: [UInt8] {
        let codes = codes.map { Self.element(0xA0, Self.element(DERReader.ia5Text, Array($0.utf8))) }
        let ranges = ranges.map { range in
            let start = Self.element(DERReader.ia5Text, Array(range.start.text.utf8))
            return range.count == 1
                ? Self.element(0xA2, start)
                : Self.element(0xA1, Self.element(DERReader.sequence, start + Self.integer(range.count)))
        }
        let entries = (codes + ranges).flatMap(\.self)
        return entries.isEmpty ? [] : Self.element(DERReader.sequence, entries)
    }

    /// A positive integer.
    private static func integer(_ value: UInt64) -> [UInt8] {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        return element(DERReader.integer, bytes.first.map { $0 > 0x7F } ?? true ? [0] + bytes : bytes)
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var length = [UInt8(truncatingIfNeeded: contents.count)]
        if contents.count > 0x7F {
            length = withUnsafeBytes(of: UInt32(contents.count).bigEndian) { Array($0.drop { $0 == 0 }) }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + contents
    }
}
