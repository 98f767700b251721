// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import Primitives
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

    /// Bytes of packets that leave together.
    static let longestBatch = 65_536
    /// Records of a round, so that a flood does not keep the lock.
    private static let round = 2048

    /// Seconds of the longest trace.
    static let longest = 86_400

    private struct Reader {
        let order: TraceOrder
        let events: AsyncStream<TraceLine>.Continuation
        /// Monotonic milliseconds.
        let until: UInt64
        var lost = 0
        var nextAlive: UInt64 = 0
        /// The ring's drops when the reader began, or was last informed.
        var dropsSeen: UInt64
    }

    /// An export with the packets of the present round.
    private struct Export {
        let id: Int
        let queue: HEPQueue
        var batch = HEPBatch()
    }

    private struct State {
        var readers: [Int: Reader] = [:]
        /// An array, because a loop over its positions changes a batch in its place.
        var exports: [Export] = []
        var next = 0
        /// The oldest record; its memory is reused.
        var record = TraceRecord()
        var peers = TracedPeers()
        var hasIdleTap: Bool { readers.isEmpty && exports.isEmpty }
        /// Whether a reader selects by the trunk or the parties of a call.
        var asksForParties: Bool { readers.values.contains { $0.order.asksForParties } }
        var calls = TraceCalls()
        var lost: UInt64 = 0
        var hasStopped = false
    }

    private let tap: TraceTap
    private let capacity: Int
    private let settings: CurrentSettings
    private let now: @Sendable () -> Moment
    private let state = Mutex(State())
    private let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameter capacity: records that wait for this service.
    init(
        _ tap: TraceTap, capacity: Int = TraceTap.usualCapacity, settings: CurrentSettings,
        now: @escaping @Sendable () -> Moment
    ) {
        self.tap = tap
        self.capacity = capacity
        self.settings = settings
        self.now = now
    }

    /// Events that were left out: no reader got those of a full ring, one reader did not get those it was too slow for.
    var dropped: (ring: UInt64, readers: UInt64) { (tap.dropped, state.withLock { $0.lost }) }

    func trace(_ order: TraceOrder) throws(TraceRefusal) -> AsyncStream<TraceLine> {
        if let trunk = order.trunk, !settings.load().topology.trunks.contains(where: { $0.name == trunk }) {
            throw TraceRefusal(settings.load().topology.noTrunk(named: trunk))
        }
        if let customer = order.customer {
            let routed = KnownCustomers(settings.load().topology.routes.customerNames)
            if let problem = routed.problemOfRoute(to: customer) { throw TraceRefusal(problem) }
        }
        var order = order
        order.seconds = min(max(1, order.seconds ?? 300), Self.longest)
        let (stream, events) = AsyncStream.makeStream(
            of: TraceLine.self, bufferingPolicy: .bufferingOldest(Self.waiting))
        let until = now().milliseconds + UInt64(order.seconds ?? 0) * 1000
        let id = try begin { state throws(TraceRefusal) in
            guard state.readers.count < Self.mostReaders else {
                throw TraceRefusal("\(Self.mostReaders) traces run already; wait for the end of one")
            }
            state.readers[state.next] = Reader(order: order, events: events, until: until, dropsSeen: tap.dropped)
        }
        events.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    func export(to queue: HEPQueue) throws(TraceRefusal) {
        let id = try begin { state throws(TraceRefusal) in
            state.exports.append(Export(id: state.next, queue: queue))
        }
        queue.onEnd { [weak self] in self?.remove(id) }
    }

    /// Adds a reader under a new number, and switches the tap on.
    private func begin(_ add: (inout State) throws(TraceRefusal) -> Void) throws(TraceRefusal) -> Int {
        let id = try state.withLock { state throws(TraceRefusal) in
            guard !state.hasStopped else { throw TraceRefusal("the gateway is stopping and traces nothing") }
            let isFirst = state.hasIdleTap
            state.next += 1
            try add(&state)
            // Records of an earlier trace are of no use.
            if isFirst { while tap.take(into: &state.record) {} }
            // Under the lock, so that the end of another reader does not switch the tap off.
            tap.start(capacity: capacity)
            return state.next
        }
        wake.yield()
        return id
    }

    private func remove(_ id: Int) {
        state.withLock { state in
            state.readers[id] = nil
            state.exports.removeAll { $0.id == id }
            guard state.hasIdleTap else { return }
            tap.stop()
            state.calls.removeAll()
        }
    }

    /// Passes outcomes to the readers of their calls; any thread, does not wait.
    func ended(_ records: [CallRecord]) {
        guard tap.isOn else { return }
        let time = now().wallMicroseconds
        state.withLock { state in
            guard !state.readers.isEmpty else { return }
            let secret = settings.load().secret
            for record in records {
                let known = Array(record.sipCallID.utf8)[...]
                // Of a withheld caller the record has a hash of the Call-ID.
                let callID = state.calls.callID(named: TraceCalls.Key(known)) ?? known
                let key = TraceCalls.Key(callID)
                guard let marks = state.calls.marks(of: key) else { continue }
                let parties = state.calls.parties(of: key)
                send(of: callID, marks, parties, secret, at: time, &state) { _ in .outcome(record.traced) }
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
                if drain() { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(20)) }
            }
        }
    }

    /// Ends all traces; no further one begins.
    func stop() {
        let (readers, queues) = state.withLock { state in
            state.hasStopped = true
            return (state.readers.values.map(\.events), state.exports.map(\.queue))
        }
        let time = now().wallMicroseconds
        for reader in readers {
            reader.yield(TraceLine(.end("the gateway stops"), wallMicroseconds: time))
            reader.finish()
        }
        for queue in queues { queue.finish() }
    }

    /// Passes waiting records on, and ends traces whose time is over.
    ///
    /// - Returns: true if more records may wait.
    @discardableResult func drain() -> Bool {
        let moment = now()
        let settings = settings.load()
        let (over, isFull) = state.withLock { state in
            state.peers.use(settings)
            let asksForParties = state.asksForParties
            var count = 0
            // Exclusive while it is read: no copy of its bytes.
            var record = TraceRecord()
            swap(&record, &state.record)
            while count < Self.round, tap.take(into: &record) {
                pass(record, settings, asksForParties: asksForParties, &state)
                count += 1
            }
            swap(&record, &state.record)
            for position in state.exports.indices { flush(position, &state) }
            return (keepAlive(moment, &state), count == Self.round)
        }
        for reader in over {
            reader.yield(TraceLine(.end("its time is over; see --for"), wallMicroseconds: moment.wallMicroseconds))
            reader.finish()
        }
        return isFull
    }

    /// Passes the packets of an export to its queue.
    private func flush(_ position: Int, _ state: inout State) {
        let export = state.exports[position]
        guard !export.batch.isEmpty else { return }
        state.exports[position].batch = HEPBatch()
        export.queue.offer(export.batch)
    }

    /// Sends a sign of life once a second, so that a closed connection is found; returns the readers whose time is over.
    private func keepAlive(_ moment: Moment, _ state: inout State) -> [AsyncStream<TraceLine>.Continuation] {
        var over: [AsyncStream<TraceLine>.Continuation] = []
        for id in state.readers.keys {
            guard let reader = state.readers[id] else { continue }
            if reader.until <= moment.milliseconds { over.append(reader.events) }
            guard reader.nextAlive <= moment.milliseconds else { continue }
            state.readers[id]?.nextAlive = moment.milliseconds + 1000
            deliver(TraceLine(.alive, wallMicroseconds: moment.wallMicroseconds), to: id, &state)
        }
        return over
    }

    // MARK: Records

    private func pass(
        _ record: TraceRecord, _ settings: GatewaySettings, asksForParties: Bool, _ state: inout State
    ) {
        let topology = settings.topology
        if record.kind == .decided { return passDecision(record, settings, &state) }
        let facts = TraceFacts(record.bytes)
        let callID = facts?.callID ?? []
        let peer = state.peers.peer(of: record, topology)
        // A message that nobody can read belongs to no call.
        var marks: TraceCalls.Marks = []
        var parties: TraceCalls.Parties?
        if let facts {
            let key = TraceCalls.Key(callID)
            marks = state.calls.add(
                facts, key, isReceived: record.kind == .received, peer: peer, keepsTrunk: asksForParties,
                customer: topology.customer(of: record, facts))
            if record.kind == .received, facts.isInitial, marks.contains(.withheld) {
                state.calls.nameWithheld(callID, settings.secret)
            }
            if asksForParties || marks.exposure(.masked) == .withheld { parties = state.calls.parties(of: key) }
        }
        let view = TracedView(
            record: record, facts: facts, marks: marks, parties: parties, peer: peer, sockets: topology.sockets,
            secret: settings.secret)
        for position in state.exports.indices {
            let queue = state.exports[position].queue
            view.append(queue.packet, queue.numbers, to: &state.exports[position].batch)
            if state.exports[position].batch.bytes.count >= Self.longestBatch { flush(position, &state) }
        }
        for (id, reader) in state.readers where reader.order.matches(marks, callID: callID, parties) {
            deliver(view.line(reader.order.numbers), to: id, &state)
        }
    }

    private func passDecision(_ record: TraceRecord, _ settings: GatewaySettings, _ state: inout State) {
        let decision = record.decision
        let callID = record.bytes[...]
        let key = TraceCalls.Key(callID)
        let marks = state.calls.add(isWithheld: decision.evidence.isWithheld, key)
        if decision.evidence.isWithheld { state.calls.nameWithheld(callID, settings.secret) }
        guard !state.readers.isEmpty else { return }
        let brand = String(decoding: record.brand, as: UTF8.self)
        let word = decision.reason?.description ?? "matched"
        let text = brand.isEmpty ? word : "\(word) \"\(brand)\""
        let (parties, time) = (state.calls.parties(of: key), record.wallMicroseconds)
        send(of: callID, marks, parties, settings.secret, at: time, &state) { exposure in
            .decision(text, evidence: decision.evidence(exposure, brand: brand))
        }
    }

    private func send(
        of callID: ArraySlice<UInt8>, _ marks: TraceCalls.Marks, _ parties: TraceCalls.Parties?, _ secret: Secret,
        at time: Int64, _ state: inout State, event: (TraceRedaction.Exposure) -> TraceLine.Event
    ) {
        for (id, reader) in state.readers where reader.order.matches(marks, callID: callID, parties) {
            let numbers = reader.order.numbers
            let shown = TraceRedaction(marks, numbers, secrets: parties?.callers ?? [], secret).callID(callID)
            deliver(TraceLine(event(marks.exposure(numbers)), wallMicroseconds: time, callID: shown), to: id, &state)
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
