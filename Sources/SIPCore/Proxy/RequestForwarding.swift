// SPDX-License-Identifier: Apache-2.0

/// The edits every forwarded request gets: Via, received and rport, Max-Forwards, Record-Route (RFC 3261 §16.6).
package enum RequestForwarding {
    /// Notes the sender's address in the topmost Via: received and rport (RFC 3261 §18.2.1, RFC 3581 §4).
    package static func noteSource(
        _ source: PeerAddress, in message: SIPMessage, via: ViaValue, into splices: inout Splices
    ) {
        let bytes = message.bytes
        let note = SourceNote(of: source, in: bytes.span, via: via)
        note.forEachPart { part in splices.replace(part.range) { note.append(part, of: bytes.span, to: &$0) } }
    }

    /// Puts the proxy's own Via in front of a field, which must be the topmost Via or stand above it (RFC 3261 §16.6 step 8).
    package static func addVia(
        _ socket: LocalSocket, _ marks: HopMarks, before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { out in
            appendVia(socket, branch: marks.branch, attempt: 0, to: &out)
            marks.loop.append(to: &out)
            out.append("\r\n")
        }
    }

    private static func appendVia(_ socket: LocalSocket, branch: Branch, attempt: UInt8, to out: inout [UInt8]) {
        socket.viaStart.withUnsafeBytes { out.append($0) }
        branch.append(attempt: attempt, to: &out)
        out.append(";rport")
    }

    /// Turns a request that was sent to one target into the one for the next (RFC 3261 §16.6 step 8, §16.7 step 4).
    ///
    /// Only the topmost Via changes, and the gateway's own Record-Route when it leaves by another socket.
    ///
    /// - Returns: nil when the topmost field is not the gateway's Via.
    package static func readdressed(
        _ request: SIPMessage, branch: Branch, attempt: UInt8, from old: LocalSocket, to new: LocalSocket
    ) -> [UInt8]? {
        guard let top = request.topVia, let text = top.value.branch, Branch(request[text]) == branch else {
            return nil
        }
        var splices = Splices()
        splices.replace(top.field.start..<top.field.value.upperBound) {
            appendVia(new, branch: branch, attempt: attempt, to: &$0)
            if let loop = LoopMark.text(in: request, top.value) {
                $0.append(";hl=")
                $0.append(loop, of: request)
            }
        }
        if old.position != new.position { moveRecordRoute(of: request, from: old, to: new, into: &splices) }
        return splices.applied(to: request.bytes)
    }

    /// Names the new socket instead of the old one, or above it where the request came in by the old one too: a caller
    /// must find both sides (RFC 5658 §3).
    private static func moveRecordRoute(
        of request: SIPMessage, from old: LocalSocket, to new: LocalSocket, into splices: inout Splices
    ) {
        let entries = request.headers.lazy.filter { $0.name == .recordRoute }.prefix(2).map { field in
            let uri = NameAddressExtent.scan(request.bytes, field.value).uri
            return (field: field, uri: uri, entry: SIPURI(request.bytes, uri))
        }
        guard let top = entries.first, let entry = top.entry, old.isNamed(host: entry.host, port: entry.port),
            let note = entry.parameter("hd")
        else { return }
        let hasOtherSide = entries.dropFirst().first?.entry?.parameter("hd") == note
        if hasOtherSide {
            splices.replace(top.uri) { appendURI(of: new, note, to: &$0) }
        } else {
            splices.insert(at: top.field.start) { out in
                out.append("Record-Route: <")
                appendURI(of: new, note, to: &out)
                out.append(">\r\n")
            }
        }
    }

    private static func appendURI(of socket: LocalSocket, _ note: ArraySlice<UInt8>, to out: inout [UInt8]) {
        socket.appendURI(to: &out)
        out.append(";hd=")
        out.append(contentsOf: note)
    }

    /// Puts a Record-Route in front of a field, which must stand above all that are there (RFC 3261 §16.6 step 4).
    package static func addRecordRoute(
        _ entry: RecordRoute, before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { out in
            out.append("Record-Route: <")
            entry.socket.appendURI(to: &out)
            out.append(";hd=")
            out.append(decimal: entry.note.trunk)
            out.append(entry.note.isInbound ? "i" : "o")
            out.append(entry.note.mark)
            if entry.note.caller != 0 { out.append(hex: entry.note.caller) }
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
/// The note comes back in the Route of every later request of the dialog, so that trunk, direction and whose name was
/// written are known without any memory of the call, after a restart too.
package struct RecordRoute: Sendable {
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
    /// The mark of the trunk in its owner's words.
    package let trunk: Int
    /// True when the trunk placed the call.
    package let isInbound: Bool
    /// True when the initial INVITE left with a brand.
    package let isBranded: Bool
    /// True when the brand's name took the place of the carrier's, false when only logo and reason were added.
    package let isNamed: Bool
    /// Digits of the number the name belongs to; 0 where none was written.
    package let caller: UInt64
    /// That number was asserted in a header of its own, so that From alone does not show it.
    package let isAsserted: Bool

    package init(
        trunk: Int, isInbound: Bool, isBranded: Bool, isNamed: Bool = false, caller: UInt64 = 0,
        isAsserted: Bool = false
    ) {
        self.trunk = trunk
        self.isInbound = isInbound
        self.isBranded = isBranded
        self.isNamed = isNamed
        self.caller = isNamed ? caller : 0
        self.isAsserted = isNamed && isAsserted
    }

    /// Reads the `hd` parameter of a Route; nil when it is not sealed for this Call-ID by this gateway.
    init?(_ text: ArraySlice<UInt8>, callID: ArraySlice<UInt8>, secret: Secret) {
        guard let marks = text.firstIndex(where: { !(48...57).contains($0) }), marks + 18 <= text.endIndex,
            let trunk = DecimalNumber.read(text[..<marks]), let seal = Hexadecimal.read(text.suffix(16))
        else { return nil }
        let isInbound: Bool
        switch text[marks] {
        case UInt8(ascii: "i"): isInbound = true
        case UInt8(ascii: "o"): isInbound = false
        default: return nil
        }
        let number = text[(marks + 2)..<(text.endIndex - 16)]
        let letter = text[marks + 1]
        switch letter {
        case UInt8(ascii: "a"), UInt8(ascii: "b"):
            // Dialogs that began before a number was noted have none.
            guard let caller = number.isEmpty ? 0 : Hexadecimal.read(number) else { return nil }
            self.init(
                trunk: trunk, isInbound: isInbound, isBranded: true, isNamed: true, caller: caller,
                isAsserted: letter == UInt8(ascii: "a"))
        case UInt8(ascii: "l") where number.isEmpty: self.init(trunk: trunk, isInbound: isInbound, isBranded: true)
        case UInt8(ascii: "p") where number.isEmpty: self.init(trunk: trunk, isInbound: isInbound, isBranded: false)
        default: return nil
        }
        guard self.seal(callID: callID, secret: secret) == seal else { return nil }
    }

    /// The letter for what the INVITE carried.
    var mark: StaticString {
        guard isNamed else { return isBranded ? "l" : "p" }
        return isAsserted ? "a" : "b"
    }

    func seal(callID: ArraySlice<UInt8>, secret: Secret) -> UInt64 {
        var hash = secret.hash()
        hash.combine(callID)
        hash.combine(UInt64(trunk))
        hash.combine(UInt64((isInbound ? 2 : 0) + (isBranded ? 1 : 0) + (isNamed ? 4 : 0) + (isAsserted ? 8 : 0)))
        if caller != 0 { hash.combine(caller) }
        return hash.finish()
    }
}
