// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
package import Logging
package import NIOCore
package import NIOHTTP1
import NIOPosix

/// Responds to requests for verifications, counts them, and logs those it rejects.
///
/// Any thread. No response needs I/O or waits: signers come from the snapshot that calls use.
package struct VerificationDesk: HTTPDesk {
    private let verification: DoorVerification
    private let allowed: AllowedClients
    private let paths: Set<Substring>
    private let keys: HeraldConfiguration.Doors.Verification.ReasonKeys
    private let counters: VerificationCounters
    private let rejections: RejectionLog<Rejection>
    private let now: @Sendable () -> Int64

    /// The cause of a rejected request.
    enum Rejection {
        case notAllowed, method, path, form, body, bytes
        /// All connections are in use, or all of this client.
        case connections
    }

    /// - Parameter now: Unix time in seconds.
    package init(
        _ verification: DoorVerification, _ door: HeraldConfiguration.Doors.Verification,
        counters: VerificationCounters, logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        (self.verification, self.counters, self.now) = (verification, counters, now)
        (allowed, keys) = (AllowedClients(door.allow), door.reasonKeys)
        paths = Set([door.path[...], Self.usualPath[...]])
        rejections = RejectionLog(logger)
    }

    package static let loops: any EventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    package static var addressKey: String { "doors.verification.listen" }
    /// The path of 3GPP TS 24.229 Annex V, which is served beside that of the configuration.
    private static let usualPath = "/stir/v1/verification"
    /// Eight tokens of the largest size.
    package static var mostBody: Int { 131_072 }
    package static var escapesRequestLines: Bool { false }

    package func serves(_ client: [UInt8]) -> Bool { allowed.contain(client) }

    package func refusal(
        of head: HTTPRequestHead, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse? {
        guard isAllowed else {
            counters.add(.notAllowed)
            rejections.add(.notAllowed, of: client())
            return .notAllowed
        }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) }
        let isChunked = head.headers.contains(name: "transfer-encoding")
        guard head.method == .POST else {
            return isChunked || length ?? 0 > Self.mostBody ? refuse(.method, head, client()) : nil
        }
        guard let length, !isChunked else { return refuse(.noLength, head, client()) }
        return length > Self.mostBody ? refuse(.tooLarge, head, client()) : nil
    }

    package func response(
        to head: HTTPRequestHead, body: ByteBuffer, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse {
        do throws(VerificationProblem) {
            guard paths.contains(head.uri.prefix { $0 != "?" }) else { throw .path }
            guard head.method == .POST else { throw .method }
            guard body.readableBytes > 0 else { throw .noBody }
            guard Self.isJSON(head) else { throw .mediaType }
            let request = try VerificationRequest(body.readableBytesView)
            let call = verification.verify(request.call, at: now())
            counters.add(call)
            return reflect(head, in: DoorResponse(call, to: request, keys: keys))
        } catch {
            return refuse(error, head, client())
        }
    }

    private static func isJSON(_ head: HTTPRequestHead) -> Bool {
        guard let type = head.headers.first(name: "content-type")?.prefix(while: { $0 != ";" }) else { return false }
        return type.lowercased().filter { $0 != " " && $0 != "\t" } == "application/json"
    }

    private func refuse(_ problem: VerificationProblem, _ head: HTTPRequestHead, _ client: String) -> DoorResponse {
        counters.add(.invalid)
        rejections.add(Rejection(problem), of: client)
        return reflect(head, in: DoorResponse(problem))
    }

    /// Returns the client's identifier of the request, if it is one word of ASCII.
    private func reflect(_ head: HTTPRequestHead, in response: DoorResponse) -> DoorResponse {
        guard let identifier = head.headers.first(name: "x-requestid"), (1...128).contains(identifier.utf8.count),
            identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return response }
        var response = response
        response.fields.append(DoorResponse.Field("X-RequestID", identifier))
        return response
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

extension VerificationDesk.Rejection: RejectionCause {
    init(_ problem: VerificationProblem) {
        switch problem {
        case .path: self = .path
        case .method: self = .method
        case .mediaType, .noLength, .tooLarge: self = .form
        case .noBody, .missing, .invalid, .unreadable: self = .body
        }
    }

    var text: String {
        switch self {
        case .notAllowed:
            """
            a request for a verification was rejected (403): doors.verification.allow does not list this client; add its address
            """
        case .method:
            "a request for a verification was rejected (405): its method is not POST; let the client send POST"
        case .path:
            """
            a request for a verification was rejected (404): its path is not that of doors.verification.base with \
            /v1/verification; correct the URL at the client, or the base
            """
        case .form:
            """
            a request for a verification was rejected (411, 413 or 415): it needs Content-Type: application/json, a \
            Content-Length, and at most \(VerificationDesk.mostBody) bytes; see docs/doors-verification.md
            """
        case .body:
            """
            a request for a verification was rejected (400): its body has not the members from, to and time of \
            ATIS-1000082 or 3GPP TS 24.229 Annex V; the response names the member, see docs/doors-verification.md
            """
        case .bytes:
            """
            a request for a verification was rejected (400): it is no HTTP/1.1 request, or has more than 64 kB of header \
            fields; let the client send plain HTTP
            """
        case .connections:
            """
            a connection for verifications was closed: this client has too many open, or all are in use; let it close \
            connections, and see who holds them with `ss -tnp`
            """
        }
    }
}
