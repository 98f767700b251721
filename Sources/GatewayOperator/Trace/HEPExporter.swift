// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host
import Logging
import NIOCore
import NIOPosix
import Primitives
import ServiceLifecycle
import Synchronization

/// A collector of HEP packets, such as Homer, and how messages are sent there.
struct HEPCollector: Hashable, Sendable {
    enum Transport: String, Hashable, Sendable { case udp, tcp }

    var host: String
    var port: Int
    var transport: Transport
    var captureID: UInt32
    /// The collector's shared secret; empty for none.
    var authKey: Concealed<String>
    var numbers: TraceOrder.Numbers

    init(
        host: String, port: Int, transport: Transport, captureID: UInt32, authKey: String, numbers: TraceOrder.Numbers
    ) {
        self.host = host
        self.port = port
        self.transport = transport
        self.captureID = captureID
        self.authKey = Concealed(authKey)
        self.numbers = numbers
    }
}

/// Sends every traced message to a HEP collector.
///
/// Messages that the collector does not take in time are dropped and counted. A broken connection is opened again after 1 to 30
/// seconds. Calls are never affected.
final class HEPExporter: Service {
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// A TCP collector that reads nothing for this time is connected anew (TCP_USER_TIMEOUT of tcp(7)).
    private static let unreadMilliseconds = 30_000
    /// Time between two warnings about the collector.
    private static let quiet = Duration.seconds(60)

    private let source: any TraceSource
    private let logger: Logger
    private let collectors: AsyncStream<HEPCollector?>
    private let changes: AsyncStream<HEPCollector?>.Continuation
    private let sentCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    /// True from a dropped batch to the next one that leaves.
    private let stalls = Atomic<Bool>(false)
    private let lastWarning = Mutex<(at: ContinuousClock.Instant, isOpen: Bool)?>(nil)

    /// - Parameter collector: nil to send nothing until `use` names one.
    init(source: any TraceSource, collector: HEPCollector?, logger: Logger) {
        self.source = source
        self.logger = logger
        (collectors, changes) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        changes.yield(collector)
    }

    /// Messages sent, and messages that the collector did not take in time.
    var counts: (sent: UInt64, dropped: UInt64) {
        (sentCount.load(ordering: .relaxed), droppedCount.load(ordering: .relaxed))
    }

    /// Changes the collector; nil ends the export.
    func use(_ collector: HEPCollector?) { changes.yield(collector) }

    /// Exports until the service group shuts down.
    func run() async throws { await cancelWhenGracefulShutdown { await self.follow() } }

    private func follow() async {
        var collector: HEPCollector?
        var export: Task<Void, Never>?
        for await next in collectors where next != collector {
            collector = next
            export?.cancel()
            await export?.value
            export = next.map { next in Task { await self.export(to: next) } }
        }
        export?.cancel()
        await export?.value
    }

    private func export(to collector: HEPCollector) async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            do {
                let channel = try await Self.connect(collector)
                let start = ContinuousClock.now
                report(collector, nil)
                await send(over: channel, collector)
                try? await channel.close()
                if ContinuousClock.now - start > Self.longestPause { pause = Self.firstPause }
                // Without an end of the service it was the collector that closed the connection.
                if !Task.isCancelled { report(collector, "the collector closed the connection") }
            } catch {
                report(collector, SystemError.text(error) ?? "\(error)")
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private static func connect(_ collector: HEPCollector) async throws -> any Channel {
        let group = MultiThreadedEventLoopGroup.singleton
        switch collector.transport {
        case .udp:
            return try await DatagramBootstrap(group: group)
                .connect(host: collector.host, port: collector.port).get()
        case .tcp:
            return try await ClientBootstrap(group: group).connectTimeout(.seconds(5))
                .channelOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: unreadMilliseconds)
                .connect(host: collector.host, port: collector.port).get()
        }
    }

    /// Sends until the connection or the service ends.
    private func send(over channel: any Channel, _ collector: HEPCollector) async {
        let packet = HEPPacket(captureID: collector.captureID, authKey: collector.authKey.reveal())
        let queue = HEPQueue(packet, collector.numbers) { [self] messages in
            droppedCount.wrappingAdd(UInt64(messages), ordering: .relaxed)
            stalls.store(true, ordering: .relaxed)
            report(collector, "it does not read what was sent")
        }
        guard (try? source.export(to: queue)) != nil else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.forward(queue, over: channel, collector) }
            // A collector that goes away ends the export before the next message is lost on its connection.
            group.addTask { await Self.end(of: channel) }
            await group.next()
            // A write that waits for a stalled collector ends with its connection.
            channel.close(promise: nil)
            group.cancelAll()
        }
        droppedCount.wrappingAdd(UInt64(max(0, queue.waiting)), ordering: .relaxed)
        stalls.store(false, ordering: .relaxed)
    }

    /// Returns when the channel has closed, or the task is cancelled.
    private static func end(of channel: any Channel) async {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        channel.closeFuture.whenComplete { _ in close.finish() }
        for await _ in closed {}
    }

    /// Writes batches, each when the system has taken the one before it.
    private func forward(_ queue: HEPQueue, over channel: any Channel, _ collector: HEPCollector) async {
        for await batch in queue.batches {
            do {
                try await Self.write(batch, to: channel, collector.transport)
                sentCount.wrappingAdd(UInt64(batch.ends.count), ordering: .relaxed)
                if stalls.exchange(false, ordering: .relaxed) { report(collector, nil) }
            } catch {
                droppedCount.wrappingAdd(UInt64(batch.ends.count), ordering: .relaxed)
            }
            queue.remove(batch)
        }
    }

    /// Hands a batch to the system: in one piece by TCP, as datagrams with few system calls by UDP.
    private static func write(
        _ batch: HEPBatch, to channel: any Channel, _ transport: HEPCollector.Transport
    ) async throws {
        let buffer = ByteBuffer(bytes: batch.bytes)
        if transport == .tcp { return try await channel.writeAndFlush(buffer) }
        let done = channel.eventLoop.makePromise(of: Void.self)
        channel.eventLoop.execute {
            var start = 0
            for (number, end) in batch.ends.enumerated() {
                let datagram = buffer.getSlice(at: start, length: end - start)
                channel.write(datagram ?? ByteBuffer(), promise: number == batch.ends.count - 1 ? done : nil)
                start = end
            }
            if batch.isEmpty { done.succeed() }
            channel.flush()
        }
        try await done.futureResult.get()
    }

    /// Logs a failure, at most once a minute, and the end of a logged failure.
    private func report(_ collector: HEPCollector, _ failure: String?) {
        let address = "\(collector.host):\(collector.port)"
        let isNews = lastWarning.withLock { last in
            guard failure != nil else {
                defer { last?.isOpen = false }
                return last?.isOpen ?? false
            }
            if let last, last.isOpen || ContinuousClock.now - last.at < Self.quiet { return false }
            last = (.now, true)
            return true
        }
        guard isNews else { return }
        guard let failure else { return logger.notice("HEP collector \(address) takes messages again") }
        logger.warning(
            """
            HEP collector \(address) takes no messages, and they are left out until it does; calls are not affected; see \
            trace.hep.collector
            """, metadata: ["reason": "\(failure)"])
    }
}
