// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import GatewayAdmin
import SIPCore
import ServiceLifecycle
import Synchronization

/// Reads the tap of the call path and passes its records to the readers of traces.
///
/// The tap is on while there is a reader. A reader that is too slow loses events, which are counted, and costs no memory beyond
/// its queue.
final class TraceService: Service, TraceSource {
    /// Readers at a time, beside HEP.
    static let mostReaders = 4
    /// Events that wait for one reader.
    static let waiting = 512

    /// Seconds of the longest trace.
    static let longest = 86_400

    private struct Reader {
        let order: TraceOrder
        let events: AsyncStream<TraceLine>.Continuation
        /// Monotonic milliseconds; nil for no end.
        let until: UInt64?
        var lost = 0
        var nextAlive: UInt64 = 0
        /// The ring's drops when the reader began, or was last informed.
        var dropsSeen: UInt64
    }

    private struct State {
        var readers: [Int: Reader] = [:]
        var next = 0
        var calls = TraceCalls()
        var lost: UInt64 = 0
        var hasStopped = false
    }

    private let tap: TraceTap
    private let settings: CurrentSettings
    private let now: @Sendable () -> Moment
    private let state = Mutex(State())
    private let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(_ tap: TraceTap, settings: CurrentSettings, now: @escaping @Sendable () -> Moment) {
        self.tap = tap
        self.settings = settings
        self.now = now
    }

    /// Events that were left out: the ring was full, or a reader too slow.
    var dropped: (ring: UInt64, readers: UInt64) { (tap.dropped, state.withLock { $0.lost }) }

    func trace(_ order: TraceOrder) throws(TraceRefusal) -> AsyncStream<TraceLine> {
        if let trunk = order.trunk, !settings.load().topology.trunks.contains(where: { $0.name == trunk }) {
            let names = settings.load().topology.trunks.map(\.name).joined(separator: ", ")
            throw TraceRefusal("there is no trunk \(trunk); the trunks are \(names)")
        }
        var order = order
        order.seconds = min(max(1, order.seconds ?? 300), Self.longest)
        return try stream(order, isLimited: true)
    }

    func export(_ numbers: TraceOrder.Numbers) throws(TraceRefusal) -> AsyncStream<TraceLine> {
        var order = TraceOrder()
        order.numbers = numbers
        return try stream(order, isLimited: false)
    }

    private func stream(_ order: TraceOrder, isLimited: Bool) throws(TraceRefusal) -> AsyncStream<TraceLine> {
        let (stream, events) = AsyncStream.makeStream(
            of: TraceLine.self, bufferingPolicy: .bufferingOldest(Self.waiting))
        let start = now().milliseconds
        let until = order.seconds.map { start + UInt64(max(0, $0)) * 1000 }
        let id = try state.withLock { state throws(TraceRefusal) in
            guard !state.hasStopped else { throw TraceRefusal("the gateway is stopping and traces nothing") }
            guard !isLimited || state.readers.values.count(where: { $0.until != nil }) < Self.mostReaders else {
                throw TraceRefusal("\(Self.mostReaders) traces run already; wait for the end of one")
            }
            state.next += 1
            state.readers[state.next] = Reader(order: order, events: events, until: until, dropsSeen: tap.dropped)
            // Records of an earlier trace are of no use.
            if state.readers.count == 1 { while tap.take() != nil {} }
            // Under the lock, so that the end of another reader does not switch the tap off.
            tap.set(true)
            return state.next
        }
        events.onTermination = { [weak self] _ in self?.remove(id) }
        wake.yield()
        return stream
    }

    private func remove(_ id: Int) {
        state.withLock { state in
            state.readers[id] = nil
            guard state.readers.isEmpty else { return }
            tap.set(false)
            state.calls.removeAll()
        }
    }

    /// Passes outcomes to the readers of their calls; any thread, does not wait.
    func ended(_ records: [CallRecord]) {
        guard tap.isOn else { return }
        let time = now().wallMicroseconds
        state.withLock { state in
            for record in records {
                let callID = Array(record.sipCallID.utf8)
                guard let call = state.calls.call(callID) else { continue }
                send(.outcome(record.traced), of: callID, call, [], at: time, &state)
            }
        }
    }

    // MARK: Service

    /// Runs until the service group shuts down; then all traces end.
    func run() async throws {
        await cancelWhenGracefulShutdown { await self.read() }
        stop()
    }

