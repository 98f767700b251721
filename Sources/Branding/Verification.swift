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

    /// Reads the value of a verstat parameter, in any case and with or without quotes.
    ///
    /// `TN-Validation-Passed` without a letter counts as A, as carriers use it. Any kind of `TN-Validation-Failed` is a
    /// failure; everything else, `No-TN-Validation` first of all, is none. Source: 3GPP TS 24.229 §7.2A.20.
    package init(verstat: some StringProtocol) {
        self.init(verstat: verstat.utf8)
    }

    /// Reads the value of a verstat parameter from the bytes of a message.
    package init(verstat: some Collection<UInt8>) {
        let quote = UInt8(ascii: "\"")
        let value = verstat.prefix(40).compactMap { byte -> UInt8? in
            if byte == quote { return nil }
            return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        switch String(decoding: value, as: UTF8.self) {
        case "tn-validation-passed", "tn-validation-passed-a": self = .passedA
        case "tn-validation-passed-b": self = .passedB
        case "tn-validation-passed-c": self = .passedC
        case let text where text.hasPrefix("tn-validation-failed"): self = .failed
        default: self = .none
        }
    }
}
