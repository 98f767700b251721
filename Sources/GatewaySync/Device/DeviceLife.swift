// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Logging
import Synchronization

/// Registers this gateway with the directory, updates its versions and sends heartbeats.
///
/// No call depends on it. A refusal is logged when it starts, changes or ends, and retried after the next sync. The
/// failure of a sync is not logged again here. Source: securenode-endpoint-contract §8, securenode-ios-sdk "Presence
/// heartbeats".
final class DeviceLife: Sendable {
    private let client: DirectoryClient
    private let device: DeviceIdentity
    /// File with the registered id. Registration happens once per id.
    private let registeredPath: String
    private let time: ServiceClock
    private let logger: Logger
    /// The last failure of each request. It is logged once.
    private let failures = Mutex<[String: String]>([:])

    init(
        client: DirectoryClient, device: DeviceIdentity, stateFolder: String, time: ServiceClock, logger: Logger
    ) {
        self.client = client
        self.device = device
        registeredPath = stateFolder + "/device-registered"
        self.time = time
        self.logger = logger
    }

    /// Registers if needed, updates, and sends a heartbeat.
    ///
    /// Called at start and after each successful sync.
    ///
    /// - Parameter isInSync: false if the last sync failed, or before the first has ended.
    func report(lastSync: Int64?, isInSync: Bool) async {
        await register(isInSync)
        await update(isInSync)
        await heartbeat(lastSync: lastSync, isInSync: isInSync)
    }

    func heartbeat(lastSync: Int64?, isInSync: Bool) async {
        let presence = Presence(
            deviceID: device.id, observedAt: Timestamp.string(from: time.now()), platform: device.platform,
            osVersion: device.systemVersion, lastSyncedAt: lastSync.map { Timestamp.string(from: $0) })
        await noting("presence", isInSync) { () async throws(DirectoryError) in try await self.client.report(presence) }
    }

    private func register(_ isInSync: Bool) async {
        guard !isRegistered else { return }
        await noting("register", isInSync) { () async throws(DirectoryError) in
            try await self.client.register(self.device.registration)
            self.rememberRegistration()
        }
    }

    private func update(_ isInSync: Bool) async {
        let update = DeviceUpdate(
            deviceID: device.id, platform: device.platform, appVersion: device.version, sdkVersion: device.version,
            osVersion: device.systemVersion, lastSeen: Timestamp.string(from: time.now()))
        await noting("update", isInSync) { () async throws(DirectoryError) in
            do throws(DirectoryError) {
                try await self.client.update(update)
            } catch {
                // The directory has lost the device: the next report registers it again.
                if case .rejected(404, _) = error, !error.isOfTheWay {
                    try? FileManager.default.removeItem(atPath: self.registeredPath)
                }
                throw error
            }
        }
    }

    private var isRegistered: Bool {
        FileManager.default.contents(atPath: registeredPath) == Data(device.id.utf8)
    }

    private func rememberRegistration() {
        do {
            try Data(device.id.utf8).write(to: URL(fileURLWithPath: registeredPath), options: .atomic)
        } catch {
            logger.warning(
                "the registration could not be stored and will be repeated", metadata: ["path": "\(registeredPath)"])
        }
    }

    /// Runs a request and logs a new failure.
    private func noting(
        _ request: String, _ isInSync: Bool, _ body: () async throws(DirectoryError) -> Void
    ) async {
        var failure: String?
        do throws(DirectoryError) {
            try await body()
        } catch {
            guard !Task.isCancelled, isInSync || !error.isOfWholeDirectory else { return }
            failure = error.description
        }
        let before = failures.withLock { failures in
            defer { failures[request] = failure }
            return failures[request]
        }
        guard before != failure else { return }
        if let failure {
            logger.notice(
                "a device report failed, calls are not affected",
                metadata: ["request": "\(request)", "error": "\(failure)"])
        } else {
            logger.info("device reports work again", metadata: ["request": "\(request)"])
        }
    }
}
