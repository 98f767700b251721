// SPDX-License-Identifier: Apache-2.0

package import Branding
package import SIPCore

/// The checked contents of `herald.yaml`. `Config/herald.yaml` explains each key.
package struct HeraldConfiguration: Sendable {
    /// Name of this gateway in status and logs; the host name by default.
    package var id: String
    /// Folder of durable state: databases, secret, saved index.
    package var state: String
    /// Folder of the update ring, which may be lost at a reboot.
    package var runtime: String
    /// The number of call threads, at least 1.
    package var workers: Int
    /// Largest wait for calls in progress at shutdown.
    package var drain: Duration
    /// Local addresses; at least one.
    package var listen: [Listener]
    /// Carriers; at least one. A request belongs to the first trunk with a matching source.
    package var trunks: [Trunk]
    /// PBXs; at least one.
    package var pbx: [PBX]
    /// Routes of trunks' calls by called number.
    package var routes = Routes()
    package var branding: BrandingSettings
    /// Nil if brands come from a file, or if there are none.
    package var directory: DirectoryAccess?
    /// Customers with directory accounts of their own; calls without a customer use `directory`.
    package var customers: [Customer] = []
    /// File of brands that replaces the directory.
    package var brandsFile: String?
    /// Nil disables the logo service.
    package var logos: Logos?
    package var outcomes: Outcomes
    /// Alarms of spoofed numbers of brands.
    package var alarms = Alarms()
    package var health: Health
    package var timers: Timers
    package var limits: Limits
    package var streams: Streams
    /// DNS servers; empty means the system's servers.
    package var nameServers: [EndpointAddress]
    /// The treatment of requests from unknown peers.
    package var strangers: StrangerTreatment
    /// Nil disables the admin port.
    package var admin: EndpointAddress?
    /// TLS and login of the admin port.
    package var adminAccess = AdminAccess()
    package var log: LogSettings
    package var trace: Trace
    /// Nil for a gateway that is alone.
    package var cluster: Cluster?
    /// Signed calls; nil without regimes.
    package var trust: TrustSettings?
    /// Names for systems that Herald is not in line with.
    package var doors = Doors()
    /// The values of the file by path, as they were read.
    package var values = ConfigurationValues()

    /// A local address for receiving and sending SIP.
    package struct Listener: Hashable, Sendable {
        /// Name in the `listen` keys of trunks and PBXs.
        package var name: String
        /// The bound address; may be a wildcard if `advertise` is set.
        package var address: EndpointAddress
        /// The address or host name that replaces `address` in Via and Record-Route.
        package var advertise: EndpointAddress?
        /// Further names of this listener in Route and Request-URI. A name without a port matches the listener's port.
        package var names: [EndpointAddress] = []
        package var transport = SIPTransportKind.udp
        /// Certificate files; nil unless the transport is TLS.
        package var tls: TLSFiles?
    }

    /// The certificate files of a TLS listener.
    package struct TLSFiles: Hashable, Sendable {
        /// Certificate chain in PEM.
        package var certificate: String
        /// Private key in PEM, without pass phrase.
        package var key: String
        /// Trusted roots in PEM; nil means the system's.
        package var roots: String?
        /// True requires a client certificate from a trusted root (mutual TLS).
        package var asksForCertificate = false
        package var suites = CipherSuites.modern
    }

    /// The cipher suites for TLS 1.2: only suites with forward secrecy and authenticated encryption, or all.
    package enum CipherSuites: String, ConfigurationWord, Sendable { case modern, compatible }

    /// Limits of TCP and TLS connections.
    package struct Streams: Hashable, Sendable {
        /// Limit of all connections.
        package var connections = 10_000
        /// Limit of connections per IPv4 address or IPv6 /64.
        package var connectionsPerSource = 200
        /// Time without data after which a connection is closed.
        package var idle = Duration.seconds(600)
        /// Time limit of an incomplete message or handshake.
        package var unfinished = Duration.seconds(10)
    }

    /// A destination of calls.
    package struct Target: Hashable, Sendable {
        /// Address or host name, with the default port of the transport if none is configured.
        package var address: EndpointAddress
        /// Position in `listen`.
        package var listener: Int
        /// 0 to 65535; the lowest value is used first.
        package var priority = 0
        /// 0 to 65535; share of calls within a priority.
        package var weight = 1
        /// Largest UDP datagram in bytes; nil means no limit.
        package var largestDatagram: Int?
        /// Required name in the target's TLS certificate; nil means the target's host.
        package var certificateName: String?
    }

    /// A carrier.
    package struct Trunk: Equatable, Sendable {
        /// Name in events, metrics and the trunk header.
        package var name: String
        /// Source addresses; at least one, unless `certificateNames` identifies the trunk.
        package var sources: [SourceRange]
        /// Names of the trunk's client certificate, one of which must match; empty for trunks without mutual TLS.
        package var certificateNames: [String]
        /// Destinations; at least one.
        package var targets: [Target]
        /// True sends OPTIONS to the targets. False detects failures by calls alone.
        package var isProbed: Bool
        /// Position in `listen` of the address used towards this trunk.
        package var listener: Int
        /// Position in `listen` of the address for its calls to the PBX; nil means the PBX's own.
        package var pbxListener: Int?
        /// Country of its national numbers; nil accepts only numbers with a plus sign.
        package var region: Region?
        /// True trusts its P-Asserted-Identity, Remote-Party-ID and verstat.
        package var isTrusted: Bool
        package var policy: BrandingPolicy
        /// Whether its calls have brands; those of the route may be in shadow or off too.
        package var brands = BrandMode.on
        /// Header fields in order of preference; at least one, without repetition.
        package var identity: [IdentityHeader]
        /// True keeps Call-Info values other than rich call data.
        package var keepsForeignCallInfo: Bool
        package var carrierName: CarrierNamePolicy
        /// True keeps a PBX caller's P-Asserted-Identity and similar fields if the number is withheld (RFC 3325 §7).
        package var takesWithheldIdentity: Bool
        /// Name of the trunk header, starting with `X-`; nil for none.
        package var trunkHeader: String?
        /// Emergency numbers in addition to those of the region.
        package var emergencyNumbers: [String] = []
        /// Domain names of phone-contexts for the trunk's national numbers.
        package var phoneContexts: [String] = []
        /// Header fields with the carrier's attestation, in addition to the standard ones.
        package var attestationHeaders: [String] = []
        /// The treatment of signed calls; see `HeraldConfiguration.signatures(of:)`.
        package var signatures = TrunkSignatureKeys()
        /// Position in `pbx`.
        package var pbx: Int
        package var limits: TrunkLimits
    }

    /// Limits of the calls of a trunk or a route; nil means no limit.
    package struct TrunkLimits: Hashable, Sendable {
        /// New calls per second.
        package var callsPerSecond: Int?
        /// Calls above the rate at once; nil means the calls of one second.
        package var burst: Int?
        /// Concurrent calls.
        package var calls: Int?
    }

    /// A PBX: the recipient of branded calls.
    package struct PBX: Hashable, Sendable {
        package var name: String
        /// Destinations; at least one.
        package var targets: [Target]
        /// True sends OPTIONS to the targets. False detects failures by calls alone.
        package var isProbed: Bool
        /// True marks a target as down until it responds to OPTIONS: with an explicit `probe`, or with several targets.
        package var mustRespond = false
        /// Source addresses; empty means the addresses of the targets with any port.
        package var sources: [SourceRange]
        /// The family of its phones, for the form of logos in Call-Info; nil for the usual form.
        package var phones: PhoneFamily?
        /// Whether its calls have header fields with the verdict on their signatures.
        package var takesVerdict = false
    }

    /// The rules for marking a target as down.
    package struct Health: Sendable {
        /// Time between two OPTIONS to a target.
        package var interval = Duration.seconds(10)
        /// Wait for the response to OPTIONS.
        package var timeout = Duration.seconds(4)
        /// Failed OPTIONS in a row that mark a target as down.
        package var downAfter = 3
        /// Responses in a row that mark it as up again.
        package var upAfter = 2
        /// Wait for the first response of a target before the call tries the next target.
        package var patience = Duration.seconds(4)
        /// Wait for the first response of the last target before the call fails; nil for Timer B.
        package var lastPatience: Duration?
        /// True reports a PBX without an available target to the carrier's OPTIONS and in `/readyz`.
        package var reportsPBX = true
    }

    /// Rendering of brands.
    package struct BrandingSettings: Hashable, Sendable {
        /// False forwards every call without a brand.
        package var isEnabled = true
        /// 15 to 200 bytes of UTF-8.
        package var maxNameBytes = 80
        /// 1 to 200 characters.
        package var maxReasonCharacters = 64
        package var percent = PercentPolicy.spellOut
        package var quotes = QuotePolicy.escape
        /// True allows `http:` logos in Call-Info.
        package var allowsInsecureLogos = false
        /// False omits Call-Info.
        package var writesCallInfo = true
        package var cardLink = CardLinkField.off
        package var verstat = VerstatMark.off
    }

    /// The header field with the address of a brand's public card.
    package enum CardLinkField: Hashable, Sendable, CaseIterable {
        case off
        /// Call-Info with `purpose=info` (RFC 3261 §20.9).
        case callInfo
    }

    /// The timers of RFC 3261, Table 4.
    package struct Timers: Hashable, Sendable {
        /// Estimated round trip and first retransmission interval; at most `t2`.
        package var t1 = Duration.milliseconds(500)
        /// Largest retransmission interval.
        package var t2 = Duration.seconds(4)
        /// Lifetime of a message in the network.
        package var t4 = Duration.seconds(5)
        /// Wait for the final response of a ringing target.
        package var c = Duration.seconds(181)
    }

    /// Limits of message size and memory.
    package struct Limits: Sendable {
        /// Largest message in bytes.
        package var maxMessage = 65_535
        /// Largest number of header fields per message.
        package var maxHeaders = 200
        /// Nil derives the limit from the available memory.
        package var maxTransactions: Int?
    }
}

extension HeraldConfiguration.PBX {
    /// The addresses of the targets as source ranges: the default of `sources`.
    var ownSources: [SourceRange] {
        targets.filter { !$0.address.isName }.map { target in
            SourceRange(
                host: target.address.host, isIPv6: target.address.isIPv6,
                prefixLength: target.address.isIPv6 ? 128 : 32, port: nil)
        }
    }
}
