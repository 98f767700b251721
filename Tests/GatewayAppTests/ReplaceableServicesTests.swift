// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("Services that a reload replaces", .timeLimit(.minutes(8)))
struct ReplaceableServicesTests {
    private let log = LogLines()
    private let journal = Journal()

    private func services(_ first: Part) -> ReplaceableServices {
        ReplaceableServices(logger: log.logger, patience: .milliseconds(10)) { [first] }
    }

    /// Runs services for as long as `body` takes, then stops them as SIGTERM would.
    private func run(_ services: ReplaceableServices, _ body: () async throws -> Void) async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: services, failureTerminationBehavior: .gracefullyShutdownGroup)],
                logger: log.logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `the old services end before the new ones start`() async throws {
        let services = services(Part("old", .gracefully, journal))
        try await run(services) {
            try await journal.wait(for: "old runs")
            services.replace { [journal] in [Part("new", .gracefully, journal)] }
            try await journal.wait(for: "new runs")
        }
        #expect(journal.all == ["old runs", "old ends", "new runs", "new ends"])
    }

    @Test func `a replaced service that does not end is cancelled after the patience`() async throws {
        let services = services(Part("old", .whenCancelled, journal))
        try await run(services) {
            try await journal.wait(for: "old runs")
            services.replace { [journal] in [Part("new", .gracefully, journal)] }
            try await journal.wait(for: "new runs")
        }
        #expect(journal.all == ["old runs", "old ends", "new runs", "new ends"])
    }

    @Test func `a service that does not end by itself stops no shutdown, and makes no error of it`() async throws {
        try await run(services(Part("only", .whenCancelled, journal))) { try await journal.wait(for: "only runs") }
        #expect(journal.all == ["only runs", "only ends"])
    }

    @Test func `the error of a service in force ends the program`() async throws {
        await #expect(throws: Part.Failure.self) {
            try await services(Part("only", .withAnError, journal)).run()
        }
    }

    /// A service that writes its begin and its end.
    private struct Part: Service {
        enum End: Sendable { case gracefully, whenCancelled, withAnError }
        struct Failure: Error {}

        let name: String
        let end: End
        let journal: Journal

        init(_ name: String, _ end: End, _ journal: Journal) {
            (self.name, self.end, self.journal) = (name, end, journal)
        }

        func run() async throws {
            journal.add("\(name) runs")
            defer { journal.add("\(name) ends") }
            switch end {
            case .gracefully: try await gracefulShutdown()
            case .whenCancelled: try await Task.sleep(for: .seconds(86_400))
            case .withAnError: throw Failure()
            }
        }
    }

    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }

        func wait(for line: String) async throws {
            while !all.contains(line) { try await Task.sleep(for: .milliseconds(5)) }
        }
    }
}
