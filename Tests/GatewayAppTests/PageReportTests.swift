// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewayTesting
import SIPTransport
import Synchronization
import Testing
import WebPages

@testable import GatewayApp
@testable import GatewayOperator

@Suite("Pages of a gateway with its own ledger", .serialized, .timeLimit(.minutes(8)))
struct PageReportTests {
    private let fixture: StartFixture
    private static let start: Int64 = 1_767_225_600

    init() async throws { fixture = try await StartFixture() }

    /// Builds the pages' source of a started gateway without threads, with calls in its ledger.
    private func report(
        _ calls: [CallUpdate] = [], names: [String] = [], callIDs: [Int: String] = [:],
        at now: Int64 = PageReportTests.start + 60,
        _ body: (GatewayPageReport) async throws -> Void
    ) async throws {
        try fixture.folder.put(
            Array("+61255501001|Acme Bank|https://logos.example/acme.png|Your appointment\n".utf8), in: "brands.psv")
        let start = try fixture.start(fixture.folder.sections.with("brands", "{file: brands.psv}"))
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        for (position, call) in calls.enumerated() {
            var texts = CallTexts(sipCallID: Array((callIDs[position] ?? "c\(position)").utf8))
            if position < names.count { texts.brandName = Array(names[position].utf8) }
            state.ring.append(call, texts: texts)
        }
        _ = try state.recorder.drain()
        var report = try GatewayServices(start, resources, state, callPath).pageReport
        report.now = { now }
        try await body(report)
        try state.database.close()
        await resources.transport.streams?.stop()
    }

    private static func invite(_ number: UInt64, caller: String?, _ reason: PassThroughReason?) -> CallUpdate {
        CallUpdate(
            kind: .invite, direction: .inbound, call: CallIdentifier(high: 1, low: number),
            wallMicroseconds: (start + Int64(number)) * 1_000_000,
            caller: caller.flatMap { E164Number($0) }?.digits ?? 0,
            reason: reason)
    }

    private static let calls = [
        invite(1, caller: "+61255501001", nil), invite(2, caller: nil, .privacy),
        invite(3, caller: "+61255501009", .noMatch),
    ]

    @Test func `calls are listed, a withheld caller without a number`() async throws {
        try await report(Self.calls, names: ["Acme Bank"]) { report in
            let calls = try await report.calls(CallFilter(), limit: 50).calls
            #expect(calls.map(\.callerShown) == ["+61255501009", "withheld", "+61255501001"])
            #expect(calls.map(\.decision) == ["no_match", "privacy", "matched"])
            #expect(calls.last?.brandName == "Acme Bank" && calls.last?.inviteAt == (Self.start + 1) * 1_000_000)
        }
    }

    @Test(arguments: [
        ("+61 2 5550 1001", ["c0"]), ("501001", ["c0"]), ("(02) 5550-1009", ["c2"]), ("+61255501001x", []), ("09", []),
    ])
    func `a number is found as people write it, or by its last digits`(number: String, found: [String]) async throws {
        try await report(Self.calls) { report in
            var search = CallFilter()
            search.setNumber(asWritten: number)
            let calls = try await report.calls(search, limit: 50).calls
            #expect(calls.map(\.sipCallID) == found)
        }
    }

    @Test func `the story marks the facts that are numbers`() async throws {
        try await report(Self.calls, names: ["Acme Bank"]) { report in
            let row = try #require(try await report.calls(CallFilter(), limit: 50).calls.last?.row)
            let call = try #require(try await report.call(row: row))
            #expect(call.decision == "matched")
            #expect(call.facts.filter(\.isNumber).map(\.value) == ["+61255501001"])
            #expect(call.ladder.rungs.first?.what == "INVITE with the brand")
            #expect(try await report.call(row: 999) == nil)
        }
    }

    @Test func `a call is found by its identifier, and no Call-ID of a carrier takes its place`() async throws {
        var imitation = Self.invite(4, caller: "+61255501009", .noMatch)
        imitation.wallMicroseconds += 1_000_000
        let id = Self.calls[0].call
        // The later call has the identifier of the first one as its Call-ID.
        try await report(Self.calls + [imitation], names: ["Acme Bank"], callIDs: [3: "\(id)"]) { report in
            let found = try #require(try await report.call(id))
            #expect(found.callID == "\(id)" && found.sipCallID == "c0")
            #expect(try await report.call(imitation.call)?.sipCallID == "\(id)")
            #expect(try await report.call(CallIdentifier(high: 9, low: 9)) == nil)
        }
    }

    @Test func `a long search for an identifier has an end, and few run at once`() async throws {
        let id = Self.calls[0].call
        let imitations = (1...20).map { Self.invite(100 + $0, caller: nil, .noMatch) }
        let callIDs = Dictionary(uniqueKeysWithValues: (1...20).map { ($0, "\(id)") })
        try await report([Self.calls[0]] + imitations, callIDs: callIDs, at: Self.start + 600) {
            (report: GatewayPageReport) async throws -> Void in
            #expect(try await report.call(id)?.sipCallID == "c0")
            var short = report
            short.longest = .zero
            let late = await #expect(throws: PageProblem.self) { try await short.call(id) }
            #expect(late?.text.contains("herald calls show") == true)
            let others = (0..<CallExports.most).map { _ in report.searches.open() }
            let refused = await #expect(throws: PageProblem.self) { try await report.call(id) }
            #expect(refused?.text.hasPrefix("Other long searches run") == true)
            withExtendedLifetime(others) {}
        }
    }

