// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore
import Synchronization

@testable import GatewayOperator

/// A gateway whose pages show what the test sets.
final class FixedPages: GatewayPageSource {
    struct Content: Sendable {
        var calls: [LedgerCallRow] = []
        var call: LedgerCallRow?
        var brand: PresentBrand?
        /// The URL in front of links.
        var pagesURL: String?
        var preview: RingPreview?
        var hours = HourCounts()
        var shadow = ShadowCounts()
        var namesInShadow: [String] = []
        var ledgerProblem: LedgerRefusal?
        var troubles: [PageTrouble] = []
        var logos: [String: [UInt8]] = [:]
        var customers: [GatewayStatus.Customer] = []
        var hasUsualBrands = true
        /// The calls before each `before` of a search; without an entry those of `calls`.
        var older: [Int64: CallSearch] = [:]
        var rest: CallSearch.Rest?
        var counts = CallCounts()
    }

    /// A ledger that cannot be read.
    struct LedgerRefusal: Error, CustomStringConvertible {
        let description: String
    }

    /// The time of the pages, in seconds since 1970.
    static let now: Int64 = 1_700_000_000

    let fixed: FixedStatus
    let exports = CallExports()
    let alarms = AlarmStanding()
    private let content: Mutex<Content>
    private let asked = Mutex<(searches: [CallFilter], questions: [RingQuestion], syncs: [String?])>(([], [], []))

    init(_ content: Content = Content(), status: FixedStatus = FixedStatus()) {
        self.content = Mutex(content)
        fixed = status
    }

    var searches: [CallFilter] { asked.withLock(\.searches) }
    var questions: [RingQuestion] { asked.withLock(\.questions) }
    /// The customer of each sync.
    var syncs: [String?] { asked.withLock(\.syncs) }

    func status() async -> GatewayStatus { await fixed.status() }
    func traffic() -> CallTraffic { CallTraffic(inbound: 10, branded: 4, outbound: 1, inProgress: 2) }
    func furtherTroubles() async -> [PageTrouble] { content.withLock(\.troubles) }
    func counts(of span: CountSpan) async throws -> SpanCounts {
        let (counts, problem) = content.withLock { ($0.hours, $0.ledgerProblem) }
        if let problem { throw problem }
        return SpanCounts(span: span, hours: span.hours(at: Self.now), counts: counts)
    }
    func shadowCounts(of span: CountSpan) async throws -> SpanShadow {
        let (counts, problem) = content.withLock { ($0.shadow, $0.ledgerProblem) }
        if let problem { throw problem }
        return SpanShadow(span: span, hours: span.hours(at: Self.now), counts: counts)
    }
    func namesInShadow() -> [String] { content.withLock(\.namesInShadow) }
    func call(row: Int64) async throws -> LedgerCallRow? { row == 7 ? content.withLock(\.call) : nil }
    func call(_ id: CallIdentifier) async throws -> LedgerCallRow? {
        content.withLock { $0.call?.callID == id.description ? $0.call : nil }
    }
    func presentBrand(of call: LedgerCallRow) -> PresentBrand? { content.withLock(\.brand) }
    var links: CallLinks { CallLinks(content.withLock(\.pagesURL), gateway: "") }
    func customers() async throws -> [GatewayStatus.Customer] { content.withLock(\.customers) }
    func customerNames() -> [String] { content.withLock { $0.customers.map(\.name) } }
    func hasUsualBrands() -> Bool { content.withLock(\.hasUsualBrands) }
    func trunkNames() -> [String] { ["carrier", "<other>"] }
    func logo(_ name: String) -> [UInt8]? { content.withLock { $0.logos[name] } }

    func calls(_ filter: CallFilter, limit: Int) async throws -> CallSearch {
        asked.withLock { $0.searches.append(filter) }
        return content.withLock { content in
            let first = CallSearch(calls: Array(content.calls.prefix(limit)), rest: content.rest)
            return filter.before.map { content.older[$0] ?? CallSearch() } ?? first
        }
    }

    func counts(_ filter: CallFilter) async throws -> CallCounts {
        asked.withLock { $0.searches.append(filter) }
        return content.withLock(\.counts)
    }

    func preview(_ question: RingQuestion) async throws -> RingPreview {
        asked.withLock { $0.questions.append(question) }
        guard let preview = content.withLock(\.preview) else { throw RingPreviewProblem("no trunk is named so") }
        return preview
    }

    func syncNow(customer: String?) async -> ControlledSync {
        asked.withLock { $0.syncs.append(customer) }
        return ControlledSync(result: .succeeded, written: 3, removed: 1, numbers: 9)
    }
}
