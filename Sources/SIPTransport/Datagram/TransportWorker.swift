// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
public import Host
public import SIPCore
import Synchronization

/// The call thread: waits, reads datagrams in batches, runs the element, writes in batches.
///
/// One worker owns its sockets and its element. Its loop waits for no other thread. Timers are part of the same wait.
/// Messages of streams arrive in its inbox and leave by `StreamTransport`. Measured: 7.5 µs a relayed datagram at
/// 5,000/s, with SwiftNIO 11 to 13 µs.
public final class TransportWorker: Sendable {
    /// Receives the messages of streams for this worker.
    public let inbox: StreamInbox
    /// Time from the wake-up for a datagram with an INVITE to the INVITE that it caused.
    public let delays = DurationHistogram(.delay)
    private let sockets: [UDPSocket?]
    private let streams = Mutex<StreamTransport?>(nil)
    private let longestWait: UInt64
    private let wake: Int32
    private let stopping = Atomic<Bool>(false)
    private let finished = Atomic<Bool>(false)
    /// Completed rounds of the loop; only the thread writes.
    private let completedRounds = Atomic<UInt64>(0)
    private let realTimeShare: Double
    private let realTimeWanted = Atomic<Bool>(false)
    private let granted = Mutex<CallThreadPriority.Granted?>(nil)

    /// Prepares a worker for its sockets.
    ///
    /// Elements send by the position in `sockets`.
    ///
    /// - Parameters:
    ///   - sockets: nil at the positions of TCP and TLS addresses.
    ///   - longestWait: milliseconds after which timers are checked in any case. Short if several workers share an
    ///     element's timers, because one may set a timer for another.
    ///   - realTimeShare: load below which the thread may be real-time; 0 for never.
    public init(sockets: [UDPSocket?], longestWait: UInt64 = 1000, realTimeShare: Double = 0.5) {
        self.sockets = sockets
        self.longestWait = longestWait
        self.realTimeShare = realTimeShare
        let wake = herald_open_wakeup()
        self.wake = wake
        inbox = StreamInbox { herald_wake(wake) }
    }

    /// Sets the worker's streams. Call before `start`.
    public func use(_ streams: StreamTransport) { self.streams.withLock { $0 = streams } }

    deinit { close(wake) }

    /// Starts the thread. `makeElement` runs on the thread, so that the element never leaves it.
    public func start<Element: SIPElement & SendableMetatype>(_ makeElement: @escaping @Sendable () -> Element) {
        let body = ThreadBody {
            let priority = CallThreadPriority(share: self.realTimeShare)
            self.granted.withLock { $0 = priority.granted }
            herald_preallocate_heap()
            let element = makeElement()
            self.run(element, priority)
            self.finished.store(true, ordering: .releasing)
        }
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(body).toOpaque()
        let failure = pthread_create(&thread, nil, runThreadBody, retained)
        precondition(failure == 0, "the system gave no thread for the UDP worker: errno \(failure)")
        pthread_detach(thread)
    }

    /// Switches the call thread between real-time and normal scheduling, if permitted.
    ///
    /// Any thread. Used while this program itself keeps the cores busy. The switch takes up to 0.1 s while messages
    /// arrive.
    public func setRealTime(_ enabled: Bool) { realTimeWanted.store(enabled, ordering: .relaxed) }

    /// Ends the thread after its present round. Any thread.
    public func stop() {
        stopping.store(true, ordering: .releasing)
        herald_wake(wake)
    }

    /// True if the thread has left its loop.
    public var hasFinished: Bool { finished.load(ordering: .acquiring) }

    /// Completed rounds of the loop, at least one every `longestWait`; nil once the thread has left it.
    public var rounds: UInt64? { hasFinished ? nil : completedRounds.load(ordering: .relaxed) }

    /// The scheduling that the system permits; nil before the thread runs.
    public var priority: CallThreadPriority.Granted? { granted.withLock { $0 } }

    /// The smallest receive buffer of its UDP sockets in bytes; nil without UDP.
    public var receiveBuffer: Int? { sockets.compactMap { $0?.receiveBuffer }.min() }

