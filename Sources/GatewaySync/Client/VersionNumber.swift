// SPDX-License-Identifier: Apache-2.0

/// A version such as `1.10.0`, ordered number by number. A suffix after `-` or `+` is ignored.
struct VersionNumber: Comparable {
    private let parts: [Int]

    /// - Returns: nil unless the text has one to four numbers separated by dots.
    init?(_ text: String) {
        let core = text.prefix { $0 != "-" && $0 != "+" }
        let parts = core.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...4).contains(parts.count), parts.allSatisfy({ ($0 ?? -1) >= 0 }) else { return nil }
        var numbers = parts.compactMap(\.self)
        while numbers.last == 0 { numbers.removeLast() }
        self.parts = numbers
    }

    static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        left.parts.lexicographicallyPrecedes(right.parts)
    }
}
