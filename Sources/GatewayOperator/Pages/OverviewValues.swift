// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Primitives
import WebPages

/// The values of the first page, as its templates read them.
struct OverviewValues: Sendable {
    /// Nil after the first branded call.
    let firstSteps: FirstStepsValues?
    let troubles: [Trouble]
    let isReady: Bool
    /// A sentence about listening addresses that are at another machine; nil normally.
    let standby: String?
    let spans: [Span]
    /// The parameter of the chosen span.
    let span: String
    /// Nil where the ledger cannot be read.
    let counted: Counted?
    /// The problem of the ledger; nil normally.
    let problem: String?
    /// A sentence about trunks and routes in shadow; nil for none.
    let shadow: String?
    let now: Now
    let trunks: [Trunk]
    let targets: [Target]
    let rejected: [Rejected]
    /// A sentence about senders that are not in the table; nil for none.
    let moreRejected: String?
    let brands: Brands
    let up: String

    /// A choice of the time that is counted.
    struct Span: Sendable {
        let spanPath: String
        let spanLabel: String
        let isChosen: Bool
    }

    /// The parts of the page that show the calls of the span.
    struct Counted: Sendable {
        let plot: CallsPlot
        let answers: AnswersPlot
        let top: [BrandLine]
        let outcomes: [OutcomeLine]
        /// The time that is counted, such as `since 2026-01-31 12:00 UTC`.
        let begin: String
    }

    struct BrandLine: Sendable {
        let path: String
        let name: String
        /// Nil for a usual brand.
        let customer: String?
        let calls: String
        let reached: String
        let rate: String
        let talk: String
    }

    struct OutcomeLine: Sendable {
        let name: String
        let calls: String
        let share: String
        let branded: String
    }

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
        let line: RatePlot
    }

    struct Trunk: Sendable {
        let path: String
        let name: String
        let pbx: String
        let inProgress: String
        /// Calls of the span from the trunk, of those branded ones, and calls to it.
        let received: String
        let branded: String
        let sent: String
    }

    struct Target: Sendable {
        let group: String
        let address: String
        let state: String
        let tag: String
        let inProgress: Int
        let sent: String
        let since: String
        /// Nil where `since` is no time or in UTC, like that of the last response.
        let sinceUTC: String?
        let lastResponse: String
        let lastResponseUTC: String?
    }

    struct Rejected: Sendable {
        let address: String
        let peer: String
        let method: String
        let response: String
        let cause: String
        let count: UInt64
        let last: String
        /// Nil where `last` is in UTC.
        let lastUTC: String?
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
        let unknownSigners: String?
        /// Verified calls by result.
        let signedCalls: String?
        let customers: String?
        let gates: [Gate]
        let hasGates: Bool
    }
}

extension OverviewValues {
    /// Rejected senders in the table; `/status` has the others.
    private static let mostRejected = 8

    /// - Parameters:
    ///   - counts: nil with the problem of the ledger.
    ///   - rates: samples of the last two minutes.
    init(
        _ status: GatewayStatus, _ further: [PageTrouble], _ traffic: CallTraffic, _ rates: [CallRates.Sample],
        _ span: CountSpan, _ counts: SpanCounts?, problem: String?, _ zone: LocalZone, at now: Int64
    ) {
        firstSteps = FirstStepsValues(status.firstSteps)
        troubles = PageTroubles(status, further: further).all.map {
            Trouble(kind: $0.isError ? "error" : "warning", title: $0.title, text: $0.text)
        }
        isReady = status.obstacle == nil && !status.isStandby
        standby = status.standbyText.map(PageTroubles.sentence)
        spans = CountSpan.allCases.map {
            Span(spanPath: "/?span=\($0.rawValue)", spanLabel: $0.label, isChosen: $0 == span)
        }
        self.span = span.rawValue
        counted = counts.map { Counted($0, zone) }
        self.problem = problem
        shadow = ShadowValues.sentence(about: status.shadow ?? [])
        self.now = Now(status, traffic, rates)
        trunks = Trunk.all(status.trunks, counts)
        targets = status.targets.map(Target.init)
        rejected = status.rejected.prefix(Self.mostRejected).map(Rejected.init)
        let more = status.rejected.count - rejected.count
        moreRejected = more > 0 ? "\(more) more \(more == 1 ? "sender was" : "senders were") rejected before." : nil
        brands = Brands(status, at: now)
        up = """
            Running for \(SpanText.of(now - status.startedAt)), since \(zone.both(status.startedAt)).
            """
    }
}

