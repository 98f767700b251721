// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import GatewayConfiguration
import Host
package import Logging
import Primitives
import ServiceLifecycle
import Synchronization
import WebPages

/// The admin port with its pages; a reload moves it, changes its access, or takes a renewed certificate.
///
/// A renewal keeps the port and its connections. Any other change ends the old server first, so that a new one can take the
/// same port. Sessions of the pages end with their server.
package final class AdminPort: ReloadablePart {
    /// The keys of the configuration that shape the port.
    private struct Settings: Equatable, Sendable {
        let address: EndpointAddress?
        let files: HeraldConfiguration.TLSFiles?
        let access: HeraldConfiguration.PageAccess
        let numbers: LogSettings.Numbers

        init(_ configuration: HeraldConfiguration) {
            address = configuration.admin
            files = configuration.adminAccess.tls
            access = configuration.pageAccess
            numbers = configuration.log.numbers
        }
    }

    private struct State {
        var settings: Settings
        /// Nil without TLS.
        var certificate: ServerCertificate?
        /// Nil before `begin`.
        var source: GatewayPageReport?
    }

    /// The server in force.
    package let services: ReplaceableServices
    private let state: Mutex<State>
    private let id: String
    private let expectServer: @Sendable () -> @Sendable (_ port: Int) -> Void
    private let logger = Logger(label: "herald.admin")
    private let notices: Logger

    /// Reads the files of the certificate; `begin` makes the server.
    ///
    /// - Parameters:
    ///   - expectServer: lets calls wait for the first server; returns the callback for its port.
    ///   - logger: takes the lines of a reload.
    /// - Throws: the error of a certificate.
    package init(
        _ configuration: HeraldConfiguration,
        expectServer: @escaping @Sendable () -> @Sendable (_ port: Int) -> Void, logger: Logger
    ) throws {
        (id, self.expectServer, notices) = (configuration.id, expectServer, logger)
        let settings = Settings(configuration)
        state = Mutex(State(settings: settings, certificate: try Self.certificate(settings)))
        services = ReplaceableServices(logger: logger, patience: .seconds(5))
    }

    /// Hands the server of the start over; called once, before it runs.
    ///
    /// - Parameter source: the facts of the pages.
    /// - Throws: the error of a page's template.
    package func begin(_ source: GatewayPageReport) throws {
        let start = state.withLock { state in
            state.source = source
            return state
        }
        guard start.settings.address != nil else { return }
        let first = try build(start, onListening: expectServer())
        services.replace { first }
    }

    package func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        let settings = Settings(next)
        let running = state.withLock { $0 }
        guard settings != running.settings else { return try renewal(of: running.certificate) }
        try Self.check(settings.address, against: running.settings.address)
        let next = State(
            settings: settings, certificate: try Self.certificate(settings), source: running.source)
        let services = try build(next, onListening: { _ in }).map { AfterReload(service: $0) }
        return { [self] in
            state.withLock { $0 = next }
            self.services.replace { services }
            notices.notice(
                "the admin port has its new settings",
                metadata: [
                    "admin": "\(settings.address.map(\.description) ?? "off")",
                    "tls": "\(settings.files?.certificate ?? "none")",
                ])
        }
    }

    /// The step that takes the files of the certificate in force again; nil without TLS.
    private func renewal(of certificate: ServerCertificate?) throws -> (@Sendable () async -> Void)? {
        guard let certificate else { return nil }
        do throws(ServerCertificateProblem) {
            let renew = try certificate.renewal()
            return { renew() }
        } catch {
            throw CommandFailure(error.text(of: "admin.tls"))
        }
    }

    private static func certificate(_ settings: Settings) throws -> ServerCertificate? {
        guard settings.address != nil, let files = settings.files else { return nil }
        do throws(ServerCertificateProblem) {
            return try ServerCertificate(certificate: files.certificate, key: files.key)
        } catch {
            throw CommandFailure(error.text(of: "admin.tls"))
        }
    }

    /// Refuses an address that another program has, while the old server still runs.
    ///
    /// On the port of the old server nothing can be tried before that ends.
    private static func check(_ address: EndpointAddress?, against old: EndpointAddress?) throws {
        guard let address, address.port != 0, address.port != old?.port else { return }
        let code = address.bindCode(.tcp)
        if code != 0 { throw ListenRefusal(.tcp, "\(address)", code: code, key: "admin.listen") }
    }

    /// The services of one generation; empty where the port is off.
    private func build(
        _ state: State, onListening: @escaping @Sendable (Int) -> Void
    ) throws -> [any Service] {
        let settings = state.settings
        guard let address = settings.address, let source = state.source else { return [] }
        let rates = CallRates { source.traffic() }
        let pages = GatewayPages(
            source: source, rates: rates, name: id, version: HeraldVersion.current,
            numbers: NumberDisplay(settings.numbers), access: GatewayPages.Access(settings.access), logger: logger)
        let server = AdminServer(
            HTTPListener(address, key: "admin.listen", onListening: onListening), source: source.status,
            pages: try pages.site(), certificate: state.certificate, logger: logger)
        return [rates, server]
    }
}

extension ServerCertificateProblem {
    /// The problem with its configuration key and the cause.
    fileprivate func text(of section: String) -> String {
        "\(section).\(part.rawValue): \(SystemError.ofUsing(path, as: wanted))"
    }
}

extension GatewayPages.Access {
    /// The access that the configuration allows.
    init(_ access: HeraldConfiguration.PageAccess) {
        switch access {
        case .thisMachine: self = .thisMachine
        case .token(let token, let isSecure): self = .token(Concealed(token.reveal()), isSecure: isSecure)
        case .off(let text): self = .off(text)
        }
    }
}
