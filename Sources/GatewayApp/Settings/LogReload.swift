// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Synchronization

/// The log: its level and form, and the lines of ended calls.
final class LogReload: ReloadablePart {
    private let output: LogOutput
    private let links: CallLinks
    /// Nil where no lines are wanted.
    private let lines: Mutex<EndedCallLog?>

    /// Applies the settings of the start, and writes lines of the recorder's ended calls from now on.
    init(output: LogOutput, recorder: OutcomeRecorder, links: CallLinks) {
        (self.output, self.links) = (output, links)
        lines = Mutex(EndedCallLog(output.settings, links: links))
        recorder.onEndedCalls { [self] calls in lines.withLock { $0 }?.append(calls) }
    }

    func prepare(_ next: HeraldConfiguration) -> (@Sendable () async -> Void)? {
        let links = links.change(to: next)
        guard next.log != output.settings else {
            guard let links else { return nil }
            return { links() }
        }
        return { [self] in
            links?()
            output.use(next.log)
            lines.withLock { $0 = EndedCallLog(next.log, links: self.links) }
        }
    }
}