extension OverviewValues.Counted {
    init(_ counts: SpanCounts, _ zone: LocalZone) {
        plot = CallsPlot(counts, zone)
        answers = AnswersPlot(counts)
        // Calls in shadow have their brand in the list of calls too, and are not counted here.
        let decision = counts.hasShadow ? "matched" : nil
        top = counts.counts.brands.map { brand in
            OverviewValues.BrandLine(
                path: counts.path(decision: decision, brand: brand.name, customer: brand.customer), name: brand.name,
                customer: brand.customer, calls: CountText.of(brand.sums.calls),
                reached: CountText.of(brand.sums.reached), rate: AnswerRate(brand.sums).text,
                talk: brand.sums.talks > 0 ? SpanText.of(brand.sums.talkSeconds / brand.sums.talks) : "–")
        }
        outcomes = OverviewValues.OutcomeLine.all(counts)
        begin = "since \(zone.both(counts.hours.lowerBound * 3600))"
    }
}

extension OverviewValues.OutcomeLine {
    /// The most frequent outcome first.
    static func all(_ counts: SpanCounts) -> [Self] {
        let inbound = counts.inbound
        let all = inbound.map(\.sums.calls).reduce(0, +)
        let branded = SpanCounts.sums(inbound.filter { $0.decision == "matched" }, by: \.outcome)
        return SpanCounts.sums(inbound, by: \.outcome)
            .sorted { ($1.value.calls, $0.key ?? "") < ($0.value.calls, $1.key ?? "") }
            .map { outcome, sums in
                Self(
                    name: outcome ?? "in progress", calls: CountText.of(sums.calls),
                    share: CallsPlot.percent(sums.calls, of: all),
                    branded: CountText.of(branded[outcome]?.calls ?? 0))
            }
    }
}

extension OverviewValues.Trunk {
    /// The configured trunks, and behind them those of earlier calls of the span.
    static func all(_ trunks: [GatewayStatus.Trunk], _ counts: SpanCounts?) -> [Self] {
        let kinds = counts?.counts.kinds ?? []
        let received = SpanCounts.sums(kinds.filter(\.isInbound), by: \.trunk)
        let branded = SpanCounts.sums(kinds.filter { $0.isInbound && $0.decision == "matched" }, by: \.trunk)
        let sent = SpanCounts.sums(kinds.filter { !$0.isInbound }, by: \.trunk)
        func line(_ name: String, _ pbx: String, _ inProgress: String) -> Self {
            let calls = received[name]?.calls ?? 0
            return Self(
                path: counts?.path(trunk: name) ?? "/calls", name: name, pbx: pbx, inProgress: inProgress,
                received: counts == nil ? "–" : CountText.of(calls),
                branded: CallsPlot.percent(branded[name]?.calls ?? 0, of: calls),
                sent: counts == nil ? "–" : CountText.of(sent[name]?.calls ?? 0))
        }
        let present = Set(trunks.map(\.name))
        let gone = Set(kinds.compactMap(\.trunk)).subtracting(present).sorted()
        return trunks.map { line($0.name, $0.pbx, CountText.of($0.calls)) }
            + gone.map { line($0, "not configured now", "–") }
    }
}

extension OverviewValues.Now {
    init(_ status: GatewayStatus, _ traffic: CallTraffic, _ rates: [CallRates.Sample]) {
        let lately = rates.suffix(10)
        let mean = lately.isEmpty ? 0 : lately.map(\.calls).reduce(0, +) / Double(lately.count)
        rate = RatePlot.tenths(mean)
        let inbound = rates.map(\.inbound).reduce(0, +)
        share = Self.percent(rates.map(\.branded).reduce(0, +), of: inbound) ?? "no calls"
        inProgress = traffic.inProgress
        let whole = Self.percent(traffic.branded, of: traffic.inbound) ?? "none"
        shareOfRun = "\(whole) of \(CountText.of(traffic.inbound)) since the start"
        line = RatePlot(rates)
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
        inProgress = target.calls
        sent = CountText.of(target.callsSent)
        let zone = LocalZone.ofProcess
        since = target.since.map { zone.text($0) } ?? "the start"
        sinceUTC = target.since.flatMap { zone.utc(beside: $0) }
        lastResponse = target.lastResponse.map { zone.text($0) } ?? "never"
        lastResponseUTC = target.lastResponse.flatMap { zone.utc(beside: $0) }
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
        let zone = LocalZone.ofProcess
        (last, lastUTC) = (zone.text(sender.last), zone.utc(beside: sender.last))
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
        lastSync = sync?.lastSuccess.map { "\(SpanText.of(now - $0)) ago" } ?? "never"
        result = sync?.result ?? ""
        tag = sync?.result == "succeeded" ? "good" : sync?.result == "none" ? "soft" : "bad"
        let last = sync?.lastSuccess.map { "\(LocalZone.ofProcess.withUTC($0)), " } ?? ""
        syncTimes = last + "next " + (sync?.nextAt.map { LocalZone.ofProcess.withUTC($0) } ?? "not planned")
        waiting = status.outbox.waiting
        refused = status.outbox.refused
        logos = status.logos.map { "\($0.ready) of \($0.known), \($0.failed) failed" }
        signers = status.trust.map { CountText.of($0.signers) }
        unknownSigners = status.trust.map { trust in
            let count = trust.unknownAddresses
            return "\(CountText.of(count)) \(count == 1 ? "address" : "addresses") without a certificate"
        }
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
