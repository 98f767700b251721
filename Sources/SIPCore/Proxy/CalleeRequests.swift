// SPDX-License-Identifier: Apache-2.0

/// The ACK and the BYE that end a call in the caller's place (RFC 3261 §13.2.2.4, §15.1.1).
public struct CalleeRequests: Sendable {
    /// The ACK of the 2xx.
    public let ack: [UInt8]
    /// The BYE of the dialog that the 2xx began.
    public let bye: [UInt8]

    /// - Parameters:
    ///   - success: the 2xx to the forwarded INVITE.
    ///   - socket: the local socket that the requests leave by.
    ///   - branch: the branch of the BYE; the ACK is a transaction of its own and has the next attempt's (§8.1.1.7).
    public init(success: SIPMessage, socket: LocalSocket, branch: Branch) {
        let number = success.sequence?.number ?? 0
        ack = Self.request("ACK", success, number: number, socket, branch, attempt: 1)
        bye = Self.request("BYE", success, number: number + 1, socket, branch, attempt: 0)
    }

    private static func request(
        _ method: StaticString, _ success: SIPMessage, number: Int, _ socket: LocalSocket, _ branch: Branch,
        attempt: UInt8
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(640)
        out.append(method)
        out.append(" ")
        out.append(target(of: success), of: success)
        out.append(" SIP/2.0\r\n")
        RequestForwarding.appendVia(socket, branch: branch, attempt: attempt, to: &out)
        for route in routes(of: success, socket).reversed() {
            out.append("\r\nRoute: ")
            out.append(route, of: success)
        }
        out.append("\r\nMax-Forwards: 70")
        for (title, name) in [("\r\nFrom: ", HeaderName.from), ("\r\nTo: ", .to), ("\r\nCall-ID: ", .callID)]
            as [(StaticString, HeaderName)]
        {
            guard let field = success.first(name) else { continue }
            out.append(title)
            out.append(field.value, of: success)
        }
        out.append("\r\nCSeq: ")
        out.append(decimal: number)
        out.append(" ")
        out.append(method)
        out.append("\r\nContent-Length: 0\r\n\r\n")
        return out
    }

    /// The remote target: Contact, and without it To (RFC 3261 §12.1.2).
    private static func target(of success: SIPMessage) -> Range<Int> {
        let field = success.first(.contact) ?? success.first(.to)
        guard let field else { return 0..<0 }
        var values = HeaderValues(success.bytes, field.value)
        let extent = NameAddressExtent.scan(success.bytes, values.next() ?? field.value)
        return extent.uri
    }

    /// The Record-Route values of the elements between the gateway and the callee: those above the gateway's own.
    private static func routes(of success: SIPMessage, _ socket: LocalSocket) -> [Range<Int>] {
        var routes: [Range<Int>] = []
        for field in success.headers where field.name == .recordRoute {
            for value in HeaderValues(success.bytes, field.value) {
                let uri = NameAddressExtent.scan(success.bytes, value).uri
                guard let entry = SIPURI(success.bytes, uri), !socket.isNamed(host: entry.host, port: entry.port) else {
                    return routes
                }
                routes.append(value)
            }
        }
        // Without an entry of the gateway the list cannot be distinguished from that of the caller's side.
        return []
    }
}
