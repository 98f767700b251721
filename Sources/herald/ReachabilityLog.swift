// SPDX-License-Identifier: Apache-2.0

import CallPath
import Dispatch
import Logging
import SIPCore
import SIPTransport

/// Logs when calls begin or cease to go to a target, and why a connection with a peer does not come about.
struct ReachabilityLog: Sendable {
    private let logger: Logger

    private let queue = DispatchQueue(label: "herald.targets")

    init(logger: Logger) { self.logger = logger }

    /// Called on a worker's thread, which must not wait for a terminal or a disk: the line is written elsewhere.
    func tell(
        _ board: TargetHealthBoard, _ target: TargetStanding, _ state: TargetHealth.State, _ event: TargetHealth.Event
    ) {
        queue.async {
            let hasOther = board.hasOther(than: target, at: Moment.monotonicMilliseconds())
            let line = TargetLine(of: target, state, event, hasOther: hasOther)
            logger.log(level: line.isWarning ? .warning : .notice, "\(line.text)")
        }
    }

    /// Called on the event loop of the streams, which must not wait either.
    func tell(_ trouble: StreamTrouble) {
        queue.async { logger.warning("\(trouble)") }
    }

    /// Called on a worker's thread, as for a target.
    func tell(_ trunk: String, _ finding: RegistrarStanding.Finding) {
        queue.async { write(trunk, finding) }
    }

    private func write(_ trunk: String, _ finding: RegistrarStanding.Finding) {
        switch finding {
        case .accepted: break
        case .ignored:
            logger.warning(
                """
                trunk \(trunk): the registrar ignores Path (RFC 3327); its calls to the registered contact bypass Herald. Let \
                the carrier send calls to Herald's address, or let the PBX register a contact there
                """)
        case .notOffered:
            logger.warning(
                """
                trunk \(trunk): the PBX registers without Supported: path (RFC 3327); calls to its contact bypass Herald. Turn \
                Path on in the PBX (Asterisk: support_path=yes), or let it register a contact at Herald's address
                """)
        }
    }
}
