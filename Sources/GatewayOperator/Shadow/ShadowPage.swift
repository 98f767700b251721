// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import GatewayStore
import HTTPTypes
import Primitives
import WebPages

/// The values of the page of calls in shadow: the brands that they would have had.
struct ShadowValues: Sendable {
    /// Calls with one brand, of one trunk, or with one reason.
    struct Line: Sendable {
        /// The page of these calls; nil where no filter finds them alone.
        let path: String?
        let name: String
        /// The cause of a reason in a sentence; nil for a brand or a trunk.
        let meaning: String?
        /// Nil for a usual brand.
        let customer: String?
        let calls: String
        let share: String
        /// Of a trunk, the share of its calls that would have had a brand.
        let branded: String
        let reached: String
        let rate: String
        let talk: String
    }

    /// A sentence about the trunks and routes in shadow.
    let sentence: String
    let spans: [OverviewValues.Span]
    /// The time that is counted, such as `since 2026-01-31 12:00 UTC`.
    let begin: String
    let all: String
    let branded: String
    let share: String
    let hasCalls: Bool
    let brands: [Line]
    let trunks: [Line]
    let reasons: [Line]

    /// The names in a sentence; nil for none.
    static func sentence(about names: [String]) -> String? {
        guard let first = names.first else { return nil }
        guard names.count > 1 else { return PageTroubles.sentence(ShadowText.remark(of: first)) }
        let list = names.dropLast().joined(separator: ", ")
        return PageTroubles.sentence(
            "\(list) and \(names[names.count - 1]) are in shadow (brands: shadow): none of their calls is branded; "
                + "set brands: true to brand")
    }
}

extension ShadowValues {
    init(_ shadow: SpanShadow, _ names: [String], _ zone: LocalZone) {
        let (all, branded) = (shadow.all, SpanShadow.sum(shadow.branded))
        sentence = Self.sentence(about: names) ?? "No trunk and no route is in shadow now."
        spans = CountSpan.allCases.map {
            .init(spanPath: "/shadow?span=\($0.rawValue)", spanLabel: $0.label, isChosen: $0 == shadow.span)
        }
        begin = "since \(zone.both(shadow.hours.lowerBound * 3600))"
        (self.all, self.branded) = (CountText.of(all.calls), CountText.of(branded.calls))
        share = CallsPlot.percent(branded.calls, of: all.calls)
        hasCalls = all.calls > 0
        brands = SpanShadow.groups(shadow.branded) { [$0.brand ?? "", $0.customer ?? ""].joined(separator: "\n") }
            .compactMap { Self.line(ofBrand: $0.kinds, shadow, all) }
        trunks = SpanShadow.groups(shadow.counts.kinds) { $0.trunk ?? "" }.map { name, kinds in
            Line(name.isEmpty ? "not configured now" : name, kinds, of: all)
        }
        reasons = SpanShadow.groups(shadow.unbranded, by: \.decision).map { reason, kinds in
            Line(reason, meaning: DecisionText.cause(of: reason), kinds, of: all)
        }
    }

    private static func line(ofBrand kinds: [ShadowCounts.Kind], _ shadow: SpanShadow, _ all: CallSums) -> Line? {
        guard let first = kinds.first else { return nil }
        let path = first.brand.map { shadow.path(decision: first.decision, brand: $0, customer: first.customer) }
        return Line(first.brand ?? "Values of a signature", customer: first.customer, kinds, of: all, path: path)
    }
}

extension ShadowValues.Line {
    fileprivate init(
        _ name: String, meaning: String? = nil, customer: String? = nil, _ kinds: [ShadowCounts.Kind],
        of all: CallSums, path: String? = nil
    ) {
        let sums = SpanShadow.sum(kinds)
        (self.path, self.name, self.meaning, self.customer) = (path, name, meaning, customer)
        calls = CountText.of(sums.calls)
        share = CallsPlot.percent(sums.calls, of: all.calls)
        let branded = kinds.filter { $0.decision == PassThroughReason.shadow.description }
        self.branded = CallsPlot.percent(SpanShadow.sum(branded).calls, of: sums.calls)
        reached = CountText.of(sums.reached)
        rate = AnswerRate(sums).text
        talk = sums.talks > 0 ? SpanText.of(sums.talkSeconds / sums.talks) : "–"
    }
}

extension GatewayPages {
    /// The calls in shadow of the last day or week.
    func shadow(_ page: PageRequest) async throws -> PageResult {
        let shadow: SpanShadow
        do {
            shadow = try await source.shadowCounts(of: Self.span(page))
        } catch {
            throw PageProblem(.serviceUnavailable, "The ledger cannot be read: \(error)")
        }
        return .page(
            template: "shadow", title: "Calls in shadow",
            content: ShadowValues(shadow, source.namesInShadow(), zone))
    }
}
