// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A PBX by TCP on a loopback address, which takes one connection of the gateway and plays one call.
final class TCPPhone: Sendable {
    private let listener: TCPListener

    /// - Parameters:
    ///   - statuses: the responses to the INVITE.
    ///   - hangsUp: whether the PBX sends the BYE after the ACK.
    init(_ host: String, _ statuses: [String], hangsUp: Bool = false) throws {
        let listener = try TCPListener(host)
        self.listener = listener
        Thread.detachNewThread { Self.play(listener, host, statuses, hangsUp) }
    }

    deinit { listener.end() }

    private static func play(_ listener: TCPListener, _ host: String, _ statuses: [String], _ hangsUp: Bool) {
        guard let connection = listener.connection() else { return }
        defer { close(connection) }
        func send(_ text: String) { TCPListener.send(text, to: connection) }
        var (received, invite) = ("", "")
        while let request = next(connection, &received) {
            switch request.prefix(while: { $0 != " " }) {
            case "INVITE":
                invite = request
                for status in statuses { send(response(status, to: request, host)) }
            case "CANCEL":
                send(response("200 OK", to: request, host))
                send(response("487 Request Terminated", to: invite, host))
            case "BYE": send(response("200 OK", to: request, host))
            case "ACK": if hangsUp { send(bye(after: invite, host)) }
            default: break
            }
        }
    }

    /// Cuts the next message off what was received; nil at the end of the connection.
    private static func next(_ connection: Int32, _ received: inout String) -> String? {
        while true {
            if let end = received.range(of: "\r\n\r\n") {
                let length = field("Content-Length", of: received).flatMap { Int($0) } ?? 0
                if received[end.upperBound...].utf8.count >= length {
                    let rest = received.utf8.index(end.upperBound, offsetBy: length)
                    let message = String(received[..<rest])
                    received = String(received[rest...])
                    return message
                }
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            received += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    private static func field(_ name: String, of message: String) -> String? {
        message.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }.map {
            String($0.dropFirst(name.count + 2))
        }
    }

    private static func response(_ status: String, to request: String, _ host: String) -> String {
        CallFixture.response(status, to: request, contact: "sip:2001@\(host):5060;transport=tcp")
    }

    /// The BYE of the called side, by the route set of the INVITE (RFC 3261 §12.1.1, §12.2.1.1).
    private static func bye(after invite: String, _ host: String) -> String {
        let contact = (field("Contact", of: invite) ?? "").drop { $0 != "<" }.dropFirst().prefix { $0 != ">" }
        let routes = invite.components(separatedBy: "\r\n").filter { $0.hasPrefix("Record-Route:") }.map {
            $0.replacing("Record-Route:", with: "Route:")
        }
        let lines =
            ["BYE \(contact) SIP/2.0", "Via: SIP/2.0/TCP \(host):5060;branch=z9hG4bKbye", "Max-Forwards: 70"] + routes
            + [
                "From: \(field("To", of: invite) ?? "");tag=b", "To: \(field("From", of: invite) ?? "")",
                "Call-ID: \(field("Call-ID", of: invite) ?? "")", "CSeq: 1 BYE", "Content-Length: 0", "", "",
            ]
        return lines.joined(separator: "\r\n")
    }
}
