// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Calls to an emergency service: by URN (RFC 5031 §4.2), or by the emergency number of the trunk's region.
///
/// PBXs dial digits, and many cannot send the URN.
enum EmergencyCall {
    /// Whether a Request-URI leads to an emergency service.
    static func isMeant(by invite: SIPMessage, _ numbers: EmergencyNumbers) -> Bool {
        invite[invite.requestURI].prefix(15).equalsIgnoringCase("urn:service:sos")
            || isDialled(in: invite, invite.requestURI, numbers)
    }

    /// Whether a request belongs to an emergency call: by its Request-URI, or by To, which keeps the dialled number.
    static func holds(_ request: SIPMessage, _ numbers: EmergencyNumbers) -> Bool {
        if isMeant(by: request, numbers) { return true }
        guard let to = request.to else { return false }
        return request[to.uri].prefix(15).equalsIgnoringCase("urn:service:sos")
            || isDialled(in: request, to.uri, numbers)
    }

    private static func isDialled(in message: SIPMessage, _ uri: Range<Int>, _ numbers: EmergencyNumbers) -> Bool {
        let bytes = message.bytes
        return isDialled(bytes.span, uri, numbers)
    }

    /// Whether the user of a sip, sips or tel URI is an emergency number.
    static func isDialled(_ bytes: Span<UInt8>, _ uri: Range<Int>, _ numbers: EmergencyNumbers) -> Bool {
        guard let dialled = DialledUser(bytes, uri), numbers.contains(bytes, dialled.user) else { return false }
        guard let context = dialled.context, !context.isEmpty, bytes[context.lowerBound] == UInt8(ascii: "+") else {
            return true
        }
        // RFC 3966 §5.1.5: behind more than a country code, 112 is the end of a longer number.
        var digits = 0
        for position in context where bytes[position] &- UInt8(ascii: "0") < 10 { digits += 1 }
        return digits <= 3
    }
}

extension GatewayTopology.Peer {
    /// Whether no limit may hold an INVITE of this peer back; the emergency numbers of a PBX are those of all trunks.
    func protects(_ invite: SIPMessage, in topology: GatewayTopology) -> Bool {
        CallFacts(of: invite, isTrusted: isTrusted, emergencyNumbers(in: topology)).isProtected
    }

    /// The emergency numbers for its calls; of a PBX those of every trunk.
    func emergencyNumbers(in topology: GatewayTopology) -> EmergencyNumbers {
        if case .trunk(let trunk) = self { trunk.emergencyNumbers } else { topology.emergencyNumbers }
    }
}
