// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The stream messages that a worker has taken out of its inbox and handles in rounds.
///
/// Streams can deliver thousands of messages at once. Rounds let datagrams and timers proceed in between. Owned by one
/// worker thread.
struct StreamBacklog {
    /// Messages per round.
    static let turn = 32
    /// Queued bytes that count as full: about 10,000 messages, or 0.1 s of work.
    ///
    /// Connections deliver a megabyte at a time. That would be a large part of a shorter queue, and calls would be shed
    /// in waves (docs/performance/log.md). An inbox takes twice as much before it stops reading from connections,
    /// which also delays calls in progress.
    static let fullBytes = 8 << 20
    /// Queued bytes that count as empty: connections deliver as much between two rounds.
    static let emptyBytes = 64 << 10

    private let inbox: StreamInbox
    /// Reversed, so the last element is next.
    private var taken: [StreamArrival] = []

    init(of inbox: StreamInbox) { self.inbox = inbox }

    /// True if nothing is left.
    ///
    /// No wake-up announces the remaining messages.
    var isEmpty: Bool { taken.isEmpty }

    /// Fill level.
    ///
    /// Above 1, connections are soon no longer read.
    var filling: Double {
        let waiting = inbox.waitingBytes
        return waiting > Self.emptyBytes ? Double(waiting) / Double(Self.fullBytes) : 0
    }

    /// Takes the contents of the inbox if nothing is left from the last time.
    mutating func renew() {
        guard taken.isEmpty else { return }
        inbox.exchange(for: &taken)
        taken.reverse()
    }

    /// Handles the messages of one round, then releases their bytes in the inbox.
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
