// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import UnixSignals

/// Reads the configuration again at each SIGHUP.
struct ReloadService: Service {
    let hangups: UnixSignalsSequence
    let reload: ConfigurationReload

    func run() async throws {
        for await _ in hangups.cancelOnGracefulShutdown() { await reload.run() }
    }
}
