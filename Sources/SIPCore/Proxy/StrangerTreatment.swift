// SPDX-License-Identifier: Apache-2.0

/// The treatment of requests from unknown peers.
public enum StrangerTreatment: UInt8, Hashable, Sendable, CaseIterable {
    /// Rejected with 403 (RFC 3261 §21.4.4).
    case refuse
    /// Dropped without a response.
    case drop
}
