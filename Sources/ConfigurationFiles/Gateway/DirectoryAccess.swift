// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// Where brands come from and events go to.
    package struct DirectoryAccess: Hashable, Sendable {
        /// `http` or `https`, without user, query and fragment.
        package var url: String
        /// Empty when the file was read without its secrets.
        package var key: ConfiguredSecret
        /// Nil for what the directory asks for, or half an hour.
        package var syncInterval: Duration?
        package var fullSyncInterval = Duration.seconds(86_400)
        package var presenceInterval = Duration.seconds(300)
        /// Longest silence of a connection.
        package var timeout = Duration.seconds(30)
        /// Longest time for a whole request, other than a sync.
        package var resourceTimeout = Duration.seconds(60)
        package var syncTimeout = Duration.seconds(1800)
        package var acknowledges = false
        /// The contract's word for what this gateway runs on.
        package var platform = "linux"
        package var clientType = "herald"
        /// Signs in for tokens instead of showing the key with every request.
        package var isBearer = false
        package var tls = DirectoryTLS()
        /// Nil where requests are not signed.
        package var signing: DirectorySigning?
        /// Zero for no end; nil for what the directory asks for.
        package var cacheLifetime: Duration?
        /// Nil where nobody is looked up.
        package var lookup: Lookup?
        /// Whether logs and state may be sent to the directory when it asks.
        package var allowsDebugUpload = false
        /// What `voip_dialer_enabled: false` of the directory does.
        package var voipDialer = DirectoryFlag.ignore
        /// Largest sync answer in bytes.
        package var maxBody = 4_294_967_296
    }

    /// What a flag of the directory does that its contract does not define for a gateway.
    package enum DirectoryFlag: String, Hashable, Sendable, CaseIterable {
        /// Branding goes on.
        case ignore
        /// Branding stops while the flag is false.
        case obey
    }

    /// Whom the client takes for the directory.
    package struct DirectoryTLS: Hashable, Sendable {
        /// SHA-256 of public keys in base64, one of which must be in the directory's chain; empty for any.
        package var pins: [String] = []
        /// A PEM file of certificates believed instead of the system's roots.
        package var roots: String?
        /// The gateway's own certificate chain and key, PEM; both or neither.
        package var certificate: String?
        package var key: String?
    }

    /// How unknown callers are looked up after their call.
    package struct Lookup: Hashable, Sendable {
        /// Requests, at least 1.
        package var perMinute = 30
        /// How long a number the directory does not know is not asked again.
        package var negativeTTL = Duration.seconds(86_400)
    }

    /// How requests are signed.
    package struct DirectorySigning: Hashable, Sendable {
        package var id: String
        /// Empty when the file was read without its secrets.
        package var secret: ConfiguredSecret
    }
}
