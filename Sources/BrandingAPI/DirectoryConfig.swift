// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The `config` object of sync, lookup and event answers: what the directory allows at the moment.
///
/// Every field is optional on the wire; only those present change anything. Source: securenode-endpoint-contract §5.
package struct DirectoryConfig: Hashable, Sendable {
    /// `live` or `testing`.
    package var mode: String?
    /// The directory's own switch for branding.
    package var brandingEnabled: Bool?
    /// False says that the account has no SIP dialler; whether that stops branding is the operator's choice.
    package var voipDialerEnabled: Bool?
    /// `active`, `trial`, `suspended` or any other value; see `AccountStatus`.
    package var accountStatus: String?
    /// Identifier of the account.
    package var clientID: String?
    /// The gates of a debug upload.
    package var debugUI: DebugUI?
    /// Events counted in this calendar month.
    package var usedThisMonth: Int?
    /// How many may be counted; nil when the answer does not say.
    package var capThisMonth: MonthlyCap?
    /// How many the account's plan has paid for.
    package var includedImprintsMonthly: Int?

    /// Says nothing.
    package init() {}

    /// The gates after this answer: fields present decide, and an answer at all means the key is good.
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
        package var enabled: Bool?
        package var requestUpload: Bool?
        /// ISO 8601; nil for no end.
        package var expiresAt: String?
        package var allowExport: Bool?

        /// Says nothing.
        package init() {}
    }
}

/// The `cap_this_month` of an answer, in which null has a meaning of its own.
package enum MonthlyCap: Hashable, Sendable {
    /// Written as null.
    case unlimited
    /// So many counted events and no more.
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
    }

    /// Reads what can be read; a field of a wrong type counts as absent.
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
    }
}

extension DirectoryConfig.DebugUI: Codable {
    package enum CodingKeys: String, CodingKey {
        case enabled
        case requestUpload = "request_upload"
        case expiresAt = "expires_at"
        case allowExport = "allow_export"
    }

    /// Reads what can be read; a gate that cannot be read stays closed, because it is nil.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        enabled = container.tolerantBool(.enabled)
        requestUpload = container.tolerantBool(.requestUpload)
        expiresAt = container.tolerantString(.expiresAt)
        allowExport = container.tolerantBool(.allowExport)
    }

    /// Writes all four; the contract requires them, the time as null when there is none.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(enabled ?? false, forKey: .enabled)
        try container.encode(requestUpload ?? false, forKey: .requestUpload)
        try container.encode(expiresAt, forKey: .expiresAt)
        try container.encode(allowExport ?? false, forKey: .allowExport)
    }
}
