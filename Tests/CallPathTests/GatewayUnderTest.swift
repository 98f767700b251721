// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import SIPCore
import TestFixtures
import Trust

/// The call path with real parts and no sockets: bytes in by `receive`, datagrams out of `sent`, time by hand.
final class GatewayUnderTest {
    static let trunk = PeerAddress(ipv4: 0xCB00_7105, port: 5060)  // 203.0.113.5
    static let pbx = PeerAddress(ipv4: 0xC000_0214, port: 5060)  // 192.0.2.20
    static let local = PeerAddress(ipv4: 0xC000_020A, port: 5060)  // 192.0.2.10
    static let stranger = PeerAddress(ipv4: 0xC633_6409, port: 5060)  // 198.51.100.9

    let gateway: GatewayElement
    let shared: GatewayShared
    private let shards: GatewayShards
    let counters = GatewayCounters()
    let branding: CurrentBranding
    let ring: UpdateRing
    let index: BrandIndex
    private(set) var now = Moment(milliseconds: 1_000_000, wallMicroseconds: 1_800_000_000_000_000)
    private let folder = TemporaryFolder()

    /// How the trunk of the test is set up.
    struct Options {
        var isTrusted = true
        var policy = BrandingPolicy.standard
        /// Whether calls of the trunk have brands, or would have.
        var brands = BrandMode.on
        var keepsForeignCallInfo = true
        var takesWithheldIdentity = true
        var trunkHeader: String?
        var largestDatagram: Int?
        var gates = BrandingGates()
        var secret = Secret(key0: 7, key1: 8)
        var mostTransactions = 10_000
        /// Milliseconds after which a call without a BYE ends.
        var longestCall: UInt64 = 14_400_000
        var shards = 1
        var targets: [Target] = []
        var limits = TrunkAdmission.Limits()
        var identityOrder: [IdentityHeader] = [.pAssertedIdentity, .remotePartyID, .from]
        /// Whether the brands have a logo and a reason beside their name.
        var hasLogoAndReason = true
        /// One of them alone, if the brands have both.
        var (hasLogo, hasReason) = (true, true)
        var writesCallInfo = true
        /// `branding.card_link`, and the template of the directory.
        var writesCardLink = false
        var cards: CardLinks?
        var brandID = "acme"
        var carrierName = CarrierNamePolicy.replace
        /// Ports of the local addresses.
        var sockets: [UInt16] = [5060]
        var pbxSocket: Int?
        var answerers = AnswererRules()
        /// Where the trunk is, and how the operator says its numbers and claims are meant.
        var region = "AU"
        var emergencyNumbers: [String] = []
        var phoneContexts: [String] = []
        var attestationHeaders: [String] = []
        /// Another trunk, in front of the usual one, reached at this address.
        var secondTrunk: PeerAddress?
        var hasTrunk = true
        var trunkAddress = GatewayUnderTest.trunk
        var pbxAddress = GatewayUnderTest.pbx
        /// Instead of the one at `trunkAddress`.
        var trunkTargets: [Target] = []
        var trunkTargetNames: [TargetName] = []
        /// Beside `trunkAddress` and the targets.
        var trunkSources: [PeerSource] = []
        var targetNames: [TargetName] = []
        /// Whether OPTIONS probe the targets.
        var areProbed = false
        var isSecondTrusted = true
        var ownNames: [OwnName] = []
        var localAddress = GatewayUnderTest.local
        /// The name or address that all nodes of a cluster share.
        var route: String?
        var isClustered = false
        var registrar: RegistrarState?
        /// Whether the last local address is one of TCP.
        var hasStream = false
        var reportsPBX = true
        var lastPatience: Duration?
        var messageLimits = SIPLimits()
        /// The form of logos for the PBX's phones.
        var logo: LogoForm?
        /// The gateway's own copies of logos.
        var hostedLogos: HostedLogos?
        /// The longest name of a display.
        var maxNameBytes = 80
        var verstat = VerstatMark.off
        /// The verification of signed calls of the trunk; nil for none.
        var signatures: TrunkSignatures?
        /// Whether the PBX gets header fields with the verdict.
        var takesVerdict = false
        /// The signers that are known.
        var signers = TrustSnapshot(generation: 0, regimeSet: 0, [])
        /// The numbers with a brand; nil for those of the test.
        var brandNumbers: [E164Number]?
        /// The wall clock at the start, in Unix seconds.
        var seconds: Int64 = 1_800_000_000
        /// A second PBX at this address, and the routes that lead to it.
        var otherPBX: PeerAddress?
        var routes: (PBXPeer?) -> CallRoutes = { _ in CallRoutes() }
    }

