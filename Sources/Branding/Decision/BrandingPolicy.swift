// SPDX-License-Identifier: Apache-2.0

/// The attestation that a trunk's calls need before a brand is shown.
public enum BrandingPolicy: String, Hashable, Sendable, CaseIterable {
    /// Full or partial attestation, or none from a trusted trunk.
    case standard
    /// Full attestation only.
    case strict
    /// Any attestation, or none from a trusted trunk.
    case permissive

    /// True if attestation of this level suffices. False for `none` and `failed`.
    func accepts(_ verification: Verification) -> Bool {
        switch verification {
        case .passedA: true
        case .passedB: self != .strict
        case .passedC: self == .permissive
        case .none, .failed: false
        }
    }
}

/// The treatment of the carrier's own name of the caller.
public enum CarrierNamePolicy: UInt8, Hashable, Sendable, CaseIterable {
    /// The brand's name replaces it.
    case replace
    /// It stays; the brand's name is written only where the carrier sent none.
    case fill
    /// Names stay as received; only logo and reason are added.
    case keep
}
