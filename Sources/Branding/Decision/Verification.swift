// SPDX-License-Identifier: Apache-2.0

/// The verified right of a caller to the number.
///
/// Comes from the verstat of a trusted trunk, or from a PASSporT that this gateway verified. Never from an untrusted
/// peer. The raw value is stored with the evidence of a decision, so a case keeps it.
package enum Verification: UInt8, Hashable, Sendable, CaseIterable {
    /// No check took place, or the check had no result.
    case none
    /// Full attestation (ATIS-1000074, RFC 8588 §4).
    case passedA
    /// Partial attestation: the carrier knows the customer, but not the customer's right to the number.
    case passedB
    /// Gateway attestation: the carrier knows only the entry point of the call.
    case passedC
    /// The check failed.
    case failed

    /// Parses a verstat value.
    ///
    /// Ignores case and quotes.
    ///
    /// `TN-Validation-Passed` without a suffix counts as A, which is how carriers use it. Every `TN-Validation-Failed…`
    /// is a failure. Any other value, such as `No-TN-Validation`, gives `none`. Source: 3GPP TS 24.229 §7.2A.20.
    package init(verstat: some Collection<UInt8>) {
        let quote = UInt8(ascii: "\"")
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let value = verstat.prefix(40).lazy.filter { $0 != quote }.map { capitals.contains($0) ? $0 | 0x20 : $0 }
        if value.starts(with: "tn-validation-failed".utf8) {
            self = .failed
        } else if value.starts(with: "tn-validation-passed".utf8) {
            self = Self.passed(letter: value.dropFirst("tn-validation-passed".utf8.count))
        } else {
            self = .none
        }
    }

    private static func passed(letter: some Sequence<UInt8>) -> Verification {
        if letter.elementsEqual("".utf8) || letter.elementsEqual("-a".utf8) { return .passedA }
        if letter.elementsEqual("-b".utf8) { return .passedB }
        return letter.elementsEqual("-c".utf8) ? .passedC : .none
    }
}
