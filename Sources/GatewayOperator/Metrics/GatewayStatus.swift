// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host

/// The source of the health, metrics and status pages; the running gateway plays this role.
///
/// Used a few times a minute, never on the call path; safe from any thread. Each value is a copy of one instant.
protocol GatewayStatusSource: Sendable {
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
struct GatewayStatus: Hashable, Sendable, Codable {
    /// Configured name of the gateway.
    var gateway: String
    var version: String
    var startedAt: Int64
    /// The addresses it receives on; empty until every socket is bound.
    var listening: [String]
    /// Records and gates of the branding decision.
    var branding: Branding
    /// Nil without a configured directory.
    var sync: Sync?
    /// Gates that must be open for a branded call; empty without a configured directory.
    var gates: [Gate] = []
    /// The directory's own report; nil without a configured directory.
    var directory: DirectoryStanding?
    /// Events on their way to the directory.
    var outbox = EventBacklog()
    /// Outputs of ended calls beside the directory; nil or empty without one.
    var callRecords: [CallRecords]?
    /// Nil if logos are neither fetched nor served.
    var logos: Logos?
    /// Nil without a `trust` section.
    var trust: Trust?
    /// The doors for systems that ask for names; nil without one.
    var doors: Doors?
    /// Transactions in memory.
    var transactions = 0
    /// The reason why outcomes cannot be stored at present; nil normally.
    var ledgerProblem: String?
    /// Problems of the gateway's folders and files, each with its remedy.
    var stateProblems: [String] = []
    /// Nil without a shared ledger.
    var sharedLedger: SharedLedger?
    /// The gateway stops, or drains by order: new calls are rejected, calls in progress go on.
    var isDraining = false
    var trunks: [Trunk] = []
    /// The targets of calls and their states.
    var targets: [Target] = []
    /// The reason why calls from trunks cannot be served; nil while a target of some PBX is up, or if not reported.
    var pbxProblem: String?
    /// Senders whose messages were rejected last, newest first.
    var rejected: [Rejected] = []
    /// Unknown peers whose INVITEs were rejected in the last ten minutes; nil without one.
    var unknownCallers: UnknownCallers?
    /// The steps to the first branded call; nil after it, and where branding is off.
    var firstSteps: [FirstStep]?
    /// The other gateways of the cluster; empty without one.
    var siblings: [Sibling] = []
    /// Nil without customers.
    var customers: Customers?
    /// Trunks and routes in shadow, such as `trunk carrier`; nil without one.
    var shadow: [String]?
    /// Those of `listening` whose address this machine does not have at present; nil or empty normally.
    var standby: [String]?

    /// Records and gates of the branding decision.
    struct Branding: Hashable, Sendable, Codable {
        /// True when a dataset is there, or it is settled that calls pass unbranded; false before the first sync.
        var isSettled: Bool
        var numbers = 0
        var brands = 0
        var generation: Int64 = 0
        /// The name of the closed gate; nil when calls may be branded.
        var gate: String?

        enum CodingKeys: String, CodingKey {
            case isSettled = "settled"
            case numbers, brands, generation, gate
        }
    }

    /// The result of the last sync with the directory.
    struct Sync: Hashable, Sendable, Codable {
        /// `none`, `succeeded`, `unauthorised` or `failed`.
        var result: String
        var lastSuccess: Int64?
        var lastFullSuccess: Int64?
        var nextAt: Int64?
        var failuresInARow = 0
        /// The text of the last failure, without secrets; nil after a success.
        var lastError: String?

        enum CodingKeys: String, CodingKey {
            case result
            case lastSuccess = "last_success"
            case lastFullSuccess = "last_full_success"
            case nextAt = "next_at"
            case failuresInARow = "failures_in_a_row"
            case lastError = "last_error"
        }
    }

    /// An output of ended calls of the operator.
    struct CallRecords: Hashable, Sendable, Codable {
        /// The key in `outcomes`: `cdr_file`, `webhook` or `kafka`.
        var output: String
        var waiting: Int
        /// The reason why no record goes out; nil when the last attempt was good.
        var problem: String?
    }

