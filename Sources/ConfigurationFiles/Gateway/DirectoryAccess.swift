// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// The branding directory: source of brands, recipient of events.
    package struct DirectoryAccess: Hashable, Sendable {
        /// An `http` or `https` URL without user, query and fragment.
        package var url: String
        /// The API key; empty if the file was loaded without its secrets.
        package var key: ConfiguredSecret
        /// Nil means the directory's remote configuration, or else 30 min.
        package var syncInterval: Duration?
        /// Time between full syncs, which reveal deleted brands.
        package var fullSyncInterval = Duration.seconds(86_400)
        /// Time between presence reports.
        package var presenceInterval = Duration.seconds(300)
        /// Largest gap between the bytes of a response.
        package var timeout = Duration.seconds(30)
        /// Time limit for one request and its response, except a sync.
        package var resourceTimeout = Duration.seconds(60)
        /// Time limit for a sync.
        package var syncTimeout = Duration.seconds(1800)
        /// True confirms each sync with a POST.
        package var acknowledges = false
        /// The platform in the device registration.
        package var platform = "linux"
        /// The value of `X-Client-Type`.
        package var clientType = "herald"
        /// True uses bearer tokens instead of sending the API key with every request.
        package var isBearer = false
        /// Certificate requirements; unused for an `http` URL.
        package var tls = DirectoryTLS()
        /// Nil disables signing.
        package var signing: DirectorySigning?
        /// Zero means no limit; nil means the directory's remote configuration, or else no limit.
        package var cacheLifetime: Duration?
        /// Nil disables lookups.
        package var lookup: Lookup?
        /// Allows uploads of logs and status at the directory's request.
        package var allowsDebugUpload = false
        /// The effect of `voip_dialer_enabled: false` in the directory's `config`.
        package var voipDialer = DirectoryFlag.ignore
        /// Largest sync response in bytes, decompressed.
        package var maxBody = 4_294_967_296
    }

    /// The effect of a directory flag that the contract does not define for gateways.
    package enum DirectoryFlag: String, ConfigurationWord, Hashable, Sendable {
        /// The flag has no effect.
        case ignore
        /// Branding stops while the flag is false.
        case obey
    }

    /// Requirements for the directory's certificate, and the gateway's own certificate.
    package struct DirectoryTLS: Hashable, Sendable {
        /// SHA-256 of public keys in Base64. One of them must be in the directory's chain. Empty accepts any key.
        package var pins: [String] = []
        /// PEM file of trusted roots that replaces the system's roots.
        package var roots: String?
        /// The gateway's own certificate chain in PEM; set together with `key`, or neither.
        package var certificate: String?
        /// The key of `certificate`, in PEM without pass phrase.
        package var key: String?
    }

    /// Limits of lookups of unknown callers, which happen after the call.
    package struct Lookup: Hashable, Sendable {
        /// Requests per minute, at least 1.
        package var perMinute = 30
        /// Time for which an unknown number is not looked up again.
        package var negativeTTL = Duration.seconds(86_400)
    }

    /// The application id and the secret of signed requests.
    package struct DirectorySigning: Hashable, Sendable {
        /// The application id that the directory knows.
        package var id: String
        /// The shared secret; empty if the file was loaded without its secrets.
        package var secret: ConfiguredSecret
    }
}
