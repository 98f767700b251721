// SPDX-License-Identifier: Apache-2.0

/// The state of a running gateway for `herald status`; times in seconds since 1970.
struct ControlledState: Hashable, Sendable, Codable {
    /// Why calls should not be sent here; nil when they may.
    var obstacle: String?
    /// The time of this state.
    var at: Int64
    var callsInProgress: Int
    /// Calls from trunks since the start.
    var inboundCalls: UInt64
    /// Those of them that were forwarded with a brand.
    var brandedCalls: UInt64
    /// Seconds since the last good sync; nil without one.
    var syncAge: Int64?
    /// Seconds since the recorder finished a round.
    var recorderAge: Double
    var log: ControlledLogLevel
    /// The last reload; nil before the first one.
    var reload: ControlledReload?
    /// One line for each certificate of a listen entry: its names and its expiry.
    var certificates: [String]
    /// The state as the status page shows it.
    var gateway: GatewayStatus

    enum CodingKeys: String, CodingKey {
        case obstacle, at, log, reload, certificates, gateway
        case callsInProgress = "calls_in_progress"
        case inboundCalls = "inbound_calls"
        case brandedCalls = "branded_calls"
        case syncAge = "sync_age_seconds"
        case recorderAge = "recorder_age_seconds"
    }
}

/// The result of a reload.
struct ControlledReload: Hashable, Sendable, Codable {
    /// True if the file is in force.
    var applied: Bool
    /// The keys that wait for a restart.
    var waiting: [String] = []
    /// Why nothing has changed; nil for an applied file.
    var problem: String?
    /// Seconds since 1970.
    var at: Int64?
}

/// The level of the log.
struct ControlledLogLevel: Hashable, Sendable, Codable {
    /// The level in force.
    var level: String
    /// The level of the configuration.
    var configured: String
    /// When the level returns to the configured one, in seconds since 1970; nil for no end.
    var until: Int64?
}
