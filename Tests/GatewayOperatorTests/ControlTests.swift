// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("Commands on the control socket", .timeLimit(.minutes(8)))
struct ControlTests {
    /// A short path: the path of a socket has 107 bytes.
    private final class Folder: Sendable {
        let path = "/tmp/herald-control-\(UInt32.random(in: .min ... .max))"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var socket: String { path + "/" + ControlServer.socketName }
    }

    private static func withServer(
        _ folder: String, _ control: any GatewayControl, logger: Logger? = nil,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (opened, announced) = AsyncStream.makeStream(of: Void.self)
        let logger = logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = ControlServer(folder: folder, control: control, logger: logger) { announced.yield() }
        let services = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announced.finish() }
                try await services.run()
            }
            var iterator = opened.makeAsyncIterator()
            _ = try #require(await iterator.next(), "the server ended before it listened")
            try await body()
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    private static func sync(_ folder: String, full: Bool = false) async throws -> ControlledSync {
        try await ControlClient(folder: folder).sync(full: full)
    }

    static let results = [
        ControlledSync(
            result: .succeeded, isFull: true, written: 3, removed: 1, numbers: 12, rejected: ["NUL in a text": 2],
            seconds: 0.4),
        ControlledSync(
            result: .failed, isFull: false, numbers: 12, seconds: 3.5, error: "the sync failed: nobody is there"),
        ControlledSync(result: .busy, error: "a sync runs already"),
        ControlledSync(result: .unavailable, error: "no directory"),
    ]

    @Test(arguments: results, [true, false])
    func `a command reaches the gateway and comes back as it ended`(result: ControlledSync, full: Bool) async throws {
        let folder = try Folder()
        let gateway = ScriptedGateway(result)
        try await Self.withServer(folder.path, gateway) {
            let response = try await Self.sync(folder.path, full: full)
            #expect(response == result)
            #expect(gateway.asked.withLock { $0 } == [full])
        }
    }

    @Test func `orders arrive with their parameters, and refusals come back with their reason`() async throws {
        let folder = try Folder()
        let gateway = ScriptedGateway(Self.results[0])
        try await Self.withServer(folder.path, gateway) {
            let client = ControlClient(folder: folder.path)
            let state = try await client.state()
            #expect(state.callsInProgress == 3 && state.gateway == FixedStatus.ready)
            #expect(try await client.customers().map(\.name) == ["acme", "beta"])
            #expect(try await client.customers(named: "beta").map(\.numbers) == [12])
            let nobody = await #expect(throws: ControlFailure.self) { try await client.customers(named: "x&y") }
            #expect(nobody?.description == "no customer is named x&y; there are acme, beta")
            let reload = try await client.reload()
            #expect(!reload.applied && reload.problem == "herald.yaml:3:1: listen: unknown key")
            #expect(try await client.drain(true).callsInProgress == 3)
            let stopping = await #expect(throws: ControlFailure.self) { try await client.drain(false) }
            #expect(stopping?.description == "the gateway is stopping")
            #expect(try await client.setLogLevel("debug", seconds: 600).until == 600)
            #expect(try await client.setLogLevel(nil, seconds: nil).level == "info")
            #expect(try await client.targets().map(\.address) == ["192.0.2.20:5060"])
            #expect(try await client.setTarget("192.0.2.20:5060", isDisabled: true).state == "disabled")
            let unknown = await #expect(throws: ControlFailure.self) {
                try await client.setTarget("x y&z", isDisabled: false)
            }
            #expect(unknown?.description == "no target is named x y&z")
            #expect(try await client.renewLogos(nil, clears: false) == ControlledLogos(logos: 3, cleared: false))
            let one = try await client.renewLogos("https://a.example/l.png?v=1&w=2#x", clears: true)
            #expect(one == ControlledLogos(logos: 1, cleared: true))
            let nothing = await #expect(throws: ControlFailure.self) {
                try await client.renewLogos("https://a.example/none.png", clears: false)
            }
            #expect(nothing?.description == "no brand names the logo")
        }
        #expect(
            gateway.orders.withLock { $0 } == [
                "reload", "drain true", "drain false", "log-level debug 600", "log-level - 0",
                "target 192.0.2.20:5060 true", "target x y&z false", "logos - false",
                "logos https://a.example/l.png?v=1&w=2#x true", "logos https://a.example/none.png false",
            ])
    }

    @Test(arguments: [
        ("/v1/drain", "on", "yyy"), ("/v1/drain", "on", "no"), ("/v1/drain", "on", "0"), ("/v1/drain", "on", ""),
        ("/v1/drain", "on", "True"), ("/v1/sync", "full", "1"), ("/v1/targets", "enabled", "off"),
    ])
    func `a flag that is neither true nor false changes nothing`(path: String, name: String, value: String) async throws
    {
        let folder = try Folder()
        let gateway = ScriptedGateway(Self.results[0])
        try await Self.withServer(folder.path, gateway) {
            let client = ControlClient(folder: folder.path)
            let refused = await #expect(throws: ControlFailure.self) {
                let _: ControlledState = try await client.post(path, query: [name: value])
            }
            #expect(refused?.description == "\(name) must be true or false; nothing was changed")
        }
        #expect(gateway.orders.withLock { $0 }.isEmpty && gateway.asked.withLock { $0 }.isEmpty)
    }

    @Test func `the log names the user behind an order, and no question`() async throws {
        let folder = try Folder()
        let log = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in CollectingLog { line in log.withLock { $0.append(line) } } }
        try await Self.withServer(folder.path, ScriptedGateway(Self.results[0]), logger: logger) {
            let client = ControlClient(folder: folder.path)
            _ = try await client.targets()
            _ = try await client.drain(true)
        }
        let orders = log.withLock { $0 }.filter { $0.contains("order on the control socket") }
        #expect(orders.count == 1)
        #expect(orders.first?.contains("drain") == true && orders.first?.contains("(uid \(getuid()),") == true)
    }

    @Test func `a plan of a reload is a question with the settings as its response`() async throws {
        let folder = try Folder()
        let gateway = ScriptedGateway(Self.results[0])
        let log = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in CollectingLog { line in log.withLock { $0.append(line) } } }
        try await Self.withServer(folder.path, gateway, logger: logger) {
            let plan = try await ControlClient(folder: folder.path).planReload()
            #expect(plan == gateway.plan)
        }
        #expect(gateway.orders.withLock { $0 } == ["plan"])
        #expect(!log.withLock { $0 }.contains { $0.contains("order on the control socket") })
    }

    @Test func `the socket is for the user and its group, and goes with the gateway`() async throws {
        let folder = try Folder()
        try await Self.withServer(folder.path, ScriptedGateway(Self.results[0])) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.socket)
            #expect(attributes[.posixPermissions] as? Int == 0o660)
            #expect(attributes[.type] as? FileAttributeType == .typeSocket)
        }
        let failure = await #expect(throws: ControlFailure.self) { try await Self.sync(folder.path) }
        #expect(failure?.description.contains("no gateway runs on this configuration") == true)
    }

    @Test func `a socket that a killed gateway left is nobody, and the next gateway takes its place`() async throws {
        let folder = try Folder()
        // Bound and closed without removing it, as SIGKILL leaves it.
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(folder.socket.utf8)) }
        let isBound = withUnsafeBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) {
                bind(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        close(descriptor)
        try #require(isBound)
        let failure = await #expect(throws: ControlFailure.self) { try await Self.sync(folder.path) }
        #expect(failure?.description.contains("nobody listens on \(folder.socket)") == true)
        try await Self.withServer(folder.path, ScriptedGateway(Self.results[0])) {
            let response = try await Self.sync(folder.path)
            #expect(response == Self.results[0])
        }
    }

    @Test func `a path that no socket can have is said`() async throws {
        let long = "/tmp/" + String(repeating: "x", count: 120)
        let failure = await #expect(throws: ControlFailure.self) { try await Self.sync(long) }
        #expect(failure?.description.contains("too long") == true)
    }

    @Test func `a socket that cannot be opened stops nothing`() async throws {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .error
        let server = ControlServer(folder: "/nowhere", control: ScriptedGateway(Self.results[0]), logger: logger)
        let services = ServiceGroup(services: [server], logger: logger)
        async let running: Void = services.run()
        await services.triggerGracefulShutdown()
        try await running
    }
}

/// Hands every line with its metadata to a closure.
private struct CollectingLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    let collect: @Sendable (String) -> Void

    init(collect: @escaping @Sendable (String) -> Void) { self.collect = collect }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        collect("\(event.message) \((event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " "))")
    }
}
