// SPDX-License-Identifier: Apache-2.0

/// Writes counts as pages show them.
package enum CountText {
    /// Such as `1,234,567`.
    package static func of(_ count: some BinaryInteger) -> String {
        let digits = String(count.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (count < 0 ? "-" : "") + text
    }
}
