// SPDX-License-Identifier: Apache-2.0

/// Commands of the operator to a running gateway, which plays this role.
///
/// Never on the call path; safe from any thread.
package protocol GatewayControl: Sendable {
    /// Syncs with the directory at once and returns when the sync has ended.
    ///
    /// - Parameter full: asks for the whole set instead of what has changed.
    ///
    /// - Parameter customer: the customer whose account is synced; nil for the section `directory`.
    func sync(full: Bool, customer: String?) async -> ControlledSync
    /// The state of the gateway.
    func state() async -> ControlledState
    /// The customers in the order of their names.
    ///
    /// - Parameter name: the only customer that is wanted; nil for all.
    /// - Throws: for an unknown name, and when the ledger cannot be read.
    func customers(named name: String?) throws(ControlProblem) -> [GatewayStatus.Customer]
    /// Reads the configuration again and applies it.
    func reload() async -> ControlledReload
    /// Rejects new calls from now on, or takes them again.
    ///
    /// - Throws: when the gateway stops.
    func drain(_ isOn: Bool) async throws(ControlProblem) -> ControlledState
    /// The level of the log.
    func logLevel() -> ControlledLogLevel
    /// Sets the level of the log; nil returns to that of the configuration.
    ///
    /// - Parameter seconds: the time until it returns by itself; nil for no end.
    /// - Throws: for an unknown level.
    func setLogLevel(_ level: String?, seconds: Int?) throws(ControlProblem) -> ControlledLogLevel
    /// The targets of calls.
    func targets() async -> [GatewayStatus.Target]
    /// Takes a target out of service or back.
    ///
    /// - Parameter name: its address, or its group and address.
    /// - Throws: for an unknown or ambiguous name.
    func setTarget(_ name: String, isDisabled: Bool) async throws(ControlProblem) -> GatewayStatus.Target
    /// Fetches logos again, at once and without conditions.
    ///
    /// - Parameters:
    ///   - url: the only logo; nil for all.
    ///   - clears: removes their copies first.
    ///   - customer: the customer whose brands name them; nil for those of calls without a customer.
    /// - Throws: for an unknown logo or customer, and where no copies are kept or the store refuses.
    func renewLogos(_ url: String?, clears: Bool, customer: String?) async throws(ControlProblem) -> ControlledLogos
}

extension GatewayControl {
    /// A gateway without logos.
    package func renewLogos(
        _ url: String?, clears: Bool, customer: String?
    ) async throws(ControlProblem) -> ControlledLogos {
        throw ControlProblem(error: "no copies of logos are kept: herald.yaml has no section logos")
    }
}

/// The logos that an operator has fetched again.
package struct ControlledLogos: Hashable, Sendable, Codable {
    /// Their number.
    package var logos: Int
    /// True if their copies were removed first.
    package var cleared: Bool

    package init(logos: Int, cleared: Bool) {
        self.logos = logos
        self.cleared = cleared
    }
}

/// The reason why a gateway refused an operator's command.
package struct ControlProblem: Error, Hashable, Sendable, Codable {
    /// The cause and the remedy.
    package let error: String

    package init(error: String) { self.error = error }
}

/// The result of a sync that an operator started.
package struct ControlledSync: Hashable, Sendable, Codable {
    /// The kind of result.
    package enum Result: String, Hashable, Sendable, Codable {
        case succeeded
        /// The directory or the disk is the cause; the last records stay in use.
        case failed
        /// Another sync runs, and no second one begins.
        case busy
        /// There is no directory, or the gateway stops.
        case unavailable
    }

    package var result: Result
    /// True for a sync of the whole set; nil if no sync ran.
    package var isFull: Bool?
    /// Records written and removed.
    package var written: Int?
    package var removed: Int?
    /// Numbers with a brand after the sync.
    package var numbers: Int?
    /// Records left out, by reason.
    package var rejected: [String: Int]?
    package var seconds: Double?
    /// The cause and its remedy; nil after a success.
    package var error: String?
    /// Gates that are closed after the sync, each with its reason; nil for none, and without a sync.
    package var closed: [Gate]?
    /// Gates that the sync has closed or opened; nil for none.
    package var switched: [Gate]?

    /// A gate of the directory.
    package struct Gate: Hashable, Sendable, Codable {
        /// Its name in metrics and on pages.
        package var gate: String
        package var open: Bool
        /// Why it is closed; nil for an open gate.
        package var reason: String?

        package init(gate: String, open: Bool, reason: String? = nil) {
            self.gate = gate
            self.open = open
            self.reason = reason
        }
    }

    package init(
        _ result: Result, isFull: Bool? = nil, written: Int? = nil, removed: Int? = nil, numbers: Int? = nil,
        rejected: [String: Int]? = nil, seconds: Double? = nil, error: String? = nil
    ) {
        self.result = result
        self.isFull = isFull
        self.written = written
        self.removed = removed
        self.numbers = numbers
        self.rejected = rejected
        self.seconds = seconds
        self.error = error
    }

    package enum CodingKeys: String, CodingKey {
        case result, written, removed, numbers, rejected, seconds, error, closed, switched
        case isFull = "full"
    }
}
