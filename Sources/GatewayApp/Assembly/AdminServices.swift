// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayAdmin
import Logging
import ServiceLifecycle

/// The admin port with its pages.
struct AdminServices {
    let configuration: HeraldConfiguration
    let source: GatewayPageReport
    let gate: StartGate

    /// Builds the services; empty where the port is off.
    ///
    /// - Throws: the error of a page's template.
    func build() throws -> [any Service] {
        guard let address = configuration.admin else { return [] }
        let logger = Logger(label: "herald.admin")
        let rates = CallRates { [source] in source.traffic() }
        let pages = GatewayPages(
            source: source, rates: rates, name: configuration.id, version: HeraldVersion.current,
            numbers: NumberDisplay(configuration.log.numbers), access: GatewayPages.Access(configuration.pageAccess),
            logger: logger)
        let server = AdminServer(
            HTTPListener(address, key: "admin.listen", onListening: gate.expectServer()), source: source.status,
            pages: try pages.site(),
            tls: configuration.adminAccess.tls.map { AdminTLS(certificate: $0.certificate, key: $0.key) },
            logger: logger)
        return [rates, server]
    }
}

extension GatewayPages.Access {
    /// The access that the configuration allows.
    init(_ access: HeraldConfiguration.PageAccess) {
        switch access {
        case .thisMachine: self = .thisMachine
        case .token(let token, let isSecure): self = .token(token.reveal(), isSecure: isSecure)
        case .off(let text): self = .off(text)
        }
    }
}
