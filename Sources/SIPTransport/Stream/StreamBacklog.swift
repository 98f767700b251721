// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Messages that a worker has taken out of its inbox, with their fill level.
///
/// The worker handles them in rounds, because streams may deliver thousands of messages at once while datagrams and
/// timers wait. Owned by one worker's thread.
struct StreamBacklog {
    /// Messages in one round.
    static let round = 32
    /// Waiting bytes that count as full.
    ///
    /// About 10,000 messages, 0.1 s of work. A connection delivers up to a megabyte at once; with a shorter queue that
    /// would shed calls in waves. An inbox holds twice as much before it stops reading
    /// connections, which delays calls in progress too.
    static let fullBytes = 8 << 20
    /// Waiting bytes that count as empty: about the bytes that connections deliver between two rounds.
    static let emptyBytes = 64 << 10

    private let inbox: StreamInbox
    /// In reverse order: the last element is the next message.
    private var taken: [StreamArrival] = []

    init(of inbox: StreamInbox) { self.inbox = inbox }

    /// True if no message waits. Waiting messages cause no wake-up.
    var isEmpty: Bool { taken.isEmpty }

    /// The fill level. Above 1, connections are soon not read.
    var filling: Double {
        let waiting = inbox.waitingBytes
        return waiting > Self.emptyBytes ? Double(waiting) / Double(Self.fullBytes) : 0
    }

    /// Takes new messages after the earlier ones are handled.
    mutating func renew() {
        guard taken.isEmpty else { return }
        inbox.exchange(for: &taken)
        taken.reverse()
    }

    /// Handles the messages of one round one by one. Their bytes are released at the end of the round.
    mutating func takeRound(_ handle: (StreamArrival) -> Void) {
        var bytes = 0
        for _ in 0..<Self.round {
            guard let arrival = taken.popLast() else { break }
            bytes += arrival.bytes
            handle(arrival)
        }
        inbox.release(bytes)
    }
}
