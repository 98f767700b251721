// SPDX-License-Identifier: Apache-2.0

/// The facts about an INVITE that the branding decision needs.
public struct CallEvidence: Hashable, Sendable {
    /// The caller's number; nil if withheld or not certain.
    public var number: E164Number?
    /// True if the caller requests privacy (RFC 3323, RFC 3325 §9.3) or calls as anonymous.
    public var privacy: Bool
    /// True if the trunk's caller identity is trusted.
    public var trunkTrusted: Bool
    /// The verified right of the caller to the number.
    public var verification: Verification
    /// True without a To tag: the request creates a dialog (RFC 3261 §12.1).
    public var isInitialInvite: Bool
    /// True for an emergency call, its callback, or a request with Resource-Priority (RFC 5031, RFC 7090, RFC 4412).
    public var isEmergency: Bool
    /// True if this gateway has already forwarded the request.
    public var isSpiral: Bool
    /// True if the INVITE replaces an existing dialog (RFC 3891).
    public var hasReplaces: Bool

    public init(
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
