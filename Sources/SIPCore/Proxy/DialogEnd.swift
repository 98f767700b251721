// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The address of one end of a dialog: the target that took the call, or its source (RFC 3261 §16.6 steps 4 and 7).
public struct DialogEnd: Hashable, Sendable {
    public let address: PeerAddress
    public let transport: SIPTransportKind

    public init(address: PeerAddress, transport: SIPTransportKind) {
        self.address = address
        self.transport = transport
    }

    /// The source of a request.
    ///
    /// A request to it goes where its responses go (RFC 3261 §18.2.2): to the source address, with the port of the Via for
    /// TCP and TLS and without rport.
    public init(sourceOf request: SIPMessage, by flow: Flow, transport: SIPTransportKind) {
        let address = request.topVia.map {
            ResponseForwarding.destination(ofResponsesTo: $0.value, from: flow.source, by: transport)
        }
        self.init(address: address ?? flow.source, transport: transport)
    }

    /// Reads what `append(to:)` wrote at a position of a text, which moves behind it; nil for anything else.
    ///
    /// - Parameter isMarked: whether more about this end follows.
    init?(_ text: Span<UInt8>, at position: inout Int, isMarked: inout Bool) {
        guard let kind = Hexadecimal.take(1, of: text, at: &position),
            let transport = SIPTransportKind(rawValue: UInt8(kind & 3))
        else { return nil }
        isMarked = kind & 8 != 0
        let isIPv6 = kind & 4 != 0
        var high: UInt64 = 0
        if isIPv6 {
            guard let first = Hexadecimal.take(16, of: text, at: &position) else { return nil }
            high = first
        }
        guard let low = Hexadecimal.take(isIPv6 ? 16 : 8, of: text, at: &position),
            let port = Hexadecimal.take(4, of: text, at: &position)
        else { return nil }
        let (number, narrow) = (UInt16(truncatingIfNeeded: port), UInt32(truncatingIfNeeded: low))
        self.init(
            address: isIPv6
                ? PeerAddress(ipv6High: high, low: low, port: number) : PeerAddress(ipv4: narrow, port: number),
            transport: transport)
    }

    /// Writes 13 hexadecimal digits for IPv4, 37 for IPv6: transport and family, address, port.
    ///
    /// - Parameter isMarked: whether more about this end follows.
    func append(to out: inout OutputSpan<UInt8>, isMarked: Bool = false) {
        out.append(hex: isMarked ? kind | 8 : kind, digits: 1)
        if address.isIPv6 { out.append(hex: address.high, digits: 16) }
        out.append(hex: address.low, digits: address.isIPv6 ? 16 : 8)
        out.append(hex: UInt64(address.port), digits: 4)
    }

    /// Adds it to a seal.
    func combine(into hash: inout KeyedHash) {
        hash.combine(kind << 16 | UInt64(address.port))
        if address.isIPv6 { hash.combine(address.high) }
        hash.combine(address.low)
    }

    private var kind: UInt64 { UInt64(transport.rawValue) | (address.isIPv6 ? 4 : 0) }
}
