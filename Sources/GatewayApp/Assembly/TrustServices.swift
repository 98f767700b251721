// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import GatewaySync
import Logging
import ServiceLifecycle

/// The signers of calls and their services, in a gateway with a `trust` section.
struct TrustServices {
    /// The parts that the call path shares.
    let shared: GatewayTrust
    /// Metrics and status of the verification.
    let metrics: TrustMetrics
    private let publisher: TrustPublisher
    private let signers: SignerService
    private let decisions: SignerDecisions

    /// Reads the stored signers, so that the first call finds them; nil for a gateway without a `trust` section.
    ///
    /// - Parameter current: gets the signers.
    init?(_ configuration: HeraldConfiguration, _ current: CurrentTrust) {
        guard let settings = configuration.trust else { return nil }
        let logger = Logger(label: "herald.trust")
        shared = GatewayTrust(signers: current)
        publisher = TrustPublisher(
            folder: configuration.state, regimes: settings.names, current: current, logger: logger)
        signers = SignerService(
            settings, folder: configuration.state, requests: shared.requests, signers: current, publisher: publisher,
            fetch: settings.fetchesAnything ? CertificateFetch(version: HeraldVersion.current) : nil, logger: logger)
        decisions = SignerDecisions(configuration, publisher, logger: logger)
        metrics = TrustMetrics(shared, publisher, signers)
    }

    /// The services in the order of their start.
    var services: [any Service] { [publisher, signers, decisions] }
}
