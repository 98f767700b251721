// SPDX-License-Identifier: Apache-2.0

/// The verified right of a caller to the number.
///
/// Comes from the verstat of a trusted trunk, or from a PASSporT that this gateway verified. Never from an untrusted
/// peer. The raw value is stored with the evidence of a decision, so a case keeps it.
public enum Verification: UInt8, Hashable, Sendable, CaseIterable {
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
    /// Ignores case and quotes. `TN-Validation-Passed` without a level counts as A, which is how carriers use it. Text
    /// behind the level is ignored, such as `-Diverted` or `-Passthrough` of Twilio. A level that cannot be read counts as
    /// C, the lowest that passes. Every `TN-Validation-Failed…` is a failure, and so is `NULL`, by which Twilio reports
    /// that it could not verify. Any other value, such as `No-TN-Validation`, gives `none`. Source: 3GPP TS 24.229
    /// §7.2A.20.
    public init(verstat: ArraySlice<UInt8>) {
        var text = VerdictText(verstat)
        if text.take("tn-validation-failed") || text.takeWord("null") {
            self = .failed
        } else if text.take("tn-validation-passed") {
            self = text.isAtEnd ? .passedA : text.takeSeparator() ? text.level ?? .passedC : .passedC
        } else {
            self = .none
        }
    }

    /// The level that a text begins with, such as `A`, `Full` or `B-Diverted`; nil for other text.
    public init?(level text: ArraySlice<UInt8>) {
        guard let level = VerdictText(text).level else { return nil }
        self = level
    }
}

/// A verdict as text, read from its front without case and quotes.
private struct VerdictText {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    /// True if nothing but white space is left.
    var isAtEnd: Bool { rest.allSatisfy { $0 <= 32 || $0 == UInt8(ascii: "\"") } }

    /// The level in front of what is left.
    var level: Verification? {
        var text = self
        if text.takeWord("a") || text.takeWord("full") { return .passedA }
        if text.takeWord("b") || text.takeWord("partial") { return .passedB }
        return text.takeWord("c") || text.takeWord("gateway") ? .passedC : nil
    }

    /// Takes a text in lower case.
    mutating func take(_ text: StaticString) -> Bool {
        var copy = self
        let isThere = text.withUTF8Buffer { text in text.allSatisfy { copy.next() == $0 } }
        if isThere { self = copy }
        return isThere
    }

    /// Takes a word that ends there, or that a sign follows; a blank would begin other text, as in `a call`.
    mutating func takeWord(_ word: StaticString) -> Bool {
        var copy = self
        guard copy.take(word), copy.isAtEnd || copy.takeSeparator() else { return false }
        self = copy
        return true
    }

    /// Takes a sign such as `-`.
    mutating func takeSeparator() -> Bool {
        var copy = self
        guard let byte = copy.next(), byte > 32, byte < 127, !Self.isLetterOrDigit(byte) else { return false }
        self = copy
        return true
    }

    private mutating func next() -> UInt8? {
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { continue }
            return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// The verstat parameter (3GPP TS 24.229 §7.2A.20) that Herald writes for phones with a trust mark.
///
/// It repeats what the decision used: the attestation of a trusted trunk, or a signature that was checked. A verstat that a
/// trusted trunk sent stays as received, and that of an untrusted trunk has been removed.
public enum VerstatMark: Hashable, Sendable, CaseIterable {
    /// Writes nothing.
    case off
    /// `TN-Validation-Passed` for full attestation, `TN-Validation-Failed` for a failed check, else nothing.
    case full
    /// The attestation as a suffix: `TN-Validation-Passed-A`, `-B`, `-C`; `TN-Validation-Failed`.
    case levels

    /// The value for a verification; nil for none.
    public func value(for verification: Verification) -> StaticString? {
        switch (self, verification) {
        case (.off, _), (_, .none): nil
        case (_, .failed): "TN-Validation-Failed"
        case (.full, .passedA): "TN-Validation-Passed"
        case (.full, .passedB), (.full, .passedC): nil
        case (.levels, .passedA): "TN-Validation-Passed-A"
        case (.levels, .passedB): "TN-Validation-Passed-B"
        case (.levels, .passedC): "TN-Validation-Passed-C"
        }
    }
}
