// SPDX-License-Identifier: Apache-2.0

/// The part of an INVITE that attests the caller's number.
///
/// The raw value crosses the update ring and is stored in the ledger. A case keeps its raw value.
public enum AttestationSource: UInt8, Hashable, Sendable, CaseIterable {
    /// No part.
    case none
    /// verstat in P-Asserted-Identity (3GPP TS 24.229 §7.2A.20).
    case assertedIdentity
    /// verstat in Remote-Party-ID.
    case remoteParty
    /// verstat in From.
    case from
    /// P-Attestation-Indicator (ATIS-1000082).
    case attestationIndicator
    /// Attestation-Info (3GPP TS 24.229 §7.2.18).
    case attestationInfo
    /// A header field of the trunk's `attestation_headers`.
    case configuredHeader
    /// A signature that Herald has verified itself (RFC 8224); no claim of the trunk.
    case ownSignature
}
