// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import ConfigurationFiles
import SIPCore
import SIPTransport

// Trunks and PBXs in the form that the call path uses.

extension HeraldConfiguration {
    /// Builds a trunk that sends its calls to `pbx`.
    func peer(
        _ trunk: Trunk, to pbx: PBXPeer, on foundation: GatewayFoundation, _ resolved: ResolvedPeers
    ) throws -> TrunkPeer {
        TrunkPeer(
            name: trunk.name, sources: try trunk.sources.map { try $0.source() },
            targets: try group(
                "trunk \(trunk.name)", trunk.targets, isProbed: trunk.isProbed, mustRespond: true, foundation, resolved),
            socket: trunk.listener, isTrusted: trunk.isTrusted,
            policy: trunk.policy,
            normaliser: NumberNormaliser(region: trunk.region, contexts: trunk.phoneContexts),
            identityOrder: trunk.identity,
            keepsForeignCallInfo: trunk.keepsForeignCallInfo, trunkHeader: trunk.trunkHeader, pbx: pbx,
            certificateNames: trunk.certificateNames, pbxSocket: trunk.pbxListener,
            carrierName: trunk.carrierName,
            takesWithheldIdentity: trunk.takesWithheldIdentity,
            admission: foundation.trunks.admission(of: trunk.name, trunk.limits.admitted(in: cluster)),
            hosts: trunk.targets.filter(\.address.isName).map(\.address.host),
            emergencyNumbers: EmergencyNumbers(region: trunk.region, own: trunk.emergencyNumbers),
            // Headers of an untrusted trunk must not pass for the attestation of another trunk.
            attestationHeaders: trunk.isTrusted ? trunk.attestationHeaders : trunks.flatMap(\.attestationHeaders),
            registrar: foundation.trunks.registrar(of: trunk.name), signatures: signatures(of: trunk),
            brands: trunk.brands)
    }

    /// Builds a PBX.
    func peer(
        _ pbx: PBX, on foundation: GatewayFoundation, _ resolved: ResolvedPeers
    ) throws -> PBXPeer {
        let group = try group(
            "pbx \(pbx.name)", pbx.targets, isProbed: pbx.isProbed, mustRespond: pbx.mustRespond, foundation, resolved)
        let own = group.targets.map { target in
            PeerSource(network: target.address, prefixLength: target.address.isIPv6 ? 128 : 32, port: nil)
        }
        return PBXPeer(
            name: pbx.name, sources: pbx.sources.isEmpty ? own : try pbx.sources.map { try $0.source() },
            targets: group, logo: logoForm(pbx), takesVerdict: pbx.takesVerdict)
    }

    /// The form of logos for a PBX's phones, if the running gateway makes it.
    ///
    /// A reload may name a family whose logos are made after the next start.
    private func logoForm(_ pbx: PBX) -> LogoForm? {
        guard let phones = pbx.phones, let logos, logos.scales, logos.phones.contains(phones) else { return nil }
        return phones.form
    }

    private func healthRules(isProbed: Bool, mustRespond: Bool, isAlone: Bool) -> TargetHealthRules {
        var rules = TargetHealthRules()
        rules.downAfter = health.downAfter
        rules.upAfter = health.upAfter
        // A single target is tried by calls. In a group, probes find out that a target is back.
        rules.probes = isProbed && !isAlone
        rules.trustsSilence = mustRespond
        // No call waits for a silent target between two probes.
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
                all.append(
                    SIPCore.Target(
                        targetState: foundation.health.targetState("\(name) \(hop.address)", group: name, rules: rules),
                        address: hop.address, socket: socket(toReach: hop.address, from: target.listener, foundation),
                        // SRV priorities order the addresses of one name within the target's own priority.
                        priority: target.priority << 16 + hop.priority,
                        weight: hop.weight > 0 ? hop.weight : target.weight,
                        largestDatagram: target.largestDatagram))
            }
        }
        return TargetGroup(name: name, targets: all, isProbed: isProbed, names: names)
    }

    /// The position of the socket to send from: `given`, or one of the same transport where the address family differs.
    private func socket(toReach address: PeerAddress, from given: Int, _ foundation: GatewayFoundation) -> Int {
        if foundation.bound[given].isIPv6 == address.isIPv6 { return given }
        return listen.indices.first { position in
            foundation.bound[position].isIPv6 == address.isIPv6 && listen[position].transport == listen[given].transport
        } ?? given
    }
}
