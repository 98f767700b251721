// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CSQLite
import ConfigurationFiles
import CoreMetrics
import DirectoryServer
import DirectoryStore
import Foundation
import Host
import Logging
import ServiceLifecycle
import UnixSignals

/// `herald-directory run`: the server, in the foreground until SIGTERM or SIGINT.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Serve the branding contract over HTTP.",
        discussion: """
            The contract has no TLS of its own: keep it on loopback, or put a reverse proxy in front of it. Pages for
            operators are at the address of the admin API, with an admin key as login.

            Example:
              herald-directory run --listen 127.0.0.1:8088 --state /var/lib/herald-directory --logos /srv/logos
            """)

    @OptionGroup var options: StateOptions

    @Option(help: ArgumentHelp("The listening address.", valueName: "address:port"))
    var listen: String?

    @Option(help: ArgumentHelp("Folder of the logo files to serve.", valueName: "folder"))
    var logos: String?

    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp("The server's URL for clients, for logos.", valueName: "url")
    )
    var publicURL: String?

    func run() async throws {
        umask(0o027)
        MetricsSystem.bootstrap(LibraryMetrics.shared)
        herald_sqlite_without_statistics()
        // SIGHUP is trapped before the slow steps; until then it would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let configuration = try options.configuration() ?? DirectoryConfiguration()
        let log = LiveLogSettings(configuration.log)
        LoggingSystem.bootstrap { label in TextLogHandler(label: label, level: log.level) }
        let logger = Logger(label: "herald-directory")
        let server = try serverOptions(configuration, logger)
        let database = try options.open(
            creates: true, storedPerDay: configuration.storedMBPerDay * 1_000_000)
        if server.admin != .off, server.pages == .off, configuration.pages.isEnabled {
            logger.notice("no pages: \(configuration.pages.remedy(at: server.operatorHost))")
        }
        let (host, port) = (server.host, server.port)
        let service = DirectoryServer(database: database, options: server, logger: logger)
        let progress = EventLoopProgress()
        // Databases have threads of their own, so a slow disk stops no watched loop.
        let report = SystemdReport(
            progress: { progress.values },
            onStuck: { loop in
                logger.critical(
                    "a thread of the server makes no progress; systemd restarts it if that lasts, see WatchdogSec",
                    metadata: ["loop": "\(loop)"])
            },
            line: { "listening on \(host):\(port)" })
        let reload = DirectoryReload(
            path: options.file, running: configuration, server: service, log: log, report: report, logger: logger)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: service),
                    .init(
                        service: ListeningReport(server: service, report: report), successTerminationBehavior: .ignore),
                    .init(
                        service: ReloadService(hangups) { reload.run() }, successTerminationBehavior: .ignore),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch let refusal as ListenRefusal {
            throw CommandFailure("\(refusal)")
        } catch {
            throw CommandFailure("the server on \(host):\(port) ended: \(error)")
        }
        logger.info("stopped")
    }

    /// The options of the command line, then the configuration: that of the file, else the default one.
    private func serverOptions(
        _ configuration: DirectoryConfiguration, _ logger: Logger
    ) throws -> DirectoryServer.Options {
        var server = DirectoryServer.Options()
        server.version = HeraldDirectory.configuration.version
        let address = try endpoint() ?? configuration.listen
        (server.host, server.port) = (address.host, Int(address.port))
        if let problem = logos.flatMap(DirectoryConfiguration.problem(ofLogos:)) {
            throw CommandFailure("--logos: \(problem)")
        }
        server.logos = logos ?? configuration.logos
        server.publicURL = publicURL ?? configuration.publicURL
        server.policies = ServerPolicies(configuration)
        switch configuration.admin {
        case .off: server.admin = .off
        case .beside: server.admin = .beside
        case .at(let address): server.admin = .at(host: address.host, port: Int(address.port))
        }
        setPages(configuration, &server)
        server.offersRegistrations = configuration.offersRegistrations
        server.push = try configuration.push?.gateway()
        server.keyCommand = options.keyCommand
        server.adminCertificate = try configuration.certificate()
        let files = OpenFiles.allow(connections: configuration.connections)
        if let refusal = files.refusal { throw CommandFailure(refusal) }
        if let shortage = files.shortage { logger.warning("\(shortage)") }
        server.connections.most = files.allowedConnections
        server.connections.perClient = configuration.connectionsPerClient
        server.connections.longestResponse = configuration.responseTimeout
        return server
    }

    /// The pages at the final address of the operator, which `--listen` can change.
    private func setPages(
        _ configuration: DirectoryConfiguration, _ server: inout DirectoryServer.Options
    ) {
        guard server.admin != .off, configuration.pages.isEnabled else { return }
        switch configuration.pages.access(at: server.operatorHost) {
        case .off: server.pages = .off
        case .loopback: server.pages = .loopback
        case .secure: server.pages = .secure
        }
    }

    private func endpoint() throws -> EndpointAddress? {
        guard let listen else { return nil }
        do {
            return try EndpointAddress.read(listen, defaultPort: 8088)
        } catch {
            throw ValidationError("--listen: \(error)")
        }
    }
}

extension DirectoryServer.Options {
    /// The host of the operator's address.
    fileprivate var operatorHost: String {
        if case .at(let host, _) = admin { host } else { host }
    }
}
