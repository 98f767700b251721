// SPDX-License-Identifier: Apache-2.0

/// The edits every forwarded request gets: Via, received and rport, Max-Forwards, Record-Route (RFC 3261 §16.6).
public enum RequestForwarding {
    /// Writes the sender's address into the topmost Via: received and rport (RFC 3261 §18.2.1, RFC 3581 §4).
    public static func markSource(
        _ source: PeerAddress, in message: SIPMessage, via: ViaValue, into splices: inout Splices
    ) {
        let bytes = message.bytes
        let received = ReceivedParameters(of: source, in: bytes.span, via: via)
        received.forEachPart { part in splices.replace(part.range) { received.append(part, of: bytes.span, to: &$0) } }
    }

    /// Adds the proxy's own Via in front of a field, which must be the topmost Via or above it (RFC 3261 §16.6 step 8).
    ///
    /// - Parameter originalFrom: the value of the received From where the Via is to carry it; empty elsewhere.
    public static func addVia(
        _ socket: LocalSocket, _ marks: HopMarks, originalFrom: ArraySlice<UInt8> = [],
        before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { out in
            appendVia(socket, branch: marks.branch, attempt: 0, marks.loop, to: &out)
            if !originalFrom.isEmpty { OriginalFrom.append(originalFrom, to: &out) }
            out.append("\r\n")
        }
    }

    static func appendVia(
        _ socket: LocalSocket, branch: Branch, attempt: UInt8, _ loop: LoopMark? = nil, to out: inout [UInt8]
    ) {
        let start = socket.viaStart
        out.append(addingCapacity: start.count + 64) { out in
            out.append(start.indices, of: start.span)
            branch.append(attempt: attempt, to: &out)
            out.append(";rport")
            loop?.append(to: &out)
        }
    }

    /// Most attempts at one target that a CANCEL without its INVITE's transaction names.
    public static let mostCancelledAttempts = 4

    /// Gives a forwarded CANCEL the branch of one attempt, and a mark by which its 481 is known (`isOneOfSeveral`).
    ///
    /// - Returns: nil when the topmost field is not the gateway's Via.
    public static func cancelling(
        _ request: SIPMessage, branch: Branch, attempt: UInt8, by socket: LocalSocket
    ) -> [UInt8]? {
        guard let top = request.topVia, let text = top.value.branch, Branch(request[text]) == branch else { return nil }
        var splices = Splices()
        splices.replace(top.field.start..<top.field.value.upperBound) {
            appendVia(socket, branch: branch, attempt: attempt, to: &$0)
            $0.append(";hc=1")
        }
        return splices.applied(to: request.bytes)
    }

    /// True for the response to a CANCEL that went to several targets, by the gateway's Via.
    public static func isOneOfSeveral(_ response: SIPMessage, _ via: ViaValue) -> Bool {
        let start = response.bytes.firstIndex(of: UInt8(ascii: ";"), in: via.extent) ?? via.extent.upperBound
        return HeaderParameters.find("hc", in: response.bytes, start..<via.extent.upperBound) != nil
    }

    /// Turns the request for one target into the request for the next (RFC 3261 §16.6 step 8, §16.7 step 4).
    ///
    /// The topmost Via changes, and the gateway's own Record-Route and Path: they name the new target and its socket.
    ///
    /// - Parameter change: the differences of the next attempt.
    /// - Returns: nil when the topmost field is not the gateway's Via.
    public static func readdressed(
        _ request: SIPMessage, branch: Branch, attempt: UInt8, _ change: TargetChange
    ) -> [UInt8]? {
        guard let top = request.topVia, let text = top.value.branch, Branch(request[text]) == branch else {
            return nil
        }
        var splices = Splices()
        splices.replace(top.field.start..<top.field.value.upperBound) {
            appendVia(change.socket, branch: branch, attempt: attempt, to: &$0)
            if let loop = LoopMark.text(in: request, top.value) {
                $0.append(";hl=")
                $0.append(loop, of: request)
            }
            if let from = OriginalFrom.text(in: request, top.value) {
                $0.append(";hf=")
                $0.append(from, of: request)
            }
        }
        moveRecordRoute(of: request, change, into: &splices)
        if change.old.position != change.socket.position { PathField.move(in: request, change, into: &splices) }
        return splices.applied(to: request.bytes)
    }

    /// Writes the new target into the dialog's cookie, and the new socket into Record-Route.
    ///
    /// The new entry goes above the old one if the request arrived by the old socket: both sides need an entry (RFC 5658
    /// §3).
    private static func moveRecordRoute(of request: SIPMessage, _ change: TargetChange, into splices: inout Splices) {
        let entries = request.fields(.recordRoute).prefix(2).map { field in
            let uri = NameAddressExtent.scan(request.bytes, field.value).uri
            return (field: field, uri: uri, entry: SIPURI(request.bytes, uri))
        }
        // A Record-Route of the sender has no seal of the gateway, and gets none.
        guard let top = entries.first, let entry = top.entry,
            change.old.isNamed(host: entry.host, port: entry.port), let text = entry.parameter("hd"),
            let sealed = RouteCookie(text, ofDialogBegunBy: request, secret: change.secret)
        else { return }
        let cookie = SealedRouteCookie(sealed.withTarget(change.target), of: request, secret: change.secret)
        let name = CarrierName.read(in: entry)[...]
        func own(_ socket: LocalSocket, carrierName: ArraySlice<UInt8> = []) -> RecordRoute {
            RecordRoute(socket: socket, cookie: cookie, of: request, carrierName: carrierName)
        }
        let hasOtherSide = change.sourceSocket.position != change.old.position
        if hasOtherSide || change.old.position == change.socket.position {
            splices.replace(top.uri) { own(change.socket, carrierName: name).appendURI(to: &$0) }
        } else {
            splices.insert(at: top.field.start) { own(change.socket, carrierName: name).append(to: &$0) }
            splices.replace(top.uri) { own(change.old).appendURI(to: &$0) }
        }
        if hasOtherSide, let other = entries.dropFirst().first {
            splices.replace(other.uri) { own(change.sourceSocket).appendURI(to: &$0) }
        }
    }

    /// Adds a Record-Route in front of a field, which must be above all present ones (RFC 3261 §16.6 step 4).
    public static func addRecordRoute(
        _ entry: RecordRoute, before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { entry.append(to: &$0) }
    }

    /// Counts Max-Forwards down, or adds the field with 70 where it is missing (RFC 3261 §16.6 step 3).
    public static func countHop(_ message: SIPMessage, into splices: inout Splices) {
        if let field = message.first(.maxForwards) {
            let value = DecimalNumber.read(message.bytes, field.value) ?? 71
            splices.replace(field.value) { $0.append(decimal: max(value - 1, 0)) }
        } else if let via = message.first(.via) {
            splices.insert(at: via.start) { $0.append("Max-Forwards: 70\r\n") }
        }
    }
}

/// The differences between the next attempt at a request and the one before (RFC 3261 §16.7 step 4).
public struct TargetChange: Sendable {
    /// The socket of the attempt before.
    public let old: LocalSocket
    /// The socket that received the request.
    public let sourceSocket: LocalSocket
    /// The socket of the next attempt.
    public let socket: LocalSocket
    /// The next target.
    public let target: DialogEnd
    /// The key of the cookie's seal.
    public let secret: Secret

    public init(
        old: LocalSocket, sourceSocket: LocalSocket, socket: LocalSocket, target: DialogEnd, secret: Secret
    ) {
        self.old = old
        self.sourceSocket = sourceSocket
        self.socket = socket
        self.target = target
        self.secret = secret
    }
}
