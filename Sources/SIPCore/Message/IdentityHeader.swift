// SPDX-License-Identifier: Apache-2.0

/// A header field that may name the caller (RFC 3325 §9.1, draft-ietf-sip-privacy-04 §6.1, RFC 3261 §20.20).
public enum IdentityHeader: UInt8, Hashable, Sendable, CaseIterable {
    case pAssertedIdentity, remotePartyID, from

    /// The name of the field.
    public var name: HeaderName {
        switch self {
        case .pAssertedIdentity: .pAssertedIdentity
        case .remotePartyID: .remotePartyID
        case .from: .from
        }
    }
}
