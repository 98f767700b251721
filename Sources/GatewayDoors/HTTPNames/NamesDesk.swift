// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
package import Logging
package import NIOCore
package import NIOHTTP1
import NIOPosix

/// Responds to the requests of clients for names, counts them, and logs those it rejects.
///
/// Any thread. No response needs I/O or waits for another thread: names come from the snapshot that calls use.
package struct NamesDesk: HTTPDesk {
    private let names: DoorNames
    private let allowed: AllowedClients
    private let states: [NamesRequest.Statement]
    private let counters: NamesCounters
    private let rejections: RejectionLog<Rejection>

    /// The cause of a rejected request.
    enum Rejection {
        case notAllowed, method, path, format, bytes
        /// All connections are in use, or all of this client.
        case connections
    }

    /// - Parameters:
    ///   - allow: the clients that get names.
    ///   - states: the parameters of a request that count besides the number.
    package init(
        _ names: DoorNames, allow: [SourceRange], states: [NamesRequest.Statement] = [], counters: NamesCounters,
        logger: Logger
    ) {
        (self.names, self.states, self.counters) = (names, states, counters)
        allowed = AllowedClients(allow)
        rejections = RejectionLog(logger)
    }

    package static let loops: any EventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    package static var addressKey: String { "doors.names.listen" }
    package static var mostBody: Int { 0 }
    /// FreePBX writes names into its URL as they are.
    package static var escapesRequestLines: Bool { true }

    package func serves(_ client: [UInt8]) -> Bool { allowed.contain(client) }

    package func refusal(
        of head: HTTPRequestHead, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse? {
        guard head.method != .GET, head.method != .HEAD else { return nil }
        guard isAllowed else { return refuse(client()) }
        counters.add(.invalid)
        rejections.add(.method, of: client())
        return .onlyGet
    }

    package func response(
        to head: HTTPRequestHead, body: ByteBuffer, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse {
        guard isAllowed else { return refuse(client()) }
        do throws(NamesRequest.Problem) {
            let request = try NamesRequest(target: head.uri.utf8, states: states)
            let name = names.name(of: request.call)
            counters.add(name.reason.map { .unmatched($0) } ?? .matched)
            return DoorResponse(name, as: request.format)
        } catch {
            counters.add(.invalid)
            rejections.add(error == .path ? .path : .format, of: client())
            return DoorResponse(error)
        }
    }

    private func refuse(_ client: String) -> DoorResponse {
        counters.add(.notAllowed)
        rejections.add(.notAllowed, of: client)
        return .notAllowed
    }

    package func refuseBytes(isAllowed: Bool, of client: String) {
        counters.add(isAllowed ? .invalid : .notAllowed)
        rejections.add(isAllowed ? .bytes : .notAllowed, of: client)
    }

    package func refuseConnection(of client: String) {
        counters.add(.crowded)
        rejections.add(.connections, of: client)
    }
}

extension NamesDesk.Rejection: RejectionCause {
    var text: String {
        switch self {
        case .notAllowed:
            "a request for a name was rejected (403): doors.names.allow does not list this client; add its address"
        case .method: "a request for a name was rejected (405): its method is not GET; let the client send GET"
        case .path:
            """
            a request was rejected (404): its path is not \(NamesRequest.route); correct the URL at the client, see docs/doors.md
            """
        case .format:
            "a request for a name was rejected (400): its format is neither text nor json; correct the URL at the client"
        case .bytes:
            """
            a request for a name was rejected (400): it is no HTTP/1.1 request, or has more than 64 kB of header fields; let the \
            client send plain HTTP, and escape blanks in its URL
            """
        case .connections:
            """
            a connection for names was closed: this client has too many open, or all are in use; let it close connections, and \
            see who holds them with `ss -tnp`
            """
        }
    }
}
