// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import GatewayOperator
import Host
import Logging
import SIPCore

/// The log lines of a completed start: addresses, remarks on the configuration, certificates, `ready for calls`, limits.
struct StartAnnouncement: Sendable {
    let configuration: HeraldConfiguration
    /// The addresses of the open sockets, in the order of `listen`.
    let bound: [PeerAddress]
    let budget: TransactionBudget
    let memory: MemoryLimit
    let logger: Logger

    /// Logs all lines.
    ///
    /// - Parameter numbers: size of the brand index.
    func log(numbers: Int) {
        for (listener, address) in zip(configuration.listen, bound) {
            logger.info(
                "listening", metadata: ["name": "\(listener.name)", "\(listener.transport.word)": "\(address)"])
        }
        for remark in configuration.remarks { logger.notice("\(remark)") }
        CertificateReport.warn(of: configuration, logger)
        logger.info(
            "ready for calls",
            metadata: [
                "trunks": "\(configuration.trunks.count)", "pbx": "\(configuration.pbx.count)",
                "numbers": numbers == 0 && awaitsSync ? "none before the first sync" : "\(numbers)",
            ])
        logBudget()
    }

    /// Whether brands come from a directory.
    private var awaitsSync: Bool { configuration.branding.isEnabled && configuration.directory != nil }

    /// Logs the limit of transactions and its source.
    private func logBudget() {
        let available = "\(MemoryLimit.readable(memory.bytes)) (\(memory.source))"
        let limit =
            "at most \(budget.most) transactions are kept, which can take \(MemoryLimit.readable(budget.bytes))"
            + (budget.streamBytes > 0 ? ", and connections \(MemoryLimit.readable(budget.streamBytes))," : "")
        if budget.isShort {
            logger.warning(
                """
                \(limit) of the memory of \(available): the system may kill herald in a flood; give it more memory or lower \
                limits.max_transactions
                """)
        } else {
            logger.info(
                "\(limit) of the memory of \(available)\(budget.isConfigured ? "; set by limits.max_transactions" : "")"
            )
        }
    }
}
