// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import GatewayStore
import SIPCore
import Trust

/// The steps from an installed gateway to its first branded call, from one status.
///
/// Page, `herald status`, `herald doctor` and `herald setup` show the same steps.
struct FirstSteps {
    private let status: GatewayStatus
    private let configuration: HeraldConfiguration
    private let seen: FirstCalls

    /// The steps of a running gateway; nil after the first branded call, and where branding is off.
    static func of(
        _ status: GatewayStatus, _ configuration: HeraldConfiguration, _ seen: FirstCalls
    ) -> [GatewayStatus.FirstStep]? {
        guard !seen.hasBranded, configuration.branding.isEnabled else { return nil }
        let steps = FirstSteps(status: status, configuration: configuration, seen: seen)
        return [steps.carrier, steps.pbx, steps.directory] + (steps.logos.map { [$0] } ?? []) + [steps.call]
    }

    /// The steps of a gateway that does not run yet.
    static func planned(_ configuration: HeraldConfiguration, start: String) -> [GatewayStatus.FirstStep] {
        let addresses = Addresses(configuration)
        return [
            open("gateway", "start it: \(start)"),
            open("carrier", "let the carrier send calls to \(addresses.outside) instead of the PBX"),
            open("pbx", "make \(addresses.inside) the outbound proxy of the PBX's trunk"),
            open("directory", configuration.directory == nil ? noDirectory : "if it has no brands yet, \(noNumbers)"),
            open("call", callSomebody),
        ]
    }

    private static let noDirectory = "no directory is configured; add directory with url and api_key_file"
    private static let noNumbers =
        "give a number a brand: herald-directory numbers set NUMBER --brand ID, or herald-directory import FILE"
    private static let callSomebody = "call the PBX from a number that has a brand"

    private static func open(_ step: String, _ text: String, lines: [String]? = nil) -> GatewayStatus.FirstStep {
        .init(step: step, done: false, text: text, lines: lines)
    }

    private static func done(_ step: String, _ text: String) -> GatewayStatus.FirstStep {
        .init(step: step, done: true, text: text)
    }

    // MARK: Peers

    private var carrier: GatewayStatus.FirstStep {
        if seen.hasInbound { return Self.done("carrier", "a call of a trunk has arrived") }
        guard let caller = status.unknownCallers?.callers.first else {
            let address = Addresses(configuration).outside
            return Self.open("carrier", "no call has arrived; let the carrier send calls to \(address)")
        }
        let rejected = "INVITEs of \(caller.address) are rejected: \(caller.cause)"
        guard caller.line != nil else { return Self.open("carrier", "\(rejected). \(caller.remedy)") }
        let host = caller.address.contains(":") ? "[\(caller.address)]" : caller.address
        let trunks = configuration.trunks
        let lines = trunks.prefix(4).map { trunk in
            trunk.sources(with: host) + (trunks.count > 1 ? "   # trunk \(trunk.name)" : "")
        }
        return Self.open(
            "carrier",
            "\(rejected). If it is your carrier, put this line into its trunk in herald.yaml, then run herald reload",
            lines: lines)
    }

    private var pbx: GatewayStatus.FirstStep {
        for pbx in configuration.pbx {
            let targets = status.targets.filter { $0.group == "pbx \(pbx.name)" }
            guard targets.allSatisfy({ $0.lastResponse == nil }) else { continue }
            let names = targets.isEmpty ? pbx.targets.map { "\($0.address)" } : targets.map(\.address)
            let name = "pbx \(pbx.name) at \(names.joined(separator: ", "))"
            guard pbx.isProbed else {
                return Self.open("pbx", "\(name) gets no OPTIONS (probe: false); the first call shows if it responds")
            }
            let cause = targets.compactMap(\.cause).first.map { " (\($0))" } ?? ""
            return Self.open(
                "pbx",
                "\(name) has not responded\(cause); check that it runs, its firewall, and that it accepts SIP from "
                    + Addresses(configuration).towards(pbx))
        }
        return Self.done("pbx", configuration.pbx.count == 1 ? "it responds" : "all \(configuration.pbx.count) respond")
    }

    // MARK: Brands

    private var directory: GatewayStatus.FirstStep {
        if let gate = status.gates.first(where: { !$0.open }) {
            let reason = gate.reason ?? "the directory closed it"
            return Self.open("directory", "the gate \(gate.gate) is closed: \(reason)")
        }
        if let trouble = status.customers?.trouble {
            return Self.open("directory", "\(trouble); see herald customers --problems")
        }
        let numbers = status.branding.numbers
        let counted = numbers == 1 ? "1 number" : "\(numbers) numbers"
        guard let sync = status.sync else {
            if configuration.brandsFile == nil, !configuration.customers.isEmpty {
                return Self.done("directory", "the accounts of the customers are in use")
            }
            guard configuration.brandsFile != nil else { return Self.open("directory", Self.noDirectory) }
            return numbers > 0
                ? Self.done("directory", "\(counted) with a brand, from brands.file")
                : Self.open("directory", "brands.file has no number with a brand")
        }
        if let error = sync.lastError { return Self.open("directory", "the last sync failed: \(error)") }
        guard sync.lastSuccess != nil else { return Self.open("directory", "the first sync has not ended") }
        return numbers > 0
            ? Self.done("directory", "in sync, \(counted) with a brand")
            : Self.open("directory", "in sync, and no number has a brand; \(Self.noNumbers)")
    }

    /// Nil where the gateway keeps no copies.
    private var logos: GatewayStatus.FirstStep? {
        guard let logos = status.logos else { return nil }
        let count = "\(logos.ready) of \(logos.known) are ready"
        if logos.failed > 0 { return Self.open("logos", "\(count), \(logos.failed) failed; see herald logos") }
        if logos.ready < logos.known { return Self.open("logos", "\(count); the others are being fetched") }
        guard logos.known == 0 else { return Self.done("logos", count) }
        return status.branding.numbers > 0
            ? Self.done("logos", "no brand names a logo") : Self.open("logos", "no brand names a logo yet")
    }

    private var call: GatewayStatus.FirstStep {
        let isHopeless = configuration.trunks.allSatisfy {
            !$0.isTrusted && configuration.signatures(of: $0)?.mode != .decide
        }
        if isHopeless {
            return Self.open(
                "call",
                "calls of an untrusted trunk get no brand; set trusted: true if the carrier vouches for its callers, or "
                    + "verify signed calls with signatures: decide")
        }
        if configuration.trunks.allSatisfy({ $0.brands != .on }) {
            return Self.open(
                "call", "no trunk has brands: true; herald calls --summary shows the brands of calls in shadow")
        }
        guard seen.hasInbound else { return Self.open("call", Self.callSomebody) }
        return Self.open("call", "calls arrive, and none had a brand; herald calls has the decision of each")
    }
}

extension FirstSteps {
    /// The gateway's addresses as its peers know them.
    private struct Addresses {
        private let configuration: HeraldConfiguration

        init(_ configuration: HeraldConfiguration) { self.configuration = configuration }

        var outside: String { configuration.trunks.first.map { text($0.listener) } ?? "its address" }
        var inside: String { configuration.pbx.first.map(towards) ?? "its address" }

        func towards(_ pbx: HeraldConfiguration.PBX) -> String { text(pbx.targets.first?.listener ?? 0) }

        private func text(_ position: Int) -> String {
            guard configuration.listen.indices.contains(position) else { return "its address" }
            let listener = configuration.listen[position]
            let transport = listener.transport == .udp ? "" : " over \(listener.transport.viaName)"
            return "\(listener.advertise ?? listener.address)\(transport)"
        }
    }
}
