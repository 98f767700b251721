// SPDX-License-Identifier: Apache-2.0

/// What the directory allows at the moment; any closed gate lets every call pass unbranded.
///
/// A value type that travels with the index in one snapshot, so a call sees gates and records of the same instant.
/// Source: securenode-endpoint-contract §5 and §11.
package struct BrandingGates: Hashable, Sendable, Codable {
    /// `config.branding_enabled`; the directory's own switch.
    package var brandingEnabled: Bool
    /// `config.account_status`, lower case; closes the gate where it is `AccountStatus.ended`.
    package var accountStatus: String { didSet { accountHasEnded = AccountStatus(accountStatus) == .ended } }
    /// Worked out with each new value: a call reads a flag and no text.
    private var accountHasEnded: Bool
    /// `used_this_month` has reached `cap_this_month`.
    package var capReached: Bool
    /// False after a 401 or 403 until a sync succeeds.
    package var authorised: Bool
    /// `config.voip_dialer_enabled`; false closes the gate only if the operator obeys it.
    package var voipDialerEnabled: Bool
    /// True where the operator lets a closed `voipDialerEnabled` stop branding; not stored.
    package var obeysVoipDialer: Bool
    /// The records are older than their lifetime; not the directory's word but the gateway's own.
    package var isStale: Bool

    package init(
        brandingEnabled: Bool = true, accountStatus: String = "active", capReached: Bool = false,
        authorised: Bool = true, voipDialerEnabled: Bool = true, obeysVoipDialer: Bool = false,
        isStale: Bool = false
    ) {
        self.brandingEnabled = brandingEnabled
        self.accountStatus = accountStatus
        accountHasEnded = AccountStatus(accountStatus) == .ended
        self.capReached = capReached
        self.authorised = authorised
        self.voipDialerEnabled = voipDialerEnabled
        self.obeysVoipDialer = obeysVoipDialer
        self.isStale = isStale
    }

    /// Reads stored gates; each start works out anew whether they are stale, and takes the operator's choice from the
    /// configuration.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        brandingEnabled = try container.decode(Bool.self, forKey: .brandingEnabled)
        accountStatus = try container.decode(String.self, forKey: .accountStatus)
        accountHasEnded = AccountStatus(accountStatus) == .ended
        capReached = try container.decode(Bool.self, forKey: .capReached)
        authorised = try container.decode(Bool.self, forKey: .authorised)
        voipDialerEnabled = try container.decode(Bool.self, forKey: .voipDialerEnabled)
        obeysVoipDialer = false
        isStale = false
    }

    private enum CodingKeys: CodingKey {
        case brandingEnabled, accountStatus, capReached, authorised, voipDialerEnabled
    }

    /// The first closed gate, in the order an operator would mend them, or nil when calls may be branded.
    ///
    /// A directory may clear `branding_enabled` together with another gate, so the switch comes after status and cap.
    package var closed: PassThroughReason? {
        if !authorised { return .gatedUnauthorised }
        if accountHasEnded { return .gatedAccountStatus }
        if capReached { return .gatedCapReached }
        if !brandingEnabled { return .gatedBrandingDisabled }
        if !voipDialerEnabled, obeysVoipDialer { return .gatedVoipDialerDisabled }
        if isStale { return .stale }
        return nil
    }

    /// The next gates without any opened that is closed here.
    package func closedFurther(as next: BrandingGates) -> BrandingGates {
        var gates = next
        gates.brandingEnabled = brandingEnabled && next.brandingEnabled
        gates.voipDialerEnabled = voipDialerEnabled && next.voipDialerEnabled
        gates.capReached = capReached || next.capReached
        gates.authorised = authorised && next.authorised
        gates.isStale = isStale || next.isStale
        if accountHasEnded, !next.accountHasEnded { gates.accountStatus = accountStatus }
        return gates
    }

    /// Every gate by its word in metrics and status, in the order of `closed`, and whether it is open.
    package var all: [(gate: String, isOpen: Bool)] {
        [
            ("authorised", authorised), ("account_status", !accountHasEnded), ("cap", !capReached),
            ("branding_enabled", brandingEnabled), ("voip_dialer_enabled", voipDialerEnabled || !obeysVoipDialer),
            ("fresh", !isStale),
        ]
    }
}
