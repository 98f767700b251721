// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import ServiceLifecycle

/// Drains the signal ring into the ledger.
struct RecorderService: Service {
    let recorder: OutcomeRecorder

    func run() async throws {
        await cancelWhenGracefulShutdown { await recorder.run() }
    }
}

/// Looks every few seconds whether the recorder still ends its rounds.
struct RecorderWatchService: Service {
    let recorder: OutcomeRecorder

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var watch = RecorderWatch(recorder)
            while !Task.isCancelled {
                watch.look()
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }
}
