// SPDX-License-Identifier: Apache-2.0

package import GatewaySync
package import Logging
package import ServiceLifecycle

/// The services that talk to a directory.
package struct DirectoryLink {
    /// Brings the brands.
    package let sync: SyncService
    /// Sends events of calls.
    package let sender: EventSender
    /// Reads the directory's remote configuration.
    package let remote: RemoteConfigurationService
    /// Closes the gate when the last good sync is too old.
    package let lifetime: CacheLifetime
    /// Nil unless `directory.lookup` is enabled.
    package let lookup: NumberLookup?
    /// Nil where no copies of logos are kept.
    package let logos: LogoService?
    /// Puts brands and gates in force.
    package let publisher: BrandingPublisher
    /// The HTTP client of all of them.
    package let client: DirectoryClient
    /// In the order of their start.
    package let services: [any Service]
    /// The gateway's identity at the directory.
    package let device: DeviceIdentity
    /// The log of the services.
    package let logger: Logger

    /// - Parameters:
    ///   - lookup: nil unless `directory.lookup` is enabled.
    ///   - logos: nil where no copies of logos are kept.
    ///   - services: all of them, in the order of their start.
    package init(
        sync: SyncService, sender: EventSender, remote: RemoteConfigurationService, lifetime: CacheLifetime,
        lookup: NumberLookup?, logos: LogoService?, publisher: BrandingPublisher, client: DirectoryClient,
        services: [any Service], device: DeviceIdentity, logger: Logger
    ) {
        self.sync = sync
        self.sender = sender
        self.remote = remote
        self.lifetime = lifetime
        self.lookup = lookup
        self.logos = logos
        self.publisher = publisher
        self.client = client
        self.services = services
        self.device = device
        self.logger = logger
    }
}
