// SPDX-License-Identifier: Apache-2.0

package import Branding

/// Everything `herald.yaml` says, checked; each key is explained in `Config/herald.yaml`.
package struct HeraldConfiguration: Sendable {
    /// Name of this gateway, for status and logs; the host's name unless given.
    package var id: String
    /// Folder of what must survive: databases, secret, saved index.
    package var state: String
    /// Folder of what may be lost with the machine: the signal ring.
    package var runtime: String
    /// Threads that carry calls, at least 1.
    package var workers: Int
    /// How long a stopping gateway waits for calls in progress.
    package var drain: Duration
    /// At least one.
    package var listen: [Listener]
    /// At least one; the first whose sources hold a sender is the one it belongs to.
    package var trunks: [Trunk]
    /// At least one.
    package var pbx: [PBX]
    package var branding: BrandingSettings
    /// Nil where brands come from a file or from nowhere.
    package var directory: DirectoryAccess?
    /// A local file of brands, instead of a directory.
    package var brandsFile: String?
    /// Nil where logos are neither fetched nor served.
    package var logos: Logos?
    package var outcomes: Outcomes
    package var health: Health
    package var timers: Timers
    package var limits: Limits
    package var streams: Streams
    /// Servers that are asked for names; empty for those of the system.
    package var nameServers: [EndpointAddress]
    package var strangers: Strangers
    /// Nil switches the admin page off.
    package var admin: EndpointAddress?
    package var log: LogSettings

    /// A local address the gateway receives and sends by.
    package struct Listener: Hashable, Sendable {
        package var name: String
        package var address: EndpointAddress
        /// What peers are told instead of the address, in Via and Record-Route: a literal or a host name.
        package var advertise: EndpointAddress?
        /// What else peers call it, in Route and Request-URI; without port for every port of it.
        package var names: [EndpointAddress] = []
        package var transport = Transport.udp
        /// Where the certificate files are; nil unless the transport is TLS.
        package var tls: TLSFiles?
    }

    /// How SIP travels.
    package enum Transport: String, CaseIterable, Sendable { case udp, tcp, tls }

    /// The files of a TLS address.
    package struct TLSFiles: Hashable, Sendable {
        package var certificate: String
        package var key: String
        package var roots: String?
        package var asksForCertificate = false
        package var suites = CipherSuites.modern
    }

    /// Which cipher suites of TLS 1.2 are taken: those with forward secrecy and authenticated encryption, or all.
    package enum CipherSuites: String, CaseIterable, Sendable { case modern, compatible }

    /// What peers on TCP and TLS can make the gateway hold.
    package struct Streams: Hashable, Sendable {
        package var connections = 10_000
        package var connectionsPerSource = 200
        package var idle = Duration.seconds(600)
        package var unfinished = Duration.seconds(10)
    }

    /// Which header names the caller.
    package enum Identity: String, CaseIterable, Sendable { case pai, rpid, from }

    /// What becomes of Call-Info that is not rich call data.
    package enum ForeignCallInfo: String, CaseIterable, Sendable { case keep, strip }

    /// What becomes of P-Asserted-Identity and its kin towards a trunk where a PBX's caller withholds the number.
    package enum WithheldIdentity: String, CaseIterable, Sendable { case keep, strip }

    /// How much is asked of a caller before a brand is shown.
    package enum Policy: String, CaseIterable, Sendable { case standard, strict, permissive }

    /// What becomes of a name the carrier sent itself.
    package enum CarrierName: String, CaseIterable, Sendable { case replace, fill, keep }

    /// One place calls can be sent to.
    package struct Target: Hashable, Sendable {
        package var address: EndpointAddress
        /// Position in `listen`.
        package var listener: Int
        /// 0 to 65535, lower ones first.
        package var priority = 0
        /// 0 to 65535, the share inside a priority.
        package var weight = 1
        /// Largest datagram in bytes; nil for no limit.
        package var largestDatagram: Int?
        /// The name its TLS certificate must carry; nil for its own.
        package var certificateName: String?
    }

    /// A carrier's side.
    package struct Trunk: Hashable, Sendable {
        package var name: String
        /// At least one, unless certificate names stand for them.
        package var sources: [SourceRange]
        /// Names one of which its client certificate must carry; empty when none is asked for.
        package var certificateNames: [String]
        /// At least one.
        package var targets: [Target]
        /// OPTIONS ask its targets whether they are there; without, calls alone find out.
        package var isProbed: Bool
        /// Position in `listen`: where it sends to.
        package var listener: Int
        /// Position in `listen`: where its calls leave towards the PBX; nil for the usual one.
        package var pbxListener: Int?
        package var region: Region?
        package var isTrusted: Bool
        package var policy: Policy
        /// At least one, each once.
        package var identity: [Identity]
        package var foreignCallInfo: ForeignCallInfo
        package var carrierName: CarrierName
        /// What it is told of a PBX's caller who withholds the number (RFC 3325 §7).
        package var withheldIdentity: WithheldIdentity
        /// A header name that begins with `X-`; nil for none.
        package var trunkHeader: String?
        /// Numbers by which help is called, beside those of the region.
        package var emergencyNumbers: [String] = []
        /// Domain names in whose phone-context its national numbers are written.
        package var phoneContexts: [String] = []
        /// Header fields in which it says how a caller is attested, beside those that have a standard.
        package var attestationHeaders: [String] = []
        /// Position in `pbx`.
        package var pbx: Int
        package var limits: TrunkLimits
    }

    /// What a trunk may bring; nil for no limit.
    package struct TrunkLimits: Hashable, Sendable {
        package var callsPerSecond: Int?
        package var burst: Int?
        package var calls: Int?
    }

    /// The side that gets the branded calls.
    package struct PBX: Hashable, Sendable {
        package var name: String
        /// At least one.
        package var targets: [Target]
        /// OPTIONS ask its targets whether they are there; without, calls alone find out.
        package var isProbed: Bool
        /// A target that has never responded to OPTIONS counts as down: the operator asked for probes, or there are several.
        package var mustRespond = false
        /// Empty for the targets' addresses with any port.
        package var sources: [SourceRange]
    }

    /// When a target counts as down.
    package struct Health: Sendable {
        package var interval = Duration.seconds(10)
        package var timeout = Duration.seconds(4)
        package var downAfter = 3
        package var upAfter = 2
        /// How long a call waits for a silent target before it tries the next, or fails.
        package var patience = Duration.seconds(4)
        /// Whether a carrier's OPTIONS and `/readyz` show that no target of a PBX is up.
        package var reportsPBX = true
    }

    /// What becomes of `%` and `${` in names and reasons.
    package enum PercentPolicy: String, CaseIterable, Sendable {
        case spellOut = "spell_out"
        case keep
    }

    /// How `"` and `\` in names and reasons are written.
    package enum Quotes: String, CaseIterable, Sendable { case escape, typographic }

    /// How brands are shown.
    package struct BrandingSettings: Hashable, Sendable {
        package var isEnabled = true
        /// 15 to 200.
        package var maxNameBytes = 80
        /// 1 to 200.
        package var maxReasonCharacters = 64
        package var percent = PercentPolicy.spellOut
        package var quotes = Quotes.escape
        package var allowsInsecureLogos = false
        package var writesCallInfo = true
    }

    /// The timers of RFC 3261, Table 4.
    package struct Timers: Hashable, Sendable {
        package var t1 = Duration.milliseconds(500)
        package var t2 = Duration.seconds(4)
        package var t4 = Duration.seconds(5)
        package var c = Duration.seconds(181)
    }

    /// What one peer can make the gateway hold.
    package struct Limits: Sendable {
        /// Bytes of one message.
        package var maxMessage = 65_535
        /// Header fields of one message.
        package var maxHeaders = 200
        /// Nil to go by the memory there is.
        package var maxTransactions: Int?
    }

    /// What happens to requests of senders that are neither trunk nor PBX.
    package enum Strangers: String, CaseIterable, Sendable { case refuse, drop }
}

extension HeraldConfiguration.PBX {
    /// The addresses of its targets, as sources: what it sends from unless the configuration says otherwise.
    var ownSources: [SourceRange] {
        targets.filter { !$0.address.isName }.map { target in
            SourceRange(
                host: target.address.host, isIPv6: target.address.isIPv6,
                prefixLength: target.address.isIPv6 ? 128 : 32, port: nil)
        }
    }
}
