// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import HTTPTypes
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// The directory's HTTP server: the contract below `/` and `/api/`, logos, and a health check.
package final class DirectoryServer: Service {
    /// Where it listens and what it serves.
    package struct Options: Sendable {
        /// An address literal; loopback unless told otherwise, because the server has no TLS of its own.
        package var host = "127.0.0.1"
        /// 0 lets the kernel choose.
        package var port = 8088
        /// Folder of the logo files; nil serves none.
        package var logos: String?
        /// The URL clients reach the server by; nil for the address it listens on.
        package var publicURL: String?
        /// Events received longer ago are removed.
        package var keepDays = 400
        /// Where the operator's API is.
        package var admin = Admin.beside
        /// Waits before a wrong admin key is answered; a test has its own.
        package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Seconds since 1970; a test has its own.
        package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

        package init() {}
    }

    /// Where the operator's API is: nowhere, beside the contract, or at an address of its own.
    package enum Admin: Hashable, Sendable {
        case off
        case beside
        case at(host: String, port: Int)
    }

    private let database: DirectoryDatabase
    private let options: Options
    private let logger: Logger
    private let bound = BoundPort()
    private let adminBound = BoundPort()

    package init(database: DirectoryDatabase, options: Options = Options(), logger: Logger) {
        self.database = database
        self.options = options
        self.logger = logger
    }

    /// The port it listens on; waits until it does, and is 0 when the server ended before.
    package func port() async -> Int { await bound.wait() ?? 0 }

    /// The port the operator's API has of its own; waits until it listens, and is 0 when it has none.
    package func adminPort() async -> Int { await adminBound.wait() ?? 0 }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: when the address cannot be bound.
    package func run() async throws {
        defer {
            bound.end()
            adminBound.end()
        }
        AdminFileRoutes.sweep(database.folder)
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let application = Application(
            router: router(), configuration: .init(address: .hostname(options.host, port: options.port)),
            services: services(logger: quiet),
            onServerRunning: { [self] channel in listening(on: channel.localAddress?.port) }, logger: quiet)
        try await application.run()
    }

    /// What runs beside the contract's own server.
    private func services(logger quiet: Logger) -> [any Service] {
        let housekeeping = Housekeeping(
            database: database, retention: EventRetention(database: database, keepDays: options.keepDays),
            now: options.now, logger: logger)
        guard case .at(let host, let port) = options.admin else {
            adminBound.end()
            return [housekeeping]
        }
        let router = Router(context: KeyedContext.self)
        router.add(middleware: ErrorEnvelopes(logger: logger))
        AdminRoutes(database: database, options: options, logger: logger).add(to: router)
        let admin = Application(
            router: router, configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { [self] channel in
                adminBound.announce(channel.localAddress?.port)
                logger.info(
                    "listening", metadata: ["admin": "\(host):\(channel.localAddress?.port ?? port)"])
            }, logger: quiet)
        return [housekeeping, admin]
    }

    private func listening(on port: Int?) {
        bound.announce(port)
        let address = "\(options.urlHost):\(port ?? options.port)"
        logger.info("listening", metadata: ["http": "\(address)", "logos": "\(options.logos ?? "none")"])
        if options.logos != nil, logoBase() == nil {
            logger.warning(
                "logos have no address that phones can reach; set public_url", metadata: ["http": "\(address)"])
        }
    }

    /// What comes before `/logos/`; nil when there are no logos, or the server listens everywhere and has no name.
    private func logoBase() -> String? {
        if let url = options.publicURL { return url.hasSuffix("/") ? String(url.dropLast()) : url }
        guard options.logos != nil || LogoStore(database).isUsed, !["0.0.0.0", "::"].contains(options.host) else {
            return nil
        }
        return "http://\(options.urlHost):\(bound.current ?? options.port)"
    }

    private func router() -> Router<KeyedContext> {
        let router = Router(context: KeyedContext.self)
        router.add(middleware: ErrorEnvelopes(logger: logger))
        router.get("healthz") { [database] _, _ in
            try await database.check()
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "ok\n")))
        }
        let logo = LogoRoute(store: LogoStore(database), folder: options.logos)
        for method in [HTTPRequest.Method.get, .head] {
            router.on("logos/:file", method: method) { request, context in
                try await logo.logo(request, named: try context.parameters.require("file"))
            }
        }
        if options.admin == .beside {
            AdminRoutes(database: database, options: options, logger: logger).add(to: router)
        }
        // Clients are told one base URL and try both mounts (securenode-ios-sdk, "API Endpoints").
        for mount in ["", "api"] {
            addContract(
                to: router.group(RouterPath(mount)).add(middleware: KeyGate(database: database, now: options.now))
                    .group(context: AccountContext.self))
        }
        return router
    }

    private func addContract(to group: RouterGroup<AccountContext>) {
        let sync = SyncRoutes(database: database, logos: LogoAddress { [self] in logoBase() }, now: options.now)
        let reports = ReportRoutes(database: database, now: options.now)
        add(APIPath.sync, to: group, get: sync.sync, post: { request, _ in try await sync.acknowledge(request) })
        add(APIPath.lookup, to: group, get: sync.lookup)
        add(APIPath.event, to: group, post: reports.event)
        add(APIPath.register, to: group, post: reports.register)
        add(APIPath.update, to: group, post: reports.update)
        add(APIPath.presence, to: group, post: reports.presence)
    }

    private typealias Handler = @Sendable (Request, AccountContext) async throws -> Response

    /// Answers a path's methods, and the others with 405.
    private func add(_ path: String, to group: RouterGroup<AccountContext>, get: Handler? = nil, post: Handler? = nil) {
        let handlers: [(method: HTTPRequest.Method, handler: Handler)] =
            (get.map { [(.get, $0)] } ?? []) + (post.map { [(.post, $0)] } ?? [])
        let allowed = handlers.map(\.method)
        for (method, handler) in handlers {
            group.on(RouterPath(path), method: method) { try await handler($0, $1) }
        }
        for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete] where !allowed.contains(method) {
            group.on(RouterPath(path), method: method) { _, _ -> Response in throw Refusal.method(allowed: allowed) }
        }
    }
}

extension DirectoryServer.Options {
    /// The host as it stands in a URL.
    fileprivate var urlHost: String { host.contains(":") ? "[\(host)]" : host }
}