    @Test func `the card has logo and reason of the present brand, while it is the same one`() async throws {
        try await report(Self.calls, names: ["Acme Bank"]) { report in
            let call = try #require(try await report.call(Self.calls[0].call))
            let brand = try #require(report.presentBrand(of: call))
            #expect(brand.callReason == "Your appointment" && brand.logoURL == "https://logos.example/acme.png")
            #expect(brand.logoValue == "<https://logos.example/acme.png>;purpose=icon")
            let unknown = try #require(try await report.call(Self.calls[2].call))
            #expect(report.presentBrand(of: unknown) == nil)
        }
    }

    @Test func `a call whose number has another brand now has a card without logo and reason`() async throws {
        try await report(Self.calls, names: ["Other Bank"]) { report in
            let call = try #require(try await report.call(Self.calls[0].call))
            #expect(report.presentBrand(of: call) == nil)
        }
    }

    @Test func `counts are those of the recorder for the span`() async throws {
        try await report(Self.calls, names: ["Acme Bank"]) { report in
            for span in CountSpan.allCases {
                let counts = try await report.counts(of: span)
                // Calls of months ago, which the recorder ends.
                #expect(Set(counts.inbound.map(\.decision)) == ["matched", "privacy", "no_match"])
                #expect(counts.inbound.allSatisfy { $0.outcome == "FAILED" && $0.sums == CallSums(calls: 1) })
                #expect(counts.counts.brands == [.init(name: "Acme Bank", sums: CallSums(calls: 1))])
                #expect(counts.counts.since == 0)
            }
        }
        try await report(Self.calls, at: Self.start + 90_000) { report in
            let (day, week) = (try await report.counts(of: .day), try await report.counts(of: .week))
            #expect(day.inbound.isEmpty && week.inbound.count == 3)
        }
    }

    @Test func `counts are read again after a while, and after a clock that was set back`() async throws {
        let now = Mutex(Self.start + 60)
        try await report(Self.calls) { report in
            var report = report
            report.now = { now.withLock { $0 } }
            let first = try await report.counts(of: .day).hours
            now.withLock { $0 += 7_200 }
            let later = try await report.counts(of: .day).hours
            now.withLock { $0 -= 7_200 }
            let again = try await report.counts(of: .day).hours
            #expect(later.upperBound == first.upperBound + 2 && again == first)
        }
    }

    /// RFC 9796 §5: `purpose=icon` and `call-reason`.
    @Test func `a preview decides as a call, and keeps the URI as the trunk wrote it`() async throws {
        try await report { report in
            let preview = try await report.preview(RingQuestion(number: "0255501001"))
            #expect(preview.number == "+61255501001" && preview.decision == "matched")
            #expect(preview.card?.name == "Acme Bank" && preview.card?.callReason == "Your appointment")
            #expect(preview.card?.logo == nil, "only own copies are shown")
            #expect(preview.before == ["From: <sip:0255501001@127.85.0.1>"])
            #expect(preview.after.first == "From: \"Acme Bank\" <sip:0255501001@127.85.0.1>")
            #expect(preview.after.last?.hasPrefix("Call-Info: <https://logos.example/acme.png>;purpose=icon") == true)

            let unknown = try await report.preview(RingQuestion(number: "+61255501777"))
            #expect(unknown.card == nil && unknown.decision == "no_match" && unknown.before == unknown.after)
            let failed = try await report.preview(RingQuestion(number: "+61255501001", attestation: .failed))
            #expect(failed.decision == "failed_verification")
            await #expect(throws: RingPreviewProblem.self) {
                try await report.preview(RingQuestion(number: "1", trunk: "gone"))
            }
        }
    }

    @Test func `a ledger with calls of the future shows a wrong clock`() async throws {
        try await report(Self.calls, at: Self.start - 86_400) { report in
            let troubles = await report.furtherTroubles()
            #expect(troubles.map(\.title) == ["The clock of this machine is wrong"])
            #expect(troubles.first?.isError == true)
        }
        try await report(at: Self.start + 60) { report in
            #expect(await report.furtherTroubles().isEmpty)
        }
    }

    @Test func `traffic is that of the counters, and a sync without a directory says so`() async throws {
        try await report { report in
            #expect(report.traffic() == CallTraffic())
            #expect(report.trunkNames() == ["carrier"])
            #expect(report.logo("a-1x1.png") == nil)
            #expect(await report.syncNow(customer: nil).result == .unavailable)
        }
    }

    @Test(
        arguments: [
            (["Call-Info: <a>;purpose=icon;call-reason=\"Say \\\"hi\\\"\""], "Say \"hi\""),
            (["From: <sip:a@b>"], nil), (["Call-Info: <a>;purpose=icon"], nil),
        ] as [([String], String?)])
    func `the reason of a call is read from its header`(headers: [String], reason: String?) {
        #expect(CallReasonText.first(in: headers) == reason)
    }
}
