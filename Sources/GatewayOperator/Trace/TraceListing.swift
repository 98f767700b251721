// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import Host
package import Primitives
import Synchronization
import UnixSignals

/// The options of `herald trace`; nil traces all calls.
package struct TraceQuery: Hashable, Sendable {
    /// A caller's or called number.
    package var number: String?
    /// Any part of a SIP Call-ID.
    package var callID: String?
    /// The name of a trunk.
    package var trunk: String?
    /// The name of a customer.
    package var customer: String?
    /// The duration with its unit, such as `5m`.
    package var duration = "5m"
    package var numbers = TraceOrder.Numbers.masked
    /// Whether OPTIONS outside of calls are shown. A Call-ID shows them too.
    package var hasProbes = false

    package init() {}

    /// The first invalid option with its remedy; nil where all are valid.
    package var problem: String? {
        if let number, TraceOrder.digits(number.utf8).count < 3 {
            return "--number must have three digits or more, such as +61255501001"
        }
        guard let seconds, (1...TraceService.longest).contains(seconds) else {
            return "--for must be a duration with its unit, 1s to 24h, such as 5m"
        }
        return nil
    }

    private var seconds: Int? { DurationText.read(duration).map { Int($0.components.seconds) } }

    /// The query as the gateway takes it.
    var order: TraceOrder {
        var order = TraceOrder()
        order.number = number
        order.callID = callID
        order.trunk = trunk
        order.customer = customer
        order.seconds = seconds
        order.numbers = numbers
        return order
    }
}

/// `herald trace`: prints calls of the running gateway as they happen.
package struct TraceListing: Sendable {
    private let folder: String
    private let query: TraceQuery

    /// - Parameter runtimeFolder: the folder of the control socket.
    package init(runtimeFolder: String, _ query: TraceQuery) {
        folder = runtimeFolder
        self.query = query
    }

    /// Writes events to standard output until the trace ends, or until SIGINT or SIGTERM.
    ///
    /// - Parameters:
    ///   - form: a ladder of 80 columns, or one with long names and whole texts.
    ///   - pcap: a file for the messages, which must not exist; nil for none.
    /// - Throws: `CommandFailure` when no gateway runs, or when a file cannot be written.
    package func run(_ form: TableForm, asJSON: Bool, pcap: String?) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let output = try CommandFailure.reported { try TraceOutput(query, form, asJSON: asJSON, pcap: pcap) }
        if !asJSON { Output.write("tracing for \(query.duration); Ctrl-C ends it\n") }
        try await firstOf(
            { for await _ in signals { return } },
            { [folder, query] in
                try await CommandFailure.reported {
                    try await ControlClient(folder: folder).trace(query.order) { try output.write($0) }
                }
            })
    }
}

/// The output of `herald trace`: standard output, and perhaps a pcap file.
private final class TraceOutput: Sendable {
    private let asJSON: Bool
    private let file: PcapWriter?
    private let state: Mutex<State>

    private struct State {
        var ladder: TraceLadder
        /// Nil shows them.
        var probes: TracedProbes?
    }

    init(_ query: TraceQuery, _ form: TableForm, asJSON: Bool, pcap: String?) throws {
        self.asJSON = asJSON
        let probes = query.hasProbes || query.callID != nil ? nil : TracedProbes()
        state = Mutex(State(ladder: TraceLadder(form), probes: probes))
        file = try pcap.map { try PcapWriter(path: $0) }
    }

    func write(_ next: TraceLine) throws {
        guard let line = state.withLock({ $0.probes == nil ? next : $0.probes?.shown(next) }) else { return }
        if case .message(let message) = line.event {
            try file?.append(message, wallMicroseconds: line.wallMicroseconds)
        }
        if !asJSON { return Output.write(state.withLock { $0.ladder.text(of: line) }) }
        if let members = line.json { try Output.write(json: members) }
    }
}

extension TraceLine {
    /// The event for `--json`; nil for one without content.
    var json: [String: JSONValue?]? {
        var members: [String: JSONValue?] = [
            "at": JSONValue(microseconds: wallMicroseconds), "call_id": callID.isEmpty ? nil : .string(callID),
            "lost": lost == 0 ? nil : .int(lost),
        ]
        switch event {
        case .alive: return lost == 0 ? nil : members
        case .end(let reason):
            members["event"] = .string("end")
            members["reason"] = .string(reason)
        case .decision(let decision, let evidence):
            members["event"] = .string("decision")
            members["decision"] = .string(decision)
            members["evidence"] = .string(evidence)
        case .outcome(let outcome):
            members["event"] = .string("outcome")
            members["outcome"] = .string(outcome)
        case .message(let message):
            members["event"] = .string("message")
            members["direction"] = .string(message.isReceived ? "received" : "sent")
            members["transport"] = .string(message.transport.rawValue)
            members["source"] = .string(message.source.text)
            members["destination"] = .string(message.destination.text)
            members["side"] = .string(message.side.rawValue)
            members["peer"] = .string(message.peer)
            members["summary"] = .string(message.summary)
            members["message"] = .string(String(decoding: message.bytes, as: UTF8.self))
            members["cut"] = message.cut == 0 ? nil : .int(message.cut)
        }
        return members
    }
}
