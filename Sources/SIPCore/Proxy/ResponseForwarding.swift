// SPDX-License-Identifier: Apache-2.0

/// The edits and the destination of a response (RFC 3261 §16.7, §18.2.2).
public enum ResponseForwarding {
    /// Removes the proxy's own Via (RFC 3261 §16.7 step 3), which is the message's topmost.
    public static func removeTopVia(of message: SIPMessage, into splices: inout Splices) {
        guard let field = message.first(.via) else { return }
        if let next = message.landmarks.nextVia {
            splices.remove(field.value.lowerBound..<Int(next))
        } else {
            splices.remove(field.start..<field.end)
        }
    }

    /// The destination of responses by a Via: received and rport, else sent-by (RFC 3261 §18.2.2, RFC 3581 §4).
    ///
    /// By TCP and TLS the port is that of sent-by: the rport belonged to a closed connection (§18.2.2).
    ///
    /// - Returns: nil when only a host name is given; nothing is looked up on the call path.
    public static func destination(of via: ViaValue, in message: SIPMessage) -> PeerAddress? {
        let transport = via.transport(in: message) ?? .udp
        var port = via.port ?? transport.defaultPort
        if !transport.isReliable, let rport = via.rport, let number = DecimalNumber.read(message.bytes, rport),
            let rportNumber = UInt16(exactly: number),
            rportNumber > 0
        {
            port = rportNumber
        }
        let host = via.received.map { message[$0] } ?? message[via.host]
        return PeerAddress(host: host, port: port)
    }

    /// The destination of responses to a request: its source address, and the port of its Via unless that asks for rport.
    ///
    /// Source: RFC 3261 §18.2.2, RFC 3581 §4. A sender may send from one port and listen on another.
    ///
    /// On a stream the response uses the connection. If that is closed, a new one goes to the port of the Via (§18.2.2).
    public static func destination(
        ofResponsesTo via: ViaValue, from source: PeerAddress, by transport: SIPTransportKind = .udp
    ) -> PeerAddress {
        guard transport.isReliable || via.rport == nil else { return source }
        return source.with(port: via.port ?? transport.defaultPort)
    }

    /// Gives a response the From of the request as the trunk sent it (RFC 3261 §8.2.6.2), if both carry the same tag.
    public static func restoreFrom(_ original: [UInt8], in message: SIPMessage, into splices: inout Splices) {
        restore(.from, original, tag: message.fromTag, in: message, into: &splices)
    }

    /// Gives a response the To of the request as the PBX sent it, if both carry the same tag.
    public static func restoreTo(_ original: [UInt8], in message: SIPMessage, into splices: inout Splices) {
        restore(.to, original, tag: message.toTag, in: message, into: &splices)
    }

    private static func restore(
        _ name: HeaderName, _ original: [UInt8], tag: Range<Int>?, in message: SIPMessage, into splices: inout Splices
    ) {
        guard let field = message.first(name), message[field.value] != original[...] else { return }
        let parameters = NameAddressExtent.scan(original, original.indices).parameters
        let sentTag = HeaderParameters.find("tag", in: original, parameters).map { original[$0] } ?? []
        guard tag.map({ message[$0] }) ?? [] == sentTag else { return }
        splices.replace(field.value) { $0.append(contentsOf: original) }
    }

    /// Makes a 503 a 500 without Retry-After (RFC 3261 §16.7 step 6).
    public static func hideUnavailability(in message: SIPMessage, into splices: inout Splices) {
        guard message.status == 503 else { return }
        let end = message.bytes.firstIndex { $0 == 13 || $0 == 10 } ?? message.bytes.endIndex
        splices.replace(8..<end) { $0.append("500 Server Internal Error") }
        for field in message.fields(.retryAfter) { splices.remove(field.start..<field.end) }
    }
}
