// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore

/// The log: its level and form, and the lines of ended calls.
struct LogReload: ReloadablePart {
    let output: LogOutput
    let recorder: OutcomeRecorder

    /// Applies the settings of the start.
    func start() { setCallLines(output.settings) }

    func prepare(_ next: HeraldConfiguration) -> (@Sendable () async -> Void)? {
        guard next.log != output.settings else { return nil }
        return {
            output.use(next.log)
            setCallLines(next.log)
        }
    }

    private func setCallLines(_ settings: LogSettings) {
        let lines = EndedCallLog(settings)
        recorder.onEndedCalls { lines?.append($0) }
    }
}
