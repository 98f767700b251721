// SPDX-License-Identifier: Apache-2.0

/// The body of `POST mobile/branding/event`; other fields are not allowed.
package struct EventRequest: Codable, Hashable, Sendable {
    /// E.164 with plus sign.
    package var phoneNumber: String
    /// The event name, such as `displayed`.
    package var outcome: String
    /// The place where the brand was shown, such as `sip`.
    package var surface: String?
    package var deviceID: String?
    /// ISO 8601.
    package var displayedAt: String?
    /// At most 200 characters; events with the same key count once.
    package var eventKey: String?
    package var meta: [String: JSONValue]?
    /// A UUID with which the client identifies the request that fetched the brand.
    package var brandingRequestID: String?

    package enum CodingKeys: String, CodingKey {
        case outcome, surface, meta
        case brandingRequestID = "branding_request_id"
        case phoneNumber = "phone_number_e164"
        case deviceID = "device_id"
        case displayedAt = "displayed_at"
        case eventKey = "event_key"
    }

    package init(
        phoneNumber: String, outcome: String, surface: String? = nil, deviceID: String? = nil,
        displayedAt: String? = nil, eventKey: String? = nil, meta: [String: JSONValue]? = nil,
        brandingRequestID: String? = nil
    ) {
        self.phoneNumber = phoneNumber
        self.outcome = outcome
        self.surface = surface
        self.deviceID = deviceID
        self.displayedAt = displayedAt
        self.eventKey = eventKey
        self.meta = meta
        self.brandingRequestID = brandingRequestID
    }
}

/// The response to an event.
///
/// 200 and 202 both mean success. `counted: false` with a reason is final.
package struct EventResponse: Codable, Hashable, Sendable {
    package var success: Bool
    /// The directory's identifier of the event; a repetition with the same key returns the same identifier.
    package var eventID: String?
    package var outcome: String?
    /// True if the event counts towards the month.
    package var counted: Bool?
    /// The reason for `counted: false`: an `UncountedReason` or a value of the directory's own.
    package var reason: String?
    /// ISO 8601.
    package var displayedAt: String?
    package var imprintID: String?
    /// True if the directory accepted the event.
    package var accepted: Bool?
    /// True if only the raw event was stored.
    package var partial: Bool?
    /// The reason for `partial`, such as `invalid_phone_number_e164`.
    package var warningCode: String?
    /// The link to the call in an app; mobile client types alone get it.
    package var deepLink: String?
    package var config: DirectoryConfig?

    package enum CodingKeys: String, CodingKey {
        case success, outcome, counted, reason, accepted, partial, config
        case eventID = "event_id"
        case displayedAt = "displayed_at"
        case imprintID = "imprint_id"
        case warningCode = "warning_code"
        case deepLink = "deep_link"
    }

    package init(success: Bool) { self.success = success }

    /// Decodes a response.
    ///
    /// A missing `success` counts as true, because the endpoint contract §7 does not name it.
    ///
    /// Throws if the object has no member of the contract: the JSON of a proxy must not mark an event as delivered.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let meaningful: [CodingKeys] = [.success, .counted, .eventID, .outcome, .accepted, .displayedAt]
        guard meaningful.contains(where: container.contains) else {
            throw DecodingError.keyNotFound(
                CodingKeys.success, .init(codingPath: decoder.codingPath, debugDescription: "no member of the contract")
            )
        }
        success = container.tolerantBool(.success) ?? true
        eventID = container.tolerantString(.eventID)
        outcome = container.tolerantString(.outcome)
        counted = container.tolerantBool(.counted)
        reason = container.tolerantString(.reason)
        displayedAt = container.tolerantString(.displayedAt)
        imprintID = container.tolerantString(.imprintID)
        accepted = container.tolerantBool(.accepted)
        partial = container.tolerantBool(.partial)
        warningCode = container.tolerantString(.warningCode)
        deepLink = container.tolerantString(.deepLink)
        config = container.tolerant(DirectoryConfig.self, .config)
    }
}

/// The reason why an event was not counted.
///
/// Source: securenode-endpoint-contract §7b.
package enum UncountedReason: String, Hashable, Sendable, CaseIterable {
    case noMatch = "no_match"
    case disabled
    case capReached = "cap_reached"
    case accountSuspended = "account_suspended"
    case ownerSuspended = "owner_suspended"
    case ownerUnresolved = "owner_unresolved"
    case analyticsOnly = "analytics_only"
    case pendingEnrichment = "pending_enrichment"
    case eventDropped = "event_dropped"
}
