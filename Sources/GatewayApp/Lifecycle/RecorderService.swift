// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import ServiceLifecycle

/// Moves call updates from the ring into the ledger.
struct RecorderService: Service {
    let recorder: OutcomeRecorder

    func run() async throws {
        await cancelWhenGracefulShutdown { await recorder.run() }
    }
}

/// Checks every five seconds that the recorder still completes its rounds.
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
