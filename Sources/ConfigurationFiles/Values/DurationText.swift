// SPDX-License-Identifier: Apache-2.0

/// Durations with a unit, as in configuration files.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Parses a whole number with a unit. Nil for other text, including a number without a unit.
    package static func read(_ text: String) -> Duration? {
        for (suffix, milliseconds) in units where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(digits),
                count < 1_000_000_000
            else { continue }
            return .milliseconds(count * milliseconds)
        }
        return nil
    }

    /// Formats a duration in the largest unit without a fraction.
    package static func write(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let total = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let unit = units.last { total >= $0.milliseconds && total % $0.milliseconds == 0 } ?? units[0]
        return "\(total / unit.milliseconds)\(unit.suffix)"
    }
}
