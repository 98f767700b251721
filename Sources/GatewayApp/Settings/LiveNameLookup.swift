// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayConfiguration
import SIPTransport
import Synchronization

/// Asks the name servers of the configuration in force; any thread.
final class LiveNameLookup: NameLookup {
    private let current: Mutex<(servers: [EndpointAddress], lookup: any NameLookup)>
    private let make: @Sendable ([EndpointAddress]) -> any NameLookup

    /// - Parameter make: the lookup at some name servers; at none, at those of the system.
    init(
        _ servers: [EndpointAddress],
        make: @escaping @Sendable ([EndpointAddress]) -> any NameLookup = { servers in
            SystemNameLookup(settings: .init(servers: servers.compactMap { try? $0.peer() }))
        }
    ) {
        self.make = make
        current = Mutex((servers, make(servers)))
    }

    func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord] {
        try await current.withLock { $0.lookup }.records(of: name, type: type)
    }

    /// The lookup at other servers; nil where they are the same.
    func other(_ servers: [EndpointAddress]) -> (any NameLookup)? {
        current.withLock { $0.servers } == servers ? nil : make(servers)
    }

    /// Asks other servers from now on.
    func use(_ servers: [EndpointAddress], _ lookup: any NameLookup) { current.withLock { $0 = (servers, lookup) } }
}
