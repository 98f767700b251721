// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewaySyncTesting
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

@Suite("Decisions on signers in a running gateway", .timeLimit(.minutes(8)))
struct SignerDecisionsTests {
    private let fixture = SignerFixture()

    /// Runs the decisions of a gateway with these regimes as long as `body` takes.
    private func run(
        _ trust: String = "{regimes: [private]}", _ body: () async throws -> Void
    ) async throws {
        let publisher = fixture.publisher()
        let decisions = SignerDecisions(
            try fixture.configuration(trust), publisher, time: fixture.time.clock, logger: fixture.log.logger)
        try await RunningServices([decisions], logger: LogLines().logger).stop(after: body)
    }

    @Test func `the first start makes the file, and a second one decides nothing`() async throws {
        try await run { await fixture.time.waitForSleepers([.seconds(86_400)]) }
        let first = try fixture.stored()
        #expect(first.generation == 1 && DecidedRules(stored: first.regimes)?.names == ["private"])
        fixture.time.advance(by: .seconds(100))
        try await run { await fixture.time.waitForSleepers([.seconds(86_300)]) }
        #expect(try fixture.stored().generation == 1)
    }

    @Test func `a start with other regimes or files decides anew`() async throws {
        try await fixture.importSigners(["spc", "rsa"])
        try await run("{regimes: [fr, private]}") { await fixture.time.waitForSleepers([.seconds(86_400)]) }
        #expect(try fixture.stored().signers.allSatisfy { $0.standings.count == 2 })
        // A file of an earlier program has no names.
        let store = try SignerStore(folder: fixture.state)
        let former = try store.contents()
        var present = former
        present.regimes = Array(former.regimes.prefix(32))
        try await store.replace(former, by: present)
        try store.close()
        try await run("{regimes: [fr, private]}") { await fixture.time.waitForSleepers([.seconds(86_400)]) }
        #expect(try DecidedRules(stored: fixture.stored().regimes)?.names == ["fr", "private"])
    }

    /// The restart mends what a running gateway would warn of.
    @Test func `a start with other regimes is no warning, and one that cannot decide is`() async throws {
        try await fixture.importSigners(["spc"], "{regimes: [fr, private]}")
        let publisher = fixture.publisher()
        await publisher.look()
        #expect(await publisher.problem == nil && fixture.log.all.isEmpty, "\(fixture.log.text)")
        let decisions = SignerDecisions(
            try fixture.configuration(), publisher, time: fixture.time.clock, logger: fixture.log.logger)
        try await RunningServices([decisions], logger: LogLines().logger).stop {
            await fixture.time.waitForSleepers([.seconds(86_400)])
        }
        #expect(await publisher.problem == nil, "\(fixture.log.text)")
        #expect(fixture.log.all.allSatisfy { !$0.contains("are decided for") }, "\(fixture.log.text)")
        #expect(fixture.snapshot.regimeSet == RegimeSet.number(of: ["private"]))
        // The start could not decide: its signers are of no use, and the operator must know.
        try await fixture.importSigners([], "{regimes: [fr, private]}")
        let second = fixture.publisher()
        await second.look()
        #expect(await second.problem == nil)
        await second.startIsDecided()
        #expect(await second.problem?.contains("are decided for fr, private") == true)
    }

    @Test func `all signers are decided once a day, a day after an import`() async throws {
        try await fixture.importSigners(["spc"])
        try await run {
            await fixture.time.waitForSleepers([.seconds(86_400)])
            fixture.time.advance(by: .seconds(50_000))
            try await fixture.importSigners([])
            fixture.time.advance(by: .seconds(36_400))
            await fixture.time.waitForSleepers([.seconds(50_000)])
            #expect(try fixture.stored().generation == 2)
            fixture.time.advance(by: .seconds(50_000))
            await fixture.time.waitForSleepers([.seconds(86_400)])
            #expect(try fixture.stored().generation == 3)
        }
        #expect(try fixture.stored().decidedAt == fixture.time.now)
    }

    @Test func `an import with other regimes is not decided against`() async throws {
        try await run {
            await fixture.time.waitForSleepers([.seconds(86_400)])
            try await fixture.importSigners(["spc"], "{regimes: [fr]}")
            fixture.time.advance(by: .seconds(1000))
            #expect(try DecidedRules(stored: fixture.stored().regimes)?.names == ["fr"])
        }
    }

    @Test func `a failure is a warning with its remedy, and is tried again`() async throws {
        try FileManager.default.createDirectory(atPath: fixture.state, withIntermediateDirectories: true)
        try fixture.folder.write(Array(repeating: UInt8(0x55), count: 8192), to: "state/signers.sqlite")
        try await run {
            await fixture.time.waitForSleepers([.seconds(600)])
            unlink(fixture.file)
            fixture.time.advance(by: .seconds(600))
            await fixture.time.waitForSleepers([.seconds(86_400)])
        }
        #expect(try fixture.stored().generation == 1)
        let text = fixture.log.text
        #expect(text.contains("cannot be decided anew") && text.contains("move the file away"), "\(text)")
    }
}
