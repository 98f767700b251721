// SPDX-License-Identifier: Apache-2.0

/// What the directory allows at the moment; any closed gate lets every call pass unbranded.
///
/// A value type that travels with the index in one snapshot, so a call sees gates and records of the same instant.
/// Source: securenode-endpoint-contract §5 and §11.
package struct BrandingGates: Hashable, Sendable, Codable {
    /// `config.branding_enabled`; the directory's own switch.
    package var brandingEnabled: Bool
    /// `config.account_status`, lower case; anything but `active` and `trial` closes the gate.
    package var accountStatus: String
    /// `used_this_month` has reached `cap_this_month`.
    package var capReached: Bool
    /// False after a 401 or 403 until a sync succeeds.
    package var authorised: Bool
    /// `config.voip_dialer_enabled`; false asks a SIP element to pass calls through.
    package var voipDialerEnabled: Bool
    /// The records are older than their lifetime; not the directory's word but the gateway's own.
    package var isStale: Bool

    package init(
        brandingEnabled: Bool = true, accountStatus: String = "active", capReached: Bool = false,
        authorised: Bool = true, voipDialerEnabled: Bool = true, isStale: Bool = false
    ) {
        self.brandingEnabled = brandingEnabled
        self.accountStatus = accountStatus
        self.capReached = capReached
        self.authorised = authorised
        self.voipDialerEnabled = voipDialerEnabled
        self.isStale = isStale
    }

    /// Reads stored gates; whether they are stale is worked out anew at each start.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        brandingEnabled = try container.decode(Bool.self, forKey: .brandingEnabled)
        accountStatus = try container.decode(String.self, forKey: .accountStatus)
        capReached = try container.decode(Bool.self, forKey: .capReached)
        authorised = try container.decode(Bool.self, forKey: .authorised)
        voipDialerEnabled = try container.decode(Bool.self, forKey: .voipDialerEnabled)
        isStale = false
    }

    private enum CodingKeys: CodingKey {
        case brandingEnabled, accountStatus, capReached, authorised, voipDialerEnabled
    }

    /// The first closed gate, in the order an operator would mend them, or nil when calls may be branded.
    package var closed: PassThroughReason? {
        if !authorised { return .gatedUnauthorised }
        if !Self.isActive(accountStatus) { return .gatedAccountStatus }
        if !brandingEnabled { return .gatedBrandingDisabled }
        if !voipDialerEnabled { return .gatedVoipDialerDisabled }
        if capReached { return .gatedCapReached }
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
        if !Self.isActive(accountStatus), Self.isActive(next.accountStatus) { gates.accountStatus = accountStatus }
        return gates
    }

    private static func isActive(_ status: String) -> Bool { status == "active" || status == "trial" }

    /// Every gate by its word in metrics and status, in the order of `closed`, and whether it is open.
    package var all: [(gate: String, isOpen: Bool)] {
        [
            ("authorised", authorised), ("account_status", Self.isActive(accountStatus)),
            ("branding_enabled", brandingEnabled), ("voip_dialer_enabled", voipDialerEnabled),
            ("cap", !capReached), ("fresh", !isStale),
        ]
    }
}
