// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Host
package import Logging
import ServiceLifecycle
import Synchronization

/// Fetches the remote configuration at start and daily, and reports if the directory requires another version of
/// Herald.
///
/// A 404 means no remote configuration until the next start. Neither a version nor a forced update stops a call.
/// Source: mobile-api, "Mobile Configuration".
package final class RemoteConfigurationService: Service, Sendable {
    /// The directory's requirements on this version.
    package struct Standing: Hashable, Sendable {
        package var minimumVersion: String?
        package var latestVersion: String?
        /// True below the minimum version, or if the directory forces an update and this version is not the latest.
        package var isUpdateDue = false
    }

    private let client: DirectoryClient
    private let device: DeviceIdentity
    private let interval: Duration
    private let time: ServiceClock
    private let logger: Logger
    private let state = Mutex((standing: Standing(), failure: String?.none))

    package init(
        client: DirectoryClient, device: DeviceIdentity, interval: Duration = .seconds(86_400),
        time: ServiceClock = .system, logger: Logger
    ) {
        self.client = client
        self.device = device
        self.interval = interval
        self.time = time
        self.logger = logger
    }

    package var standing: Standing { state.withLock { $0.standing } }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var failures = 0
            while !Task.isCancelled {
                failures = await self.fetch() ? 0 : failures + 1
                let retry = Backoff(first: .seconds(60), limit: self.interval)
                let wait = failures == 0 ? self.interval : retry.delay(afterFailures: failures)
                try? await self.time.sleep(self.time.spread(wait, by: 0.1))
            }
        }
    }

    /// - Returns: false if an early retry is useful.
    @discardableResult
    func fetch() async -> Bool {
        do {
            take(try await client.remoteConfiguration(platform: device.platform, version: device.version))
            return true
        } catch {
            if case .rejected = error, !error.isOfTheWay || error.isNothingThere { return true }
            let isNews = state.withLock { state in
                defer { state.failure = error.description }
                return state.failure != error.description
            }
            if isNews, !Task.isCancelled {
                // The sync reports an absent directory or a refused key.
                let level: Logger.Level
                switch error {
                case .unauthorised, .unavailable: level = .debug
                case .rejected where error.isOfTheWay: level = .debug
                case .rejected, .badResponse, .notKept: level = .notice
                }
                logger.log(level: level, "no remote configuration", metadata: ["error": "\(error)"])
            }
            return false
        }
    }

    /// True if the versions in a response are those of Herald.
    ///
    /// They belong to the platform in the response. A gateway registered as a phone gets the versions of a phone's SDK.
    private static func speaks(of platform: String, _ remote: RemoteConfiguration) -> Bool {
        guard !["ios", "android"].contains(platform.lowercased()) else { return false }
        return remote.platform.map { $0.lowercased() == platform.lowercased() } ?? true
    }

    private static func isUpdateDue(_ version: String, _ remote: RemoteConfiguration) -> Bool {
        guard let own = VersionNumber(version) else { return false }
        let minimum = remote.minimumVersion.flatMap(VersionNumber.init)
        let latest = remote.latestVersion.flatMap(VersionNumber.init)
        return minimum.map { own < $0 } ?? false || remote.forceUpdate == true && latest.map { own < $0 } ?? true
    }

    private func take(_ remote: RemoteConfiguration) {
        client.state.record(remote)
        var next = Standing()
        if Self.speaks(of: device.platform, remote) {
            next.minimumVersion = remote.minimumVersion.map { ServerText.clean($0) }
            next.latestVersion = remote.latestVersion.map { ServerText.clean($0) }
            next.isUpdateDue = Self.isUpdateDue(device.version, remote)
        }
        let before = state.withLock { state in
            defer { state = (next, nil) }
            return state.standing
        }
        guard before != next, next.isUpdateDue else { return }
        logger.warning(
            "the directory wants a newer herald; calls go on as before",
            metadata: [
                "version": "\(device.version)", "minimum": "\(next.minimumVersion ?? "")",
                "latest": "\(next.latestVersion ?? "")",
            ])
    }
}

extension DirectoryClient {
    /// Returns the sync interval. Precedence: the operator's, the directory's, the default.
    func interval(_ schedule: SyncSchedule) -> Duration {
        schedule.intervalIsOpen ? state.syncInterval ?? schedule.interval : schedule.interval
    }

    func remoteConfiguration(platform: String, version: String) async throws(DirectoryError) -> RemoteConfiguration {
        let query = [(name: "platform", value: platform), (name: "app_version", value: version)]
        return try decode(RemoteConfiguration.self, await get(APIPath.configuration, query: query))
    }
}
