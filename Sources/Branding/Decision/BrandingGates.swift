// SPDX-License-Identifier: Apache-2.0

/// The directory's permissions to brand calls.
///
/// One closed gate stops branding for every call. A value type in the same snapshot as the index: a call sees gates and
/// records of the same instant. Source: securenode-endpoint-contract §5 and §11.
public struct BrandingGates: Hashable, Sendable, Codable {
    /// `config.branding_enabled`, the directory's switch for branding.
    public var brandingEnabled: Bool
    /// `config.account_status` in lower case. The gate closes for `AccountStatus.ended`.
    public var accountStatus: String { didSet { accountHasEnded = AccountStatus(accountStatus) == .ended } }
    /// Cached classification of `accountStatus`, so that the call path parses no text.
    private var accountHasEnded: Bool
    /// True if `used_this_month` has reached `cap_this_month`.
    public var capReached: Bool
    /// False from a 401 or 403 until the next successful sync.
    public var authorised: Bool
    /// `config.voip_dialer_enabled`. False closes the gate only with `obeysVoipDialer`.
    public var voipDialerEnabled: Bool
    /// The operator's `voip_dialer_enabled: obey`. Not stored.
    public var obeysVoipDialer: Bool
    /// True if the records are older than their lifetime. The gateway sets this gate itself.
    public var isStale: Bool

    public init(
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

    /// Decodes stored gates. The caller sets `isStale` and `obeysVoipDialer` afterwards, because neither is stored.
    public init(from decoder: any Decoder) throws {
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

    /// The first closed gate, in the order in which an operator fixes them; nil if branding is allowed.
    ///
    /// A directory can clear `branding_enabled` together with another gate. So the switch comes after account status
    /// and cap.
    public var closed: PassThroughReason? {
        if !authorised { return .gatedUnauthorised }
        if accountHasEnded { return .gatedAccountStatus }
        if capReached { return .gatedCapReached }
        if !brandingEnabled { return .gatedBrandingDisabled }
        if !voipDialerEnabled, obeysVoipDialer { return .gatedVoipDialerDisabled }
        if isStale { return .stale }
        return nil
    }

    /// Returns the gates of `next`, but keeps every gate closed that is closed here.
    public func closedFurther(as next: BrandingGates) -> BrandingGates {
        var gates = next
        gates.brandingEnabled = brandingEnabled && next.brandingEnabled
        gates.voipDialerEnabled = voipDialerEnabled && next.voipDialerEnabled
        gates.capReached = capReached || next.capReached
        gates.authorised = authorised && next.authorised
        gates.isStale = isStale || next.isStale
        if accountHasEnded, !next.accountHasEnded { gates.accountStatus = accountStatus }
        return gates
    }

    /// Each gate's name in metrics and status pages and its state, in the order of `closed`.
    public var all: [(gate: String, isOpen: Bool)] {
        [
            ("authorised", authorised), ("account_status", !accountHasEnded), ("cap", !capReached),
            ("branding_enabled", brandingEnabled), ("voip_dialer_enabled", voipDialerEnabled || !obeysVoipDialer),
            ("fresh", !isStale),
        ]
    }
}
