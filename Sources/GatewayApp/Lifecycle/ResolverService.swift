// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Logging
import SIPTransport
import ServiceLifecycle

extension NextHopResolver {
    /// Resolves the names of a configuration and applies each change to the settings.
    convenience init(
        _ configuration: HeraldConfiguration, asking lookup: LiveNameLookup, settings: LiveSettings, logger: Logger
    ) {
        self.init(
            names: configuration.nextHopNames, lookup: lookup,
            settings: .init(
                resolution: .init(families: configuration.addressFamilies),
                path: configuration.state + "/next-hops.json"),
            time: .init(clock: ContinuousClock(), wallSeconds: { Int64(Date().timeIntervalSince1970) }),
            onChange: { settings.use($0) }, onNotice: { logger.warning("\($0)") })
    }
}

/// Keeps the addresses of next hops up to date.
struct ResolverService: Service {
    let resolver: NextHopResolver

    func run() async throws {
        await cancelWhenGracefulShutdown { await resolver.run() }
    }
}
