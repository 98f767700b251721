// SPDX-License-Identifier: Apache-2.0

/// One Via value and where its parts lie (RFC 3261 §20.42, RFC 3581 §3).
package struct ViaValue: Hashable, Sendable {
    /// The whole value.
    package let extent: Range<Int>
    /// The sent-by host, IPv6 with its brackets.
    package let host: Range<Int>
    /// The sent-by port, nil when not written.
    package let port: UInt16?
    /// The branch parameter's value, nil when missing.
    package let branch: Range<Int>?
    /// The received parameter's value.
    package let received: Range<Int>?
    /// The rport parameter's value: empty when only asked for, nil when missing.
    package let rport: Range<Int>?

    /// The topmost Via of a message and the field it stands in; nil when there is none that can be read.
    package static func top(of message: SIPMessage) -> (value: ViaValue, field: SIPMessage.HeaderField)? {
        guard let field = message.first(.via) else { return nil }
        var values = HeaderValues(message.bytes, field.value)
        guard let first = values.next(), let value = ViaValue(message.bytes, first) else { return nil }
        return (value, field)
    }

    /// The second Via value, to which a response goes on; nil when there is only one or it cannot be read.
    package static func second(of message: SIPMessage) -> ViaValue? {
        var seen = 0
        for field in message.headers where field.name == .via {
            for range in HeaderValues(message.bytes, field.value) {
                seen += 1
                if seen == 2 { return ViaValue(message.bytes, range) }
            }
        }
        return nil
    }

    /// What the hop it names speaks; nil for a transport Herald does not.
    package func transport(in message: SIPMessage) -> SIPTransportKind? {
        let end = message.bytes.firstIndex(of: UInt8(ascii: ";"), in: extent) ?? extent.upperBound
        guard let first = message.bytes.firstIndex(of: UInt8(ascii: "/"), in: extent.lowerBound..<end),
            let second = message.bytes.firstIndex(of: UInt8(ascii: "/"), in: (first + 1)..<end)
        else { return nil }
        let rest = Blank.trimmed(message.bytes, (second + 1)..<end)
        let tokenEnd = message.bytes[rest].firstIndex(where: Blank.contains) ?? rest.upperBound
        return SIPTransportKind(message.bytes[rest.lowerBound..<tokenEnd])
    }

    /// Reads `SIP/2.0/UDP host:port;parameters`, white space allowed around the slashes; nil when malformed.
    package init?(_ bytes: [UInt8], _ range: Range<Int>) {
        let semicolon = bytes.firstIndex(of: UInt8(ascii: ";"), in: range) ?? range.upperBound
        let head = Blank.trimmedEnd(bytes, range.lowerBound..<semicolon)
        guard let firstSlash = bytes.firstIndex(of: UInt8(ascii: "/"), in: head),
            let secondSlash = bytes.firstIndex(of: UInt8(ascii: "/"), in: (firstSlash + 1)..<head.upperBound),
            let sentBy = Self.sentBy(bytes, (secondSlash + 1)..<head.upperBound),
            let (host, port) = Self.hostAndPort(bytes, sentBy)
        else { return nil }
        extent = range
        self.host = host
        self.port = port
        var branch: Range<Int>?
        var received: Range<Int>?
        var rport: Range<Int>?
        for parameter in HeaderParameters(bytes, semicolon..<range.upperBound) {
            let name = bytes[parameter.name]
            switch name.count {
            case 5 where rport == nil && name.equalsIgnoringCase("rport"): rport = parameter.value
            case 6 where branch == nil && name.equalsIgnoringCase("branch"): branch = parameter.value
            case 8 where received == nil && name.equalsIgnoringCase("received"): received = parameter.value
            default: break
            }
        }
        self.branch = branch
        self.received = received
        self.rport = rport
    }

    /// What follows the transport token and its white space.
    private static func sentBy(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        let rest = Blank.trimmed(bytes, range)
        guard let blank = bytes[rest].firstIndex(where: Blank.contains) else { return nil }
        let sentBy = Blank.trimmed(bytes, blank..<rest.upperBound)
        return sentBy.isEmpty ? nil : sentBy
    }

    private static func hostAndPort(_ bytes: [UInt8], _ range: Range<Int>) -> (Range<Int>, UInt16?)? {
        var hostEnd = range.lowerBound
        if bytes[hostEnd] == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]"), in: range) else { return nil }
            hostEnd = close + 1
        } else {
            while hostEnd < range.upperBound, bytes[hostEnd] != UInt8(ascii: ":"), !Blank.contains(bytes[hostEnd]) {
                hostEnd += 1
            }
        }
        let host = range.lowerBound..<hostEnd
        guard !host.isEmpty else { return nil }
        let rest = Blank.trimmed(bytes, hostEnd..<range.upperBound)
        if rest.isEmpty { return (host, nil) }
        guard bytes[rest.lowerBound] == UInt8(ascii: ":"),
            let number = DecimalNumber.read(bytes, Blank.trimmed(bytes, (rest.lowerBound + 1)..<rest.upperBound)),
            let port = UInt16(exactly: number), port > 0
        else { return nil }
        return (host, port)
    }
}
