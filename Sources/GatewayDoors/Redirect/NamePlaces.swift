// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
package import SIPCore

/// The place in which each client takes a name, by the narrowest range that has its address.
package struct NamePlaces: Sendable {
    private let usual: Redirection.NamePlace
    private let ranges: [(clients: AllowedClients, place: Redirection.NamePlace)]

    /// - Parameter clients: ranges whose clients take the name in another place than the usual one.
    package init(_ usual: Redirection.NamePlace, clients: [SourceRange: Redirection.NamePlace] = [:]) {
        self.usual = usual
        ranges = clients.sorted { $0.key.prefixLength > $1.key.prefixLength }.map { range, place in
            (clients: AllowedClients([range]), place: place)
        }
    }

    /// The place for a client.
    package func place(for address: [UInt8]) -> Redirection.NamePlace {
        ranges.first { $0.clients.contain(address) }?.place ?? usual
    }
}
