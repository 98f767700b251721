// SPDX-License-Identifier: Apache-2.0

import Hashing

/// One end of a dialog as the gateway reaches it: the target the call went to, or the source it came from
/// (RFC 3261 §16.6 steps 4 and 7).
package struct DialogEnd: Hashable, Sendable {
    package let address: PeerAddress
    package let transport: SIPTransportKind

    package init(address: PeerAddress, transport: SIPTransportKind) {
        self.address = address
        self.transport = transport
    }

    /// The end a request came from.
    ///
    /// A request back to it goes where the responses go (RFC 3261 §18.2.2): to the source, but by TCP and TLS and without
    /// rport to the port the Via names.
    package init(sourceOf request: SIPMessage, by flow: Flow, transport: SIPTransportKind) {
        let address = request.topVia.map {
            ResponseForwarding.destination(ofAnswersTo: $0.value, from: flow.source, by: transport)
        }
        self.init(address: address ?? flow.source, transport: transport)
    }

    /// Reads what `append(to:)` wrote from the front of a text, and takes it off; nil for anything else.
    init?(takenFrom text: inout ArraySlice<UInt8>) {
        guard let kind = Self.number(&text, digits: 1), let transport = SIPTransportKind(rawValue: UInt8(kind & 3)),
            kind < 8
        else { return nil }
        let isIPv6 = kind & 4 != 0
        var high: UInt64 = 0
        if isIPv6 {
            guard let first = Self.number(&text, digits: 16) else { return nil }
            high = first
        }
        guard let low = Self.number(&text, digits: isIPv6 ? 16 : 8), let port = Self.number(&text, digits: 4) else {
            return nil
        }
        let (number, narrow) = (UInt16(truncatingIfNeeded: port), UInt32(truncatingIfNeeded: low))
        self.init(
            address: isIPv6
                ? PeerAddress(ipv6High: high, low: low, port: number) : PeerAddress(ipv4: narrow, port: number),
            transport: transport)
    }

    /// Writes 13 hexadecimal digits for IPv4, 37 for IPv6: transport and family, address, port.
    func append(to out: inout [UInt8]) {
        out.append(hex: kind, digits: 1)
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

    private static func number(_ text: inout ArraySlice<UInt8>, digits: Int) -> UInt64? {
        guard text.count >= digits else { return nil }
        var value: UInt64 = 0
        for byte in text.prefix(digits) {
            guard let digit = Hexadecimal.digit(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        text = text.dropFirst(digits)
        return value
    }
}

extension [UInt8] {
    /// Appends the lowest digits of a number, lower-case hexadecimal.
    fileprivate mutating func append(hex value: UInt64, digits: Int) {
        var shift = UInt64(digits) * 4
        while shift > 0 {
            shift -= 4
            append(Hexadecimal.character(UInt8(truncatingIfNeeded: value >> shift & 15)))
        }
    }
}
