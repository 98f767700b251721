// SPDX-License-Identifier: Apache-2.0

package import Host

/// The source of the health, metrics and status pages; the running gateway plays this role.
///
/// Used a few times a minute, never on the call path; safe from any thread. Each value is a copy of one instant.
package protocol GatewayStatusSource: Sendable {
    /// Values that only grow since the start.
    func counters() async -> [CounterSample]
    /// Values that go up and down.
    func gauges() async -> [GaugeSample]
    /// Distributions since the start.
    func histograms() async -> [HistogramSample]
    /// The state of the gateway.
    func status() async -> GatewayStatus
}

/// The state of the gateway, for `/readyz` and `/status`; times in seconds since 1970.
package struct GatewayStatus: Hashable, Sendable, Codable {
    /// Configured name of the gateway.
    package var gateway: String
    package var version: String
    package var startedAt: Int64
    /// The addresses it receives on; empty until every socket is bound.
    package var listening: [String]
    /// Records and gates of the branding decision.
    package var branding: Branding
    /// Nil without a configured directory.
    package var sync: Sync?
    /// Gates that must be open for a branded call; empty without a configured directory.
    package var gates: [Gate]
    /// The directory's own report; nil without a configured directory.
    package var directory: DirectoryStanding?
    package var outbox: Outbox
    /// Outputs of ended calls beside the directory; nil or empty without one.
    package var callRecords: [CallRecords]?
    /// Nil if logos are neither fetched nor served.
    package var logos: Logos?
    /// Transactions in memory.
    package var transactions: Int
    /// The reason why outcomes cannot be stored at present; nil normally.
    package var ledgerProblem: String?
    /// Problems of the gateway's folders and files, each with its remedy.
    package var stateProblems: [String]
    /// Nil without a shared ledger.
    package var sharedLedger: SharedLedger?
    /// The gateway stops, or drains by order: new calls are rejected, calls in progress go on.
    package var isDraining: Bool
    package var trunks: [Trunk] = []
    /// The targets of calls and their states.
    package var targets: [Target] = []
    /// The reason why calls from trunks cannot be served; nil while a target of some PBX is up, or if not reported.
    package var pbxProblem: String?
    /// Senders whose messages were rejected last, newest first.
    package var rejected: [Rejected] = []
    /// Unknown peers whose INVITEs were rejected in the last ten minutes; nil without one.
    package var unknownCallers: UnknownCallers?
    /// The other gateways of the cluster; empty without one.
    package var siblings: [Sibling] = []
    /// Nil without customers.
    package var customers: Customers?
    /// Those of `listening` whose address this machine does not have at present; nil or empty normally.
    package var standby: [String]?

    package init(
        gateway: String, version: String, startedAt: Int64, listening: [String], branding: Branding, sync: Sync? = nil,
        gates: [Gate] = [], directory: DirectoryStanding? = nil, outbox: Outbox = .init(), logos: Logos? = nil,
        transactions: Int = 0, ledgerProblem: String? = nil, stateProblems: [String] = [],
        isDraining: Bool = false
    ) {
        self.stateProblems = stateProblems
        self.gates = gates
        self.directory = directory
        self.ledgerProblem = ledgerProblem
        self.isDraining = isDraining
        self.gateway = gateway
        self.version = version
        self.startedAt = startedAt
        self.listening = listening
        self.branding = branding
        self.sync = sync
        self.outbox = outbox
        self.logos = logos
        self.transactions = transactions
    }

    /// Records and gates of the branding decision.
    package struct Branding: Hashable, Sendable, Codable {
        /// True when a dataset is there, or it is settled that calls pass unbranded; false before the first sync.
        package var isSettled: Bool
        package var numbers: Int
        package var brands: Int
        package var generation: Int64
        /// The name of the closed gate; nil when calls may be branded.
        package var gate: String?

        package init(isSettled: Bool, numbers: Int = 0, brands: Int = 0, generation: Int64 = 0, gate: String? = nil) {
            self.isSettled = isSettled
            self.numbers = numbers
            self.brands = brands
            self.generation = generation
            self.gate = gate
        }

        package enum CodingKeys: String, CodingKey {
            case isSettled = "settled"
            case numbers, brands, generation, gate
        }
    }

    /// The result of the last sync with the directory.
    package struct Sync: Hashable, Sendable, Codable {
        /// `none`, `succeeded`, `unauthorised` or `failed`.
        package var result: String
        package var lastSuccess: Int64?
        package var lastFullSuccess: Int64?
        package var nextAt: Int64?
        package var failuresInARow: Int
        /// The text of the last failure, without secrets; nil after a success.
        package var lastError: String?

        package init(
            result: String, lastSuccess: Int64? = nil, lastFullSuccess: Int64? = nil, nextAt: Int64? = nil,
            failuresInARow: Int = 0, lastError: String? = nil
        ) {
            self.result = result
            self.lastSuccess = lastSuccess
            self.lastFullSuccess = lastFullSuccess
            self.nextAt = nextAt
            self.failuresInARow = failuresInARow
            self.lastError = lastError
        }

        package enum CodingKeys: String, CodingKey {
            case result
            case lastSuccess = "last_success"
            case lastFullSuccess = "last_full_success"
            case nextAt = "next_at"
            case failuresInARow = "failures_in_a_row"
            case lastError = "last_error"
        }
    }

    /// Events on their way to the directory.
    package struct Outbox: Hashable, Sendable, Codable {
        package var waiting: Int
        package var refused: Int

        package init(waiting: Int = 0, refused: Int = 0) {
            self.waiting = waiting
            self.refused = refused
        }
    }

    /// An output of ended calls of the operator.
    package struct CallRecords: Hashable, Sendable, Codable {
        /// The key in `outcomes`: `cdr_file`, `webhook` or `kafka`.
        package var output: String
        package var waiting: Int
        /// The reason why no record goes out; nil when the last attempt was good.
        package var problem: String?

        package init(output: String, waiting: Int, problem: String? = nil) {
            (self.output, self.waiting, self.problem) = (output, waiting, problem)
        }
    }

    /// The gateway's own copies of logos.
    package struct Logos: Hashable, Sendable, Codable {
        /// Different logos the brands name, those with a copy, and those whose last fetch failed.
        package var known: Int
        package var ready: Int
        package var failed: Int
        /// Of all files.
        package var bytes: Int
        /// Responses to phones since the start.
        package var served: UInt64

        package init(known: Int, ready: Int, failed: Int, bytes: Int, served: UInt64) {
            self.known = known
            self.ready = ready
            self.failed = failed
            self.bytes = bytes
            self.served = served
        }
    }

    package enum CodingKeys: String, CodingKey {
        case customers, gateway, version
        case callRecords = "call_records"
        case startedAt = "started_at"
        case listening, branding, sync, gates, directory, outbox, logos, transactions
        case isDraining = "draining"
        case ledgerProblem = "ledger_problem"
        case sharedLedger = "shared_ledger"
        case rejected, siblings, standby, targets, trunks
        case pbxProblem = "pbx_problem"
        case stateProblems = "state_problems"
        case unknownCallers = "unknown_callers"
    }

    /// The reason why calls should not be sent here; nil when they may.
    ///
    /// A closed gate, a failed sync and a full outbox are no obstacles: calls go on from the stored copy, or unbranded.
    /// A PBX without a target that is up is one, unless `health.report_pbx` is false.
    package var obstacle: String? {
        if isDraining { return "the gateway drains: calls in progress end, new ones are refused" }
        if listening.isEmpty { return "no socket is listening" }
        if !branding.isSettled { return "no brands yet: the first sync with the directory has not ended" }
        return pbxProblem
    }
}
