// SPDX-License-Identifier: Apache-2.0

import GatewayStore

/// The values of the first page, as its templates read them.
struct OverviewValues: Sendable {
    let troubles: [Trouble]
    let isReady: Bool
    /// A sentence about listening addresses that are at another machine; nil normally.
    let standby: String?
    let now: Now
    let trunks: [GatewayStatus.Trunk]
    let targets: [Target]
    let rejected: [Rejected]
    let brands: Brands
    let day: Day

    struct Trouble: Sendable {
        let kind: String
        let title: String
        let text: String
    }

    struct Now: Sendable {
        let rate: String
        let share: String
        let inProgress: Int
        let shareOfRun: String
        let points: String
        let rateText: String
        let up: String
    }

    struct Target: Sendable {
        let group: String
        let address: String
        let state: String
        let tag: String
        let since: String
        let lastResponse: String
    }

    struct Rejected: Sendable {
        let address: String
        let peer: String
        let method: String
        let response: String
        let cause: String
        let count: UInt64
        let last: String
    }

    struct Brands: Sendable {
        struct Gate: Sendable {
            let name: String
            let state: String
            let tag: String
            let reason: String?
        }

        let numbers: Int
        let source: String
        let hasDirectory: Bool
        let lastSync: String
        let result: String
        let tag: String
        /// The times of the last good sync and of the next one.
        let syncTimes: String
        let waiting: Int
        let refused: Int
        let logos: String?
        let signers: String?
        /// Verified calls by result.
        let signedCalls: String?
        let customers: String?
        let gates: [Gate]
        let hasGates: Bool
    }

    struct Day: Sendable {
        struct Line: Sendable {
            let name: String
            /// Nil for a usual brand and for an outcome.
            let customer: String?
            let calls: Int
            let share: String
            let answered: Int
        }

        let outcomes: [Line]
        let top: [Line]
        let span: String
        let problem: String?
    }
}

extension OverviewValues {
    init(
        _ status: GatewayStatus, _ further: [PageTrouble], _ traffic: CallTraffic, _ rates: [CallRates.Sample],
        _ day: Day, at now: Int64
    ) {
        troubles = PageTroubles(status, further: further).all.map {
            Trouble(kind: $0.isError ? "error" : "warning", title: $0.title, text: $0.text)
        }
        isReady = status.obstacle == nil && !status.isStandby
        standby = status.standbyText.map(PageTroubles.sentence)
        self.now = Now(status, traffic, rates, at: now)
        trunks = status.trunks
        targets = status.targets.map(Target.init)
        rejected = status.rejected.map(Rejected.init)
        brands = Brands(status, at: now)
        self.day = day
    }
}

extension OverviewValues.Now {
    /// The width of the plot for each second, and its height.
    private static let step = 2.0
    private static let height = 40.0

    init(_ status: GatewayStatus, _ traffic: CallTraffic, _ rates: [CallRates.Sample], at now: Int64) {
        let lately = rates.suffix(10)
        let mean = lately.isEmpty ? 0 : lately.map(\.calls).reduce(0, +) / Double(lately.count)
        rate = Self.decimal(mean)
        let inbound = rates.map(\.inbound).reduce(0, +)
        share = Self.percent(rates.map(\.branded).reduce(0, +), of: inbound) ?? "no calls"
        inProgress = traffic.inProgress
        let whole = Self.percent(traffic.branded, of: traffic.inbound) ?? "none"
        shareOfRun = "\(whole) of \(traffic.inbound) since the start"
        let highest = rates.map(\.calls).max() ?? 0
        let scale = highest > 0 ? (Self.height - 4) / highest : 0
        points = rates.enumerated().map { position, sample in
            let x = Double(position + CallRates.kept - rates.count) * Self.step
            return "\(Int(x)),\(Self.decimal(Self.height - 2 - sample.calls * scale))"
        }.joined(separator: " ")
        rateText = "Calls a second in the last two minutes, at most \(Self.decimal(highest))"
        up = PageTime.span(now - status.startedAt)
    }

    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func percent(_ part: UInt64, of whole: UInt64) -> String? {
        whole == 0 ? nil : "\(Int((Double(part) / Double(whole) * 100).rounded())) %"
    }
}

extension OverviewValues.Target {
    init(_ target: GatewayStatus.Target) {
        group = target.group
        address = target.address
        state = target.state
        tag = ["up": "good", "down": "bad", "standby": "soft"][target.state] ?? "warn"
        since = target.since.map { PageTime.text($0) } ?? "the start"
        lastResponse = target.lastResponse.map { PageTime.text($0) } ?? "never"
    }
}

extension OverviewValues.Rejected {
    init(_ sender: GatewayStatus.Rejected) {
        address = "\(sender.address) (\(sender.transport))"
        peer = sender.peer ?? "unknown"
        method = sender.method
        response = sender.status.map { "\($0)" } ?? "dropped"
        cause = sender.cause
        count = sender.count
        last = PageTime.text(sender.last)
    }
}

extension OverviewValues.Brands {
    init(_ status: GatewayStatus, at now: Int64) {
        numbers = status.branding.numbers
        let brands = status.branding.brands
        let sync = status.sync
        hasDirectory = sync != nil
        let count = brands == 1 ? "1 brand" : "\(brands) brands"
        source =
            sync != nil
            ? "\(count), from the directory"
            : numbers > 0
                ? "\(count), from branding.file"
                : status.customers == nil ? "no directory, no file" : "only customers have brands"
        lastSync = sync?.lastSuccess.map { "\(PageTime.span(now - $0)) ago" } ?? "never"
        result = sync?.result ?? ""
        tag = sync?.result == "succeeded" ? "good" : sync?.result == "none" ? "soft" : "bad"
        let last = sync?.lastSuccess.map { "\(PageTime.text($0)), " } ?? ""
        syncTimes = last + "next " + (sync?.nextAt.map { PageTime.text($0) } ?? "not planned")
        waiting = status.outbox.waiting
        refused = status.outbox.refused
        logos = status.logos.map { "\($0.ready) of \($0.known), \($0.failed) failed" }
        signers = status.trust.map { "\($0.signers), \($0.unknownAddresses) addresses without a certificate" }
        signedCalls = status.trust?.callsText
        customers = status.customers.map { customers in
            let sets = customers.brandSets == 1 ? "1 set" : "\(customers.brandSets) sets"
            return "\(customers.count), \(sets) of brands"
        }
        gates = status.gates.map { gate in
            Gate(
                name: gate.gate, state: gate.open ? "open" : "closed", tag: gate.open ? "good" : "bad",
                reason: gate.reason.map(PageTroubles.sentence))
        }
        hasGates = !gates.isEmpty
    }
}

extension OverviewValues.Day {
    /// - Parameter day: nil with the problem of the ledger.
    init(_ day: CallsOfDay?, problem: String?) {
        let all = day?.outcomes.map(\.calls).reduce(0, +) ?? 0
        func line(_ count: CallsOfDay.Count) -> Line {
            let share = all == 0 ? 0 : Int((Double(count.calls) / Double(all) * 100).rounded())
            return Line(
                name: count.name == "OPEN" ? "in progress" : count.name, customer: count.customer, calls: count.calls,
                share: "\(share) %",
                answered: count.answered)
        }
        outcomes = day?.outcomes.map(line) ?? []
        top = day?.brands.map(line) ?? []
        span = day?.limitedTo.map { "the last \($0) calls of the last 24 hours" } ?? "the last 24 hours"
        self.problem = problem
    }
}