    private func run(_ element: some SIPElement, _ priority: consuming CallThreadPriority) {
        var batch = DatagramBatch(capacity: 65_535)
        var backlog = StreamBacklog(of: inbox)
        let streams = self.streams.withLock { $0 }
        // poll ignores a negative descriptor.
        var waiting = sockets.map { pollfd(fd: $0?.descriptor ?? -1, events: Int16(POLLIN), revents: 0) }
        waiting.append(pollfd(fd: wake, events: Int16(POLLIN), revents: 0))
        var deadline = element.nextDeadline
        var rounds: UInt64 = 0
        // Two seconds are twice the longest wait, and what a carrier waits at least before it tries another gateway.
        var pause = ProcessPause(of: 2_000, lasting: 500)
        while !stopping.load(ordering: .acquiring) {
            rounds &+= 1
            completedRounds.store(rounds, ordering: .relaxed)
            priority.beginsToWait()
            let ready = poll(&waiting, nfds_t(waiting.count), backlog.isEmpty ? timeout(until: deadline) : 0)
            priority.hasWaited(isAsked: realTimeWanted.load(ordering: .relaxed))
            let (now, woken) = Moment.reading()
            pause.round(at: Int64(now.milliseconds))
            element.followsPause = pause.isRecent(at: Int64(now.milliseconds))
            if ready > 0 {
                for position in sockets.indices where waiting[position].revents != 0 {
                    if waiting[position].revents & Int16(POLLERR) != 0 {
                        takeReturned(on: position, for: element, by: &batch, streams, at: now)
                    }
                    receive(on: position, into: &batch, for: element, streams, at: now, woken)
                }
                if waiting[sockets.count].revents != 0 {
                    herald_clear_wakeup(wake)
                    backlog.renew()
                }
            }
            if !backlog.isEmpty { takeStreams(&backlog, for: element, by: &batch, streams, at: now) }
            deadline = element.nextDeadline
            if let due = deadline, due <= now.milliseconds {
                element.fireTimers(at: now)
                flush(element, by: &batch, at: now)
                handOver(&batch, to: streams)
                deadline = element.nextDeadline
            }
        }
    }

