// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import Foundation
import HostSystem

/// A command could not reach a gateway.
///
/// The text has cause and remedy.
package struct ControlFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Sends an operator's command to the gateway of a runtime folder.
///
/// Blocks the calling thread until the gateway has responded. Use it in commands only.
package struct ControlClient: Sendable {
    private let path: String

    /// - Parameter folder: `gateway.runtime`.
    package init(folder: String) { path = folder + "/" + ControlServer.socketName }

    /// Requests a sync at once.
    ///
    /// - Throws: `ControlFailure` if no gateway accepts the command.
    package func sync(full: Bool) throws(ControlFailure) -> ControlledSync {
        let body = try post("/v1/sync" + (full ? "?full=true" : ""))
        do {
            return try JSONDecoder().decode(ControlledSync.self, from: body)
        } catch {
            throw ControlFailure("the gateway at \(path) has not this command; is it of another version?")
        }
    }

    private func post(_ target: String) throws(ControlFailure) -> Data {
        let descriptor = try connected()
        defer { close(descriptor) }
        let request = Array(
            "POST \(target) HTTP/1.1\r\nHost: herald\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw ControlFailure("the command could not be sent to \(path): \(SystemError.text(errno))")
        }
        var response = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            response.append(contentsOf: buffer[..<count])
        }
        guard let head = response.range(of: Data("\r\n\r\n".utf8)) else {
            throw ControlFailure("the gateway at \(path) ended before it responded; its log has the reason")
        }
        return Data(response[head.upperBound...])
    }

    /// An open connection.
    private func connected() throws(ControlFailure) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // One byte ends the path (unix(7)).
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ControlFailure(
                "\(path) is too long for the path of a socket; choose a gateway.runtime of at most 90 bytes")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ControlFailure("no socket can be made: \(SystemError.text(errno))") }
        let isConnected = withUnsafeBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) {
                connect(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        let code = errno
        close(descriptor)
        throw refusal(code)
    }

    private func refusal(_ code: Int32) -> ControlFailure {
        switch code {
        case ENOENT:
            ControlFailure(
                "no gateway runs on this configuration: \(path) does not exist; start it with herald run, or see gateway.runtime"
            )
        case ECONNREFUSED:
            ControlFailure("no gateway runs on this configuration: nobody listens on \(path); start it with herald run")
        case EACCES, EPERM:
            ControlFailure(
                "\(path) is not open to this user; run the command as \(owner ?? "the user of the gateway"), such as with sudo -u"
            )
        default: ControlFailure("the gateway at \(path) cannot be reached: \(SystemError.text(code))")
        }
    }

    /// The gateway's user: the owner of the socket, or of its folder if that cannot be entered.
    private var owner: String? {
        var status = stat()
        let folder = String(path.dropLast(ControlServer.socketName.utf8.count + 1))
        guard stat(path, &status) == 0 || stat(folder, &status) == 0 else { return nil }
        return getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "user \(status.st_uid)"
    }
}
