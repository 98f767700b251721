// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
import Logging
import SIPCore
import SIPTransport

// Turns what the configuration says into what the parts take.

/// What outlives a reload of the configuration: addresses, secret, and what is known of targets and trunks.
struct GatewayFoundation: Sendable {
    /// The addresses of the open sockets, in the order of `listen`.
    let bound: [PeerAddress]
    let secret: Secret
    let health: TargetHealthBoard
    let trunks: TrunkRegister
    /// Transactions kept at once.
    let mostTransactions: Int
}

extension HeraldConfiguration {
    /// The settings of the call path.
    ///
    /// - Parameters:
    ///   - old: what they take the place of; its peers may still have calls.
    ///   - now: milliseconds of the monotonic clock.
    func gatewaySettings(
        on foundation: GatewayFoundation, _ resolved: ResolvedPeers, succeeding old: GatewayTopology? = nil,
        at now: UInt64
    ) throws -> GatewaySettings {
        let sockets = zip(listen, foundation.bound).enumerated().map { position, pair in
            LocalSocket(
                position: position, address: pair.1, transport: pair.0.transport.kind,
                advertisedHost: pair.0.advertise?.host,
                advertisedPort: pair.0.advertise?.port,
                names: pair.0.names.map { OwnName(host: $0.host, port: $0.hasPort ? $0.port : nil) })
        }
        let pbxs = try pbx.map { try peer($0, on: foundation, resolved) }
        var topology = GatewayTopology(
            sockets: sockets, trunks: try trunks.map { try peer($0, to: pbxs[$0.pbx], on: foundation, resolved) },
            pbxs: pbxs)
        let longestCall = UInt64(outcomes.maxCallDuration / .milliseconds(1))
        if let old { topology = topology.succeeding(old, at: now, longestCall: longestCall) }
        foundation.health.keep(Set(topology.groups.flatMap(\.targets).map(\.standing.name)))
        return GatewaySettings(
            topology: topology, secret: foundation.secret,
            timers: TransactionTimers(t1: timers.t1, t2: timers.t2, t4: timers.t4, c: timers.c),
            targetPatience: health.patience, probes: probeRules,
            longestCall: longestCall,
            limits: SIPLimits(messageBytes: limits.maxMessage, headerFields: limits.maxHeaders),
            mostTransactions: foundation.mostTransactions, strangers: strangers == .refuse ? .refuse : .drop,
            brands: branding.isEnabled, writesCallInfo: branding.writesCallInfo, answerers: outcomes.answerers,
            reportsPBX: health.reportsPBX)
    }

    private var probeRules: TargetProbes.Rules {
        var rules = TargetProbes.Rules()
        rules.interval = UInt64(health.interval / .milliseconds(1))
        rules.timeout = UInt64(health.timeout / .milliseconds(1))
        return rules
    }

    private func peer(
        _ trunk: Trunk, to pbx: PBXPeer, on foundation: GatewayFoundation, _ resolved: ResolvedPeers
    ) throws -> TrunkPeer {
        let limits = TrunkAdmission.Limits(
            callsPerSecond: trunk.limits.callsPerSecond.map(Double.init), burst: trunk.limits.burst,
            mostCalls: trunk.limits.calls)
        let carrierName: TrunkPeer.CarrierName =
            switch trunk.carrierName {
            case .replace: .replace
            case .fill: .fill
            case .keep: .keep
            }
        return TrunkPeer(
            name: trunk.name, sources: try trunk.sources.map { try $0.source() },
            targets: try group(
                "trunk \(trunk.name)", trunk.targets, isProbed: trunk.isProbed, mustRespond: true, foundation, resolved),
            socket: trunk.listener,
            isTrusted: trunk.isTrusted, policy: BrandingPolicy(rawValue: trunk.policy.rawValue) ?? .standard,
            normaliser: NumberNormaliser(region: trunk.region, contexts: trunk.phoneContexts),
            identityOrder: trunk.identity.map { identity in
                switch identity {
                case .pai: .pAssertedIdentity
                case .rpid: .remotePartyID
                case .from: .from
                }
            },
            keepsForeignCallInfo: trunk.foreignCallInfo == .keep, trunkHeader: trunk.trunkHeader, pbx: pbx,
            certificateNames: trunk.certificateNames, pbxSocket: trunk.pbxListener, carrierName: carrierName,
            takesWithheldIdentity: trunk.withheldIdentity == .keep,
            admission: foundation.trunks.admission(of: trunk.name, limits),
            hosts: trunk.targets.filter(\.address.isName).map(\.address.host),
            emergencyNumbers: EmergencyNumbers(region: trunk.region, own: trunk.emergencyNumbers),
            // A trunk whose word does not count may not bring what the PBX could take for another's.
            attestationHeaders: trunk.isTrusted ? trunk.attestationHeaders : trunks.flatMap(\.attestationHeaders),
            registrar: foundation.trunks.registrar(of: trunk.name))
    }

