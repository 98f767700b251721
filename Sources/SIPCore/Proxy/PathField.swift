// SPDX-License-Identifier: Apache-2.0

/// The Path header field, by which the requests to a registered contact come through the proxy (RFC 3327).
///
/// A carrier sends calls to the contact that the PBX registered. They reach the proxy only if the registrar keeps it in
/// the route. The proxy adds Path only if the sender supports it (§5.2), and no Require: a registrar without Path
/// should still register the PBX. Supported stays as received, because it speaks for the sender. Path carries no
/// cookie.
public enum PathField {
    /// True when the sender of a REGISTER supports Path (RFC 3327 §5.2, RFC 3261 §20.37).
    public static func isSupported(by register: SIPMessage) -> Bool {
        register.headers.contains { field in
            guard field.name == .other, isNamed(field, "supported", or: "k", in: register) else { return false }
            return HeaderValues(register.bytes, field.value).contains { register[$0].equalsIgnoringCase("path") }
        }
    }

    /// True when a message has a Path field.
    public static func isPresent(in message: SIPMessage) -> Bool { first(in: message) != nil }

    /// Adds the proxy's address above all present Path values (RFC 3327 §5.2).
    ///
    /// - Parameter field: the header field behind the new one.
    public static func add(
        _ socket: LocalSocket, before field: SIPMessage.HeaderField, into splices: inout Splices
    ) {
        splices.insert(at: field.start) { out in
            out.append("Path: <")
            socket.appendURI(to: &out)
            out.append(">\r\n")
        }
    }

    /// Writes the socket of the next attempt into the proxy's own Path.
    static func move(in request: SIPMessage, _ change: TargetChange, into splices: inout Splices) {
        guard request.method == .register, let field = first(in: request) else { return }
        let extent = NameAddressExtent.scan(request.bytes, field.value).uri
        guard let uri = SIPURI(request.bytes, extent), change.old.isNamed(host: uri.host, port: uri.port) else {
            return
        }
        splices.replace(extent) { change.socket.appendURI(to: &$0) }
    }

    private static func first(in message: SIPMessage) -> SIPMessage.HeaderField? {
        message.headers.first { $0.name == .other && isNamed($0, "path", or: "path", in: message) }
    }

    private static func isNamed(
        _ field: SIPMessage.HeaderField, _ name: StaticString, or compact: StaticString, in message: SIPMessage
    ) -> Bool {
        let written = message[field.start..<field.nameEnd]
        return written.equalsIgnoringCase(name) || written.equalsIgnoringCase(compact)
    }
}
