// SPDX-License-Identifier: Apache-2.0

/// What is believed about the caller's right to the number.
///
/// The word of a trusted trunk's verstat, or of a PASSporT checked here; never what an untrusted peer wrote.
package enum Verification: UInt8, Hashable, Sendable, CaseIterable {
    /// Nobody checked, or the check came to nothing.
    case none
    /// Full attestation (ATIS-1000074, RFC 8588 §4).
    case passedA
    /// Partial attestation: the carrier knows the customer, not the right to the number.
    case passedB
    /// Gateway attestation: the carrier knows only where the call entered.
    case passedC
    /// The check failed.
    case failed

    /// Reads the bytes of a verstat parameter's value, in any case and with or without quotes.
    ///
    /// `TN-Validation-Passed` without a letter counts as A, as carriers use it. Any kind of `TN-Validation-Failed` is a
    /// failure; everything else, `No-TN-Validation` first of all, is none. Source: 3GPP TS 24.229 §7.2A.20.
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
