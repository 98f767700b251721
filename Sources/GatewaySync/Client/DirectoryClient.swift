// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Host
package import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import ServiceLifecycle
import Synchronization

/// Sends the requests of the branding contract over HTTP, with its headers, timeouts, limits, retries and two mounts.
///
/// Redirects are not followed: the key must not reach another host. Safe from any thread; not used on the call path. As
/// a service it keeps its connections until graceful shutdown, so it is listed before its users. Source:
/// securenode-endpoint-contract §2 and §11, api-client-networking "Retry / Backoff".
package final class DirectoryClient: Sendable, Service {
    let settings: DirectorySettings
    let time: ServiceClock
    let logger: Logger
    let rateLimiter = RequestRateLimiter()
    /// The last `config` and remote configuration of the directory.
    package let state = DirectoryState()
    /// Nil if requests carry the API key.
    let session: BearerSession?
    private let http: HTTPClient
    private let mount = Mutex<DirectoryAddress.Mount?>(nil)
    private let isShutDown = Mutex(false)

    package init(_ settings: DirectorySettings, time: ServiceClock = .system, logger: Logger) {
        self.settings = settings
        self.time = time
        self.logger = logger
        session = settings.bearer.map { BearerSession($0, account: settings.account, time: time, logger: logger) }
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // No set of brands has a larger ratio. The unpacked bytes of one socket read are held in memory.
        configuration.decompression = .enabled(limit: .ratio(200))
        configuration.timeout = .init(
            connect: TimeAmount(settings.connectTimeout), read: TimeAmount(settings.requestTimeout))
        // The library's retries would hide a refused connection until the deadline. Ours are counted and spaced.
        configuration.connectionPool.retryConnectionEstablishment = false
        if settings.isPinned {
            let trust = settings.trust
            let (host, patience) = (settings.address.host, TimeAmount(settings.connectTimeout))
            configuration.http1_1ConnectionDebugInitializer = { channel in
                do {
                    return try PinnedConnection(trust, host: host, patience: patience).secure(channel)
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }
        } else {
            configuration.tlsConfiguration = settings.trust.configuration
            if settings.address.isSecure {
                // Called after the handshake and before the first request.
                let host = settings.address.host
                configuration.http1_1ConnectionDebugInitializer = { ServerNames.check($0, for: host) }
                configuration.http2ConnectionDebugInitializer = { ServerNames.check($0, for: host) }
            }
        }
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Keeps the connections open until graceful shutdown, then closes them.
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Closes the connections. Later requests fail. `run()` and `deinit` close them too.
    package func shutdown() async {
        let isFirst = isShutDown.withLock { done in
            defer { done = true }
            return !done
        }
        guard isFirst else { return }
        do {
            try await http.shutdown()
        } catch {
            logger.debug("closing the connections to the directory failed", metadata: ["error": "\(error)"])
        }
    }

    deinit {
        // In debug builds, an HTTP client that is released with open connections stops the program.
        if isShutDown.withLock({ !$0 }) { http.shutdown { _ in } }
    }

    /// Sends a request until it has a response or its attempts are used up.
    ///
    /// - Returns: the complete body of a 2xx response.
    func perform(_ request: DirectoryRequest) async throws(DirectoryError) -> Data {
        try await perform(request) { Data(try await $0.body.collect(upTo: request.maxBody).readableBytesView) }
    }

    /// Sends a request until it has a response or its attempts are used up.
    ///
    /// - Parameter reading: reads a 2xx response, or a 304 to a conditional request. It runs anew with each attempt.
    ///   Its errors are not retried unless the connection broke.
    func perform<Value: Sendable>(
        _ request: DirectoryRequest, reading: @escaping DirectoryExchange.Reading<Value>
    ) async throws(DirectoryError) -> Value {
        var failures = 0
        while true {
            do throws(DirectoryExchange.Failure) {
                return try await authorised(request, reading)
            } catch {
                failures += 1
                guard error.mayRetry, failures < request.attempts, let wait = delay(after: failures, error.error) else {
                    throw error.error
                }
                logger.debug(
                    "request to the directory failed, trying again",
                    metadata: ["path": "\(request.path)", "error": "\(error.error)", "wait": "\(wait)"])
                do {
                    try await time.sleep(wait)
                } catch let stopped {
                    logger.debug("stopped while waiting for the next attempt", metadata: ["error": "\(stopped)"])
                    throw error.error
                }
            }
        }
    }

    /// Returns the wait before the next attempt, or nil if the server asks for more than an attempt may wait.
    private func delay(after failures: Int, _ error: DirectoryError) -> Duration? {
        let own = time.spread(settings.backoff.delay(afterFailures: failures), by: 0.2)
        guard let asked = error.retryAfter else { return min(own, settings.backoff.limit) }
        return asked <= settings.backoff.limit ? max(own, asked) : nil
    }

    /// Makes one attempt: on the mount that is known to work, or on one after the other.
    ///
    /// The second mount is tried only if the first returns 404 or 405 or does not respond. A mount that worked is given
    /// up only after a 404 to a sync, because 404 has other meanings elsewhere.
    func attempt<Value: Sendable>(
        _ request: DirectoryRequest, token: String?, _ reading: @escaping DirectoryExchange.Reading<Value>
    ) async throws(DirectoryExchange.Failure) -> Value {
        let known = mount.withLock { $0 }
        let others = DirectoryAddress.Mount.allCases.filter { $0 != known }
        let candidates = known.map { request.findsMount ? [$0] + others : [$0] } ?? others
        var missed: DirectoryExchange.Failure?
        for candidate in candidates {
            do throws(DirectoryExchange.Failure) {
                let value = try await DirectoryExchange(
                    client: http, settings: settings, rateLimiter: rateLimiter, time: time, token: token
                )
                .send(request, mount: candidate, reading: reading)
                mount.withLock { $0 = candidate }
                return value
            } catch {
                guard error.isMiss, known == nil || error.isNothingThere else { throw error }
                // A network failure on one mount and 404 on the other: the server was away, not the path.
                if missed == nil || missed?.isNothingThere == true { missed = error }
            }
        }
        throw missed ?? .init(error: .unavailable(reason: "no address to try", retryAfter: nil))
    }
}