    init(numbers: some Sequence<E164Number>, options: Options = Options()) throws {
        ring = try UpdateRing(path: folder.path + "/signals.ring", capacity: 1024)
        var builder = BrandIndexBuilder(
            profile: RenderingProfile(maxNameBytes: options.maxNameBytes, logos: options.hostedLogos), generation: 1,
            expectedCount: 100)
        for number in numbers {
            builder.add(
                BrandRecord(
                    number: number, name: "Acme \"Bank\"", brandID: options.brandID,
                    logoURL: options.hasLogoAndReason && options.hasLogo
                        ? "https://logos.example/acme-256x256.png" : "",
                    callReason: options.hasLogoAndReason && options.hasReason ? "Your appointment" : "",
                    updatedAt: "2026-01-01T00:00:00Z"))
        }
        index = builder.finish()
        branding = CurrentBranding(BrandingSnapshot(index: index, gates: options.gates, cards: options.cards))
        shared = GatewayShared(
            settings: CurrentSettings(Self.settings(options)), branding: branding, counters: counters, updates: ring,
            probes: TargetProber(seed: 1), calls: CallsInProgress(),
            trust: GatewayTrust(signers: CurrentTrust(options.signers)))
        now.wallMicroseconds = options.seconds * 1_000_000
        shards = GatewayShards(shared: shared, count: options.shards, now: now)
        gateway = GatewayElement(shards: shards)
    }

    /// The element of another worker of the same gateway; for one thread of its own.
    func secondWorker() -> GatewayElement { GatewayElement(shards: shards, worker: 1, of: 2) }

    /// Hands a datagram in and gives what the gateway sends for it.
    func receive(_ bytes: [UInt8], from source: PeerAddress) -> [OutgoingMessage] {
        gateway.receive(bytes.span, by: Flow(source: source, socket: 0), at: now)
        return sent()
    }

