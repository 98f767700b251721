// SPDX-License-Identifier: Apache-2.0

/// The received and rport parameters for the topmost Via of a request (RFC 3261 §18.2.1, RFC 3581 §4).
struct ReceivedParameters {
    /// One addition to the Via.
    struct Part {
        /// The range that it replaces.
        let range: Range<Int>
        fileprivate let lead: StaticString
        fileprivate let isPort: Bool
    }

    private let source: PeerAddress
    private var port: Part?
    private var host: Part?
    /// The source as the Via has it; nil for another host, and for IPv6, which has several spellings.
    private let written: Range<Int>?

    init(of source: PeerAddress, in bytes: Span<UInt8>, via: ViaValue) {
        self.source = source
        let claimed = PeerAddress(host: bytes.extracting(via.host), port: via.port ?? 5060)
        let differs = claimed.map { !$0.hasSameHost(as: source) } ?? true
        let hasOtherForms = source.isIPv6 || bytes[via.host.lowerBound] == UInt8(ascii: "[")
        written = differs || hasOtherForms ? nil : via.host
        // A port that the sender wrote itself is replaced, as an address is: responses go to the source (RFC 3581 §4).
        if let rport = via.rport {
            port = Part(range: rport, lead: Self.equals(rport, in: bytes), isPort: true)
        }
        if let received = via.received {
            host = Part(range: received, lead: Self.equals(received, in: bytes), isPort: false)
        } else if differs || port != nil {
            let end = via.extent.upperBound
            host = Part(range: end..<end, lead: ";received=", isPort: false)
        }
    }

    /// The equals sign of a value, where a flag had none.
    private static func equals(_ value: Range<Int>, in bytes: Span<UInt8>) -> StaticString {
        value.isEmpty && bytes[value.lowerBound - 1] != UInt8(ascii: "=") ? "=" : ""
    }

    /// Calls `body` with each addition, by position.
    func forEachPart(_ body: (Part) -> Void) {
        // An rport without value at the end of the Via comes before an appended received.
        let isHostFirst = if let port, let host { host.range.lowerBound < port.range.lowerBound } else { false }
        if isHostFirst, let host { body(host) }
        if let port { body(port) }
        if !isHostFirst, let host { body(host) }
    }

    /// Writes one of the parts of the same bytes.
    func append(_ part: Part, of bytes: Span<UInt8>, to out: inout [UInt8]) {
        out.append(part.lead)
        if part.isPort {
            out.append(decimal: source.port)
        } else if let written {
            out.append(written, of: bytes)
        } else {
            source.appendBareHost(to: &out)
        }
    }
}
