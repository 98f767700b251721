// SPDX-License-Identifier: Apache-2.0

/// How much a trunk's operator wants to know about a caller before a brand is shown.
package enum BrandingPolicy: String, Hashable, Sendable, CaseIterable {
    /// Full or partial attestation; without any, the trunk must be trusted.
    case standard
    /// Full attestation only.
    case strict
    /// Any passed check; without any, the trunk must be trusted.
    case permissive

    /// True if a passed check of this level is enough; false for none and failed, which are no passed checks.
    func accepts(_ verification: Verification) -> Bool {
        switch verification {
        case .passedA: true
        case .passedB: self != .strict
        case .passedC: self == .permissive
        case .none, .failed: false
        }
    }
}
