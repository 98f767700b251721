// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// Turns rejected messages into a few log lines and a short list for the status page.
///
/// One line for each sender in `pause`, and at most `linesAtOnce` lines in `window`; the rest is counted and reported in
/// one line. Memory is bounded by `capacity` senders. Pure: time comes in.
public struct RejectionDigest: Sendable {
    /// How much is logged; seconds.
    public struct Rules: Sendable {
        /// From one line about a sender to the next about the same.
        public var pause: Int64 = 600
        public var window: Int64 = 60
        public var linesAtOnce = 10
        public var capacity = 512
        /// Senders on the status page.
        public var shown = 32

        public init() {}
    }

    /// One line for the log.
    public struct Line: Hashable, Sendable {
        public let text: String
        /// False for what needs no action.
        public let isWarning: Bool
        /// Of the message it speaks of; nil for a line about several senders.
        public let transport: SIPTransportKind?
    }

    private struct Entry {
        var rejection: Rejection
        var loggedAt: Int64?
        /// Messages since the last line.
        var unlogged: UInt64
    }

    private let rules: Rules
    /// The one whose last message is oldest comes first.
    private var entries: [Entry] = []
    private var windowStart: Int64?
    private var linesInWindow = 0
    /// Messages that no line and no entry speaks of.
    private var passedOver: UInt64 = 0
    private var scannersLoggedAt: Int64?
    private var scannerMessages: UInt64 = 0
    private var scannerHosts: Set<PeerAddress> = []
    /// The unknown peers that send INVITEs.
    public private(set) var unknownCallers = UnknownCallers()

    public init(rules: Rules = Rules()) { self.rules = rules }

    /// Takes what was rejected since the last time, and gives the lines for it.
    ///
    /// - Parameters:
    ///   - leftOut: messages that were counted alone.
    ///   - now: monotonic seconds.
    public mutating func take(_ rejections: [Rejection], leftOut: UInt64 = 0, at now: Int64) -> [Line] {
        var lines: [Line] = []
        passedOver += leftOut
        unknownCallers.add(rejections, at: now)
        for rejection in rejections.sorted(by: { $0.last < $1.last }) {
            if rejection.sender == .scanner { recordScanner(rejection) }
            let entry = keep(rejection)
            guard rejection.isWorthALine, entry.loggedAt.map({ now - $0 >= rules.pause }) ?? true else { continue }
            guard takesLine(at: now) else {
                passedOver += rejection.count
                continue
            }
            lines.append(
                Line(text: rejection.line(entry.unlogged), isWarning: true, transport: rejection.transport))
            entries[entries.count - 1].loggedAt = now
            entries[entries.count - 1].unlogged = 0
        }
        if let line = scannerLine(at: now) { lines.append(line) }
        if let line = summary(at: now) { lines.append(line) }
        return lines
    }

    /// The senders whose messages were rejected last, newest first.
    public var latest: [Rejection] { entries.suffix(rules.shown).reversed().map(\.rejection) }

    /// Counts a record for its sender and puts the sender last.
    private mutating func keep(_ rejection: Rejection) -> Entry {
        var entry = Entry(rejection: rejection, loggedAt: nil, unlogged: rejection.count)
        if let known = entries.lastIndex(where: { $0.rejection.isLike(rejection) }) {
            entry = entries.remove(at: known)
            entry.rejection.add(rejection)
            entry.unlogged += rejection.count
        } else if entries.count >= rules.capacity {
            entries.removeFirst()
        }
        entries.append(entry)
        return entry
    }

    private mutating func takesLine(at now: Int64) -> Bool {
        if windowStart.map({ now - $0 >= rules.window }) ?? true {
            windowStart = now
            linesInWindow = 0
        }
        guard linesInWindow < rules.linesAtOnce else { return false }
        linesInWindow += 1
        return true
    }

    private mutating func recordScanner(_ rejection: Rejection) {
        scannerMessages += rejection.count
        if scannerHosts.count < rules.capacity { scannerHosts.insert(rejection.source.with(port: 0)) }
    }

    /// One line about all known scanners together.
    private mutating func scannerLine(at now: Int64) -> Line? {
        guard scannerMessages > 0, scannersLoggedAt.map({ now - $0 >= rules.pause }) ?? true else { return nil }
        scannersLoggedAt = now
        defer {
            scannerMessages = 0
            scannerHosts = []
        }
        return Line(
            text: "requests of known scanners dropped: \(scannerMessages), addresses: \(scannerHosts.count); "
                + "Herald does not respond to them", isWarning: false, transport: nil)
    }

    /// One line a window about all that had no line of its own.
    private mutating func summary(at now: Int64) -> Line? {
        guard passedOver > 0, takesLine(at: now) else { return nil }
        defer { passedOver = 0 }
        return Line(
            text: "\(passedOver) more messages rejected, of more senders than the log has lines for; "
                + "/status lists the latest, the firewall may drop the rest", isWarning: true, transport: nil)
    }
}
