// SPDX-License-Identifier: Apache-2.0

import GatewayStore

/// The source of the gateway's pages; the running gateway plays this role.
///
/// Never on the call path; safe from any thread. Texts come from the network as they are: templates escape them.
protocol GatewayPageSource: CallSource {
    /// The state of the gateway.
    func status() async -> GatewayStatus
    /// Counts of calls at this instant; a few atomic reads.
    func traffic() -> CallTraffic
    /// Problems that the status does not show: certificates, clock, recorder.
    func furtherTroubles() async -> [PageTrouble]
    /// Outcomes and brands of the last day.
    ///
    /// - Throws: an error of the ledger.
    func lastDay() async throws -> CallsOfDay
    /// The call with a row in the ledger; nil for an unknown one.
    ///
    /// - Throws: an error of the ledger.
    func call(row: Int64) async throws -> LedgerCallRow?
    /// The call of a number as a phone would show it at this moment.
    ///
    /// - Throws: `RingPreviewProblem` for a question without a response.
    func preview(_ question: RingQuestion) async throws -> RingPreview
    /// The customers by name, with their brands, events and calls.
    ///
    /// - Throws: an error of the ledger.
    func customers() async throws -> [GatewayStatus.Customer]
    /// Whether calls without a customer can have a brand.
    func hasUsualBrands() -> Bool
    /// The bytes of the gateway's own copy of a logo; nil for an unknown name.
    func logo(_ name: String) -> [UInt8]?
    /// Syncs with the directory at once.
    ///
    /// - Parameter customer: the customer whose account is synced; nil for the section `directory`.
    func syncNow(customer: String?) async -> ControlledSync
}

/// Counts of calls since the start.
struct CallTraffic: Hashable, Sendable {
    /// Calls from trunks.
    var inbound: UInt64 = 0
    /// Of those, calls that went on with a brand.
    var branded: UInt64 = 0
    /// Calls from PBXs.
    var outbound: UInt64 = 0
    /// Calls that have begun and not ended.
    var inProgress: Int = 0
}

/// A problem at the top of the first page.
struct PageTrouble: Hashable, Sendable {
    /// True if calls or accounts suffer; false for a warning.
    var isError: Bool
    /// The problem in a few words.
    var title: String
    /// The cause, and the remedy.
    var text: String

    init(isError: Bool, _ title: String, _ text: String) {
        self.isError = isError
        self.title = title
        self.text = text
    }
}

/// Outcomes and brands of recent calls.
struct CallsOfDay: Hashable, Sendable {
    struct Count: Hashable, Sendable {
        var name: String
        var calls: Int
        /// Of those, calls that a person answered.
        var answered: Int
        /// The customer whose brand it is; nil for a usual brand and for an outcome.
        var customer: String?
    }

    /// Calls from trunks, by outcome; `OPEN` are in progress.
    var outcomes: [Count] = []
    /// Brands of the most calls, at most ten.
    var brands: [Count] = []
    /// The number of calls to which the counts are limited; nil if all calls of the day are in them.
    var limitedTo: Int?
}
