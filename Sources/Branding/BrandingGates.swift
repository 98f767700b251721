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

    package init(
        brandingEnabled: Bool = true, accountStatus: String = "active", capReached: Bool = false,
        authorised: Bool = true, voipDialerEnabled: Bool = true
    ) {
        self.brandingEnabled = brandingEnabled
        self.accountStatus = accountStatus
        self.capReached = capReached
        self.authorised = authorised
        self.voipDialerEnabled = voipDialerEnabled
    }

    /// The first closed gate, in the order an operator would mend them, or nil when calls may be branded.
    package var closed: PassThroughReason? {
        if !authorised { return .gatedUnauthorised }
        if accountStatus != "active", accountStatus != "trial" { return .gatedAccountStatus }
        if !brandingEnabled { return .gatedBrandingDisabled }
        if !voipDialerEnabled { return .gatedVoipDialerDisabled }
        if capReached { return .gatedCapReached }
        return nil
    }
}
