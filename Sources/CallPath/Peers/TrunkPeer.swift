// SPDX-License-Identifier: Apache-2.0

public import Branding
public import SIPCore
public import Trust

/// A trunk: the sources of its calls, the trust in them, and the targets of calls to it.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
public final class TrunkPeer: Sendable {
    /// Its number in route cookies and call updates, over reloads and restarts; derived from its name.
    public let mark: UInt16
    public let name: String
    public let sources: [PeerSource]
    /// Names of which its TLS certificate must carry one; empty when no certificate is required.
    public let certificateNames: [String]
    /// The targets of the PBX's calls.
    public let targets: TargetGroup
    /// Host names of its targets, in lower case, as a PBX addresses its carrier.
    let hosts: [ArraySlice<UInt8>]
    /// Position of the local socket it sends to.
    public let socket: Int
    /// Position of the local socket its calls leave by towards the PBX; nil for the one of the PBX's target.
    public let pbxSocket: Int?
    /// Whether its P-Asserted-Identity, Remote-Party-ID and verstat are trusted.
    public let isTrusted: Bool
    public let policy: BrandingPolicy
    /// Whether its calls have brands, or would have.
    public let brands: BrandMode
    public let normaliser: NumberNormaliser
    /// The headers that may name the caller, in order; the first present one decides.
    public let identityOrder: [IdentityHeader]
    /// Whether Call-Info other than rich call data (`answer-after` and the like) passes.
    public let keepsForeignCallInfo: Bool
    public let carrierName: CarrierNamePolicy
    /// Whether it gets the identity of a PBX's caller that withholds the number.
    public let takesWithheldIdentity: Bool
    /// The emergency numbers of its region.
    public let emergencyNumbers: EmergencyNumbers
    /// Headers with a carrier's attestation, in lower case.
    ///
    /// For an untrusted trunk those of all trunks, which are removed.
    let attestationHeaders: [ArraySlice<UInt8>]
    /// Name of the header with the trunk's name for the PBX; nil for none.
    public let trunkHeader: String?
    /// That header field with the trunk's name and its line end; empty for none.
    let trunkHeaderLine: [UInt8]
    /// The verification of signed calls; nil where it is off.
    public let signatures: TrunkSignatures?
    /// Whether its calls without Identity have a verdict too.
    let judgesUnsigned: Bool
    /// The PBX of its calls.
    public let pbx: PBXPeer
    /// Its limits and its calls in progress.
    public let admission: TrunkAdmission
    /// The state of its registrar; nil where it is not watched.
    let registrar: RegistrarState?

    public init(
        name: String, sources: [PeerSource], targets: TargetGroup, socket: Int, isTrusted: Bool,
        policy: BrandingPolicy, normaliser: NumberNormaliser, identityOrder: [IdentityHeader],
        keepsForeignCallInfo: Bool, trunkHeader: String?, pbx: PBXPeer, certificateNames: [String] = [],
        pbxSocket: Int? = nil, carrierName: CarrierNamePolicy = .replace, takesWithheldIdentity: Bool = true,
        admission: TrunkAdmission = TrunkAdmission(), hosts: [String] = [],
        emergencyNumbers: EmergencyNumbers? = nil, attestationHeaders: [String] = [],
        registrar: RegistrarState? = nil, signatures: TrunkSignatures? = nil, brands: BrandMode = .on,
        isTest: Bool = false
    ) {
        self.signatures = signatures
        judgesUnsigned = signatures?.judgesUnsigned ?? false
        self.emergencyNumbers = emergencyNumbers ?? EmergencyNumbers(region: normaliser.region)
        self.attestationHeaders = attestationHeaders.map { Array($0.lowercased().utf8)[...] }
        self.registrar = registrar
        self.hosts = hosts.map { Array($0.lowercased().utf8)[...] }
        mark = isTest ? Self.testMark : Self.mark(of: name)
        self.name = name
        self.sources = sources
        self.targets = targets
        self.socket = socket
        self.isTrusted = isTrusted
        self.policy = policy
        self.brands = brands
        self.normaliser = normaliser
        self.identityOrder = identityOrder
        self.keepsForeignCallInfo = keepsForeignCallInfo
        self.trunkHeader = trunkHeader
        trunkHeaderLine = trunkHeader.map { Array("\($0): \(name)\r\n".utf8) } ?? []
        self.pbx = pbx
        self.certificateNames = certificateNames
        self.pbxSocket = pbxSocket
        self.carrierName = carrierName
        self.takesWithheldIdentity = takesWithheldIdentity
        self.admission = admission
    }

    /// The mark of a trunk's name; two names of one configuration may share one only by a chance of 1 in 65,536.
    public static func mark(of name: String) -> UInt16 {
        // Folded to 16 bits. The mark needs no secrecy: the route cookie is sealed.
        let hash = stableHash(name)
        return min(UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48), testMark - 1)
    }

    /// The mark of the caller of a test call, which no name has.
    static let testMark = UInt16.max

    /// Whether it is the caller of a test call: no account has anything of its calls.
    var isTest: Bool { mark == Self.testMark }

    /// True when a message that arrived this way is the trunk's.
    func sends(_ flow: Flow, anyPort: Bool) -> Bool {
        if !certificateNames.isEmpty {
            guard let names = flow.certificate?.names, certificateNames.contains(where: names.contains) else {
                return false
            }
            if sources.isEmpty { return true }
        }
        return sources.contains { $0.contains(flow.source, anyPort: anyPort) }
    }
}
