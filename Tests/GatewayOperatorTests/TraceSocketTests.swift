// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("Traces over the control socket", .timeLimit(.minutes(8)))
struct TraceSocketTests {
    /// A gateway whose trace has the given events.
    private final class ScriptedTraces: TraceSource {
        let orders = Mutex<[TraceOrder]>([])
        private let events: [TraceLine]
        private let refusal: TraceRefusal?
        private let isEndless: Bool
        let hasEnded = Atomic<Bool>(false)

        init(_ events: [TraceLine], refusal: TraceRefusal? = nil, isEndless: Bool = false) {
            self.events = events
            self.refusal = refusal
            self.isEndless = isEndless
        }

        func trace(_ order: TraceOrder) throws(TraceRefusal) -> AsyncStream<TraceLine> {
            orders.withLock { $0.append(order) }
            if let refusal { throw refusal }
            let (stream, continuation) = AsyncStream.makeStream(of: TraceLine.self)
            for event in events { continuation.yield(event) }
            continuation.onTermination = { [weak self] _ in self?.hasEnded.store(true, ordering: .releasing) }
            if isEndless {
                Task {
                    while !self.hasEnded.load(ordering: .acquiring) {
                        continuation.yield(TraceExamples.line(.alive))
                        try? await Task.sleep(for: .milliseconds(5))
                    }
                }
            } else {
                continuation.finish()
            }
            return stream
        }

        func export(to queue: HEPQueue) throws(TraceRefusal) {
            var order = TraceOrder()
            order.numbers = queue.numbers
            orders.withLock { $0.append(order) }
            queue.offer(queue.batch(events))
        }
    }

    private static func withServer(
        _ source: any TraceSource, _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        let folder = "/tmp/herald-trace-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (opened, announced) = AsyncStream.makeStream(of: Void.self)
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let server = ControlServer(
            folder: folder, control: ScriptedGateway(ControlledSync(result: .unavailable)), trace: source,
            logger: logger
        ) {
            announced.yield()
        }
        let services = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announced.finish() }
                try await services.run()
            }
            var iterator = opened.makeAsyncIterator()
            _ = try #require(await iterator.next(), "the server ended before it listened")
            try await body(folder)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    /// The events of a trace, up to the first for which `isLast` is true.
    private static func traced(
        _ folder: String, _ order: TraceOrder = TraceOrder(),
        until isLast: @escaping @Sendable (TraceLine) -> Bool = { _ in false }
    ) async throws -> [TraceLine] {
        struct Enough: Error {}
        let lines = Mutex<[TraceLine]>([])
        do {
            try await ControlClient(folder: folder).trace(order) { line in
                lines.withLock { $0.append(line) }
                if isLast(line) { throw Enough() }
            }
        } catch is Enough {}
        return lines.withLock { $0 }
    }

    @Test func `every event arrives as it was sent, and the order as it was given`() async throws {
        let long = TraceExamples.message(text: String(repeating: "Subject: x\r\n", count: 5_000) + "\r\n\u{1}\u{FFFD}")
        let events = [
            TraceExamples.line(.message(long)), TraceExamples.line(.decision("matched", evidence: "From"), after: 1),
            TraceExamples.line(.outcome("ANSWERED")), TraceExamples.line(.end("the gateway stops")),
        ]
        let source = ScriptedTraces(events)
        var order = TraceOrder()
        order.number = "+61255501001"
        order.callID = "a&b=c?\r\n\"x\""
        order.trunk = "carrier"
        order.seconds = 60
        order.numbers = .full
        try await Self.withServer(source) { [order] folder in
            let lines = try await Self.traced(folder, order)
            #expect(lines == events)
            #expect(source.orders.withLock { $0 } == [order])
        }
    }

    @Test func `a refusal has its reason`() async throws {
        let source = ScriptedTraces([], refusal: TraceRefusal("4 traces run already; wait for the end of one"))
        try await Self.withServer(source) { folder in
            let failure = await #expect(throws: ControlFailure.self) { try await Self.traced(folder) }
            #expect(failure?.description == "4 traces run already; wait for the end of one")
        }
    }

    @Test(arguments: [0, -1]) func `a time that is none is refused, and begins no endless trace`(seconds: Int)
        async throws
    {
        let source = ScriptedTraces([])
        var order = TraceOrder()
        order.seconds = seconds
        try await Self.withServer(source) { [order] folder in
            let failure = await #expect(throws: ControlFailure.self) { try await Self.traced(folder, order) }
            #expect(failure?.description == "seconds must be a whole number from 1 on")
            #expect(source.orders.withLock { $0 }.isEmpty)
        }
    }

    @Test func `a command that ends, ends its trace in the gateway`() async throws {
        let source = ScriptedTraces([TraceExamples.line(.outcome("ANSWERED"))], isEndless: true)
        try await Self.withServer(source) { folder in
            _ = try await Self.traced(folder) { $0.event == .outcome("ANSWERED") }
            while !source.hasEnded.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    @Test func `HEP packets reach a collector, and a reload changes the collector`() async throws {
        let (one, other) = (try UDPCollector(), try UDPCollector())
        let event = TraceExamples.line(.message(TraceExamples.message()))
        let source = ScriptedTraces([event], isEndless: true)
        var logger = Logger(label: "test")
        logger.logLevel = .error
        func collector(_ port: Int) -> HEPCollector {
            HEPCollector(
                host: "127.0.0.1", port: port, transport: .udp, captureID: 9, authKey: "", numbers: .masked)
        }
        let exporter = HEPExporter(source: source, collector: collector(one.port), logger: logger)
        let services = ServiceGroup(services: [exporter], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let expected = HEPPacket(captureID: 9)
                .bytes(
                    of: TraceExamples.message(), callID: event.callID, wallMicroseconds: event.wallMicroseconds)
            #expect(await one.receive() == expected)
            exporter.use(collector(other.port))
            #expect(await other.receive() == expected)
            while exporter.counts.sent < 2 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(exporter.counts.sent == 2)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
        #expect(source.orders.withLock { $0 }.allSatisfy { $0.numbers == .masked && $0.seconds == nil })
    }

    @Test func `by UDP the export goes on while nobody listens`() async throws {
        let port = try UDPCollector().port
        let exporter = HEPExporter(
            source: EndlessMessages(TraceExamples.line(.message(TraceExamples.message()))),
            collector: HEPCollector(
                host: "127.0.0.1", port: port, transport: .udp, captureID: 9, authKey: "", numbers: .masked),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let run = Task { try await exporter.run() }
        while exporter.counts.sent + exporter.counts.dropped < 1000 { try await Task.sleep(for: .milliseconds(5)) }
        let late = try UDPCollector(port: port)
        #expect(await late.receive().starts(with: "HEP3".utf8))
        exporter.use(nil)
        run.cancel()
        try await run.value
    }
}

/// A UDP socket on a free port of loopback.
private final class UDPCollector: Sendable {
    let port: Int
    private let descriptor: Int32

    init(port wanted: Int = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(wanted).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (descriptor, length)
        let isBound = withUnsafeBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, size) == 0 }
        }
        try #require(isBound)
        withUnsafeMutableBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) { _ = getsockname(descriptor, $0.baseAddress, &length) }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// The next datagram.
    func receive() async -> [UInt8] {
        await withCheckedContinuation { done in
            Thread.detachNewThread { [descriptor] in
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                done.resume(returning: Array(buffer.prefix(max(0, count))))
            }
        }
    }
}
