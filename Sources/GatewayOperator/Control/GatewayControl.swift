// SPDX-License-Identifier: Apache-2.0

/// Commands of the operator to a running gateway, which plays this role.
///
/// Never on the call path; safe from any thread.
protocol GatewayControl: Sendable {
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
    /// Reads and checks the configuration, and reports what a reload would change.
    func planReload() async -> ControlledReloadPlan
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

/// The logos that an operator has fetched again.
struct ControlledLogos: Hashable, Sendable, Codable {
    /// Their number.
    var logos: Int
    /// True if their copies were removed first.
    var cleared: Bool
}

/// The reason why a gateway refused an operator's command.
struct ControlProblem: Error, Hashable, Sendable, Codable {
    /// The cause and the remedy.
    let error: String
}

/// The result of a sync that an operator started.
struct ControlledSync: Hashable, Sendable, Codable {
    /// The kind of result.
    enum Result: String, Hashable, Sendable, Codable {
        case succeeded
        /// The directory or the disk is the cause; the last records stay in use.
        case failed
        /// Another sync runs, and no second one begins.
        case busy
        /// There is no directory, or the gateway stops.
        case unavailable
    }

    var result: Result
    /// True for a sync of the whole set; nil if no sync ran.
    var isFull: Bool?
    /// Records written and removed.
    var written: Int?
    var removed: Int?
    /// Numbers with a brand after the sync.
    var numbers: Int?
    /// Records left out, by reason.
    var rejected: [String: Int]?
    var seconds: Double?
    /// The cause and its remedy; nil after a success.
    var error: String?
    /// Gates that are closed after the sync, each with its reason; nil for none, and without a sync.
    var closed: [Gate]?
    /// Gates that the sync has closed or opened; nil for none.
    var switched: [Gate]?

    /// A gate of the directory.
    struct Gate: Hashable, Sendable, Codable {
        /// Its name in metrics and on pages.
        var gate: String
        var open: Bool
        /// Why it is closed; nil for an open gate.
        var reason: String?
    }

    enum CodingKeys: String, CodingKey {
        case result, written, removed, numbers, rejected, seconds, error, closed, switched
        case isFull = "full"
    }
}
