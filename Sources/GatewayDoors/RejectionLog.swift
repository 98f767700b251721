// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import Synchronization

/// A cause of rejected requests, with log lines of its own.
protocol RejectionCause: Hashable, Sendable {
    /// Request, cause and remedy.
    var text: String { get }
}

/// Logs rejected requests, at most once a minute for each cause. Any thread.
///
/// A request has a number, so nothing of it is logged.
final class RejectionLog<Cause: RejectionCause>: Sendable {
    private struct Report {
        var loggedAt: NIODeadline
        var sinceThen = 0
    }

    private let logger: Logger
    private let reports = Mutex<[Cause: Report]>([:])

    init(_ logger: Logger) { self.logger = logger }

    /// Logs a rejection of a client with an address of 4 or 16 bytes.
    func add(_ cause: Cause, of address: [UInt8]) {
        add(
            cause, of: (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: address), port: 0).ipAddress) ?? "unknown"
        )
    }

    /// Logs a rejection, or counts it for the next line of its cause.
    func add(_ cause: Cause, of client: @autoclosure () -> String, now: NIODeadline = .now()) {
        let earlier: Int? = reports.withLock { reports in
            guard let last = reports[cause], now < last.loggedAt + .seconds(60) else {
                defer { reports[cause] = Report(loggedAt: now) }
                return reports[cause]?.sinceThen ?? 0
            }
            reports[cause]?.sinceThen += 1
            return nil
        }
        guard let earlier else { return }
        logger.warning("\(cause.text)", metadata: ["client": "\(client())", "alike_before": "\(earlier)"])
    }
}
