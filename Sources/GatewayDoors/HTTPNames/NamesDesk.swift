// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import ConfigurationFiles
package import Logging
import NIOCore
package import NIOHTTP1
import Synchronization

/// Responds to the requests of clients, counts them, and logs those it rejects.
///
/// Any thread. No response needs I/O or waits for another thread: names come from the snapshot that calls use.
package final class NamesDesk: Sendable {
    private let names: DoorNames
    private let allowed: AllowedClients
    private let states: [NamesRequest.Statement]
    private let counters: NamesCounters
    private let logger: Logger
    private let reports = Mutex<[RejectionCause: Report]>([:])

    /// The cause of a rejected request, each with log lines of its own.
    package enum RejectionCause: Hashable, Sendable {
        case notAllowed, method, path, format, bytes
        /// All connections are in use, or all of this client.
        case connections
    }

    private struct Report {
        var loggedAt: NIODeadline
        var sinceThen = 0
    }

    /// - Parameters:
    ///   - allow: the clients that get names.
    ///   - states: the parameters of a request that count besides the number.
    package init(
        _ names: DoorNames, allow: [SourceRange], states: [NamesRequest.Statement] = [], counters: NamesCounters,
        logger: Logger
    ) {
        (self.names, self.states, self.counters, self.logger) = (names, states, counters, logger)
        allowed = AllowedClients(allow)
    }

    /// Whether requests of this address get names.
    package func serves(_ client: [UInt8]) -> Bool { allowed.contain(client) }

    /// Responds to one request.
    ///
    /// - Parameters:
    ///   - target: of the request line.
    ///   - client: its address for the log.
    package func response(
        _ method: HTTPMethod, _ target: String, isAllowed: Bool, client: @autoclosure () -> String
    ) -> NamesResponse {
        guard isAllowed else {
            counters.add(.notAllowed)
            report(.notAllowed, client())
            return .notAllowed
        }
        guard method == .GET || method == .HEAD else {
            counters.add(.invalid)
            report(.method, client())
            return .wrongMethod
        }
        do throws(NamesRequest.Problem) {
            let request = try NamesRequest(target: target.utf8, states: states)
            let name = names.name(of: request.call)
            counters.add(name.reason.map { .unmatched($0) } ?? .matched)
            return NamesResponse(name, as: request.format)
        } catch {
            counters.add(.invalid)
            report(error == .path ? .path : .format, client())
            return NamesResponse(error)
        }
    }

    /// Counts and logs bytes that the HTTP parser rejects.
    func refuseBytes(isAllowed: Bool, of client: String) {
        counters.add(isAllowed ? .invalid : .notAllowed)
        report(isAllowed ? .bytes : .notAllowed, client)
    }

    /// Counts and logs a connection that had no place.
    package func refuseConnection(of client: String) {
        counters.add(.crowded)
        report(.connections, client)
    }

    /// Logs a rejection, at most once a minute for each cause. The request has a number, so none of it is logged.
    private func report(_ cause: RejectionCause, _ client: String, now: NIODeadline = .now()) {
        let earlier: Int? = reports.withLock { reports in
            guard let last = reports[cause], now < last.loggedAt + .seconds(60) else {
                defer { reports[cause] = Report(loggedAt: now) }
                return reports[cause]?.sinceThen ?? 0
            }
            reports[cause]?.sinceThen += 1
            return nil
        }
        guard let earlier else { return }
        logger.warning(
            "\(cause.text)", metadata: ["client": "\(client)", "alike_before": "\(earlier)"])
    }
}

extension NamesDesk.RejectionCause {
    /// Request, cause and remedy.
    fileprivate var text: String {
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
