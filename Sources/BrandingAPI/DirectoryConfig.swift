// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The `config` object in sync, lookup and event responses: the directory's current permissions.
///
/// Every field is optional. Absent fields change nothing. Source: securenode-endpoint-contract §5.
package struct DirectoryConfig: Hashable, Sendable {
    /// `live` or `testing`.
    package var mode: String?
    /// The directory's switch for branding.
    package var brandingEnabled: Bool?
    /// False if the account has no SIP dialler; the operator decides whether that stops branding.
    package var voipDialerEnabled: Bool?
    /// `active`, `trial`, `suspended` or another value; see `AccountStatus`.
    package var accountStatus: String?
    /// Identifier of the account.
    package var clientID: String?
    /// The gates of a debug upload.
    package var debugUI: DebugUI?
    /// Events counted in this calendar month.
    package var usedThisMonth: Int?
    /// Largest number of counted events in this month; nil if absent.
    package var capThisMonth: MonthlyCap?
    /// Events included in the account's plan.
    package var includedImprintsMonthly: Int?
    /// The public cards of brands, as a template with `{brand_id}` (RFC 6570 level 1); gateways alone get it.
    package var cardURL: String?

    /// Creates a configuration without any field.
    package init() {}

    /// Returns the gates after this response.
    ///
    /// Present fields take effect; any response shows that the key is valid.
    package func gates(after previous: BrandingGates) -> BrandingGates {
        var gates = previous
        gates.authorised = true
        if let brandingEnabled { gates.brandingEnabled = brandingEnabled }
        if let voipDialerEnabled { gates.voipDialerEnabled = voipDialerEnabled }
        if let accountStatus { gates.accountStatus = AccountStatus.normal(accountStatus) }
        switch (capThisMonth, usedThisMonth) {
        case (.unlimited, _): gates.capReached = false
        case (.events(let cap), let used?): gates.capReached = used >= cap
        case (.events, nil), (nil, _): break
        }
        return gates
    }

    /// The four gates of a debug upload.
    package struct DebugUI: Hashable, Sendable {
        /// True enables the debug upload.
        package var enabled: Bool?
        /// True requests an upload.
        package var requestUpload: Bool?
        /// ISO 8601; nil for no deadline.
        package var expiresAt: String?
        /// True permits the export of logs.
        package var allowExport: Bool?

        /// Creates the gates without any field.
        package init() {}
    }
}

/// The `cap_this_month` of a response, in which null means unlimited.
package enum MonthlyCap: Hashable, Sendable {
    /// Encoded as null.
    case unlimited
    /// Largest number of counted events.
    case events(Int)
}

extension DirectoryConfig: Codable {
    package enum CodingKeys: String, CodingKey {
        case mode
        case brandingEnabled = "branding_enabled"
        case voipDialerEnabled = "voip_dialer_enabled"
        case accountStatus = "account_status"
        case clientID = "client_id"
        case debugUI = "debug_ui"
        case usedThisMonth = "used_this_month"
        case capThisMonth = "cap_this_month"
        case includedImprintsMonthly = "included_imprints_monthly"
        case cardURL = "card_url"
    }

    /// Decodes the readable fields; a field of a wrong type counts as absent.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mode = container.tolerantString(.mode)
        brandingEnabled = container.tolerantBool(.brandingEnabled)
        voipDialerEnabled = container.tolerantBool(.voipDialerEnabled)
        accountStatus = container.tolerantString(.accountStatus)
        clientID = container.tolerantString(.clientID)
        debugUI = container.tolerant(DebugUI.self, .debugUI)
        usedThisMonth = container.tolerantInt(.usedThisMonth)
        if container.contains(.capThisMonth), (try? container.decodeNil(forKey: .capThisMonth)) == true {
            capThisMonth = .unlimited
        } else {
            capThisMonth = container.tolerantInt(.capThisMonth).map { .events($0) }
        }
        includedImprintsMonthly = container.tolerantInt(.includedImprintsMonthly)
        cardURL = container.tolerantString(.cardURL)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(mode, forKey: .mode)
        try container.encodeIfPresent(brandingEnabled, forKey: .brandingEnabled)
        try container.encodeIfPresent(voipDialerEnabled, forKey: .voipDialerEnabled)
        try container.encodeIfPresent(accountStatus, forKey: .accountStatus)
        try container.encodeIfPresent(clientID, forKey: .clientID)
        try container.encodeIfPresent(debugUI, forKey: .debugUI)
        try container.encodeIfPresent(usedThisMonth, forKey: .usedThisMonth)
        switch capThisMonth {
        case .events(let cap): try container.encode(cap, forKey: .capThisMonth)
        case .unlimited: try container.encodeNil(forKey: .capThisMonth)
        case nil: break
        }
        try container.encodeIfPresent(includedImprintsMonthly, forKey: .includedImprintsMonthly)
        try container.encodeIfPresent(cardURL, forKey: .cardURL)
    }
}

extension DirectoryConfig.DebugUI: Codable {
    package enum CodingKeys: String, CodingKey {
        case enabled
        case requestUpload = "request_upload"
        case expiresAt = "expires_at"
        case allowExport = "allow_export"
    }

    /// Decodes the readable fields; an unreadable gate stays nil, which means closed.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        enabled = container.tolerantBool(.enabled)
        requestUpload = container.tolerantBool(.requestUpload)
        expiresAt = container.tolerantString(.expiresAt)
        allowExport = container.tolerantBool(.allowExport)
    }

    /// Encodes all four fields, as the contract requires; a missing time is null.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(enabled ?? false, forKey: .enabled)
        try container.encode(requestUpload ?? false, forKey: .requestUpload)
        try container.encode(expiresAt, forKey: .expiresAt)
        try container.encode(allowExport ?? false, forKey: .allowExport)
    }
}
