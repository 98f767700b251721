// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import Logging
package import SIPCore
package import SIPTransport

/// Logs targets that go up or down, connections that fail, and registrars without Path.
///
/// Callers are threads of the call path. A queue writes the lines, so no caller waits for a terminal or a disk.
package struct ReachabilityLog: Sendable {
    /// Largest number of lines that wait.
    static let most = 10_000

    private let logger: Logger
    private let queue: LogQueue

    package init(logger: Logger) {
        self.logger = logger
        queue = LogQueue(label: "herald.targets", most: Self.most) { leftOut in
            logger.warning(
                "lines of targets and connections were left out: they come faster than they can be written",
                metadata: ["lines": "\(leftOut)"])
        }
    }

    /// Logs a target's new state and whether calls have another target.
    package func targetChanged(
        _ registry: TargetRegistry, _ target: TargetState, _ state: TargetHealth.State, _ event: TargetHealth.Event
    ) {
        queue.append { [logger] _ in
            let hasOther = registry.hasOther(than: target, at: Moment.monotonicMilliseconds())
            let line = TargetLine(of: target, state, event, hasOther: hasOther)
            logger.log(level: line.isWarning ? .warning : .notice, "\(line.text)")
        }
    }

    /// Logs why a TCP or TLS connection with a peer failed.
    package func streamFailed(_ trouble: StreamTrouble) {
        queue.append { [logger] _ in logger.warning("\(trouble)") }
    }

    /// Logs a trunk whose registrar or PBX does not support Path.
    package func registrarFound(_ trunk: String, _ finding: RegistrarState.Finding) {
        queue.append { [self] _ in write(trunk, finding) }
    }

    private func write(_ trunk: String, _ finding: RegistrarState.Finding) {
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
