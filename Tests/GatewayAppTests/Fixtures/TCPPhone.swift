// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A PBX by TCP on a loopback address, which takes one connection of the gateway and plays one call.
final class TCPPhone: Sendable {
    private let listener: Int32
    private let host: String

    /// - Parameters:
    ///   - statuses: the responses to the INVITE.
    ///   - hangsUp: whether the PBX sends the BYE after the ACK.
    init(_ host: String, _ statuses: [String], hangsUp: Bool = false) throws {
        self.host = host
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(5060).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 4) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL)
        }
        Thread.detachNewThread { Self.play(listener, host, statuses, hangsUp) }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func play(_ listener: Int32, _ host: String, _ statuses: [String], _ hangsUp: Bool) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        func send(_ text: String) {
            let bytes = Array(text.utf8)
            _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
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
        let copied = request.components(separatedBy: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:", "Record-Route:"].contains { line.hasPrefix($0) }
        }.map { $0.hasPrefix("To:") && !$0.contains("tag=") ? $0 + ";tag=b" : $0 }
        let contact = "Contact: <sip:2001@\(host):5060;transport=tcp>"
        return (["SIP/2.0 \(status)"] + copied + [contact, "Content-Length: 0", "", ""]).joined(separator: "\r\n")
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
