// SPDX-License-Identifier: Apache-2.0

/// The header fields that Herald reads; every other one is `other` and passes as received.
///
/// Names compare without case, compact forms count as their long ones. Source: RFC 3261 §7.3.1, §7.3.3 and §20, RFC 3325
/// §9, RFC 3323 §4.2, RFC 3326, RFC 3891, RFC 4028 §4, RFC 4412, RFC 5806, RFC 7044, RFC 8224 §4.
public enum HeaderName: UInt8, Hashable, Sendable {
    case other
    case via, from, to, callID, cseq, contact, maxForwards, route, recordRoute, contentLength, proxyRequire
    case pAssertedIdentity, pPreferredIdentity, remotePartyID, privacy, callInfo, identity
    case reason, replaces, priority, resourcePriority, timestamp
    case sessionExpires, retryAfter, userAgent, diversion, historyInfo
    /// Fields by which a PBX lets the proxy in front of it vouch: X-AUTH-IP and X-AUTH-PORT of FreeSWITCH for a source,
    /// X-Herald-Trust for a verdict.
    case proxyVouched
    /// P-Attestation-Indicator, Attestation-Info, P-Origination-Id, Origination-Id: a carrier's attestation.
    case attestation
    /// Alert-Info, `Answer-Mode` and `Priv-Answer-Mode`: how a phone rings, and whether it picks up by itself (RFC 5373).
    case answering

    // Other modules would call the synthesised operator through a witness table, for each header field: 640 instructions of
    // a call.
    @inline(__always)
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }
}

extension HeaderName {
    /// The field of a name or its compact form; nil for names that Herald does not distinguish.
    public init?(named name: [UInt8]) {
        let known = Self.recognise(name.span.bytes, name.indices)
        switch known {
        case .other, .proxyVouched, .attestation, .answering: return nil
        default: self = known
        }
    }

    /// Recognises the name in `bytes[range]`, in any case and in compact form.
    static func recognise(_ bytes: RawSpan, _ range: Range<Int>) -> HeaderName {
        let name = bytes.extracting(range)
        if range.count == 1 { return compact(name.unsafeLoad(as: UInt8.self) | 0x20) }
        return switch range.count {
        case 2: name.matches("to") ? .to : .other
        case 3: name.matches("via") ? .via : .other
        case 4: name.matches("from") ? .from : name.matches("cseq") ? .cseq : .other
        case 5: name.matches("route") ? .route : .other
        case 6: name.matches("reason") ? .reason : .other
        case 7:
            name.matches("call-id")
                ? .callID : name.matches("contact") ? .contact : name.matches("privacy") ? .privacy : .other
        case 8:
            name.matches("identity")
                ? .identity : name.matches("replaces") ? .replaces : name.matches("priority") ? .priority : .other
        case 9:
            name.matches("call-info")
                ? .callInfo
                : name.matches("x-auth-ip")
                    ? .proxyVouched
                    : name.matches("timestamp") ? .timestamp : name.matches("diversion") ? .diversion : .other
        case 10: name.matches("user-agent") ? .userAgent : name.matches("alert-info") ? .answering : .other
        case 11:
            name.matches("x-auth-port")
                ? .proxyVouched
                : name.matches("retry-after") ? .retryAfter : name.matches("answer-mode") ? .answering : .other
        case 12:
            name.matches("max-forwards")
                ? .maxForwards
                : name.matches("record-route")
                    ? .recordRoute : name.matches("history-info") ? .historyInfo : .other
        case 13: name.matches("proxy-require") ? .proxyRequire : .other
        case 14:
            name.matches("content-length")
                ? .contentLength
                : name.matches("origination-id")
                    ? .attestation : name.matches("x-herald-trust") ? .proxyVouched : .other
        case 15:
            name.matches("remote-party-id")
                ? .remotePartyID : name.matches("session-expires") ? .sessionExpires : .other
        case 16:
            name.matches("attestation-info") || name.matches("p-origination-id")
                ? .attestation : name.matches("priv-answer-mode") ? .answering : .other
        case 17: name.matches("resource-priority") ? .resourcePriority : .other
        case 19: name.matches("p-asserted-identity") ? .pAssertedIdentity : .other
        case 20: name.matches("p-preferred-identity") ? .pPreferredIdentity : .other
        case 23: name.matches("p-attestation-indicator") ? .attestation : .other
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
}
