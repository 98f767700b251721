// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import Logging
import SIPCore
import SIPTransport
import ServiceLifecycle
import Synchronization

/// Logs rejected messages beside the call path, and keeps the latest for the status page.
package final class RejectionService: Service {
    private let table: RejectionTable
    private let digest = Mutex(RejectionDigest())
    private let logger: Logger

    package init(_ table: RejectionTable, logger: Logger) {
        self.table = table
        self.logger = logger
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                self.report()
            }
        }
    }

    private func report() {
        let taken = table.take()
        let now = Int64(Moment.monotonicMilliseconds() / 1000)
        let lines = digest.withLock { $0.take(taken.rejections, leftOut: taken.leftOut, at: now) }
        for line in lines {
            let metadata = line.transport.map { ["transport": "\($0)"] as Logger.Metadata }
            logger.log(level: line.isWarning ? .warning : .info, "\(line.text)", metadata: metadata)
        }
    }

    /// The unknown peers whose INVITEs were rejected or dropped in the last ten minutes; nil without one.
    var unknownCallers: UnknownCallers.Summary? {
        digest.withLock { $0.unknownCallers.summary(at: Int64(Moment.monotonicMilliseconds() / 1000)) }
    }

    /// The senders whose messages were rejected last, newest first.
    var latest: [GatewayStatus.Rejected] { digest.withLock(\.latest).map(GatewayStatus.Rejected.init) }
}

extension GatewayStatus.Rejected {
    /// Copies a rejection as the status page shows it.
    init(_ rejection: Rejection) {
        self.init(
            address: rejection.source.description, transport: "\(rejection.transport)", peer: rejection.peer,
            method: rejection.methodText, status: rejection.status == 0 ? nil : Int(rejection.status),
            cause: rejection.causeText, count: rejection.count, first: rejection.first / 1_000_000,
            last: rejection.last / 1_000_000)
    }
}
