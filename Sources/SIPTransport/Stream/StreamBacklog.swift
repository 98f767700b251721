// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// What a worker took out of its inbox and goes through a turn at a time, and how much waits.
///
/// In turns, because streams may bring thousands of messages at once, and datagrams and timers wait meanwhile.
/// Owned by one worker's thread.
struct StreamBacklog {
    /// Messages of a turn.
    static let turn = 32
    /// Bytes that wait when it counts as full.
    ///
    /// Some 10,000 messages, 0.1 s of work: connections bring a megabyte at a time, and of a shorter queue that would be so
    /// large a part that calls were shed in waves (docs/performance/log.md). An inbox takes twice as much before it
    /// holds connections back, which holds back calls in progress too.
    static let fullBytes = 8 << 20
    /// Bytes that wait when it counts as empty: no more than connections bring between two turns anyway.
    static let emptyBytes = 64 << 10

    private let inbox: StreamInbox
    /// The last is the next.
    private var taken: [StreamArrival] = []

    init(of inbox: StreamInbox) { self.inbox = inbox }

    /// Whether nothing of it waits; of what does, no wake-up tells.
    var isEmpty: Bool { taken.isEmpty }

    /// How full it is; above 1 connections are held back soon.
    var filling: Double {
        let waiting = inbox.waitingBytes
        return waiting > Self.emptyBytes ? Double(waiting) / Double(Self.fullBytes) : 0
    }

    /// Takes what is new, once what was taken is done.
    mutating func renew() {
        guard taken.isEmpty else { return }
        inbox.exchange(for: &taken)
        taken.reverse()
    }

    /// Gives the messages of a turn one after the other; they have made room when all of them are done.
    mutating func takeTurn(_ handle: (StreamArrival) -> Void) {
        var bytes = 0
        for _ in 0..<Self.turn {
            guard let arrival = taken.popLast() else { break }
            bytes += arrival.bytes
            handle(arrival)
        }
        inbox.release(bytes)
    }
}
