// SPDX-License-Identifier: Apache-2.0

/// One event for the directory: minted once, stored before it is sent, sent until the directory has responded.
public struct OutcomeEvent: Hashable, Sendable {
    /// `<outcome>:<call id>`; the directory counts each key once.
    ///
    /// At most 200 characters.
    public var key: String
    /// The call of the event, in the form of `CallIdentifier.description`.
    public var callID: String
    /// The brand's number, with plus sign.
    public var number: String
    /// The reported outcome.
    ///
    /// `displayed`, `call_seen`, `missed`, `returned`, `branding_disabled`, `error`, `no_match` or another term.
    public var outcome: String
    /// The contract's `surface`; `sip` unless configured.
    public var surface: String
    /// ISO 8601 in UTC with `Z`.
    public var displayedAt: String
    public var meta: Meta
    /// The customer whose directory gets the event; nil without customers.
    public var customer: String?

    public init(
        key: String, callID: String, number: String, outcome: String, surface: String, displayedAt: String, meta: Meta,
        customer: String? = nil
    ) {
        self.key = key
        self.callID = callID
        self.number = number
        self.outcome = outcome
        self.surface = surface
        self.displayedAt = displayedAt
        self.meta = meta
        self.customer = customer
    }

    /// The `meta` object of an event; the first twelve fields are the contract's, the others are the gateway's
    /// evidence.
    ///
    /// Stored and sent as JSON with these keys; unknown values are left out. Source: securenode-ios-sdk,
    /// "Call event reporting".
    public struct Meta: Hashable, Sendable, Codable {
        public var callEventID: String?
        public var callerNumber: String?
        public var destinationNumber: String?
        public var observedAt: String?
        public var brandingApplied: Bool?
        public var brandingProfileID: String?
        public var identityType: String?
        public var ringDuration: Int?
        public var callDuration: Int?
        public var callOutcome: String?
        public var returnCallDetected: Bool?
        public var returnCallLatency: Int?
        /// `alerting` or `answered`: the evidence that the name was shown.
        public var displayEvidence: String?
        /// `matched` or a `PassThroughReason`.
        public var decision: String?
        public var sipStatus: Int?
        public var q850Cause: Int?
        /// Configured name of the trunk.
        public var trunk: String?
        /// True for a forwarded call; left out otherwise.
        public var forwarded: Bool?
        /// True if a voicemail box answered; left out otherwise.
        public var voicemail: Bool?
        /// `voicemail` or `system` if a machine answered.
        public var answeredBy: String?
        /// Number of INVITEs, if more than one.
        public var attempts: Int?
        /// The server's `event_id` of the original, on a `returned` event.
        public var originalEventID: String?

        public enum CodingKeys: String, CodingKey, CaseIterable {
            case callEventID = "call_event_id"
            case callerNumber = "caller_number_e164"
            case destinationNumber = "destination_number_e164"
            case observedAt = "observed_at_utc"
            case brandingApplied = "branding_applied"
            case brandingProfileID = "branding_profile_id"
            case identityType = "identity_type"
            case ringDuration = "ring_duration_seconds"
            case callDuration = "call_duration_seconds"
            case callOutcome = "call_outcome"
            case returnCallDetected = "return_call_detected"
            case returnCallLatency = "return_call_latency_seconds"
            case displayEvidence = "display_evidence"
            case decision
            case sipStatus = "sip_status"
            case q850Cause = "q850_cause"
            case trunk
            case forwarded
            case voicemail
            case answeredBy = "answered_by"
            case attempts
            case originalEventID = "original_event_id"
        }

        public init() {}
    }
}
