// SPDX-License-Identifier: Apache-2.0

import CallAccounting
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
    /// The calls of the last day or week, as the recorder has counted them.
    ///
    /// - Throws: an error of the ledger.
    func counts(of span: CountSpan) async throws -> SpanCounts
    /// The last reading of alarms of spoofed numbers.
    var alarms: AlarmStanding { get }
    /// The ended calls in shadow of the last day or week.
    ///
    /// - Throws: an error of the ledger.
    func shadowCounts(of span: CountSpan) async throws -> SpanShadow
    /// The trunks and routes in shadow, such as `trunk carrier`.
    func namesInShadow() -> [String]
    /// The call with a row in the ledger; nil for an unknown one.
    ///
    /// - Throws: an error of the ledger.
    func call(row: Int64) async throws -> LedgerCallRow?
    /// The call with an identifier; nil for an unknown one.
    ///
    /// - Throws: an error of the ledger.
    func call(_ id: CallIdentifier) async throws -> LedgerCallRow?
    /// The brand of a call as calls get it now; nil where it has gone or is another one.
    func presentBrand(of call: LedgerCallRow) -> PresentBrand?
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
