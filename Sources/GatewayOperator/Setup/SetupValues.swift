// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles

/// All that `herald setup` must know for a configuration.
struct SetupValues: Hashable, Sendable {
    var carrier: CarrierAddresses
    /// Names of the carrier whose addresses are among the sources.
    var names: [String] = []
    var nextHop: EndpointAddress
    var pbx: EndpointAddress
    var country: ChosenCountry
    var vouches: Bool
    /// The gateway's address towards the carrier, and towards the PBX.
    var outside: EndpointAddress
    var inside: EndpointAddress
    /// Nil for a gateway without a directory.
    var directory: Directory?

    /// The source of the brands.
    struct Directory: Hashable, Sendable {
        var url: String
        /// The key's file as the configuration names it.
        var keyFile: String
        /// True for a URL without TLS: phones get copies of the logos from the gateway.
        var isPlain: Bool { url.lowercased().hasPrefix("http:") }
        /// True if the host is in a private network or on this machine.
        var isPrivate: Bool
    }
}
