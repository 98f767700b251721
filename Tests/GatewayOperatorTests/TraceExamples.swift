// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import GatewayOperator

/// Messages of a trace as tests use them.
enum TraceExamples {
    static let trunk = TraceEndpoint(bytes: [203, 0, 113, 5], port: 5060, text: "203.0.113.5:5060")
    static let herald = TraceEndpoint(bytes: [192, 0, 2, 10], port: 5061, text: "192.0.2.10:5061")
    static let trunk6 = TraceEndpoint(
        bytes: [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [5], port: 5060, text: "[2001:db8::5]:5060")
    static let herald6 = TraceEndpoint(
        bytes: [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [10], port: 5060,
        text: "[2001:db8::a]:5060")
    static let sip = "OPTIONS sip:192.0.2.10 SIP/2.0\r\nCall-ID: a@b\r\nContent-Length: 0\r\n\r\n"

    static func message(
        _ summary: String = "OPTIONS", received: Bool = true, transport: TracedMessage.Transport = .udp,
        from source: TraceEndpoint = trunk, to destination: TraceEndpoint = herald,
        side: TracedMessage.Side = .trunk, peer: String = "carrier", text: String = sip
    ) -> TracedMessage {
        TracedMessage(
            isReceived: received, transport: transport, source: source, destination: destination, side: side,
            peer: peer, summary: summary, bytes: Data(text.utf8))
    }

    static func line(_ event: TraceLine.Event, after milliseconds: Int64 = 0, callID: String = "a@b") -> TraceLine {
        TraceLine(event, wallMicroseconds: 1_800_000_000_123_456 + milliseconds * 1000, callID: callID)
    }
}
