// SPDX-License-Identifier: Apache-2.0

/// The treatment of telephone numbers in log lines and on pages: `log.numbers`.
package enum NumberDisplay: Hashable, Sendable {
    /// `+61******001`, in full, or not at all.
    case masked, full, none

    /// A number in this form; nil where it is left out.
    ///
    /// Extensions and user names of up to six digits are shown in full.
    package func shown(_ number: String) -> String? {
        guard !number.isEmpty, self != .none else { return nil }
        let digits = number.count { $0.isNumber }
        guard self == .masked, digits >= 7 else { return number }
        let kept = number.hasPrefix("+") ? 3 : 2
        let hidden = String(repeating: "*", count: max(0, number.count - kept - 3))
        return String(number.prefix(kept)) + hidden + String(number.suffix(3))
    }
}
