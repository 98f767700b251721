// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Header fields with a trusted carrier's attestation: P-Attestation-Indicator, Attestation-Info, and those the operator
/// names.
enum AttestationHeaders {
    static func claims(in request: SIPMessage, on trunk: TrunkPeer) -> AttestationClaims {
        var claims = AttestationClaims()
        guard request.has(.attestation) || !trunk.attestationHeaders.isEmpty else { return claims }
        for field in request.headers where isOne(field, in: request, on: trunk) {
            claims.add(header: request[field.value])
        }
        return claims
    }

    /// Whether the operator names the field.
    static func isNamed(_ field: SIPMessage.HeaderField, in message: SIPMessage, on trunk: TrunkPeer) -> Bool {
        guard !trunk.attestationHeaders.isEmpty else { return false }
        let name = message[field.start..<field.nameEnd]
        return trunk.attestationHeaders.contains { name.equalsIgnoringCase($0) }
    }

    private static func isOne(_ field: SIPMessage.HeaderField, in message: SIPMessage, on trunk: TrunkPeer) -> Bool {
        switch field.name {
        // P-Origination-Id and Origination-Id carry the origin's identifier (ATIS-1000082).
        case .attestation:
            message[field.start..<field.nameEnd].equalsIgnoringCase("p-attestation-indicator")
                || message[field.start..<field.nameEnd].equalsIgnoringCase("attestation-info")
        case .other: isNamed(field, in: message, on: trunk)
        default: false
        }
    }
}
