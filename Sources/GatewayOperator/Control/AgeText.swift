// SPDX-License-Identifier: Apache-2.0

/// Times that have passed, in their two largest units.
enum AgeText {
    private static let units: [(name: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)]

    /// A time such as `3 d 4 h` or `12 s`; negative times count as zero.
    static func text(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        guard let first = units.firstIndex(where: { seconds >= $0.seconds }) else { return "0 s" }
        let main = "\(seconds / units[first].seconds) \(units[first].name)"
        let rest = seconds % units[first].seconds
        guard first + 1 < units.count, rest >= units[first + 1].seconds else { return main }
        return main + " \(rest / units[first + 1].seconds) \(units[first + 1].name)"
    }
}
