// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Logging
import ServiceLifecycle

/// The services that talk to a directory.
struct DirectoryLink {
    let sync: SyncService
    let sender: EventSender
    let remote: RemoteConfigurationService
    let lifetime: CacheLifetime
    /// Nil unless `directory.lookup` is enabled.
    let lookup: NumberLookup?
    /// Nil where no copies of logos are kept.
    let logos: LogoService?
    let publisher: BrandingPublisher
    let client: DirectoryClient
    /// In the order of their start.
    let services: [any Service]
    let device: DeviceIdentity
    let logger: Logger
}
