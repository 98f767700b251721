// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
package import DirectoryStore
import Foundation
import HTTPTypes
import Host
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
import NIOCore
package import Primitives
import ServiceLifecycle
package import WebPages

/// The directory's HTTP server: the contract below `/` and `/api/`, logos, and a health check.
package final class DirectoryServer: Service {
    /// The settings of the server.
    ///
    /// The program sets each one that its configuration has; the defaults are for a server without a configuration.
    package struct Options: Sendable {
        /// An address literal; loopback by default, because the server has no TLS of its own.
        package var host = "127.0.0.1"
        /// 0 lets the kernel choose a port.
        package var port = 8088
        /// Folder of the logo files; nil serves uploaded logos only.
        package var logos: String?
        /// The server's URL for clients; nil uses the listening address.
        package var publicURL: String?
        /// The settings that a reload changes.
        package var policies = ServerPolicies()
        /// The version on pages and in the metrics.
        package var version = "0"
        /// The address of the operator's API.
        package var admin = Admin.beside
        /// The operator's pages, at the address of the API.
        package var pages = Pages.off
        /// True opens the registrations of CAMARA and the tokens for them, at the address of the contract.
        package var offersRegistrations = false
        /// The push services; nil sends no push messages.
        package var push: PushGateway?
        /// The command that makes an admin key for this directory, for the login page.
        package var keyCommand = "herald-directory admin-keys add NAME"
        /// The zone of the times on pages; tests replace it.
        package var zone = LocalZone.ofProcess
        /// TLS at the operator's own address; nil for plain HTTP.
        package var adminCertificate: ServerCertificate?
        package var connections = ClientConnections()
        /// The time for which a page waits for the end of an import; a page of progress follows.
        package var importPatience = Duration.seconds(2)
        /// Delays the response to a wrong admin key; tests replace it.
        package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Seconds since 1970; tests replace it.
        package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

        package init() {}
    }

    /// The address of the operator's API: none, the contract's, or one of its own.
    package enum Admin: Hashable, Sendable {
        case off
        case beside
        case at(host: String, port: Int)
    }

    /// The operator's pages: none, over plain HTTP on this machine, or over TLS.
    package enum Pages: Hashable, Sendable {
        case off
        case loopback
        /// TLS of this server or of a reverse proxy; cookies get the attribute `Secure`.
        case secure
    }

    private let database: DirectoryDatabase
    private let options: Options
    private let logger: Logger
    private let bound = BoundPort()
    private let adminBound = BoundPort()
    private let logos: ServedLogos
    private let counters = ServerCounters()
    private let pushCounters = PushCounters()
    private let watch: StoreWatch
    private let adminGate: AdminGate
    private let operation: OperationRoutes
    private let wrongKeys: WrongKeys
    private let policies: CurrentPolicies

    package init(database: DirectoryDatabase, options: Options = Options(), logger: Logger) {
        self.database = database
        self.options = options
        self.logger = logger
        policies = CurrentPolicies(options.policies)
        database.pushes.set(options.push != nil)
        logos = ServedLogos(
            database, folder: options.logos, publicURL: options.publicURL, host: options.host, now: options.now,
            logger: logger)
        watch = StoreWatch(database, logger: logger)
        wrongKeys = WrongKeys()
        adminGate = AdminGate(
            keys: AdminKeys(database), wrong: wrongKeys, now: options.now, pause: options.pause, counters: counters,
            logger: logger)
        operation = OperationRoutes(
            report: OperationReport(
                database: database, version: options.version, startedAt: options.now(), counters: counters,
                watch: watch, figures: CurrentFigures(database, now: options.now),
                push: options.push == nil ? nil : pushCounters),
            gate: OperationGate(admin: adminGate))
    }

    /// Waits until the server listens and returns its port; 0 if the server ended before.
    package func port() async -> Int { await bound.wait() ?? 0 }

    /// Waits until every address listens; false if the server ended before.
    package func isListening() async -> Bool {
        guard await bound.wait() != nil else { return false }
        guard case .at = options.admin else { return true }
        return await adminBound.wait() != nil
    }

    /// Waits until the operator's API listens and returns its own port; 0 without one.
    package func adminPort() async -> Int { await adminBound.wait() ?? 0 }

    /// Puts other policies in force, for the next request and the next round of housekeeping.
    package func use(_ policies: ServerPolicies) { self.policies.use(policies) }

    /// Reads the certificate of the operator's address again, for new connections.
    ///
    /// - Throws: `ServerCertificateProblem`; the earlier certificate stays in use.
    package func renewCertificate() throws(ServerCertificateProblem) {
        let renew = try options.adminCertificate?.renewal()
        renew?()
    }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: `ListenRefusal` for an address that cannot be bound.
    package func run() async throws {
        defer {
            bound.end()
            adminBound.end()
        }
        AdminFileRoutes.sweep(database.folder)
        UploadExpiry(database: database).sweep()
        if options.port != 0 { logos.listens(on: options.port) }
        // Logos are compared before the first request, so that no client gets a cursor past a change that it does not
        // receive.
        await logos.round()
        await watch.look()
        let cards = try CardPage()
        let site = options.pages == .off || options.admin == .off ? nil : try pages.site()
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let contract = HTTPService(
            application: Application(
                router: router(pages: site, cards: cards),
                server: options.connections.server(now: options.now, counters: counters, logger: logger),
                configuration: options.connections.configuration(
                    host: options.host, port: options.port, logger: quiet),
                onServerRunning: { [self] channel in await listening(on: channel.localAddress?.port) }, logger: quiet),
            host: options.host, port: options.port, key: "listen")
        let services: [any Service] =
            [contract, housekeeping, logos, watch] + (push.map { [$0] } ?? [])
            + (try admin(pages: site, logger: quiet).map { [$0] } ?? [])
            // Stops first, because an import would hold the others up.
            + [LongWorkService(database: database, now: options.now, logger: logger)]
        // The shutdown is graceful, because a failed listener is no error of the other services.
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) },
                logger: quiet))
        try await group.run()
    }

    private var housekeeping: Housekeeping {
        let (database, policies) = (database, policies)
        return Housekeeping(
            database: database, retention: Retention(database: database, keepDays: policies.value.keepDays),
            now: options.now, logger: logger)
    }

    /// Sends push messages; nil without push services.
    private var push: (any Service)? {
        pushGateway.map { gateway in
            PushService(
                database: database, gateway: gateway, publicURL: options.publicURL, counters: pushCounters,
                now: options.now, logger: logger)
        }
    }

    /// The push services, with the scheme of links that is in force.
    private var pushGateway: PushGateway? {
        options.push.map { gateway in
            var gateway = gateway
            gateway.linkScheme = { [policies] in policies.value.clients.linkScheme }
            return gateway
        }
    }

    private var pushRoutes: PushRoutes {
        PushRoutes(
            database: database, gateway: pushGateway, publicURL: options.publicURL,
            clients: { [policies] in policies.value.clients }, now: options.now, counters: pushCounters)
    }

    private var deadline: ResponseDeadline {
        ResponseDeadline(longest: TimeAmount(options.connections.longestResponse), logger: logger)
    }

    /// The operator's API at an address of its own; nil without one.
    private func admin(pages site: PageSite?, logger quiet: Logger) throws -> (any Service)? {
        guard case .at(let host, let port) = options.admin else {
            adminBound.end()
            return nil
        }
        let router = Router(context: KeyedContext.self)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: ErrorEnvelopes(errors: ErrorResponses(logger: logger)))
        router.add(middleware: deadline)
        operation.addReadiness(to: router)
        addAdmin(to: router, pages: site)
        let plain = options.connections.server(now: options.now, counters: counters, logger: logger)
        let application = Application(
            router: router,
            server: try options.adminCertificate.map {
                try HTTPServerBuilder.tls(plain, tlsConfiguration: $0.configuration)
            } ?? plain,
            configuration: options.connections.configuration(host: host, port: port, logger: quiet),
            onServerRunning: { [self] channel in
                adminBound.announce(channel.localAddress?.port)
                logger.info("listening", metadata: ["admin": "\(host):\(channel.localAddress?.port ?? port)"])
            }, logger: quiet)
        return HTTPService(application: application, host: host, port: port, key: "admin.listen")
    }

    private func listening(on port: Int?) async {
        if options.port == 0 {
            logos.listens(on: port)
            await logos.round()
        }
        bound.announce(port)
        let address = "\(options.urlHost):\(port ?? options.port)"
        logger.info("listening", metadata: ["http": "\(address)", "logos": "\(options.logos ?? "none")"])
    }

    /// The operator's routes: metrics, status, the API, and pages.
    private func addAdmin(to router: Router<KeyedContext>, pages site: PageSite?) {
        operation.add(to: router)
        AdminAPI(database: database, options: options, logos: logos, gate: adminGate).add(to: router)
        site?.add(to: router) { $0.peer?.ipAddress ?? "" }
    }

    private var pages: DirectoryPages {
        DirectoryPages(database: database, options: options, logos: logos, wrong: wrongKeys, logger: logger)
    }

    private func registrations(countingWrongAt keys: KeyGate) -> CamaraRoutes {
        let gate = CamaraGate(
            database: database, keys: keys, policies: policies, windows: RequestWindows(), now: options.now)
        return CamaraRoutes(database: database, gate: gate, now: options.now)
    }

    /// The public cards, and the files of apps that open them.
    private func addCards(_ page: CardPage, to group: RouterGroup<KeyedContext>) {
        let card = CardRoute(
            BrandCards(database), page: page, base: options.publicURL, logos: { [logos] in logos.urls },
            policies: policies, now: options.now)
        group.route("b/:brand", isOpenToHead: true) { try await card.card($0, $1) }
        let files = AppLinkFiles(links: { [policies] in policies.value.links }, base: options.publicURL)
        group.route(".well-known/apple-app-site-association", isOpenToHead: true) { _, _ in try files.apple() }
        group.route(".well-known/assetlinks.json", isOpenToHead: true) { _, _ in try files.android() }
    }

    private func router(pages site: PageSite?, cards: CardPage) -> Router<KeyedContext> {
        let router = Router(context: KeyedContext.self)
        let errors = ErrorResponses(logger: logger)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: ErrorEnvelopes(errors: errors))
        router.add(middleware: deadline)
        operation.addReadiness(to: router)
        let open = router.group()
        open.route("healthz", isOpenToHead: true) { [database] _, _ in
            try await database.check()
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: "ok\n")))
        }
        open.route("openapi.yaml", isOpenToHead: true) { _, _ in OpenAPIDocument.contract }
        open.route("openapi-admin.yaml", isOpenToHead: true) { _, _ in OpenAPIDocument.admin }
        let logo = LogoRoute(store: LogoStore(database), folder: options.logos)
        open.route("logos/:file", isOpenToHead: true) { request, context in
            try await logo.logo(request, named: try context.parameters.require("file"))
        }
        addCards(cards, to: open)
        if options.admin == .beside { addAdmin(to: router, pages: site) }
        // Clients have one base URL and try both mounts (securenode-ios-sdk, "API Endpoints").
        let gate = KeyGate(
            database: database, errors: errors, policies: policies, counters: counters,
            now: options.now)
        let contract = ContractRoutes(
            database: database, logos: { [logos] in logos.urls }, clients: { [policies] in policies.value.clients },
            links: ClientLinks(scheme: { [policies] in policies.value.clients.linkScheme }, base: options.publicURL),
            now: options.now,
            lost: BestEffortWrites(counters: counters, logger: logger, now: options.now), counters: counters,
            push: pushRoutes)
        PushPage(isOffered: options.push?.publicKey != nil).add(to: open)
        PushPageRoutes(
            database: database, gateway: pushGateway, publicURL: options.publicURL,
            clients: { [policies] in policies.value.clients }, now: options.now, counters: pushCounters, gate: gate
        ).add(to: open)
        for mount in ["", "api"] {
            let group = router.group(RouterPath(mount))
            contract.addRefresh(to: group, countingWrongAt: gate)
            contract.add(to: router.group(RouterPath(mount)).add(middleware: gate).group(context: AccountContext.self))
        }
        if options.offersRegistrations { registrations(countingWrongAt: gate).add(to: router) }
        return router
    }
}

/// One listening address; a bind error names its configuration key.
private struct HTTPService<Application: ApplicationProtocol>: Service {
    let application: Application
    let host: String
    let port: Int
    let key: String

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            throw ListenRefusal(.tcp, host: host, port: port, code: error.errnoCode, key: key)
        }
    }
}

extension DirectoryServer.Options {
    /// The host in the form for a URL.
    fileprivate var urlHost: String { host.contains(":") ? "[\(host)]" : host }
}
