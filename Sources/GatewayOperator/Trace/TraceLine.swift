// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An address and a port of a traced message.
struct TraceEndpoint: Hashable, Sendable, Codable {
    /// The address bytes in network order: four or sixteen.
    let bytes: [UInt8]
    let port: UInt16
    /// `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    let text: String

    var isIPv6: Bool { bytes.count == 16 }
}

/// A traced SIP message, as the reader of the trace may see it.
struct TracedMessage: Hashable, Sendable, Codable {
    /// The kind of the configured peer at the far end.
    enum Side: String, Hashable, Sendable, Codable { case trunk, pbx, unknown }
    /// The transport of the hop; TLS messages are traced decrypted.
    enum Transport: String, Hashable, Sendable, Codable { case udp, tcp, tls }

    /// True for a message that Herald received, false for one that it sent.
    var isReceived: Bool
    var transport: Transport
    var source: TraceEndpoint
    var destination: TraceEndpoint
    var side: Side
    /// The name of the peer, or its address if it is unknown.
    var peer: String
    /// The first line without its URI: `INVITE`, `180 Ringing`.
    var summary: String
    /// The message after masking.
    var bytes: Data
    /// Bytes of the message that the trace left out because it is too long; 0 for a whole message.
    var cut: Int = 0
}

/// One event of a trace: a message, a decision, an outcome, or the end.
struct TraceLine: Hashable, Sendable, Codable {
    /// The event of the line.
    enum Event: Hashable, Sendable, Codable {
        case message(TracedMessage)
        /// The branding decision on an INVITE, and its evidence.
        case decision(String, evidence: String)
        /// The outcome of the call, as the ledger has it.
        case outcome(String)
        /// The trace has ended; the text has the reason.
        case end(String)
        /// Nothing happened; the line shows that the gateway runs.
        case alive
    }

    var event: Event
    /// Wall clock in microseconds since 1970.
    var wallMicroseconds: Int64
    /// The SIP Call-ID after masking.
    var callID: String
    /// Events left out in front of this one, because the reader was too slow or the ring was full.
    var lost: Int

    init(_ event: Event, wallMicroseconds: Int64, callID: String = "", lost: Int = 0) {
        self.event = event
        self.wallMicroseconds = wallMicroseconds
        self.callID = callID
        self.lost = lost
    }
}

/// The order of a trace: which calls, for how long, and how numbers are shown.
package struct TraceOrder: Hashable, Sendable, Codable {
    /// The treatment of telephone numbers; a withheld number appears in neither.
    package enum Numbers: String, Hashable, Sendable, Codable, CaseIterable { case masked, full }

    /// A caller's or called number, in any form; nil for all.
    var number: String?
    /// Any part of a Call-ID; nil for all.
    var callID: String?
    /// The name of a trunk; nil for all.
    var trunk: String?
    /// The name of a customer; nil for all.
    var customer: String?
    /// Seconds after which the trace ends; nil for no end.
    var seconds: Int?
    var numbers = Numbers.masked

    /// The last digits of `number` that are compared: without a prefix of zeros.
    static func digits(_ number: some Sequence<UInt8>) -> [UInt8] {
        Array(number.filter { (48...57).contains($0) }.drop { $0 == 48 })
    }

    /// Whether two numbers are the same, written with or without country code.
    static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        let (one, other) = (digits(one), digits(other))
        let (short, long) = one.count <= other.count ? (one, other) : (other, one)
        // A short number would match the end of many others.
        return short.count >= 6 ? long.suffix(short.count).elementsEqual(short) : !short.isEmpty && one == other
    }
}

/// The running gateway in the role of the source of traces.
protocol TraceSource: Sendable {
    /// Begins a trace; the stream ends with the trace.
    ///
    /// - Throws: `TraceRefusal` if as many traces run as are allowed, or if the order has an unknown trunk or customer.
    func trace(_ order: TraceOrder) throws(TraceRefusal) -> AsyncStream<TraceLine>

    /// Begins a trace of all calls for an export, which does not count as one of the few traces.
    ///
    /// - Throws: `TraceRefusal` if the gateway stops.
    func export(to queue: HEPQueue) throws(TraceRefusal)
}

/// The reason why a trace does not begin, with its remedy.
struct TraceRefusal: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
