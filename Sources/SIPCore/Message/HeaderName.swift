// SPDX-License-Identifier: Apache-2.0

/// The header fields Herald looks at; every other one is `other` and passes as it came.
///
/// Names compare without case, compact forms count as their long ones. Source: RFC 3261 §7.3.1, §7.3.3 and §20, RFC 3325
/// §9, RFC 3323 §4.2, RFC 3326, RFC 3891, RFC 4412, RFC 8224 §4.
package enum HeaderName: UInt8, Hashable, Sendable {
    case other
    case via, from, to, callID, cseq, contact, maxForwards, route, recordRoute, contentLength, proxyRequire
    case pAssertedIdentity, pPreferredIdentity, remotePartyID, privacy, callInfo, identity
    case reason, replaces, priority, resourcePriority, timestamp
    /// X-AUTH-IP and X-AUTH-PORT, by which FreeSWITCH lets a proxy vouch for a source.
    case proxyVouched
    /// P-Attestation-Indicator, Attestation-Info, P-Origination-Id, Origination-Id: a carrier's word on attestation.
    case attestation
}

extension HeaderName {
    /// Recognises the name in `bytes[range]`, in any case and in compact form.
    static func recognise(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> HeaderName {
        if range.count == 1 { return compact(bytes[range.lowerBound] | 0x20) }
        guard let (first, second, third) = candidates(length: range.count) else { return .other }
        if matches(bytes, range, first.text) { return first.name }
        if let second, matches(bytes, range, second.text) { return second.name }
        if let third, matches(bytes, range, third.text) { return third.name }
        return .other
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
        default: .other
        }
    }

    /// A known name in lower case with what it stands for.
    private typealias Candidate = (text: StaticString, name: HeaderName)

    /// The known names of a length: three at the most, so that nothing is allocated.
    private static func candidates(length: Int) -> (Candidate, Candidate?, Candidate?)? {
        switch length {
        case 2: (("to", .to), nil, nil)
        case 3: (("via", .via), nil, nil)
        case 4: (("from", .from), ("cseq", .cseq), nil)
        case 5: (("route", .route), nil, nil)
        case 6: (("reason", .reason), nil, nil)
        case 7: (("call-id", .callID), ("contact", .contact), ("privacy", .privacy))
        case 8: (("identity", .identity), ("replaces", .replaces), ("priority", .priority))
        case 9: (("call-info", .callInfo), ("x-auth-ip", .proxyVouched), ("timestamp", .timestamp))
        case 11: (("x-auth-port", .proxyVouched), nil, nil)
        case 12: (("max-forwards", .maxForwards), ("record-route", .recordRoute), nil)
        case 13: (("proxy-require", .proxyRequire), nil, nil)
        case 14: (("content-length", .contentLength), ("origination-id", .attestation), nil)
        case 15: (("remote-party-id", .remotePartyID), nil, nil)
        case 16: (("attestation-info", .attestation), ("p-origination-id", .attestation), nil)
        case 17: (("resource-priority", .resourcePriority), nil, nil)
        case 19: (("p-asserted-identity", .pAssertedIdentity), nil, nil)
        case 20: (("p-preferred-identity", .pPreferredIdentity), nil, nil)
        case 23: (("p-attestation-indicator", .attestation), nil, nil)
        default: nil
        }
    }

    private static func matches(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
        let letters = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        for offset in letters.indices {
            // Setting bit 5 maps A–Z to a–z; what stands at a hyphen must be one, or a CR would pass for it.
            let byte = bytes[range.lowerBound + offset]
            let letter = letters[offset]
            if byte != letter, letter == UInt8(ascii: "-") || byte | 0x20 != letter { return false }
        }
        return true
    }
}
