// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("HEP by TCP to a collector that goes away or stalls", .serialized, .timeLimit(.minutes(8)))
struct HEPExporterTests {
    @Test func `a collector that comes back gets messages again, and the log has both`() async throws {
        let collector = try TCPCollector()
        try await export(to: collector, message: "x") { exporter, log in
            let first = try await collector.accept()
            #expect(await first.packets(3) == 3)
            first.close()
            let second = try await collector.accept()
            #expect(await second.packets(3) == 3)
            #expect(log.all == [.warning, .notice])
            second.close()
            #expect(exporter.counts.sent >= 6)
        }
    }

    @Test func `a collector that does not read costs messages and no memory, and the log has it once`() async throws {
        let collector = try TCPCollector()
        try await export(to: collector, message: String(repeating: "y", count: 8000)) { exporter, log in
            let connection = try await collector.accept()
            while exporter.counts.dropped < 1000 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(log.all == [.warning])
            // What was sent arrives in whole packets, and newer messages after it.
            let sent = exporter.counts.sent
            #expect(await connection.packets(Int(sent) + 100) == Int(sent) + 100)
            while log.all.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(log.all == [.warning, .notice])
            connection.close()
        }
    }

    @Test func `a full queue drops whole batches and counts their messages once`() {
        let dropped = Atomic<Int>(0)
        let line = TraceExamples.line(.message(TraceExamples.message(text: String(repeating: "z", count: 8000))))
        let queue = HEPQueue(HEPPacket(captureID: 1), .masked) { dropped.add($0, ordering: .relaxed) }
        let batch = queue.batch([TraceLine](repeating: line, count: 10))
        let fitting = HEPQueue.longest / batch.bytes.count
        for _ in 0..<(fitting + 3) { queue.offer(batch) }
        #expect(queue.waiting == fitting * 10)
        #expect(dropped.load(ordering: .relaxed) == 30)
        queue.remove(batch)
        queue.offer(batch)
        #expect(dropped.load(ordering: .relaxed) == 30)
    }

    /// Exports endless messages for as long as `body` takes.
    private func export(
        to collector: TCPCollector, message text: String,
        _ body: (HEPExporter, LevelLog) async throws -> Void
    ) async throws {
        let log = LevelLog()
        let exporter = HEPExporter(
            source: EndlessMessages(TraceExamples.line(.message(TraceExamples.message(text: text)))),
            collector: HEPCollector(
                host: "127.0.0.1", port: collector.port, transport: .tcp, captureID: 9, authKey: "", numbers: .masked),
            logger: Logger(label: "test") { _ in log })
        let run = Task { await exporter.export() }
        try await body(exporter, log)
        run.cancel()
        await run.value
    }
}

extension HEPExporter {
    /// Exports until its task is cancelled.
    fileprivate func export() async {
        await withTaskCancellationHandler {
            try? await run()
        } onCancel: {
            use(nil)
        }
    }
}

/// The same message for ever, a hundred at once.
final class EndlessMessages: TraceSource {
    private let line: TraceLine

    init(_ line: TraceLine) { self.line = line }

    func trace(_ order: TraceOrder) throws(TraceRefusal) -> AsyncStream<TraceLine> { AsyncStream { $0.finish() } }

    func export(to queue: HEPQueue) throws(TraceRefusal) {
        let batch = queue.batch([TraceLine](repeating: line, count: 100))
        let producer = Task {
            while !Task.isCancelled {
                queue.offer(batch)
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        queue.onEnd { producer.cancel() }
    }
}

extension HEPQueue {
    /// The packets of messages.
    func batch(_ lines: [TraceLine]) -> HEPBatch {
        var batch = HEPBatch()
        for line in lines {
            guard case .message(let message) = line.event else { continue }
            batch.bytes += packet.bytes(of: message, callID: line.callID, wallMicroseconds: line.wallMicroseconds)
            batch.ends.append(batch.bytes.count)
        }
        return batch
    }
}

/// The levels of all lines.
private struct LevelLog: LogHandler {
    private let levels = Levels()
    var all: [Logger.Level] { levels.list.withLock { $0 } }
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    private final class Levels: Sendable { let list = Mutex<[Logger.Level]>([]) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { levels.list.withLock { $0.append(event.level) } }
}

/// A TCP server on a free port of loopback, with a small receive buffer.
private final class TCPCollector: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, bytes) = (descriptor, length)
        let isOpen = withUnsafeBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, bytes) == 0 }
        }
        try #require(isOpen && listen(descriptor, 1) == 0)
        withUnsafeMutableBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) { _ = getsockname(descriptor, $0.baseAddress, &length) }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// The next connection.
    func accept() async throws -> Connection {
        let accepted = await withCheckedContinuation { done in
            Thread.detachNewThread { [descriptor] in
                done.resume(returning: Glibc.accept(descriptor, nil, nil))
            }
        }
        try #require(accepted >= 0)
        return Connection(descriptor: accepted)
    }

    struct Connection: Sendable {
        let descriptor: Int32

        /// Reads until so many whole HEP packets have come, and returns their number; fewer at the end of the stream.
        func packets(_ wanted: Int) async -> Int {
            await withCheckedContinuation { done in
                Thread.detachNewThread {
                    var count = 0
                    while count < wanted, let head = read(6), head.starts(with: "HEP3".utf8) {
                        guard read(Int(head[4]) << 8 + Int(head[5]) - 6) != nil else { break }
                        count += 1
                    }
                    done.resume(returning: count)
                }
            }
        }

        private func read(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
        }

        func close() { Glibc.close(descriptor) }
    }
}
