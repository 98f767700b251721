// SPDX-License-Identifier: Apache-2.0

/// Maps called numbers to routes: a complete number first, then the longest prefix.
///
/// A route is a position in the list of its owner. Two hash tables, about 17 bytes an entry; a lookup reads one slot for
/// the number and one for each length that some prefix has. Immutable once it is in use; never allocates in a lookup.
public struct CalledNumberTable: Sendable {
    /// A number or a prefix of the table.
    public enum Key: Hashable, Sendable, CustomStringConvertible {
        case number(E164Number)
        /// The leading digits, 1 to 15 of them, the first not zero.
        case prefix(UInt64)

        /// `+4930123456`, or `+4930*` for a prefix.
        public var description: String {
            switch self {
            case .number(let number): number.description
            case .prefix(let digits): "+\(digits)*"
            }
        }
    }

    /// The route of a number, and the entry that decides.
    public struct Match: Hashable, Sendable {
        public let route: Int
        public let key: Key
    }

    private var numbers = NumberTable(expectedCount: 0)
    private var prefixes = NumberTable(expectedCount: 0)
    /// Bit n is set if a prefix of n digits exists.
    private var lengths: UInt32 = 0

    /// Creates an empty table.
    public init() {}

    public var isEmpty: Bool { numbers.count + prefixes.count == 0 }
    /// Complete numbers in the table.
    public var numberCount: Int { numbers.count }
    public var prefixCount: Int { prefixes.count }
    /// Memory of the two tables in bytes.
    public var byteCount: Int { (numbers.keys.count + prefixes.keys.count) * 12 }

    /// Returns the route of a number, or nil.
    public func route(of number: E164Number) -> Int? {
        if let value = numbers.value(under: number.digits) { return Int(value) }
        return lengths == 0 ? nil : prefix(of: number)?.route
    }

    /// Returns the route of a number with the entry that decides, or nil.
    public func match(_ number: E164Number) -> Match? {
        if let value = numbers.value(under: number.digits) { return Match(route: Int(value), key: .number(number)) }
        return prefix(of: number).map { Match(route: $0.route, key: .prefix($0.digits)) }
    }

    /// Returns the longest prefix of a number.
    private func prefix(of number: E164Number) -> (route: Int, digits: UInt64)? {
        var digits = number.digits
        var length = Self.length(of: digits)
        while length > 0 {
            if lengths & 1 << UInt32(length) != 0, let value = prefixes.value(under: digits) {
                return (Int(value), digits)
            }
            digits /= 10
            length -= 1
        }
        return nil
    }

    private static func length(of digits: UInt64) -> Int {
        var (length, rest) = (0, digits)
        while rest > 0 { (length, rest) = (length + 1, rest / 10) }
        return length
    }

    // MARK: Building

    /// Adds an entry.
    ///
    /// - Returns: the route that has the entry already, its own included; the table is unchanged then. Nil for a new one.
    public mutating func add(_ key: Key, route: Int) -> Int? {
        switch key {
        case .number(let number): return Self.add(number.digits, route, to: &numbers)
        case .prefix(let digits):
            if let owner = Self.add(digits, route, to: &prefixes) { return owner }
            lengths |= 1 << UInt32(Self.length(of: digits))
            return nil
        }
    }

    private static func add(_ digits: UInt64, _ route: Int, to table: inout NumberTable) -> Int? {
        if table.isFull { table = table.resized(to: table.count * 2 + 16) }
        let (slot, isFilled) = table.slot(for: digits)
        if isFilled { return Int(table.values[slot]) }
        table.put(UInt32(truncatingIfNeeded: route), under: digits, in: slot)
        return nil
    }

    /// Frees the spare slots that growth has left.
    public mutating func compact() {
        if numbers.isTooLarge { numbers = numbers.resized(to: numbers.count) }
        if prefixes.isTooLarge { prefixes = prefixes.resized(to: prefixes.count) }
    }

    /// An entry of one route inside a prefix of another route, with the number of such entries.
    public struct Overlap: Hashable, Sendable {
        /// The route of the longer entry, which wins.
        public let route: Int
        /// The route of the shorter prefix around it.
        public let outer: Int
        public let example: Key
        public let prefix: Key
        public var count: Int
    }

    /// Returns one overlap for each pair of routes, in the order of the routes.
    public func overlaps() -> [Overlap] {
        guard lengths != 0 else { return [] }
        var found: [[Int]: Overlap] = [:]
        func add(_ key: Key, _ route: Int, in outer: (route: Int, digits: UInt64)?) {
            guard let outer, outer.route != route else { return }
            let pair = [route, outer.route]
            guard found[pair] == nil else {
                found[pair]?.count += 1
                return
            }
            found[pair] = Overlap(
                route: route, outer: outer.route, example: key, prefix: .prefix(outer.digits), count: 1)
        }
        for (slot, digits) in numbers.keys.enumerated() where digits != 0 {
            guard let number = E164Number(digits: digits) else { continue }
            add(.number(number), Int(numbers.values[slot]), in: prefix(of: number))
        }
        for (slot, digits) in prefixes.keys.enumerated() where digits != 0 {
            add(.prefix(digits), Int(prefixes.values[slot]), in: prefix(around: digits))
        }
        return found.values.sorted { ($0.route, $0.outer) < ($1.route, $1.outer) }
    }

    /// Returns the longest prefix that is shorter than another one and holds it.
    private func prefix(around digits: UInt64) -> (route: Int, digits: UInt64)? {
        var digits = digits / 10
        while digits > 0 {
            if let value = prefixes.value(under: digits) { return (Int(value), digits) }
            digits /= 10
        }
        return nil
    }
}

/// The place in an INVITE that names the called number.
public enum CalledField: UInt8, Hashable, Sendable, CaseIterable {
    /// The Request-URI, else To.
    case requestURI
    /// To, else the Request-URI.
    case to
}

/// The treatment of a call that no route matches.
public enum UnmatchedCalls: UInt8, Hashable, Sendable, CaseIterable {
    /// The call goes to the trunk's PBX.
    case trunk
    /// The call gets 404. An emergency call goes to the trunk's PBX.
    case reject
}
