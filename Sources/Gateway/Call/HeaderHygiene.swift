// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// What a trunk may not bring along: claims that only a trusted party can make (law 3, RFC 3325 §5).
///
/// These are acts of the trust boundary, not of an RFC 3261 proxy; each follows the trunk's configuration.
enum HeaderHygiene {
    /// Notes the removal of untrusted claims, and of rich call data when the gateway sets its own.
    ///
    /// - Parameter isBranded: true when the message gets the gateway's own Call-Info and names.
    static func clean(_ message: SIPMessage, from trunk: TrunkPeer, isBranded: Bool, into splices: inout Splices) {
        for field in message.headers {
            switch field.name {
            // A proxy removes it in any case (RFC 3325 §5); FreeSWITCH and Yealink would prefer its name to all others.
            case .pPreferredIdentity where isBranded || !trunk.isTrusted:
                splices.remove(field.start..<field.end)
            case .pAssertedIdentity where !trunk.isTrusted, .remotePartyID where !trunk.isTrusted,
                .attestation where !trunk.isTrusted, .proxyVouched:
                splices.remove(field.start..<field.end)
            case .callInfo:
                CallInfoValues.strip(message, field, into: &splices) { value in
                    value.isRichCallData ? isBranded || !trunk.isTrusted : !trunk.keepsForeignCallInfo
                }
            case .from where !trunk.isTrusted:
                removeVerstat(message, field.value, into: &splices)
            default: break
            }
        }
        removeTrunkHeader(message, named: trunk.trunkHeader, into: &splices)
    }

    /// Takes `;verstat=…` out of a URI (TS 24.229 §7.2A.20): in the user part, the URI's parameters or a tel URI.
    private static func removeVerstat(_ message: SIPMessage, _ value: Range<Int>, into splices: inout Splices) {
        let uri = NameAddressExtent.scan(message.bytes, value).uri
        var position = uri.lowerBound
        while position < uri.upperBound {
            guard message.bytes[position] == UInt8(ascii: ";") else {
                position += 1
                continue
            }
            let rest = message[(position + 1)..<uri.upperBound]
            let end = rest.firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }
            let parameter = (position + 1)..<(end ?? uri.upperBound)
            if message[parameter].prefix(7).equalsIgnoringCase("verstat") {
                splices.remove(position..<parameter.upperBound)
            }
            position = parameter.upperBound
        }
    }

    /// The header by which the PBX tells trunks apart is the gateway's alone.
    private static func removeTrunkHeader(_ message: SIPMessage, named name: String?, into splices: inout Splices) {
        guard let name else { return }
        let wanted = Array(name.utf8)[...]
        for field in message.headers where field.name == .other {
            if message[field.start..<field.nameEnd].equalsIgnoringCase(wanted) {
                splices.remove(field.start..<field.end)
            }
        }
    }
}

/// The values of a Call-Info field (RFC 3261 §20.9, RFC 9796).
enum CallInfoValues {
    struct Value {
        let extent: Range<Int>
        /// A picture, card or reason: what a phone would show as the caller's (purpose icon, card, jcard or call-reason).
        let isRichCallData: Bool
    }

    /// Notes the removal of those values of one field that `isUnwanted` names; the line goes when none is left.
    static func strip(
        _ message: SIPMessage, _ field: SIPMessage.HeaderField, into splices: inout Splices,
        where isUnwanted: (Value) -> Bool
    ) {
        let values = HeaderValues(message.bytes, field.value).map { value(message, $0) }
        let kept = values.filter { !isUnwanted($0) }
        if kept.count == values.count { return }
        guard !kept.isEmpty else {
            splices.remove(field.start..<field.end)
            return
        }
        splices.replace(field.value) { out in
            for (position, value) in kept.enumerated() {
                if position > 0 { out.append(", ") }
                out.append(contentsOf: message[value.extent])
            }
        }
    }

    private static func value(_ message: SIPMessage, _ extent: Range<Int>) -> Value {
        let parameters = NameAddressExtent.scan(message.bytes, extent).parameters
        var isRich = HeaderParameters.find("call-reason", in: message.bytes, parameters) != nil
        if let purpose = HeaderParameters.find("purpose", in: message.bytes, parameters) {
            let words: [StaticString] = ["icon", "card", "jcard", "rcd-jcard"]
            isRich = isRich || words.contains { message[purpose].equalsIgnoringCase($0) }
        }
        return Value(extent: extent, isRichCallData: isRich)
    }
}
