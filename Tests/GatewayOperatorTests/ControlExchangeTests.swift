// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("Requests and streams on the control socket", .timeLimit(.minutes(8)))
struct ControlExchangeTests {
    private struct Order: Codable, Equatable, Sendable { var level: String }
    private struct Result: Codable, Equatable, Sendable { var level: String, query: String, method: String }

    /// A server with the routes of the test, on the control socket of a folder of its own.
    private static func withServer(
        _ routes: Router<BasicRequestContext>, _ body: @escaping @Sendable (ControlClient) async throws -> Void
    ) async throws {
        let folder = "/tmp/herald-exchange-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (opened, announced) = AsyncStream.makeStream(of: Void.self)
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let application = Application(
            router: routes,
            configuration: .init(address: .unixDomainSocket(path: folder + "/" + ControlServer.socketName)),
            onServerRunning: { _ in announced.yield() }, logger: logger)
        let services = ServiceGroup(services: [application], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announced.finish() }
                try await services.run()
            }
            var iterator = opened.makeAsyncIterator()
            _ = try #require(await iterator.next(), "the server ended before it listened")
            try await body(ControlClient(folder: folder))
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    private static func echo() -> Router<BasicRequestContext> {
        let routes = Router()
        for method in [HTTPRequest.Method.get, .post] {
            routes.on("/v1/echo", method: method) { request, _ in
                let query = request.uri.queryParameters["name"].map(String.init) ?? ""
                let order = try await ControlResponse.body(of: request, as: Order.self)
                return try ControlResponse.value(
                    Result(level: order?.level ?? "none", query: query, method: "\(method)"))
            }
        }
        return routes
    }

    @Test func `a query and a body arrive as they were given`() async throws {
        try await Self.withServer(Self.echo()) { client in
            let read: Result = try await client.get("/v1/echo", query: ["name": "büro & lager=1?"])
            #expect(read == Result(level: "none", query: "büro & lager=1?", method: "GET"))
            let ordered: Result = try await client.post("/v1/echo", body: Order(level: "debug"))
            #expect(ordered == Result(level: "debug", query: "", method: "POST"))
        }
    }

    @Test func `a refusal comes with the gateway's reason`() async throws {
        let routes = Router()
        routes.get("/v1/refused") { _, _ in try ControlResponse.refusal("no trunk is named x; there are a, b") }
        try await Self.withServer(routes) { client in
            let failure = await #expect(throws: ControlFailure.self) {
                let _: Result = try await client.get("/v1/refused")
            }
            #expect(failure?.description == "no trunk is named x; there are a, b")
            let stream = await #expect(throws: ControlFailure.self) {
                try await client.lines(of: "/v1/refused") { _ in }
            }
            #expect(stream?.description == "no trunk is named x; there are a, b")
        }
    }

    @Test func `a command that the gateway does not have names the versions`() async throws {
        try await Self.withServer(Router()) { client in
            let failure = await #expect(throws: ControlFailure.self) {
                let _: Result = try await client.get("/v2/later")
            }
            #expect(failure?.description.contains("does not know this command (404)") == true)
            #expect(failure?.description.contains("herald --version") == true)
        }
    }

    @Test func `a stream gives its lines one by one until its end`() async throws {
        let (lines, source) = AsyncStream.makeStream(of: String.self)
        let routes = Router()
        routes.get("/v1/lines") { request, _ in ControlResponse.lines(lines, to: request) }
        try await Self.withServer(routes) { client in
            let received = Mutex<[String]>([])
            source.yield("first")
            try await client.lines(of: "/v1/lines") { line in
                received.withLock { $0.append(line) }
                // The second line leaves when the first has arrived, so lines are not kept back.
                if line == "first" { source.yield("second é") }
                if line == "second é" { source.finish() }
            }
            #expect(received.withLock { $0 } == ["first", "second é"])
        }
    }

    @Test func `a stream ends for the gateway when the command is interrupted`() async throws {
        let (lines, source) = AsyncStream.makeStream(of: String.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        source.onTermination = { _ in end.yield() }
        let routes = Router()
        routes.get("/v1/lines") { request, _ in ControlResponse.lines(lines, to: request) }
        try await Self.withServer(routes) { client in
            let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
            let command = Task { try await client.lines(of: "/v1/lines") { _ in arrival.yield() } }
            source.yield("first")
            var arrivals = arrived.makeAsyncIterator()
            await arrivals.next()
            command.cancel()
            await #expect(throws: CancellationError.self) { try await command.value }
            var ends = ended.makeAsyncIterator()
            await ends.next()
        }
    }

    @Test func `a stopping gateway still sends the last lines of a stream`() async throws {
        let (lines, source) = AsyncStream.makeStream(of: String.self)
        let routes = Router()
        routes.get("/v1/lines") { request, _ in ControlResponse.lines(lines, to: request) }
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let command = Mutex<Task<[String], any Error>?>(nil)
        source.yield("first")
        try await Self.withServer(routes) { client in
            command.withLock { $0 = Task { try await Self.lines(of: client) { arrival.yield() } } }
            var arrivals = arrived.makeAsyncIterator()
            await arrivals.next()
            Task {
                // The stop has begun by then.
                try await Task.sleep(for: .milliseconds(200))
                source.yield("the gateway stops")
                source.finish()
            }
        }
        let received = try await command.withLock { $0 }?.value
        #expect(received == ["first", "the gateway stops"])
    }

    /// All lines of a stream; `arrival` is called for each.
    private static func lines(
        of client: ControlClient, arrival: @escaping @Sendable () -> Void
    ) async throws -> [String] {
        let received = Mutex<[String]>([])
        try await client.lines(of: "/v1/lines") { line in
            received.withLock { $0.append(line) }
            arrival()
        }
        return received.withLock { $0 }
    }
}