    /// Takes datagrams returned as undeliverable. Only some at once, so that a flood of them does not block.
    private func takeReturned(
        on position: Int, for element: some SIPElement, by batch: inout DatagramBatch, _ streams: StreamTransport?,
        at now: Moment
    ) {
        guard let socket = sockets[position] else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
            for _ in 0..<Int(HERALD_DATAGRAM_BATCH) {
                let length = herald_receive_returned(socket.descriptor, buffer.baseAddress, buffer.count)
                guard length >= 0 else { break }
                guard length > 0 else { continue }
                element.cameBack(UnsafeBufferPointer(rebasing: buffer[..<Int(length)]).span, at: now)
                flush(element, by: &batch, at: now)
            }
        }
        handOver(&batch, to: streams)
    }

    private func takeStreams(
        _ backlog: inout StreamBacklog, for element: some SIPElement, by batch: inout DatagramBatch,
        _ streams: StreamTransport?, at now: Moment
    ) {
        element.filling = backlog.filling
        backlog.takeRound { arrival in
            switch arrival {
            case .message(let bytes, let flow):
                element.receive(bytes.span, by: flow, at: now)
            case .sendFailed(let token): element.sendFailed(token, at: now)
            }
        }
        flush(element, by: &batch, at: now)
        handOver(&batch, to: streams)
        // The wake-up of newer messages may have been cleared already.
        backlog.renew()
    }

    /// Returns the milliseconds until the deadline, at least 0 and at most the longest wait.
    private func timeout(until deadline: UInt64?) -> Int32 {
        guard let deadline else { return Int32(longestWait) }
        let now = Moment.monotonicMilliseconds()
        return deadline <= now ? 0 : Int32(min(deadline - now, longestWait))
    }

    private func receive(
        on position: Int, into batch: inout DatagramBatch, for element: some SIPElement, _ streams: StreamTransport?,
        at now: Moment, _ woken: UInt64
    ) {
        guard let socket = sockets[position] else { return }
        // Two batches per socket and round, so that a flood on one socket delays neither timers nor the others.
        for _ in 0..<2 {
            let count = batch.receive(on: socket.descriptor)
            // Only a full batch can leave datagrams behind. The system is asked only then.
            let isFull = count == Int(HERALD_DATAGRAM_BATCH)
            element.filling = isFull ? socket.filling : 0
            for index in 0..<count {
                let datagram = batch.received(index)
                let bytes = UnsafeBufferPointer(start: UnsafePointer(datagram.data), count: Int(datagram.length))
                if datagram.truncated != 0 {
                    element.record(.truncated)
                } else {
                    element.receive(bytes.span, by: Flow(source: PeerAddress(datagram), socket: position), at: now)
                }
                // After each datagram: the first of many must not wait for the last.
                if flush(element, by: &batch, at: now, awaitsInvite: bytes.isInvite) {
                    delays.record(nanoseconds: Moment.monotonicNanoseconds() &- woken)
                }
            }
            handOver(&batch, to: streams)
            if !isFull { return }
        }
    }

    /// Sends all waiting messages.
    ///
    /// Messages caused by a failed send go out in the same round. Messages for streams are kept for `handOver`: each
    /// alone would wake their thread each time.
    ///
    /// - Returns: true if an INVITE was among them, which is looked for only with `awaitsInvite`.
    @discardableResult
    private func flush(
        _ element: some SIPElement, by batch: inout DatagramBatch, at now: Moment, awaitsInvite: Bool = false
    ) -> Bool {
        var hasInvite = false
        // A request may fail at each of its targets at once. Then its sender gets a response.
        for _ in 0..<TargetGroup.mostTried + 2 {
            guard element.exchangeOutgoing(for: &batch.sending) else { break }
            if awaitsInvite, !hasInvite { hasInvite = batch.sending.contains { $0.bytes.isInvite } }
            send(&batch, for: element, at: now)
            batch.sending.removeAll(keepingCapacity: true)
        }
        return hasInvite
    }

    private func send(_ batch: inout DatagramBatch, for element: some SIPElement, at now: Moment) {
        var start = 0
        while start < batch.sending.count {
            let position = batch.sending[start].socket
            guard let socket = sockets[position] else {
                batch.streaming.append(batch.sending[start])
                start += 1
                continue
            }
            var end = start + 1
            while end < batch.sending.count, end - start < Int(HERALD_DATAGRAM_BATCH),
                batch.sending[end].socket == position
            {
                end += 1
            }
            let datagrams = batch.sending.span.extracting(start..<end)
            start += DatagramBatch.send(datagrams, on: socket.descriptor) { datagram, errno in
                element.record(.unsent(errno: errno))
                if datagram.token != .none, errno != EAGAIN { element.sendFailed(datagram.token, at: now) }
            }
        }
    }

    private func handOver(_ batch: inout DatagramBatch, to streams: StreamTransport?) {
        guard !batch.streaming.isEmpty else { return }
        streams?.send(batch.streaming)
        batch.streaming.removeAll(keepingCapacity: true)
    }
}

/// The body of a thread, boxed for the C entry point.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}

extension Moment {
    /// Returns the present time of the system's monotonic and real-time clocks.
    public static func now() -> Moment { reading().moment }

    /// Returns the present time, and the monotonic clock of that time in nanoseconds.
    fileprivate static func reading() -> (moment: Moment, nanoseconds: UInt64) {
        var wall = timespec()
        clock_gettime(CLOCK_REALTIME, &wall)
        let monotonic = monotonicNanoseconds()
        let moment = Moment(
            milliseconds: monotonic / 1_000_000,
            wallMicroseconds: Int64(wall.tv_sec) * 1_000_000 + Int64(wall.tv_nsec) / 1000)
        return (moment, monotonic)
    }

    /// Returns the monotonic clock in milliseconds.
    public static func monotonicMilliseconds() -> UInt64 { monotonicNanoseconds() / 1_000_000 }

    fileprivate static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    /// True for the first bytes of an INVITE; no other method begins so (RFC 3261 §7.1).
    fileprivate var isInvite: Bool {
        count > 6 && self[startIndex] == UInt8(ascii: "I") && self[startIndex + 1] == UInt8(ascii: "N")
            && self[startIndex + 2] == UInt8(ascii: "V")
    }
}
