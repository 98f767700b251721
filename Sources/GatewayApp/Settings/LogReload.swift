// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewayStore
import Synchronization

/// The log: its level and form, and the lines of ended calls.
final class LogReload: ReloadablePart {
    private let output: LogOutput
    /// Nil where no lines are wanted.
    private let lines: Mutex<EndedCallLog?>

    /// Applies the settings of the start, and writes lines of the recorder's ended calls from now on.
    init(output: LogOutput, recorder: OutcomeRecorder) {
        self.output = output
        lines = Mutex(EndedCallLog(output.settings))
        recorder.onEndedCalls { [self] calls in lines.withLock { $0 }?.append(calls) }
    }

    func prepare(_ next: HeraldConfiguration) -> (@Sendable () async -> Void)? {
        guard next.log != output.settings else { return nil }
        return { [self] in
            output.use(next.log)
            lines.withLock { $0 = EndedCallLog(next.log) }
        }
    }
}
