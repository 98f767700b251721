// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore
import GatewaySyncTesting
import GatewayTesting
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing

@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("The service of call record outputs", .timeLimit(.minutes(8)))
struct CallOutputServiceTests {
    /// Plays the given results, one a round; then every round is empty.
    private final class Script: Sendable {
        struct Refused: Error, CustomStringConvertible { var description = "the disk is full" }

        private let results: Mutex<[Result<CallOutputRound, Refused>]>
        let times = Mutex<[Int64]>([])
        let isShutDown = Mutex(false)

        init(_ results: [Result<CallOutputRound, Refused>]) { self.results = Mutex(results) }

        func next(at now: Int64) throws -> CallOutputRound {
            times.withLock { $0.append(now) }
            return try results.withLock { $0.isEmpty ? .success(CallOutputRound()) : $0.removeFirst() }.get()
        }
    }

    private struct ScriptedOutput: CallRecordOutput {
        let script: Script
        func round(at now: Int64) throws -> CallOutputRound { try script.next(at: now) }
        func shutdown() async { script.isShutDown.withLock { $0 = true } }
    }

    /// Runs the service through `seconds` idle seconds and stops it.
    private func play(_ script: Script, seconds: Int) async throws -> [String] {
        let (time, log) = (ManualTime(start: 1_000), LogLines())
        let service = CallOutputService(ScriptedOutput(script: script), logger: log.logger, time: time.clock)
        let group = ServiceGroup(services: [service], logger: LogLines().logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for _ in 0..<seconds {
                await time.waitForSleepers([.seconds(1)])
                time.advance(by: .seconds(1))
            }
            await time.waitForSleepers([.seconds(1)])
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        return log.all
    }

    private func round(_ sent: Int, more: Bool = false) -> Result<CallOutputRound, Script.Refused> {
        .success(CallOutputRound(sent: sent, hasMore: more))
    }

    @Test func `a round runs each second, and the next one at once while calls are due`() async throws {
        let script = Script([round(500, more: true), round(500, more: true), round(3), round(0)])
        #expect(try await play(script, seconds: 2).isEmpty)
        #expect(script.times.withLock { $0 } == [1_000, 1_000, 1_000, 1_001, 1_002])
    }

    @Test func `a failure is logged once, and once when a call goes out again`() async throws {
        let failure = Result<CallOutputRound, Script.Refused>.failure(.init())
        let script = Script([failure, failure, round(0), failure, round(1), round(1), failure])
        #expect(
            try await play(script, seconds: 7) == [
                "error the disk is full", "notice call records go out again", "error the disk is full",
            ])
    }

    @Test func `another reason of a failure that goes on is logged, at most one a minute`() async throws {
        func failure(_ text: String) -> Result<CallOutputRound, Script.Refused> { .failure(.init(description: text)) }
        let away = Array(repeating: failure("no connection"), count: 30)
        let refused = Array(repeating: [failure("wrong password"), failure("no connection")], count: 20).flatMap(\.self)
        #expect(
            try await play(Script(away + refused), seconds: 70) == [
                "error no connection", "error wrong password",
            ])
    }

    @Test func `counts and the present problem are known until a call goes out`() async throws {
        let standing = CallOutputStanding()
        standing.add(problem: "no connection")
        standing.add(CallOutputRound())
        #expect(standing.problem == "no connection" && standing.failed == 1)
        standing.add(CallOutputRound(sent: 3, failed: 2))
        #expect(standing.problem == nil && standing.failed == 3 && standing.sent == 3)
    }

    @Test func `the outputs are shut down with the service`() async throws {
        let script = Script([])
        _ = try await play(script, seconds: 1)
        #expect(script.isShutDown.withLock { $0 })
    }

    @Test(arguments: [
        ("{}", 0), ("{cdr_file: calls.jsonl}", 1),
        ("{cdr_file: calls.jsonl, webhook: {url: 'http://127.0.0.1:9/', secret_env: KEY}}", 2),
        ("{cdr_file: calls.jsonl, kafka: {brokers: ['127.0.0.1:9'], topic: calls}}", 2),
    ])
    func `the configuration chooses the outputs`(outcomes: String, count: Int) async throws {
        let folder = try GatewayFolder()
        let configuration = try folder.configuration(folder.sections.with("outcomes", outcomes))
        let database = try HeraldDatabase(folder: folder.path)
        let outputs = CallOutputs(configuration, database, logger: LogLines().logger)
        #expect(outputs.standings.count == count)
        #expect(configuration.outcomes.outputs.count == count)
    }
}