    private func read() async {
        for await _ in wakes {
            while tap.isOn, !Task.isCancelled {
                drain()
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Ends all traces; no further one begins.
    func stop() {
        let readers = state.withLock { state in
            state.hasStopped = true
            return state.readers.values.map(\.events)
        }
        let time = now().wallMicroseconds
        for reader in readers {
            reader.yield(TraceLine(.end("the gateway stops"), wallMicroseconds: time))
            reader.finish()
        }
    }

    /// Passes all waiting records on, and ends traces whose time is over.
    func drain() {
        let moment = now()
        let settings = settings.load()
        let over = state.withLock { state in
            // Bounded, so that a flood does not keep the lock.
            for _ in 0..<2048 {
                guard let record = tap.take() else { break }
                pass(record, settings.topology, &state)
            }
            return keepAlive(moment, &state)
        }
        for reader in over {
            reader.yield(TraceLine(.end("its time is over; see --for"), wallMicroseconds: moment.wallMicroseconds))
            reader.finish()
        }
    }

    /// Sends a sign of life once a second, so that a closed connection is found; returns the readers whose time is over.
    private func keepAlive(_ moment: Moment, _ state: inout State) -> [AsyncStream<TraceLine>.Continuation] {
        var over: [AsyncStream<TraceLine>.Continuation] = []
        for id in state.readers.keys {
            guard let reader = state.readers[id] else { continue }
            if let until = reader.until, until <= moment.milliseconds { over.append(reader.events) }
            guard reader.nextAlive <= moment.milliseconds else { continue }
            state.readers[id]?.nextAlive = moment.milliseconds + 1000
            deliver(TraceLine(.alive, wallMicroseconds: moment.wallMicroseconds), to: id, &state)
        }
        return over
    }

    // MARK: Records

    private func pass(_ record: TraceRecord, _ topology: GatewayTopology, _ state: inout State) {
        if record.kind == .decided { return passDecision(record, topology, &state) }
        let facts = TraceFacts(record.bytes)
        let callID = facts?.callID ?? []
        let peer = topology.tracedPeer(record.peer)
        let isReceived = record.kind == .received
        // A message that nobody can read belongs to no call.
        let call =
            facts == nil
            ? TraceCalls.Call()
            : state.calls.update(callID) { call in
                if let facts { call.add(facts, isReceived: isReceived, isFromPeer: peer != nil) }
                if let peer, peer.isTrunk { call.trunks.insert(peer.name) }
            }
        let view = TracedView(record: record, facts: facts, call: call, peer: peer, sockets: topology.sockets)
        for id in state.readers.keys {
            guard let reader = state.readers[id], call.matches(reader.order, callID: callID) else { continue }
            deliver(view.line(reader.order.numbers), to: id, &state)
        }
    }

    private func passDecision(_ record: TraceRecord, _ topology: GatewayTopology, _ state: inout State) {
        let decision = record.decision
        let call = state.calls.update(record.bytes) { if decision.evidence.isWithheld { $0.isWithheld = true } }
        let brand = String(decoding: record.brand, as: UTF8.self)
        let text = decision.reason?.description ?? (brand.isEmpty ? "matched" : "matched \"\(brand)\"")
        for id in state.readers.keys {
            guard let order = state.readers[id]?.order, call.matches(order, callID: record.bytes) else { continue }
            let event = TraceLine.Event.decision(text, evidence: decision.evidence(order.numbers, brand: brand))
            let shown = TraceRedaction(call.exposure(order.numbers), secrets: call.callers).callID(record.bytes)
            deliver(
                TraceLine(event, wallMicroseconds: record.wallMicroseconds, callID: shown), to: id, &state)
        }
    }

    private func send(
        _ event: TraceLine.Event, of callID: [UInt8], _ call: TraceCalls.Call, _ secrets: [[UInt8]], at time: Int64,
        _ state: inout State
    ) {
        for id in state.readers.keys {
            guard let order = state.readers[id]?.order, call.matches(order, callID: callID) else { continue }
            let shown = TraceRedaction(call.exposure(order.numbers), secrets: call.callers).callID(callID)
            deliver(TraceLine(event, wallMicroseconds: time, callID: shown), to: id, &state)
        }
    }

    private func deliver(_ line: TraceLine, to id: Int, _ state: inout State) {
        guard let reader = state.readers[id] else { return }
        let drops = tap.dropped
        var line = line
        line.lost = reader.lost + Int(drops &- reader.dropsSeen)
        switch reader.events.yield(line) {
        case .dropped:
            if case .alive = line.event { return }
            state.readers[id]?.lost += 1
            state.lost += 1
        default:
            state.readers[id]?.lost = 0
            state.readers[id]?.dropsSeen = drops
        }
    }
}
