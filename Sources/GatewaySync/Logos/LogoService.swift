// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
package import CheckedHTTP
import Crypto
import Host
package import Logging
import Primitives
import ServiceLifecycle
import Synchronization

/// Maintains the gateway's copies of the brands' logos and the index that names them, off the call path.
///
/// After any failure the last good copy stays in use. A full disk stops the fetches only. The index is rebuilt at a
/// bounded rate when its copies differ from the stored ones.
package final class LogoService: Service, Sendable {
    private let settings: LogoSettings
    private let cache: any LogoCache
    private let traffic: LogoTraffic
    private let current: CurrentBranding
    private let fetch: LogoFetch
    private let shape: LogoShaper
    private let publish: @Sendable () async throws -> Void
    private let time: ServiceClock
    private let logger: Logger
    private let due = AsyncEvent()
    private let state = Mutex(State())

    private struct State {
        /// True if the stored brands may name other logos.
        var brandsChanged = true
        /// The last logged failure that concerns all logos.
        var said: String?
        /// Log lines about single logos in this round.
        var lines = 0
        /// By the steady clock.
        var lastPublish: Int64?
        /// Of this round.
        var silent = HostCircuitBreaker()
    }

    /// Limit of log lines about single logos in one round. A directory must not fill the log.
    private static let linesPerRound = 20

    /// - Parameters:
    ///   - publish: builds the index from the stored records and publishes it to the call path.
    package init(
        _ settings: LogoSettings, cache: any LogoCache, traffic: LogoTraffic, current: CurrentBranding,
        resolve: @escaping HostResolver = HostAddress.resolve, shape: @escaping LogoShaper,
        publish: @escaping @Sendable () async throws -> Void, time: ServiceClock = .system, logger: Logger
    ) {
        self.settings = settings
        self.cache = cache
        self.traffic = traffic
        self.current = current
        fetch = LogoFetch(settings: settings, resolve: resolve)
        self.shape = shape
        self.publish = publish
        self.time = time
        self.logger = logger
    }

    /// Reports that a sync changed records. Any thread.
    package func brandsChanged() {
        state.withLock { $0.brandsChanged = true }
        due.ring()
    }

    /// Fetches due logos until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            try? await self.time.sleep(self.settings.startSpread * self.time.chance())
            await self.noting { try await self.cache.prepare(now: self.time.now()) }
            while !Task.isCancelled {
                await self.round()
                await self.due.wait(self.settings.pause, time: self.time)
            }
        }
    }

    /// Runs one round: take over brands, fetch due logos, remove old ones, publish the index.
    package func round() async {
        let now = time.steady()
        state.withLock { state in
            state.lines = 0
            state.silent = HostCircuitBreaker()
            state.lastPublish = state.lastPublish ?? now
        }
        await noting {
            try await takeOver()
            try await cache.recordUse(of: traffic.takeUsed(), now: time.now())
            try await fetchDue()
            try await cache.tidy(now: time.now())
            try await publishIfChanged()
        }
        let unsaid = state.withLock { $0.lines - Self.linesPerRound }
        if unsaid > 0 { logger.notice("more logos changed; see herald logos", metadata: ["logos": "\(unsaid)"]) }
    }

    private func takeOver() async throws {
        let isNeeded = state.withLock { state in
            defer { state.brandsChanged = false }
            return state.brandsChanged
        }
        guard isNeeded else { return }
        do {
            let leftOut = try await cache.takeOver(now: time.now())
            if leftOut > 0 {
                logger.warning("the brands name more logos than are fetched", metadata: ["left out": "\(leftOut)"])
            }
        } catch {
            state.withLock { $0.brandsChanged = true }
            throw error
        }
    }

    private func fetchDue() async throws {
        while !Task.isCancelled {
            // A round of many logos takes long, and the brands may name other logos meanwhile.
            try await takeOver()
            let batch = try await cache.due(limit: settings.concurrency, now: time.now())
            if batch.isEmpty { return }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for logo in batch { group.addTask { try await self.bring(logo) } }
                try await group.waitForAll()
            }
            let now = time.steady()
            let isTime = state.withLock { state in
                now - (state.lastPublish ?? now) >= settings.publishInterval.components.seconds
            }
            if isTime { try await publishIfChanged() }
        }
    }

    /// Fetches one logo and stores the result.
    ///
    /// - Throws: errors of the store. A failed fetch is no error here.
    private func bring(_ logo: DueLogo) async throws {
        do throws(LogoProblem) {
            let result: LogoResult
            switch try await response(to: logo) {
            case .unchanged: result = .unchanged
            case .picture(let picture, let bytes, let etag, let lastModified):
                let hash = try await keep(bytes, picture)
                result = .fetched(hash: hash, etag: etag, lastModified: lastModified)
            }
            traffic.countFetch(result == .unchanged ? "unchanged" : "fetched")
            try await record(result, logo, wait: time.spread(settings.refresh, by: 0.2))
            if logo.reason != nil { say(.info, "a logo can be fetched again", logo, nil) }
        } catch {
            guard !Task.isCancelled else { return }
            traffic.countFetch(error.reason)
            if case .disk(let text) = error { throw LogoStoreFailure(description: text) }
            let wait = settings.backoff.delay(afterFailures: logo.failures + 1)
            try await record(
                .failed(reason: error.reason, detail: error.description), logo, wait: time.spread(wait, by: 0.2))
            if logo.reason != error.reason { say(.notice, "a logo cannot be fetched", logo, error) }
        }
    }

    /// Requests the logo from its host, unless the host failed too often in this round.
    private func response(to logo: DueLogo) async throws(LogoProblem) -> LogoFetch.Response {
        let host = try LogoOrigin(logo.url, settings).host
        if let failure = state.withLock({ $0.silent.failure(of: host) }) { throw .fetch(failure) }
        do throws(LogoProblem) {
            let response = try await fetch.response(to: logo)
            state.withLock { $0.silent.spoke(host) }
            return response
        } catch {
            state.withLock { state in
                if case .fetch(let failure) = error {
                    state.silent.record(failure, of: host)
                } else {
                    state.silent.spoke(host)
                }
            }
            throw error
        }
    }

    /// Makes and stores the files of a picture, unless another URL has the same picture.
    private func keep(_ bytes: [UInt8], _ picture: LogoPicture) async throws(LogoProblem) -> String {
        let hash = Hexadecimal.text(SHA256.hash(data: bytes))
        do {
            if try await cache.has(hash: hash) { return hash }
            let files = try await files(bytes, picture, stem: String(hash.prefix(32)))
            try await cache.store(hash: hash, files, now: time.now())
        } catch let problem as LogoProblem {
            throw problem
        } catch {
            throw .disk("\(error)")
        }
        return hash
    }

    private func files(
        _ bytes: [UInt8], _ picture: LogoPicture, stem: String
    ) async throws(LogoProblem) -> [LogoFile] {
        let keys = settings.forms.keys
        guard case .scaled(let forms) = settings.forms else {
            let name = "\(stem)-\(picture.height)x\(picture.width).\(picture.format.fileExtension)"
            // A scaled picture has no metadata either.
            return [LogoFile(form: keys[0], name: name, bytes: PictureMetadata.removed(from: bytes))]
        }
        var files: [LogoFile] = []
        for form in forms {
            files.append(LogoFile(form: form.key, name: "\(stem)-\(form.key)", bytes: try await shape(bytes, form)))
        }
        return files
    }

    private func record(_ result: LogoResult, _ logo: DueLogo, wait: Duration) async throws(LogoProblem) {
        let now = time.now()
        do {
            try await cache.record(result, of: logo.url, now: now, dueAt: now + wait.wholeSeconds)
        } catch {
            throw .disk("\(error)")
        }
    }

    /// Rebuilds the index if its copies differ from the stored ones. Also repeats a failed build.
    private func publishIfChanged() async throws {
        let now = time.steady()
        state.withLock { $0.lastPublish = now }
        guard try await cache.hosted() != current.load().index.profile.logos else { return }
        try await publish()
        let count = current.load().index.profile.logos?.count ?? 0
        logger.info("new brand index in use, for its logos", metadata: ["logos": "\(count)"])
    }

    /// Logs a failure of the store or the index once, until it changes or ends.
    private func noting(_ work: () async throws -> Void) async {
        var failure: String?
        do {
            try await work()
        } catch {
            guard !Task.isCancelled else { return }
            failure = "\(error)"
        }
        let before = state.withLock { state in
            defer { state.said = failure }
            return state.said
        }
        guard before != failure else { return }
        if let failure {
            logger.warning("logos are not fetched for now, calls are not affected", metadata: ["error": "\(failure)"])
        } else {
            logger.info("logos are fetched again")
        }
    }

    private func say(_ level: Logger.Level, _ text: Logger.Message, _ logo: DueLogo, _ problem: LogoProblem?) {
        let mayWrite = state.withLock { state in
            state.lines += 1
            return state.lines <= Self.linesPerRound
        }
        guard mayWrite else { return }
        var metadata: Logger.Metadata = ["url": "\(ServerText.clean(logo.url))"]
        if let problem { metadata["error"] = "\(problem)" }
        logger.log(level: level, text, metadata: metadata)
    }
}

/// The store refused a write. It would refuse every other logo as well.
private struct LogoStoreFailure: Error, CustomStringConvertible {
    let description: String
}