    private func peer(
        _ pbx: PBX, on foundation: GatewayFoundation, _ resolved: ResolvedPeers
    ) throws -> PBXPeer {
        let group = try group(
            "pbx \(pbx.name)", pbx.targets, isProbed: pbx.isProbed, mustRespond: pbx.mustRespond, foundation, resolved)
        let own = group.targets.map { target in
            PeerSource(network: target.address, prefixLength: target.address.isIPv6 ? 128 : 32, port: nil)
        }
        return PBXPeer(
            name: pbx.name, sources: pbx.sources.isEmpty ? own : try pbx.sources.map { try $0.source() },
            targets: group)
    }

    private func healthRules(isProbed: Bool, mustRespond: Bool, isAlone: Bool) -> TargetHealthRules {
        var rules = TargetHealthRules()
        rules.downAfter = health.downAfter
        rules.upAfter = health.upAfter
        // With others up it costs no call to wait for probes; without, calls themselves try.
        rules.probes = isProbed && !isAlone
        rules.trustsSilence = mustRespond
        // From one silent probe to the next no call need wait for the target.
        rules.retrial = max(rules.retrial, probeRules.interval + 2 * probeRules.timeout)
        return rules
    }

    private func group(
        _ name: String, _ targets: [Target], isProbed: Bool, mustRespond: Bool, _ foundation: GatewayFoundation,
        _ resolved: ResolvedPeers
    ) throws -> TargetGroup {
        let hops = try targets.map { (target: $0, hops: try resolved.addresses(of: $0)) }
        let count = hops.reduce(0) { $0 + $1.hops.count }
        let rules = healthRules(isProbed: isProbed, mustRespond: mustRespond, isAlone: count <= 1)
        var names: [TargetName] = []
        var all: [SIPCore.Target] = []
        for (target, hops) in hops {
            for hop in hops {
                if target.address.isName { names.append(TargetName(host: target.address.host, target: all.count)) }
                let place = SIPCore.Target(
                    standing: foundation.health.standing("\(name) \(hop.address)", group: name, rules: rules),
                    address: hop.address, socket: socket(toReach: hop.address, from: target.listener, foundation),
                    // Of a name's addresses the order of its SRV records counts inside the target's own priority.
                    priority: target.priority << 16 + hop.priority, weight: hop.weight > 0 ? hop.weight : target.weight,
                    largestDatagram: target.largestDatagram)
                all.append(place)
            }
        }
        return TargetGroup(name: name, targets: all, isProbed: isProbed, names: names)
    }

    /// The local address to send from: the one given, unless a name turned out to be of the other family.
    private func socket(toReach address: PeerAddress, from given: Int, _ foundation: GatewayFoundation) -> Int {
        if foundation.bound[given].isIPv6 == address.isIPv6 { return given }
        return listen.indices.first { position in
            foundation.bound[position].isIPv6 == address.isIPv6 && listen[position].transport == listen[given].transport
        } ?? given
    }

    /// Names of the trunks by the mark that signals carry; refuses two names with one mark.
    func trunkNames() throws -> [UInt16: String] {
        var names: [UInt16: String] = [:]
        for trunk in trunks {
            if let other = names.updateValue(trunk.name, forKey: TrunkPeer.mark(of: trunk.name)) {
                throw CommandFailure("the trunks \(other) and \(trunk.name) cannot be told apart; rename one of them")
            }
        }
        return names
    }

    /// How brands become header bytes.
    var renderingProfile: RenderingProfile {
        RenderingProfile(
            maxNameBytes: branding.maxNameBytes, maxReasonCharacters: branding.maxReasonCharacters,
            percent: branding.percent == .keep ? .keep : .spellOut,
            quotes: branding.quotes == .typographic ? .typographic : .escape,
            allowInsecureLogos: branding.allowsInsecureLogos)
    }

