// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewayStore

/// Updates for one sibling, until it has stored them.
///
/// Several datagrams are on their way at a time. The window grows with each accepted one and halves after a loss, so a sibling
/// that is away gets one datagram every two seconds (RFC 8085 §3.1). Times are milliseconds of the monotonic clock.
struct SiblingSending: Sendable {
    /// Updates that travel together.
    struct Packet: Sendable {
        let sequence: UInt64
        let updates: [CallUpdate]
        fileprivate var isAccepted = false
        /// Nil while it is not on its way.
        fileprivate var sentAt: Int64?
    }

    /// Most packets on their way; the receiver keeps as many that have overtaken a lost one.
    static let mostInFlight = 64
    /// Most packets that the sibling has not stored yet.
    private static let mostUnstored = 4_096
    private static let firstWindow = 4
    private static let repetitions: ClosedRange<Int64> = 250...2_000

    private var queue = SiblingQueue()
    /// All unstored packets, without a gap in their sequences.
    private var packets: [Packet] = []
    /// The packets before this place are accepted by the sibling's present run.
    private var accepted = 0
    private var inFlight = 0
    /// The first sequence that the sibling's present run still waits for: what comes before has reached its ledger.
    private(set) var first: UInt64 = 1
    private var lastSequence: UInt64 = 0
    private var window = firstWindow
    private var repetition = repetitions.lowerBound
    private var roundTrip: Int64 = 0

    /// Updates that were sent.
    private(set) var sent: UInt64 = 0

    /// Updates that the sibling has not stored yet.
    var waiting: Int { queue.count + packets.reduce(0) { $0 + $1.updates.count } }
    /// Updates of other gateways' calls that were dropped because the sibling was away for too long.
    var dropped: UInt64 { queue.dropped }
    /// Updates of own calls that were dropped.
    var droppedOwn: UInt64 { queue.droppedOwn }
    /// True when nothing is left to send.
    var isIdle: Bool { queue.count == 0 && accepted == packets.count }

    mutating func append(_ updates: [ReportedUpdate]) { queue.append(updates) }

    /// The packets to send now.
    ///
    /// - Parameter most: packets on their way at a time.
    mutating func due(at now: Int64, most: Int) -> [Packet] {
        giveUpLost(at: now)
        var due: [Packet] = []
        var place = accepted
        while inFlight < min(window, most), let next = unsent(from: place) {
            packets[next].sentAt = now
            inFlight += 1
            due.append(packets[next])
            place = next + 1
        }
        return due
    }

    /// Marks packets without a response as not sent.
    private mutating func giveUpLost(at now: Int64) {
        var (left, isLost) = (inFlight, false)
        for place in packets[accepted...].indices {
            guard left > 0 else { break }
            guard let sentAt = packets[place].sentAt else { continue }
            left -= 1
            guard now - sentAt >= repetition else { continue }
            packets[place].sentAt = nil
            inFlight -= 1
            isLost = true
        }
        guard isLost else { return }
        window = max(1, window / 2)
        repetition = min(repetition * 2, Self.repetitions.upperBound)
    }

    /// The place of the next packet to send, made of waiting updates if there is none.
    private mutating func unsent(from place: Int) -> Int? {
        // The receiver keeps no packet that is further ahead.
        let end = first + UInt64(Self.mostInFlight)
        let known = packets[min(place, packets.count)...].firstIndex {
            $0.sequence >= end || !$0.isAccepted && $0.sentAt == nil
        }
        if let known { return packets[known].sequence < end ? known : nil }
        // A packet that is not full waits for the response to the one before.
        guard packets.count < Self.mostUnstored, lastSequence + 1 < end,
            inFlight == 0 || queue.count >= SiblingDatagram.mostUpdates
        else { return nil }
        let updates = queue.take(SiblingDatagram.mostUpdates)
        guard !updates.isEmpty else { return nil }
        lastSequence += 1
        packets.append(Packet(sequence: lastSequence, updates: updates))
        sent += UInt64(updates.count)
        return packets.count - 1
    }

    /// Takes in a response: removes what the sibling has stored, and remembers what it has accepted.
    mutating func settle(_ response: SiblingDatagram) {
        var progress = 0
        first = max(first, response.received + 1)
        for place in packets[accepted...].indices {
            let sequence = packets[place].sequence
            let distance = sequence > response.received ? sequence - response.received : 0
            guard distance <= 64 else { break }
            guard !packets[place].isAccepted, distance == 0 || response.ahead >> (distance - 1) & 1 == 1 else {
                continue
            }
            packets[place].isAccepted = true
            if packets[place].sentAt.take() != nil { inFlight -= 1 }
            progress += 1
        }
        accepted = packets[accepted...].firstIndex { !$0.isAccepted } ?? packets.count
        let stored = packets[..<accepted].prefix { $0.sequence <= response.stored }.count
        packets.removeFirst(stored)
        accepted -= stored
        guard progress > 0 else { return }
        window = min(window + progress, Self.mostInFlight)
        repetition = leastRepetition
    }

    /// Takes in the round trip of an exchange, in milliseconds.
    mutating func measure(roundTrip measured: Int64) {
        roundTrip = roundTrip == 0 ? measured : (roundTrip * 7 + measured) / 8
    }

    private var leastRepetition: Int64 {
        min(max(roundTrip * 3, Self.repetitions.lowerBound), Self.repetitions.upperBound)
    }

    /// Begins with another process of the sibling: all that the one before did not store is sent again.
    mutating func begin() {
        for place in packets.indices { (packets[place].isAccepted, packets[place].sentAt) = (false, nil) }
        (accepted, inFlight, window, repetition) = (0, 0, Self.firstWindow, leastRepetition)
        first = packets.first?.sequence ?? lastSequence + 1
    }
}
