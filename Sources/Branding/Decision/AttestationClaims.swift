// SPDX-License-Identifier: Apache-2.0

/// Collects attestation claims about a caller and keeps the worst one.
///
/// A carrier can attest in several header fields, and a forwarded call can carry the claims of two networks. Pure;
/// allocates nothing.
public struct AttestationClaims: Hashable, Sendable {
    /// The claims, best first. An absent check ranks worse than partial attestation.
    private enum Rank: UInt8 { case nothing, full, partial, unchecked, gateway, failed }

    private var worst = Rank.nothing
    /// The part of the message that made the worst claim first.
    public private(set) var source = AttestationSource.none

    public init() {}

    /// The claim that the number was not checked, such as `No-TN-Validation`.
    public static var unchecked: AttestationClaims {
        var claims = AttestationClaims()
        claims.worst = .unchecked
        return claims
    }

    /// The level that the decision uses.
    public var verification: Verification {
        switch worst {
        case .nothing, .unchecked: .none
        case .full: .passedA
        case .partial: .passedB
        case .gateway: .passedC
        case .failed: .failed
        }
    }

    /// True if the worst claim is that no check took place, such as `No-TN-Validation`.
    public var isUnchecked: Bool { worst == .unchecked }

    /// True if no claim was added.
    public var isEmpty: Bool { worst == .nothing }

    /// Adds the value of a verstat parameter (3GPP TS 24.229 §7.2A.20).
    public mutating func add(verstat value: ArraySlice<UInt8>) {
        let bare = Self.bare(value)
        add(Verification(verstat: bare), isUnchecked: Self.begins(bare, with: "no-tn-validation"))
    }

    /// Adds claims that a part of the message makes.
    public mutating func add(_ other: AttestationClaims, from part: AttestationSource) {
        guard worst.rawValue < other.worst.rawValue else { return }
        (worst, source) = (other.worst, part)
    }

    /// Adds the value of an attestation header field.
    ///
    /// Accepts `A`, `"B"`, `C;origid=…`, `attest=A`, `Full`, `Partial`, `Gateway` and every verstat value. Ignores any
    /// other text, also behind a level, as in `A-Diverted`. Sources: 3GPP TS 24.229 §7.2.18 (Attestation-Info),
    /// ATIS-1000082 (P-Attestation-Indicator).
    public mutating func add(header value: ArraySlice<UInt8>) {
        var rest = value
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
            add(part: part)
            rest = rest[part.endIndex...].dropFirst()
        }
    }

    private mutating func add(part: ArraySlice<UInt8>) {
        var value = Self.bare(part)
        if let equals = value.firstIndex(of: UInt8(ascii: "=")) {
            let name = Self.bare(value[..<equals])
            guard
                Self.equals(name, "attest") || Self.equals(name, "attestation") || Self.equals(name, "level")
                    || Self.equals(name, "verstat")
            else { return }
            value = Self.bare(value[(equals + 1)...])
        }
        if let level = Verification(level: value) {
            add(level, isUnchecked: false)
        } else {
            add(verstat: value)
        }
    }

    private mutating func add(_ verification: Verification, isUnchecked: Bool) {
        let rank: Rank =
            switch verification {
            case .none: isUnchecked ? .unchecked : .nothing
            case .passedA: .full
            case .passedB: .partial
            case .passedC: .gateway
            case .failed: .failed
            }
        worst = Self.worse(worst, rank)
    }

    private static func worse(_ one: Rank, _ other: Rank) -> Rank { one.rawValue < other.rawValue ? other : one }

    /// Strips surrounding white space and quotes.
    private static func bare(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isAround(_ byte: UInt8) -> Bool { byte <= 32 || byte == UInt8(ascii: "\"") }
        var text = text.drop(while: isAround)
        while let last = text.last, isAround(last) { text.removeLast() }
        return text
    }

    /// Whether a text begins with a lower-case literal, ignoring ASCII case.
    private static func begins(_ text: ArraySlice<UInt8>, with word: StaticString) -> Bool {
        equals(text.prefix(word.utf8CodeUnitCount), word)
    }

    /// Compares with a lower-case literal, ignoring ASCII case.
    private static func equals(_ text: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
        guard text.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for (byte, letter) in zip(text, word)
            where byte != letter && !((65...90).contains(byte) && byte | 0x20 == letter) { return false }
            return true
        }
    }
}
