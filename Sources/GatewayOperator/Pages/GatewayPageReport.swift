// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
package import GatewayConfiguration
import GatewayStore
import HTTPTypes
import Host
import Synchronization
import WebPages

/// The source of the gateway's pages.
///
/// Reads of the ledger have a queue of their own (`LedgerQueue`): a slow disk must not hold the threads of other services.
package struct GatewayPageReport: GatewayPageSource {
    /// The time for which one search reads.
    private static let patience = Duration.seconds(2)
    /// Calls with one id that are read at once.
    private static let searched = 20

    /// The facts of health, metrics and status.
    let status: GatewayStatusReport
    let settings: LiveSettings
    let control: OperatorControl
    let ledger: LedgerQueue
    let certificates = CertificateTroubles()
    let exports = CallExports()
    /// The long searches for an identifier; each reads the ledger as an export does.
    let searches = CallExports()
    /// The time for which a search for an identifier goes on.
    var longest = Duration.seconds(20)
    /// Seconds since 1970.
    var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    /// - Parameters:
    ///   - settings: the configuration in force.
    ///   - control: starts syncs.
    package init(
        status: GatewayStatusReport, settings: LiveSettings, control: OperatorControl, ledger: LedgerQueue
    ) {
        self.status = status
        self.settings = settings
        self.control = control
        self.ledger = ledger
    }

    func status() async -> GatewayStatus { await status.status() }

    func traffic() -> CallTraffic {
        let counters = status.counters
        let branded = counters.count(.callsBranded)
        let others = PassThroughReason.allCases.filter { $0 != .outbound }.map { counters.count($0) }
        return CallTraffic(
            inbound: others.reduce(branded, &+), branded: branded, outbound: counters.count(.outboundCalls),
            inProgress: status.present.count)
    }

    func trunkNames() -> [String] { settings.configuration.trunks.map(\.name) }

    func customers() async throws -> [GatewayStatus.Customer] {
        status.customers.list(try await ledger.read { try $0.backlogOfCustomers() })
    }

    func hasUsualBrands() -> Bool { settings.configuration.hasUsualBrands }

    func customerNames() -> [String] { settings.configuration.customers.map(\.name).sorted() }

    func logo(_ name: String) -> [UInt8]? { status.logos?.store.read(name) }

    func syncNow(customer: String?) async -> ControlledSync {
        await control.sync(full: false, customer: customer)
    }

    func counts(of span: CountSpan) async throws -> SpanCounts {
        try await ledger.counts(of: span, at: now())
    }

    func shadowCounts(of span: CountSpan) async throws -> SpanShadow {
        let hours = span.hours(at: now())
        return SpanShadow(span: span, hours: hours, counts: try await ledger.read { try $0.shadowCounts(of: hours) })
    }

    var alarms: AlarmStanding { status.alarms }

    func namesInShadow() -> [String] { settings.configuration.namesInShadow }

    func calls(_ filter: CallFilter, limit: Int) async throws -> CallSearch {
        let secret = settings.current.load().secret
        let found = try await ledger.search(filter, limit: limit, patience: Self.patience)
        guard found.calls.isEmpty else { return found }
        for filter in filter.ofWithheldCallers(secret) {
            let other = try await ledger.search(filter, limit: limit, patience: Self.patience)
            if !other.calls.isEmpty { return other }
        }
        return found
    }

    func counts(_ filter: CallFilter) async throws -> CallCounts {
        try await ledger.counts(matching: filter, patience: Self.patience)
    }

    var links: CallLinks { CallLinks(settings.configuration) }

    func call(row: Int64) async throws -> LedgerCallRow? {
        var filter = CallFilter()
        filter.row = row
        return try await ledger.read { [filter] in try $0.calls(matching: filter, limit: 1) }.first
    }

    /// A carrier may send the id of another call as its Call-ID. Such calls are passed over.
    ///
    /// - Throws: `PageProblem` for a search that takes too long, or besides other long ones; errors of the ledger.
    func call(_ id: CallIdentifier) async throws -> LedgerCallRow? {
        var filter = CallFilter()
        filter.callID = id.description
        let end = ContinuousClock.now + longest
        var slot: CallExportSlot?
        defer { withExtendedLifetime(slot) {} }
        while !Task.isCancelled {
            let found = try await ledger.search(filter, limit: Self.searched, patience: Self.patience)
            if let call = found.calls.first(where: { $0.callID == id.description }) { return call }
            guard let next = found.rest?.before ?? (found.calls.count == Self.searched ? found.calls.last?.row : nil)
            else { return nil }
            guard ContinuousClock.now < end else {
                throw PageProblem(
                    .serviceUnavailable,
                    "The ledger was not read to its begin in time. Use herald calls show.")
            }
            slot = slot ?? searches.open()
            guard slot != nil else {
                throw PageProblem(
                    .serviceUnavailable, "Other long searches run. Open the link again in a minute.")
            }
            filter.before = next
        }
        return nil
    }

    func presentBrand(of call: LedgerCallRow) -> PresentBrand? {
        let configuration = settings.configuration
        let customer = call.customer.flatMap { name in configuration.customers.first { $0.name == name } }
        guard call.customer == nil || customer != nil else { return nil }
        let snapshot = branding(of: customer).load()
        guard var brand = PresentBrand(of: call, in: snapshot.index, cards: snapshot.cards) else { return nil }
        brand.copy = brand.logoURL.flatMap { ownCopy($0, configuration) }
        return brand
    }

    func furtherTroubles() async -> [PageTrouble] {
        let clock = try? await ledger.read { try $0.clockState() }
        return recorderTroubles + diskTroubles + (clock.map(clockTroubles) ?? [])
            + certificates.found(settings.configuration, at: now())
    }

    private var recorderTroubles: [PageTrouble] {
        let seconds = status.recorder.age.components.seconds
        guard seconds >= 30 else { return [] }
        let filling = Int((status.recorder.waiting * 100).rounded())
        return [
            PageTrouble(
                isError: true, "The recorder does not finish",
                """
                It has finished no round for half a minute or longer. Calls go on, and the ring with their updates is \(filling) % \
                full. Check the disk of gateway.state; else restart herald.
                """)
        ]
    }

    /// A state folder that cannot take the next outcomes, before a call finds out.
    private var diskTroubles: [PageTrouble] {
        let folder = settings.configuration.state
        guard let problem = DiskSpace(of: folder)?.problem(of: folder) else { return [] }
        return [PageTrouble(isError: true, "The disk of outcomes and brands", problem)]
    }

    /// A clock that is wrong or was wrong, as far as the ledger shows it.
    private func clockTroubles(_ clock: LedgerClockState) -> [PageTrouble] {
        let now = now()
        var found: [PageTrouble] = []
        if let newest = clock.newestInvite, newest / 1_000_000 > now + 60 {
            found.append(
                PageTrouble(
                    isError: true, "The clock of this machine is wrong",
                    """
                    The ledger has a call of \(OperatorTime.text(newest / 1_000_000)), which is in the future. The clock was wrong \
                    then or is wrong now. Let chrony or systemd-timesyncd set it.
                    """))
        }
        if let (by, at) = clock.lastStep, abs(now - at / 1_000_000) < 3600, abs(by) >= 1_000_000 {
            found.append(
                PageTrouble(
                    isError: false, "The clock of this machine was set",
                    """
                    At \(OperatorTime.text(at / 1_000_000)) it was set \(by > 0 ? "forward" : "back") by \(abs(by) / 1_000_000) s. \
                    Times of calls before it differ by as much. Run chrony or systemd-timesyncd, which correct a clock slowly.
                    """))
        }
        return found
    }
}

/// Certificates that have expired, expire soon, or cannot be read; the files are read once a minute.
final class CertificateTroubles: Sendable {
    private let kept = Mutex<(at: Int64, troubles: [PageTrouble])?>(nil)

    func found(_ configuration: HeraldConfiguration, at now: Int64) -> [PageTrouble] {
        if let (at, troubles) = kept.withLock({ $0 }), (0..<60).contains(now - at) { return troubles }
        let report = CertificateReport(configuration, at: now)
        let troubles =
            report.problems.map { PageTrouble(isError: true, "A certificate cannot be used", $0) }
            + report.remarks.map { remark in
                PageTrouble(isError: !remark.contains(" expires in "), "A certificate needs attention", remark + ".")
            }
        kept.withLock { $0 = (now, troubles) }
        return troubles
    }
}
