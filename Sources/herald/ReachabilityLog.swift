// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Gateway
import Logging
import SIPCore
import SIPTransport

/// Says in the log when calls begin or cease to go to a target, and why a connection with a peer does not come about.
struct ReachabilityLog: Sendable {
    private let logger: Logger

    private let queue = DispatchQueue(label: "herald.targets")

    init(logger: Logger) { self.logger = logger }

    /// Called on a worker's thread, which must not wait for a terminal or a disk: the line is written elsewhere.
    func tell(_ target: TargetStanding, _ state: TargetHealth.State, _ event: TargetHealth.Event) {
        queue.async { write(target, state, event) }
    }

    /// Called on the event loop of the streams, which must not wait either.
    func tell(_ trouble: StreamTrouble) {
        queue.async { logger.warning("\(trouble)") }
    }

    private func write(_ target: TargetStanding, _ state: TargetHealth.State, _ event: TargetHealth.Event) {
        let metadata: Logger.Metadata = ["target": "\(target.name)"]
        switch state {
        case .up: logger.notice("target is up again", metadata: metadata)
        case .down:
            let reason =
                switch event {
                case .silent: "calls were not answered"
                case .unreachable: "it could not be reached"
                default: "OPTIONS were not answered"
                }
            logger.warning("target is down: \(reason); its calls go to the others", metadata: metadata)
        case .resting: logger.warning("target asked for peace with 503 and Retry-After", metadata: metadata)
        }
    }
}
