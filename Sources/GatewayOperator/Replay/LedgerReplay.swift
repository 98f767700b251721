// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
package import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
package import Host
package import Primitives

/// `herald replay`: decides the calls of ledgers again under another configuration, and lists the calls that would change.
///
/// Reads ledger and brands beside a running gateway, stores nothing, and keeps 20,000 calls in memory.
package struct LedgerReplay {
    /// The order of the command.
    package struct Order: Sendable {
        package var query = CallQuery()
        /// Calls that a table lists, the latest ones.
        package var limit = LedgerReplay.usualLimit
        package var output = CallsOutput.table
        /// Files of ledgers in place of the gateway's own.
        package var ledgers: [String] = []
        /// A file of brands in place of those of the gateway.
        package var brands: String?

        package init() {}
    }

    /// Calls of a table without `--limit`.
    package static let usualLimit = 20

    private let present: HeraldConfiguration
    private let order: Order
    private let filter: CallFilter
    private let zone: LocalZone
    private let replay: CallReplay
    private let brands: ReplayBrands
    private let isSameProfile: Bool

    /// Reads the brands, and makes the settings of both configurations.
    ///
    /// - Parameters:
    ///   - present: the gateway's configuration, with its state folder.
    ///   - other: the configuration that decides.
    ///   - now: seconds since 1970; nil for the time of the machine.
    /// - Throws: `CommandFailure` for a query, a configuration or brands that cannot be used.
    package init(
        _ present: HeraldConfiguration, under other: HeraldConfiguration, _ order: Order, now: Int64? = nil,
        zone: LocalZone = .ofProcess
    ) throws {
        (self.present, self.order, self.zone) = (present, order, zone)
        do throws(CallQueryProblem) {
            filter = try order.query.filter(now: now ?? Int64(Date().timeIntervalSince1970), in: zone)
        } catch {
            throw CommandFailure(error.ofOption)
        }
        replay = CallReplay(
            try other.settingsWithoutNetwork(other.standInHops), differences: other.differences(from: present),
            readsCalledOtherwise: other.routes.called != present.routes.called)
        var stored = other
        stored.state = present.state
        brands = try ReplayBrands(
            stored, customers: replay.customers, file: order.brands, owner: order.query[.customer])
        isSameProfile = other.renderingProfile == present.renderingProfile
    }

    /// Decides the calls, and writes changes and summary to standard output.
    ///
    /// - Throws: `CommandFailure` if no ledger can be read.
    package func run(_ progress: ProgressLine = .standard) throws -> ReplaySummary {
        var listed: [ReplayedChange] = []
        if order.output == .csv { Output.write(CSVLine.shown(ReplayedChange.csvTitles)) }
        let summary = try decide(progress) { change in
            switch order.output {
            case .csv: Output.write(CSVLine.shown(change.csvCells))
            case .json: try Output.write(json: change.json)
            case .table, .wide:
                if change.group.kind != .undecided, listed.count < order.limit { listed.append(change) }
            }
        }
        for problem in summary.lost { Output.warn(problem) }
        switch order.output {
        case .csv: break
        case .json: try Output.write(json: summary.json)
        case .table, .wide: write(listed, summary)
        }
        return summary
    }

    private func write(_ listed: [ReplayedChange], _ summary: ReplaySummary) {
        Output.write(summary.text)
        guard !listed.isEmpty else { return }
        if listed.count < summary.changed { Output.write("\nthe latest \(listed.count) of \(summary.changed):\n") }
        Output.write("\n")
        Output.write(
            table: ReplayedChange.titles, order.output == .wide ? .wide : .narrow,
            whole: ["CALLER", "BEFORE", "AFTER"],
            wideOnly: ReplayedChange.wideOnly, listed.map { $0.cells(in: zone) })
    }

    /// Decides the calls of all ledgers, the newest of each first.
    ///
    /// - Parameter each: takes each change, and each call that cannot be decided again.
    /// - Throws: `CommandFailure` if no ledger can be read; an error of `each`.
    func decide(
        _ progress: ProgressLine, _ each: (ReplayedChange) throws -> Void
    ) throws -> ReplaySummary {
        defer { progress.end() }
        var summary = ReplaySummary()
        var known: Set<CallIdentifier> = []
        var read = 0
        let paths = order.ledgers.isEmpty ? [HeraldDatabase.ledgerPath(in: present.state)] : order.ledgers
        for path in paths {
            do {
                let reader = LedgerReader(try HeraldDatabase.ledgerReader(file: path))
                let lost = try reader.forEachDecided(matching: filter, of: path) { call in
                    // The gateway goes on writing, and two backups have the same calls.
                    if paths.count > 1, let identifier = CallIdentifier(call.callID),
                        !known.insert(identifier).inserted
                    {
                        return summary.countRepeated()
                    }
                    let change = change(of: call)
                    summary.count(change)
                    if let change { try each(change) }
                    if summary.calls.isMultiple(of: 1_000) {
                        progress.show("replay", done: summary.calls, of: 0, unit: "calls")
                    }
                }
                summary.lose(lost, of: path)
                read += 1
            } catch let error as HeraldDatabaseError {
                guard paths.count > 1 else { throw CommandFailure("\(error)") }
                summary.lose("\(error); the other ledgers are replayed")
            }
        }
        guard read > 0 else { throw CommandFailure(summary.lost.joined(separator: "\n")) }
        return summary
    }

    private func change(of call: DecidedCall) -> ReplayedChange? {
        var recorded = RecordedCall(
            trunk: call.trunk, caller: call.caller, called: call.destination, evidence: call.evidence,
            trust: call.trust, reason: call.reason)
        recorded.carrierName = call.carrierName ?? ""
        recorded.rangSeveral = call.rangSeveral
        let customer = replay.customer(of: recorded)
        let index = brands.index(of: customer)
        let likeness = ReplayedChange.Likeness(
            hasSameProfile: isSameProfile, hasSameCustomer: customer == call.customer)
        return ReplayedChange(call, replay.decide(recorded, in: index), in: index, likeness)
    }
}

extension HeraldConfiguration {
    /// The keys of each trunk that decide what a record has of a call.
    func differences(from present: HeraldConfiguration) -> [String: CallReplay.Differences] {
        let known = Dictionary(present.trunks.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return trunks.reduce(into: [:]) { found, trunk in
            guard let old = known[trunk.name] else { return }
            var differences: CallReplay.Differences = []
            if trunk.callerKeys != old.callerKeys { differences.insert(.callerKeys) }
            if signatures(of: trunk) != present.signatures(of: old) { differences.insert(.signatures) }
            if trunk.carrierName != old.carrierName { differences.insert(.carrierName) }
            found[trunk.name] = differences
        }
    }
}

extension HeraldConfiguration.Trunk {
    /// The keys by which caller and attestation are read, other than `trusted`.
    fileprivate var callerKeys: [[String]] {
        [
            [region.map { "\($0)" } ?? ""], identity.map { "\($0)" }, emergencyNumbers.sorted(), phoneContexts.sorted(),
            attestationHeaders.map { $0.lowercased() }.sorted(),
        ]
    }
}
