// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The treatment of telephone numbers in log lines and on pages: `log.numbers`.
enum NumberDisplay: Hashable, Sendable {
    /// `+61******001`, in full, or not at all.
    case masked, full, none

    /// A number in this form; nil where it is left out.
    ///
    /// Extensions and user names of up to six digits are shown in full.
    func shown(_ number: String) -> String? {
        guard !number.isEmpty, self != .none else { return nil }
        return self == .masked ? NumberMask.masked(number) : number
    }
}
