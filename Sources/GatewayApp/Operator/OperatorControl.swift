// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewaySync

/// Carries out the orders of the control socket.
struct OperatorControl: GatewayControl {
    private let currentSync: @Sendable () -> SyncService?
    let branding: CurrentBranding

    /// - Parameter sync: nil where no directory is configured; a reload may replace it.
    init(sync: @escaping @autoclosure @Sendable () -> SyncService?, branding: CurrentBranding) {
        currentSync = sync
        self.branding = branding
    }

    func sync(full: Bool) async -> ControlledSync {
        guard let sync = currentSync() else {
            return ControlledSync(.unavailable, error: "no directory is configured, so there is nothing to sync with")
        }
        let start = ContinuousClock.now
        do throws(SyncRefusal) {
            let report = try await sync.syncOrdered(full: full)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            if let error = report.error {
                return ControlledSync(
                    .failed, isFull: report.isFull, numbers: branding.load().index.count, seconds: seconds,
                    error: "the sync failed: \(error)")
            }
            return ControlledSync(
                .succeeded, isFull: report.isFull, written: report.written, removed: report.removed,
                numbers: branding.load().index.count, rejected: report.rejected.isEmpty ? nil : report.rejected,
                seconds: seconds)
        } catch {
            switch error {
            case .running:
                return ControlledSync(
                    .busy, error: "a sync runs already; wait for its end and try again")
            case .stopping:
                return ControlledSync(.unavailable, error: "the gateway is stopping and starts no sync")
            }
        }
    }
}