    func receive(
        _ text: String, from source: PeerAddress, on socket: Int = 0, connection: UInt64 = 0
    ) -> [OutgoingMessage] {
        let bytes = Array(text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n").utf8)
        gateway.receive(bytes.span, by: Flow(source: source, socket: socket, connection: connection), at: now)
        return sent()
    }

    /// Lets time pass and gives what timers send.
    func pass(_ time: Duration) -> [OutgoingMessage] {
        let milliseconds =
            UInt64(time.components.seconds) * 1000 + UInt64(time.components.attoseconds / 1_000_000_000_000_000)
        now.milliseconds += milliseconds
        now.wallMicroseconds += Int64(milliseconds) * 1000
        gateway.fireTimers(at: now)
        return sent()
    }

    /// Puts other settings in force, as a reload does.
    func reload(_ options: Options) {
        let old = shared.settings.load().topology
        shared.settings.store(
            Self.settings(options) { $0.succeeding(old, at: self.now.milliseconds, longestCall: 14_400_000) })
    }

    /// Admits the caller of a test call by the rules of the trunk, or none any more.
    ///
    /// - Parameter callID: that of the messages of `request`.
    func admitTest(
        _ caller: PeerAddress?, callID: String = "story@carrier.example", callBack: TestTrunk.CallBack? = nil,
        _ options: Options = Options()
    ) {
        shared.settings.store(
            Self.settings(options) { topology in
                guard let caller, let trunk = topology.trunks.first else { return topology }
                return topology.testing(
                    TestTrunk(like: trunk, from: caller, by: 0, callID: callID, callBack: callBack))
            })
    }

    /// Transactions in memory.
    var transactions: Int { shards.transactions }

    /// The signals written so far, oldest first.
    func updates() -> [CallUpdate] {
        var all: [CallUpdate] = []
        _ = ring.read(after: 0, limit: 1000) { update, _ in all.append(update) }
        return all
    }

    private func sent() -> [OutgoingMessage] {
        defer { gateway.outgoing.removeAll() }
        return gateway.outgoing
    }

    private static func settings(
        _ options: Options, after: (GatewayTopology) -> GatewayTopology = { $0 }
    ) -> GatewaySettings {
        func source(_ address: PeerAddress) -> PeerSource { PeerSource(network: address, prefixLength: 32, port: nil) }
        func group(_ address: PeerAddress) -> TargetGroup {
            let targetState = TargetState(name: "\(address)", rules: TargetHealthRules())
            return TargetGroup(
                name: "\(address)",
                targets: [
                    Target(
                        targetState: targetState, address: address, socket: 0, largestDatagram: options.largestDatagram)
                ])
        }
        let office = options.pbxAddress
        let targets =
            options.targets.isEmpty
            ? group(office)
            : TargetGroup(
                name: "office", targets: options.targets, isProbed: options.areProbed, names: options.targetNames)
        let pbx = PBXPeer(
            name: "office", sources: [source(office)] + targets.targets.map { source($0.address) }, targets: targets,
            logo: options.logo, takesVerdict: options.takesVerdict)
        let carrier = options.trunkAddress
        let carriers =
            options.trunkTargets.isEmpty
            ? group(carrier)
            : TargetGroup(name: "carrier", targets: options.trunkTargets, names: options.trunkTargetNames)
        let trunk = TrunkPeer(
            name: "carrier", sources: [source(carrier)] + options.trunkSources, targets: carriers, socket: 0,
            isTrusted: options.isTrusted,
            policy: options.policy,
            normaliser: NumberNormaliser(region: Region(options.region), contexts: options.phoneContexts),
            identityOrder: options.identityOrder,
            keepsForeignCallInfo: options.keepsForeignCallInfo, trunkHeader: options.trunkHeader, pbx: pbx,
            pbxSocket: options.pbxSocket, carrierName: options.carrierName,
            takesWithheldIdentity: options.takesWithheldIdentity, admission: TrunkAdmission(options.limits),
            emergencyNumbers: EmergencyNumbers(region: Region(options.region), own: options.emergencyNumbers),
            attestationHeaders: options.attestationHeaders,
            registrar: options.registrar, signatures: options.signatures, brands: options.brands)
        var trunks = options.hasTrunk ? [trunk] : []
        if let address = options.secondTrunk {
            let second = TrunkPeer(
                name: "second", sources: [source(address)], targets: group(address), socket: 0,
                isTrusted: options.isSecondTrusted, policy: .standard, normaliser: NumberNormaliser(region: nil),
                identityOrder: [.from],
                keepsForeignCallInfo: true, trunkHeader: nil, pbx: pbx)
            trunks.insert(second, at: 0)
        }
        var sockets = options.sockets.enumerated().map {
            LocalSocket(
                position: $0, address: options.localAddress.with(port: $1), advertisedHost: options.route,
                names: options.ownNames)
        }
        if options.hasStream {
            sockets.append(LocalSocket(position: sockets.count, address: local, transport: .tcp))
        }
        let other = options.otherPBX.map { PBXPeer(name: "other", sources: [source($0)], targets: group($0)) }
        return GatewaySettings(
            topology: after(
                GatewayTopology(
                    sockets: sockets, trunks: trunks, pbxs: [pbx] + (other.map { [$0] } ?? []),
                    routes: options.routes(other))),
            secret: options.secret, isClustered: options.isClustered, timers: .standard,
            lastPatience: options.lastPatience, longestCall: options.longestCall, limits: options.messageLimits,
            mostTransactions: options.mostTransactions,
            strangers: .refuse, brands: true, writesCallInfo: options.writesCallInfo,
            writesCardLink: options.writesCardLink, answerers: options.answerers,
            verstat: options.verstat, reportsPBX: options.reportsPBX)
    }
}

extension [OutgoingMessage] {
    /// The one datagram that goes to an address.
    func to(_ address: PeerAddress) -> [String] {
        filter { $0.destination == address }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// The forwarded requests of a method.
    func requests(_ method: String) -> [[UInt8]] {
        map(\.bytes).filter { String(decoding: $0.prefix(method.utf8.count + 1), as: UTF8.self) == method + " " }
    }
}