    /// How outcomes are recorded and told.
    func recorderSettings() throws -> OutcomeRecorder.Settings {
        var settings = OutcomeRecorder.Settings()
        settings.vocabulary.surface = outcomes.surface
        settings.vocabulary.noMatchShare = outcomes.noMatchShare
        let words = outcomes.vocabulary
        settings.vocabulary.displayed = words["displayed"] ?? settings.vocabulary.displayed
        settings.vocabulary.callSeen = words["call_seen"] ?? settings.vocabulary.callSeen
        settings.vocabulary.missed = words["missed"] ?? settings.vocabulary.missed
        settings.vocabulary.returned = words["returned"] ?? settings.vocabulary.returned
        settings.vocabulary.brandingDisabled = words["branding_disabled"] ?? settings.vocabulary.brandingDisabled
        settings.vocabulary.error = words["error"] ?? settings.vocabulary.error
        settings.vocabulary.noMatch = words["no_match"] ?? settings.vocabulary.noMatch
        settings.returns = ReturnPolicy(
            window: outcomes.returnedWindow.components.seconds,
            originals: outcomes.returnedOriginals == .any ? .any : .unanswered, groups: outcomes.subscribers)
        settings.limits = OutcomeMachine.Limits(
            answered: outcomes.maxCallDuration.components.seconds, timerC: timers.c.components.seconds)
        settings.limits.redial = Int64(outcomes.retryWindow / .microseconds(1))
        settings.trunks = try trunkNames()
        settings.maxBytes = outcomes.maxSize
        settings.outputs = outcomes.outputs
        settings.hasDirectory = directory != nil
        // A day that has begun is kept whole.
        settings.retentionDays = Int((outcomes.retention / .seconds(86_400)).rounded(.up))
        return settings
    }
}

extension HeraldConfiguration.Outcomes {
    /// Where ended calls go beside the directory.
    fileprivate var outputs: [CallOutputSink] {
        (recordFile == nil ? [] : [.file]) + (webhook == nil ? [] : [.webhook])
    }

    /// The service that takes them there; nil where they go nowhere.
    func outputService(_ database: HeraldDatabase, logger: Logger) -> CallOutputService? {
        guard !outputs.isEmpty else { return nil }
        let titles = recordFormat == .csv ? CSVText.row(LedgerCallRow.cdrTitles) : ""
        return CallOutputService(
            queue: CallOutputStore(database),
            file: recordFile.map { (CallRecordFile(path: $0, titles: titles), recordFormat == .csv) },
            webhook: webhook.map { CallWebhook(url: $0.url, secret: $0.secret.reveal()) }, logger: logger)
    }

    /// How a machine that answers is known: the profile's signs and the operator's own.
    var answerers: AnswererRules {
        var rules = AnswererRules()
        rules.voicemail = voicemail.signs(and: profile.voicemailUsers)
        rules.system = system.signs(and: [])
        return rules
    }
}

extension HeraldConfiguration.AnswererSigns {
    fileprivate func signs(and usual: [String]) -> AnswererRules.Signs {
        var signs = AnswererRules.Signs()
        signs.users = (usual + users).map(TextPattern.init)
        signs.hosts = hosts.map(TextPattern.init)
        signs.headers = headers.map { AnswererRules.HeaderSign(name: $0.name, value: $0.value) }
        return signs
    }
}

extension HeraldConfiguration.PBXProfile {
    /// Users by which its voicemail goes, in called numbers and in the connected party of an answer.
    ///
    /// Asterisk: star codes of FreePBX and its mailbox extensions. FreeSWITCH: the extensions of its sample dialplan.
    fileprivate var voicemailUsers: [String] {
        switch self {
        case .generic: []
        case .asterisk: ["voicemail", "*97", "*98", "vmu*", "vmb*", "vms*"]
        case .freeswitch: ["voicemail", "vmain", "*97", "*98", "4000"]
        }
    }
}

extension EndpointAddress {
    /// The address as the call path uses it.
    func peer() throws -> PeerAddress {
        guard let address = PeerAddress(host: Array(host.utf8)[...], port: port) else {
            throw CommandFailure("\(self) is no address")
        }
        return address
    }
}

extension SourceRange {
    fileprivate func source() throws -> PeerSource {
        guard let network = PeerAddress(host: Array(host.utf8)[...], port: port ?? 0) else {
            throw CommandFailure("\(host) is no address")
        }
        return PeerSource(network: network, prefixLength: prefixLength, port: port)
    }
}
