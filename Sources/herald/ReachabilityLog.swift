// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Gateway
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
}
