// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Header fields with a trusted carrier's attestation: P-Attestation-Indicator, Attestation-Info, and those the operator
/// names.
enum AttestationHeaders {
    static func claims(in request: SIPMessage, on trunk: TrunkPeer) -> AttestationClaims {
        var claims = AttestationClaims()
        guard request.has(.attestation) || !trunk.attestationHeaders.isEmpty else { return claims }
        for field in request.headers {
            guard let source = source(field, in: request, on: trunk) else { continue }
            var claim = AttestationClaims()
            claim.add(header: request[field.value])
            claims.add(claim, from: source)
        }
        return claims
    }

    /// Whether the operator names the field.
    static func isNamed(_ field: SIPMessage.HeaderField, in message: SIPMessage, on trunk: TrunkPeer) -> Bool {
        guard !trunk.attestationHeaders.isEmpty else { return false }
        let name = message[field.start..<field.nameEnd]
        return trunk.attestationHeaders.contains { name.equalsIgnoringCase($0) }
    }

    /// The source that the field is; nil for other fields.
    private static func source(
        _ field: SIPMessage.HeaderField, in message: SIPMessage, on trunk: TrunkPeer
    ) -> AttestationSource? {
        let name = message[field.start..<field.nameEnd]
        switch field.name {
        // P-Origination-Id and Origination-Id carry the origin's identifier (ATIS-1000082).
        case .attestation where name.equalsIgnoringCase("p-attestation-indicator"): return .attestationIndicator
        case .attestation where name.equalsIgnoringCase("attestation-info"): return .attestationInfo
        case .other where isNamed(field, in: message, on: trunk): return .configuredHeader
        default: return nil
        }
    }
}
