// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import Primitives
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("herald replay")
struct LedgerReplayTests {
    private let folder: GatewayFolder
    private let database: HeraldDatabase
    private let recorder: OutcomeRecorder
    private let ring: UpdateRing

    private static let brands = "+61255501001|Acme Bank||A reason|b-7\n"

    init() throws {
        folder = try GatewayFolder()
        try folder.put(Array(Self.brands.utf8), in: "brands.psv")
        database = try HeraldDatabase(folder: folder.path + "/state")
        ring = try UpdateRing(inMemory: 4_096)
        var settings = OutcomeRecorder.Settings()
        settings.trunks = [TrunkPeer.mark(of: "carrier"): "carrier"]
        recorder = OutcomeRecorder(
            database: database, ring: ring, settings: settings, now: { EndedCalls.start + 100_000_000 })
    }

    /// Records a call of the trusted trunk, as the call path reports it.
    private func call(
        _ number: UInt64, from caller: UInt64, _ reason: PassThroughReason?, _ lookup: DecisionEvidence.Lookup,
        _ change: (inout DecisionEvidence) -> Void = { _ in }
    ) throws {
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isTrusted, evidence.policy) = (.from, true, .standard)
        (evidence.lookup, evidence.writesCallInfo) = (lookup, true)
        if reason == nil { (evidence.isNamed, evidence.logo, evidence.callReason) = (true, .absent, .written) }
        change(&evidence)
        var update = CallUpdate(
            kind: .invite, direction: .inbound, call: CallIdentifier(high: 9, low: number),
            wallMicroseconds: EndedCalls.start + Int64(number) * 1_000_000, trunk: TrunkPeer.mark(of: "carrier"),
            caller: caller, destination: 61_255_502_000, reason: reason)
        update.evidence = evidence
        let name = reason == nil ? "Acme Bank" : ""
        ring.append(update, texts: CallTexts(sipCallID: Array("c\(number)".utf8), brandName: Array(name.utf8)))
        try recorder.drain()
    }

    private func record() throws {
        try call(1, from: 61_255_501_001, nil, .brandFound)
        try call(2, from: 61_255_501_001, nil, .brandFound) { $0.verification = .passedA }
        try call(3, from: 61_255_501_009, .noMatch, .noBrand) { $0.verification = .passedA }
        try call(4, from: 0, .privacy, .notMade) { ($0.isWithheld, $0.header) = (true, .none) }
        try call(5, from: 61_255_501_001, .gatedCapReached, .brandFound) { $0.verification = .passedA }
    }

    private func configuration(_ trunk: String = "trusted: true", routes: String = "{}") throws -> HeraldConfiguration {
        let sections = folder.sections.with("brands", "{file: brands.psv}")
            .with(
                "trunks",
                "[{name: carrier, sources: [127.85.0.1], next_hop: '127.85.0.1:5060', region: AU, \(trunk)}]")
        return try folder.configuration(routes == "{}" ? sections : sections.with("routes", routes))
    }

    private func replay(
        _ other: HeraldConfiguration, _ change: (inout LedgerReplay.Order) -> Void = { _ in }
    ) throws -> (summary: ReplaySummary, changes: [ReplayedChange]) {
        var order = LedgerReplay.Order()
        change(&order)
        var changes: [ReplayedChange] = []
        let replay = try LedgerReplay(try configuration(), under: other, order, zone: .utc)
        let silent = ProgressLine(width: { nil }, now: { 0 }, write: { _ in })
        let summary = try replay.decide(silent) { changes.append($0) }
        return (summary, changes)
    }

    @Test func `the same configuration changes no call`() throws {
        try record()
        let (summary, changes) = try replay(try configuration())
        #expect(summary.calls == 5 && summary.changed == 0 && summary.undecided == 0)
        #expect(changes.isEmpty, "\(changes.map(\.why))")
        #expect(summary.text == "5 calls decided again: 0 would change, 0 cannot be decided again\n")
    }

    @Test func `a stricter policy takes the brand of calls without full attestation`() throws {
        try record()
        let (summary, changes) = try replay(try configuration("trusted: true, policy: strict"))
        let change = try #require(changes.first)
        #expect(changes.count == 1 && summary.changed == 1)
        #expect(change.group.kind == .losesBrand && change.group.after == "policy" && change.call.row == 1)
        #expect(change.group.cause == .configuration)
        #expect(change.why == "the policy requires a better attestation")
        #expect(
            summary.text == """
                5 calls decided again: 1 would change, 0 cannot be decided again

                CHANGE       BEFORE   AFTER   CAUSE          CALLS
                loses brand  matched  policy  configuration  1

                """, "\(summary.text)")
        #expect(change.csvCells[6] == "matched" && change.csvCells[9] == "policy")
        #expect(change.json["change"] == .string("loses_brand") && change.json["cause"] == .string("configuration"))
    }

    /// Keys of the trunk, and the changed calls by kind and later decision.
    static let policies: [(trunk: String, changes: [String])] = [
        ("trusted: true, policy: permissive", []),
        ("trusted: true, brands: shadow", ["loses_brand shadow", "loses_brand shadow"]),
        (
            "trusted: true, brands: false",
            [
                "loses_brand policy", "loses_brand policy", "other_reason policy", "other_reason policy",
                "other_reason policy",
            ]
        ),
        (
            "trusted: false",
            ["loses_brand untrusted", "loses_brand untrusted", "other_reason untrusted", "other_reason untrusted"]
        ),
        ("trusted: true, carrier_name: keep", ["other_name matched", "other_name matched"]),
        (
            "trusted: true, identity: [from]", ["undecided ", "undecided ", "undecided ", "undecided "]
        ),
    ]

    @Test(arguments: policies.indices) func `each key changes the calls that it concerns`(place: Int) throws {
        try record()
        let row = Self.policies[place]
        let (_, changes) = try replay(try configuration(row.trunk))
        #expect(changes.map { "\($0.group.kind.rawValue) \($0.group.after)" }.sorted() == row.changes, "\(row.trunk)")
    }

    @Test func `a route without a match rejects calls`() throws {
        try record()
        let routes = "{default: reject, table: [{name: acme, numbers: [+61255509999]}]}"
        let (summary, changes) = try replay(try configuration(routes: routes))
        #expect(summary.changed == 5 && Set(changes.map(\.group.kind)) == [.rejected])
    }

    /// Brands of a file, and the changes with their causes.
    static let files: [(lines: String, changes: [String])] = [
        ("# none\n", ["loses_brand brand_removed", "loses_brand brand_removed", "other_reason brand_removed"]),
        (
            "+61255501001|Acme Credit||A reason|b-7\n", ["other_name brand_renamed", "other_name brand_renamed"]
        ),
        (brands + "+61255501009|New Shop\n", ["gains_brand brand_added"]),
    ]

    @Test(arguments: files.indices) func `other brands are another cause than the configuration`(place: Int) throws {
        try record()
        try folder.put(Array(Self.files[place].lines.utf8), in: "other.psv")
        let (_, changes) = try replay(try configuration()) { $0.brands = folder.path + "/other.psv" }
        #expect(
            changes.map { "\($0.group.kind.rawValue) \($0.group.cause?.rawValue ?? "")" }.sorted()
                == Self.files[place].changes)
    }

    @Test func `a withheld caller has no number in any form`() throws {
        try record()
        let (_, changes) = try replay(try configuration("trusted: true, brands: false"))
        let withheld = try #require(changes.first { $0.call.row == 4 })
        #expect(withheld.cells(in: .utc)[2] == "withheld" && withheld.csvCells[4] == nil)
        #expect((withheld.json["caller"] ?? nil) == nil)
    }

    @Test func `the filter of calls selects them`() throws {
        try record()
        let (summary, _) = try replay(try configuration("trusted: true, policy: strict")) {
            $0.query[.decision] = "branded"
        }
        #expect(summary.calls == 2 && summary.changed == 1)
    }

    @Test func `calls of two copies count once, and a missing one is named`() throws {
        try record()
        let copies = ["one", "two"].map { folder.path + "/\($0).sqlite" }
        for copy in copies { try StateDatabase.ledger.copy(from: folder.path + "/state", to: copy) }
        try folder.put(Array("no database at all, but some text".utf8), in: "three.sqlite")
        let (summary, _) = try replay(try configuration("trusted: true, policy: strict")) {
            $0.ledgers = copies + [folder.path + "/three.sqlite", folder.path + "/four.sqlite"]
        }
        #expect(summary.calls == 5 && summary.changed == 1 && summary.text.contains("; 5 are in two ledgers"))
        #expect(summary.lost.count == 2 && summary.lost[0].contains("three.sqlite is damaged"), "\(summary.lost)")
        #expect(summary.lost[1].contains("there is no \(folder.path)/four.sqlite"))
        #expect(throws: CommandFailure.self) {
            try replay(try configuration()) { $0.ledgers = [folder.path + "/four.sqlite"] }
        }
    }
}
