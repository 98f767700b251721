// SPDX-License-Identifier: Apache-2.0

import Logging
import Primitives
import Synchronization

/// Keeps the last lines of the log in memory, for a debug upload.
///
/// Lines and characters are bounded, control characters are escaped.
package final class RecentLog: Sendable {
    private struct Line {
        let text: String
        /// The customer that the line is about, if it names one.
        let customer: String?
    }

    private struct State {
        var lines: [Line] = []
        /// Position of the oldest line in `lines` once it is full.
        var next = 0
    }

    private let capacity: Int
    private let longest: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: lines kept.
    ///   - longest: characters kept of one line.
    package init(capacity: Int = 5000, longest: Int = 500) {
        self.capacity = capacity
        self.longest = longest
    }

    /// The lines, oldest first.
    package var lines: [String] { inOrder.map(\.text) }

    /// The lines that name one of these customers, oldest first.
    func lines(of customers: [String]) -> [String] {
        inOrder.filter { line in line.customer.map(customers.contains) ?? false }.map(\.text)
    }

    private var inOrder: [Line] {
        state.withLock { state in Array(state.lines[state.next...] + state.lines[..<state.next]) }
    }

    /// - Parameter customer: the customer that the line names.
    func append(_ line: String, customer: String? = nil) {
        let line = Line(text: TerminalText.visible(String(line.prefix(longest))), customer: customer)
        state.withLock { state in
            guard state.lines.count == capacity else { return state.lines.append(line) }
            state.lines[state.next] = line
            state.next = (state.next + 1) % capacity
        }
    }
}

/// Forwards every line to another handler and keeps it in a `RecentLog`.
struct RecentLogHandler: LogHandler {
    private var handler: any LogHandler
    private let label: String
    private let recent: RecentLog
    private let now: @Sendable () -> String

    /// - Parameter now: the time as a line shows it.
    init(
        _ handler: any LogHandler, label: String, recent: RecentLog, now: @escaping @Sendable () -> String
    ) {
        self.handler = handler
        self.label = label
        self.recent = recent
        self.now = now
    }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let details = all.map { " \($0.key)=\($0.value)" }.sorted().joined()
        recent.append(
            "\(now()) \(event.level) \(label): \(event.message)\(details)", customer: all["customer"].map { "\($0)" })
        handler.log(event: event)
    }
}
