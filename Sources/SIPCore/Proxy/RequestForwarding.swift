// SPDX-License-Identifier: Apache-2.0

/// The edits every forwarded request gets: Via, received and rport, Max-Forwards, Record-Route (RFC 3261 §16.6).
package enum RequestForwarding {
    /// Notes the sender's address in the topmost Via: received and rport (RFC 3261 §18.2.1, RFC 3581 §4).
    package static func noteSource(
        _ source: PeerAddress, in message: SIPMessage, via: ViaValue, into splices: inout Splices
    ) {
        let claimed = PeerAddress(host: message[via.host], port: via.port ?? 5060)
        let wantsPort = via.rport.map(\.isEmpty) ?? false
        if wantsPort, let rport = via.rport {
            fill(rport, of: message, into: &splices) { $0.append(decimal: source.port) }
        }
        let differs = claimed.map { !$0.hasSameHost(as: source) } ?? true
        if let received = via.received {
            fill(received, of: message, into: &splices) { $0.append(contentsOf: source.bareHostText.utf8) }
        } else if differs || wantsPort {
            splices.insert(at: via.extent.upperBound) { out in
                out.append(";received=")
                out.append(contentsOf: source.bareHostText.utf8)
            }
        }
    }

    /// Writes a parameter's value, with the equals sign where a flag had none.
    private static func fill(
        _ value: Range<Int>, of message: SIPMessage, into splices: inout Splices, _ write: (inout [UInt8]) -> Void
    ) {
        let isFlag = value.isEmpty && message.bytes[value.lowerBound - 1] != UInt8(ascii: "=")
        splices.replace(value) { out in
            if isFlag { out.append("=") }
            write(&out)
        }
    }

    /// Puts the proxy's own Via in front of a field, which must be the topmost Via or stand above it (RFC 3261 §16.6 step 8).
    package static func addVia(
        _ socket: LocalSocket, branch: Branch, before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { out in
            out.append("Via: SIP/2.0/UDP ")
            out.append(contentsOf: socket.sentBy)
            out.append(";branch=")
            branch.append(to: &out)
            out.append(";rport\r\n")
        }
    }

    /// Puts a Record-Route in front of a field, which must stand above all that are there (RFC 3261 §16.6 step 4).
    package static func addRecordRoute(
        _ entry: RecordRoute, before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { out in
            out.append("Record-Route: <sip:")
            out.append(contentsOf: entry.socket.sentBy)
            out.append(";lr;hd=")
            out.append(decimal: entry.note.trunk)
            out.append(entry.note.isInbound ? "i" : "o")
            out.append(entry.note.isBranded ? "b" : "p")
            out.append(hex: entry.seal)
            out.append(">\r\n")
        }
    }

    /// Counts Max-Forwards down, or adds the field with 70 where it is missing (RFC 3261 §16.6 step 3).
    package static func countHop(_ message: SIPMessage, into splices: inout Splices) {
        if let field = message.first(.maxForwards) {
            let value = DecimalNumber.read(message.bytes, field.value) ?? 71
            splices.replace(field.value) { $0.append(decimal: max(value - 1, 0)) }
        } else if let via = message.first(.via) {
            splices.insert(at: via.start) { $0.append("Max-Forwards: 70\r\n") }
        }
    }
}

/// The Record-Route entry of the gateway: its address and a sealed note about the dialog (RFC 3261 §16.6 step 4).
///
/// The note comes back in the Route of every later request of the dialog, so that trunk, direction and whether the name
/// was written are known without any memory of the call, after a restart too.
package struct RecordRoute: Hashable, Sendable {
    package let socket: LocalSocket
    package let note: DialogNote
    let seal: UInt64

    package init(socket: LocalSocket, note: DialogNote, callID: ArraySlice<UInt8>, secret: Secret) {
        self.socket = socket
        self.note = note
        seal = note.seal(callID: callID, secret: secret)
    }
}

/// What the gateway wants to remember of a dialog, carried by the dialog itself.
package struct DialogNote: Hashable, Sendable {
    /// Position of the trunk in the configuration.
    package let trunk: Int
    /// True when the trunk placed the call.
    package let isInbound: Bool
    /// True when the initial INVITE left with a brand's name.
    package let isBranded: Bool

    package init(trunk: Int, isInbound: Bool, isBranded: Bool) {
        self.trunk = trunk
        self.isInbound = isInbound
        self.isBranded = isBranded
    }

    /// Reads the `hd` parameter of a Route; nil when it is not sealed for this Call-ID by this gateway.
    init?(_ text: ArraySlice<UInt8>, callID: ArraySlice<UInt8>, secret: Secret) {
        guard text.count > 18, let seal = UInt64(String(decoding: text.suffix(16), as: UTF8.self), radix: 16) else {
            return nil
        }
        let head = Array(text.dropLast(16))
        guard let trunk = DecimalNumber.read(head, 0..<(head.count - 2)) else { return nil }
        switch (head[head.count - 2], head[head.count - 1]) {
        case (UInt8(ascii: "i"), UInt8(ascii: "b")): self.init(trunk: trunk, isInbound: true, isBranded: true)
        case (UInt8(ascii: "i"), UInt8(ascii: "p")): self.init(trunk: trunk, isInbound: true, isBranded: false)
        case (UInt8(ascii: "o"), UInt8(ascii: "b")): self.init(trunk: trunk, isInbound: false, isBranded: true)
        case (UInt8(ascii: "o"), UInt8(ascii: "p")): self.init(trunk: trunk, isInbound: false, isBranded: false)
        default: return nil
        }
        guard self.seal(callID: callID, secret: secret) == seal else { return nil }
    }

    func seal(callID: ArraySlice<UInt8>, secret: Secret) -> UInt64 {
        var hash = secret.hash()
        hash.combine(callID)
        hash.combine(UInt64(trunk))
        hash.combine(UInt64((isInbound ? 2 : 0) + (isBranded ? 1 : 0)))
        return hash.finish()
    }
}
