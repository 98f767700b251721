// SPDX-License-Identifier: Apache-2.0

/// The state of a running gateway for `herald status`; times in seconds since 1970.
package struct ControlledState: Hashable, Sendable, Codable {
    /// Why calls should not be sent here; nil when they may.
    package var obstacle: String?
    /// The time of this state.
    package var at: Int64
    package var callsInProgress: Int
    /// Calls from trunks since the start.
    package var inboundCalls: UInt64
    /// Those of them that were forwarded with a brand.
    package var brandedCalls: UInt64
    /// Seconds since the last good sync; nil without one.
    package var syncAge: Int64?
    /// Seconds since the recorder finished a round.
    package var recorderAge: Double
    package var log: ControlledLogLevel
    /// The last reload; nil before the first one.
    package var reload: ControlledReload?
    /// One line for each certificate of a listen entry: its names and its expiry.
    package var certificates: [String]
    /// The state as the status page shows it.
    package var gateway: GatewayStatus

    package init(
        at: Int64, callsInProgress: Int, inboundCalls: UInt64, brandedCalls: UInt64, syncAge: Int64?,
        recorderAge: Double, log: ControlledLogLevel, reload: ControlledReload?, certificates: [String],
        gateway: GatewayStatus
    ) {
        obstacle = gateway.obstacle
        self.at = at
        self.callsInProgress = callsInProgress
        self.inboundCalls = inboundCalls
        self.brandedCalls = brandedCalls
        self.syncAge = syncAge
        self.recorderAge = recorderAge
        self.log = log
        self.reload = reload
        self.certificates = certificates
        self.gateway = gateway
    }

    package enum CodingKeys: String, CodingKey {
        case obstacle, at, log, reload, certificates, gateway
        case callsInProgress = "calls_in_progress"
        case inboundCalls = "inbound_calls"
        case brandedCalls = "branded_calls"
        case syncAge = "sync_age_seconds"
        case recorderAge = "recorder_age_seconds"
    }
}

/// The result of a reload.
package struct ControlledReload: Hashable, Sendable, Codable {
    /// True if the file is in force.
    package var applied: Bool
    /// The keys that wait for a restart.
    package var waiting: [String]
    /// Why nothing has changed; nil for an applied file.
    package var problem: String?
    /// Seconds since 1970.
    package var at: Int64?

    package init(applied: Bool, waiting: [String] = [], problem: String? = nil, at: Int64? = nil) {
        self.applied = applied
        self.waiting = waiting
        self.problem = problem
        self.at = at
    }
}

/// The level of the log.
package struct ControlledLogLevel: Hashable, Sendable, Codable {
    /// The level in force.
    package var level: String
    /// The level of the configuration.
    package var configured: String
    /// When the level returns to the configured one, in seconds since 1970; nil for no end.
    package var until: Int64?

    package init(level: String, configured: String, until: Int64? = nil) {
        self.level = level
        self.configured = configured
        self.until = until
    }
}
