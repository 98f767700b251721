// SPDX-License-Identifier: Apache-2.0

/// The header fields Herald looks at; every other one is `other` and passes as it came.
///
/// Names compare without case, compact forms count as their long ones. Source: RFC 3261 §7.3.1, §7.3.3 and §20, RFC 3325
/// §9, RFC 3323 §4.2, RFC 3326, RFC 3891, RFC 4028 §4, RFC 4412, RFC 5806, RFC 7044, RFC 8224 §4.
package enum HeaderName: UInt8, Hashable, Sendable {
    case other
    case via, from, to, callID, cseq, contact, maxForwards, route, recordRoute, contentLength, proxyRequire
    case pAssertedIdentity, pPreferredIdentity, remotePartyID, privacy, callInfo, identity
    case reason, replaces, priority, resourcePriority, timestamp
    case sessionExpires, retryAfter, userAgent, diversion, historyInfo
    /// X-AUTH-IP and X-AUTH-PORT, by which FreeSWITCH lets a proxy vouch for a source.
    case proxyVouched
    /// P-Attestation-Indicator, Attestation-Info, P-Origination-Id, Origination-Id: a carrier's word on attestation.
    case attestation
    /// Alert-Info, Answer-Mode and Priv-Answer-Mode: how a phone rings, and whether it answers by itself (RFC 5373).
    case answering
}

extension HeaderName {
    /// The field of a name or its compact form; nil for names Herald does not tell from others.
    package init?(named name: [UInt8]) {
        let known = Self.recognise(name.span, name.indices)
        switch known {
        case .other, .proxyVouched, .attestation, .answering: return nil
        default: self = known
        }
    }

    /// Recognises the name in `bytes[range]`, in any case and in compact form.
    static func recognise(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> HeaderName {
        if range.count == 1 { return compact(bytes[range.lowerBound] | 0x20) }
        let name = bytes.bytes.extracting(range)
        return switch range.count {
        case 2: matches(name, "to") ? .to : .other
        case 3: matches(name, "via") ? .via : .other
        case 4: matches(name, "from") ? .from : matches(name, "cseq") ? .cseq : .other
        case 5: matches(name, "route") ? .route : .other
        case 6: matches(name, "reason") ? .reason : .other
        case 7:
            matches(name, "call-id")
                ? .callID : matches(name, "contact") ? .contact : matches(name, "privacy") ? .privacy : .other
        case 8:
            matches(name, "identity")
                ? .identity : matches(name, "replaces") ? .replaces : matches(name, "priority") ? .priority : .other
        case 9:
            matches(name, "call-info")
                ? .callInfo
                : matches(name, "x-auth-ip")
                    ? .proxyVouched
                    : matches(name, "timestamp") ? .timestamp : matches(name, "diversion") ? .diversion : .other
        case 10: matches(name, "user-agent") ? .userAgent : matches(name, "alert-info") ? .answering : .other
        case 11:
            matches(name, "x-auth-port")
                ? .proxyVouched
                : matches(name, "retry-after") ? .retryAfter : matches(name, "answer-mode") ? .answering : .other
        case 12:
            matches(name, "max-forwards")
                ? .maxForwards
                : matches(name, "record-route")
                    ? .recordRoute : matches(name, "history-info") ? .historyInfo : .other
        case 13: matches(name, "proxy-require") ? .proxyRequire : .other
        case 14:
            matches(name, "content-length")
                ? .contentLength : matches(name, "origination-id") ? .attestation : .other
        case 15:
            matches(name, "remote-party-id")
                ? .remotePartyID : matches(name, "session-expires") ? .sessionExpires : .other
        case 16:
            matches(name, "attestation-info") || matches(name, "p-origination-id")
                ? .attestation : matches(name, "priv-answer-mode") ? .answering : .other
        case 17: matches(name, "resource-priority") ? .resourcePriority : .other
        case 19: matches(name, "p-asserted-identity") ? .pAssertedIdentity : .other
        case 20: matches(name, "p-preferred-identity") ? .pPreferredIdentity : .other
        case 23: matches(name, "p-attestation-indicator") ? .attestation : .other
        default: .other
        }
    }

    private static func compact(_ letter: UInt8) -> HeaderName {
        switch letter {
        case UInt8(ascii: "v"): .via
        case UInt8(ascii: "f"): .from
        case UInt8(ascii: "t"): .to
        case UInt8(ascii: "i"): .callID
        case UInt8(ascii: "m"): .contact
        case UInt8(ascii: "l"): .contentLength
        case UInt8(ascii: "y"): .identity
        case UInt8(ascii: "x"): .sessionExpires
        default: .other
        }
    }

    /// Compares with a lower-case text of letters, digits and hyphens, which is as long; letters without case.
    private static func matches(_ name: RawSpan, _ text: StaticString) -> Bool {
        let known = UnsafeRawPointer(text.utf8Start)
        let count = name.byteCount
        guard count == text.utf8CodeUnitCount else { return false }
        // The last word or half of one overlaps the one before it.
        if count >= 8 {
            var offset = 0
            while offset < count - 8 {
                guard matches(name, known, at: offset, as: UInt64.self) else { return false }
                offset += 8
            }
            return matches(name, known, at: count - 8, as: UInt64.self)
        }
        if count >= 4 {
            return matches(name, known, at: 0, as: UInt32.self) && matches(name, known, at: count - 4, as: UInt32.self)
        }
        for offset in 0..<count where !matches(name, known, at: offset, as: UInt8.self) { return false }
        return true
    }

    /// Compares some bytes at once.
    ///
    /// Bit 6 of a letter says that its bit 5 does not count; all else must be the same.
    @inline(__always)
    private static func matches<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ name: RawSpan, _ known: UnsafeRawPointer, at offset: Int, as word: Word.Type
    ) -> Bool {
        let letters = known.loadUnaligned(fromByteOffset: offset, as: Word.self)
        let inEachByte = Word.max / 255
        let cases = (letters & (inEachByte &* 0x40)) &>> 1
        return name.unsafeLoadUnaligned(fromByteOffset: offset, as: Word.self) | cases == letters
    }
}
