// SPDX-License-Identifier: Apache-2.0

/// What an INVITE says that bears on showing a brand.
package struct CallEvidence: Hashable, Sendable {
    /// The caller; nil when withheld or not certain.
    package var number: E164Number?
    /// The caller asked not to be named (RFC 3323, RFC 3325 §9.3) or calls as anonymous.
    package var privacy: Bool
    /// The trunk's word on its callers is believed.
    package var trunkTrusted: Bool
    /// What is believed about the caller's right to the number.
    package var verification: Verification
    /// No To tag: the request opens a dialog (RFC 3261 §12.1).
    package var isInitialInvite: Bool
    /// An emergency call or the call back of one, or it has a Resource-Priority (RFC 5031, RFC 7090, RFC 4412).
    package var isEmergency: Bool
    /// It has been through this gateway before.
    package var isSpiral: Bool
    /// It takes over an existing dialog (RFC 3891).
    package var hasReplaces: Bool

    package init(
        number: E164Number?, privacy: Bool = false, trunkTrusted: Bool = false, verification: Verification = .none,
        isInitialInvite: Bool = true, isEmergency: Bool = false, isSpiral: Bool = false, hasReplaces: Bool = false
    ) {
        self.number = number
        self.privacy = privacy
        self.trunkTrusted = trunkTrusted
        self.verification = verification
        self.isInitialInvite = isInitialInvite
        self.isEmergency = isEmergency
        self.isSpiral = isSpiral
        self.hasReplaces = hasReplaces
    }
}
