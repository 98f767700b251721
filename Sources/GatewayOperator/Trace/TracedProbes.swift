// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore

/// Leaves OPTIONS outside of calls and dialogs out of a trace: health checks of the gateway, of its peers and of scanners.
///
/// Knows the newest 10,000 to 20,000 Call-IDs of calls. Not thread-safe.
struct TracedProbes {
    private var calls = Generations<String, Bool>(most: 10_000)
    /// Lost events in front of the lines that were left out.
    private var lost = 0

    /// A line as the trace shows it; nil for a message of a probe. An OPTIONS within a call is none.
    mutating func shown(_ line: TraceLine) -> TraceLine? {
        guard case .message(let message) = line.event else { return withLost(line) }
        if message.isOptions, calls.use(line.callID) == nil {
            lost += line.lost
            return nil
        }
        calls[line.callID] = true
        return withLost(line)
    }

    private mutating func withLost(_ line: TraceLine) -> TraceLine {
        var line = line
        (line.lost, lost) = (line.lost + lost, 0)
        return line
    }
}

extension TracedMessage {
    /// Whether the message is an OPTIONS outside of a dialog, or a response to an OPTIONS.
    ///
    /// A request has the method of its first line, whatever its CSeq has; one with a tag in To is within a dialog
    /// (RFC 3261 §12.2). A response is known by its CSeq (§20.16).
    fileprivate var isOptions: Bool {
        guard let message = try? SIPMessage.index([UInt8](bytes)) else { return false }
        if message.status == nil { return summary == "OPTIONS" && !message.isInDialog }
        return message.sequence.map { message[$0.method].elementsEqual("OPTIONS".utf8) } ?? false
    }
}