    /// The gateway's own copies of logos.
    struct Logos: Hashable, Sendable, Codable {
        /// Different logos the brands name, those with a copy, and those whose last fetch failed.
        var known: Int
        var ready: Int
        var failed: Int
        /// Of all files.
        var bytes: Int
        /// Responses to phones since the start.
        var served: UInt64
    }

    /// A gate that must be open for a branded call.
    struct Gate: Hashable, Sendable, Codable {
        /// `authorised`, `account_status`, `branding_enabled`, `voip_dialer_enabled`, `cap` or `fresh`.
        var gate: String
        var open: Bool
        /// Seconds since 1970 of the last change; nil while it is as it was at the start.
        var since: Int64?
        /// Cause and remedy of a closed gate; for an open gate, the ignored part of the directory's response.
        var reason: String?
    }

    /// The directory's report on itself and on this gateway.
    struct DirectoryStanding: Hashable, Sendable, Codable {
        /// `live`, `testing` or another value; branding is the same in each.
        var mode: String?
        /// Versions of Herald in the directory's response; nil for none.
        var minimumVersion: String?
        var latestVersion: String?
        var isUpdateDue = false
        /// Seconds a copy may be used without a successful sync; nil for no end.
        var cacheLifetime: Int64?
        /// Lookups since the start by result; nil if they are off.
        var lookups: [String: Int]?

        enum CodingKeys: String, CodingKey {
            case mode, lookups
            case minimumVersion = "minimum_version"
            case latestVersion = "latest_version"
            case isUpdateDue = "update_due"
            case cacheLifetime = "cache_lifetime_seconds"
        }
    }

    /// The copy of calls and events in the database of several gateways.
    struct SharedLedger: Hashable, Sendable, Codable {
        /// Seconds since it had all changes of this gateway.
        var behindSeconds: Double
        /// Changed rows that wait.
        var waiting: Int
        /// The reason why it is not written; nil normally.
        var problem: String?
        /// Role and standbys of the server, in words; nil before its first response.
        var server: String?
        /// Problems of its standbys; nil before its first response.
        var serverProblems: [String]?
        /// Open calls of silent gateways that go on here.
        var adopted: Int?
        /// Open calls of this gateway that another one goes on with.
        var away: Int?
        /// The reason why the gateway's own ledger stores nothing, so that call updates wait before it; nil normally.
        var ledgerProblem: String?

        enum CodingKeys: String, CodingKey {
            case behindSeconds = "behind_seconds"
            case waiting, problem, server, adopted, away
            case serverProblems = "server_problems"
            case ledgerProblem = "ledger_problem"
        }
    }

    enum CodingKeys: String, CodingKey {
        case customers, gateway, version
        case callRecords = "call_records"
        case startedAt = "started_at"
        case listening, branding, sync, gates, directory, outbox, logos, doors, transactions
        case isDraining = "draining"
        case ledgerProblem = "ledger_problem"
        case sharedLedger = "shared_ledger"
        case rejected, shadow, siblings, standby, targets, trunks, trust
        case pbxProblem = "pbx_problem"
        case stateProblems = "state_problems"
        case unknownCallers = "unknown_callers"
        case firstSteps = "first_steps"
    }

    /// The reason why calls should not be sent here; nil when they may.
    ///
    /// A closed gate, a failed sync and a full outbox are no obstacles: calls go on from the stored copy, or unbranded.
    /// A PBX without a target that is up is one, unless `health.report_pbx` is false.
    var obstacle: String? {
        if isDraining {
            return "the gateway drains: new calls get 503; herald drain --off ends that, unless the gateway stops"
        }
        if listening.isEmpty { return "no socket is listening" }
        if !branding.isSettled { return "no brands yet: the first sync with the directory has not ended" }
        return pbxProblem
    }
}
