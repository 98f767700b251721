// SPDX-License-Identifier: Apache-2.0

import CallAccounting
public import SIPCore

/// The name of a withheld caller's Call-ID outside of SIP: in the ring, the ledger, records, log lines and lists.
///
/// Carriers write numbers into Call-IDs (`61491570156-1732830000@sbc`), and nothing shows where. So no character of such a
/// Call-ID is kept. Its name is a keyed hash: whoever has the Call-ID finds the call, and nobody finds the number by trying.
/// The gateways of a cluster share the secret, so each finds the calls of all.
public enum WithheldCallID {
    /// The name by one secret: `withheld-` and 36 characters.
    public static func name(of callID: ArraySlice<UInt8>, _ secret: Secret) -> [UInt8] {
        var hash = secret.hash(for: .withheldCallID)
        // Records keep no more of a Call-ID, and a search names no more of it.
        hash.combine(callID.prefix(CallTexts.limits.sipCallID))
        let (high, low) = hash.finishWide()
        return Array("withheld-\(CallIdentifier(high: high, low: low))".utf8)
    }

    /// The names that a Call-ID may have in the ledger: by the secret, and by those before it.
    public static func names(of callID: String, _ secret: Secret) -> [String] {
        let bytes = Array(callID.utf8)
        return sequence(first: secret, next: \.previous).map { secret in
            String(decoding: name(of: bytes[...], secret), as: UTF8.self)
        }
    }
}
