// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Leaves OPTIONS outside of calls out of a trace: health checks of the gateway, of its peers and of scanners.
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
    /// Whether the message is an OPTIONS or a response to one, by its CSeq (RFC 3261 §20.16).
    fileprivate var isOptions: Bool {
        if summary == "OPTIONS" { return true }
        let lines = String(decoding: bytes.prefix(8192), as: UTF8.self).split(whereSeparator: \.isNewline)
        let field = lines.dropFirst().first { line in
            line.prefix { $0 != ":" }.trimmingCharacters(in: .whitespaces).lowercased() == "cseq"
        }
        return field?.split(separator: " ").last == "OPTIONS"
    }
}
