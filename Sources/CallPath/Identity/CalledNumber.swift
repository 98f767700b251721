// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// The number on the PBX's side of a call: the called one of an inbound call, the calling one of an outbound call.
///
/// The accounts compare the two to recognise a callback. Trunks that register write an account's name into Request-URI
/// and From, and the number into To and P-Asserted-Identity.
enum CalledNumber {
    /// The called number: of the Request-URI, else of To; the other way round where the routes read To first.
    static func of(
        _ request: SIPMessage, _ called: SIPURI?, on trunk: TrunkPeer, from source: CalledField
    ) -> E164Number? {
        if source == .to, let number = ofTo(request, on: trunk) { return number }
        if let number = called.flatMap({ CallerIdentity.number(of: $0, trunk: trunk) }) { return number }
        return source == .to ? nil : ofTo(request, on: trunk)
    }

    /// The number of To; nil for a forwarded call, where To has another party's number (RFC 5806, RFC 7044).
    private static func ofTo(_ invite: SIPMessage, on trunk: TrunkPeer) -> E164Number? {
        guard let to = invite.to, !ForwardingSigns.arePresent(in: invite),
            let address = NameAddress(invite.bytes, to.displayName.lowerBound..<to.parameters.upperBound, to)
        else { return nil }
        return CallerIdentity.number(of: address.uri, trunk: trunk)
    }

    /// The number a PBX calls with: of From, else the one it asserts.
    static func caller(of invite: SIPMessage, _ from: SIPURI?, on trunk: TrunkPeer) -> E164Number? {
        if let number = from.flatMap({ CallerIdentity.number(of: $0, trunk: trunk) }) { return number }
        for field in invite.headers where field.name == .pAssertedIdentity || field.name == .pPreferredIdentity {
            for value in HeaderValues(invite.bytes, field.value) {
                let number = NameAddress(invite.bytes, value).flatMap {
                    CallerIdentity.number(of: $0.uri, trunk: trunk)
                }
                if let number { return number }
            }
        }
        return nil
    }
}
