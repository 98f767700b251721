// SPDX-License-Identifier: Apache-2.0

import Primitives
package import Trust

extension TrunkSignatures.SignedCaller: ConfigurationWord {}
extension TrunkSignatures.CalledPlace: ConfigurationWord {}
extension TrunkSignatures.Source: ConfigurationWord {}
extension TrunkSignatures.OnFailed: ConfigurationWord {}
extension TrunkTrustPolicy.Retargeted: ConfigurationWord {}
extension TrunkTrustPolicy.Malformed: ConfigurationWord {}
extension TrunkTrustPolicy.Replay: ConfigurationWord {}

extension HeraldConfiguration {
    /// The keys of a trunk for signed calls.
    ///
    /// Regimes are names: a reload may name one that needs a restart.
    package struct TrunkSignatureKeys: Equatable, Sendable {
        /// False with `signatures: off`.
        package var isOn = true
        /// Names of regimes in the order of the trunk; empty for those of `trust`.
        package var regimes: [String] = []
        /// The rules, without regimes and denied signers.
        package var rules = TrunkSignatures(policy: TrunkTrustPolicy(regimes: [], regimeSet: 0))
        /// Keys that `signatures: off` leaves without effect.
        package var unused: [String] = []
    }

    /// The verification of a trunk's signed calls; nil where it is off.
    ///
    /// It is off without `trust`, with `signatures: off`, and where the first regime verifies nothing.
    package func signatures(of trunk: Trunk) -> TrunkSignatures? {
        guard let trust, trunk.signatures.isOn else { return nil }
        let regimes = trust.regimes(named: trunk.signatures.regimes)
        guard let first = regimes.first, first.verify else { return nil }
        var signatures = trunk.signatures.rules
        signatures.policy.regimes = regimes
        signatures.policy.regimeSet = RegimeSet.number(of: trust.regimes.map(\.regime.name))
        signatures.policy.fetchRules = regimes.filter(trust.fetches(under:)).map(\.addresses)
        signatures.policy.denied = Set(trust.rules.filter { $0.value == .deny }.keys)
        return signatures
    }
}

extension HeraldConfiguration.TrustSettings {
    /// The regimes with these names, in their order; all of them for no name.
    func regimes(named names: [String]) -> [TrustRegime] {
        let all = regimes.map(\.regime)
        return names.isEmpty ? all : names.compactMap { name in all.first { $0.name == name } }
    }
}

/// Reads the keys of a trunk for signed calls.
struct TrunkSignatureSchema {
    /// The section `trust`; nil without one, and for one with problems.
    let trust: HeraldConfiguration.TrustSettings?
    /// Whether the file has the section.
    let hasTrust: Bool

    /// The keys beside `signatures`.
    private static let others = [
        "regimes", "signed_caller", "called_number", "retargeted", "malformed", "replay", "compact_form",
        "verification_source", "on_failed", "name_source",
    ]

    private enum ModeWord: ConfigurationWord {
        case off
        case on(TrunkSignatures.Mode)

        static let allCases = [off] + TrunkSignatures.Mode.allCases.map { on($0) }

        var word: String {
            switch self {
            case .off: "off"
            case .on(let mode): mode.rawValue
            }
        }
    }

    private enum FormWord: String, ConfigurationWord { case off, on }

    func read(_ section: ConfigurationSection) -> HeraldConfiguration.TrunkSignatureKeys {
        var keys = HeraldConfiguration.TrunkSignatureKeys()
        switch section.choice("signatures", default: ModeWord.on(keys.rules.mode)) {
        case .off: keys.isOn = false
        case .on(let mode): keys.rules.mode = mode
        }
        keys.regimes = regimes(section)
        readRules(section, &keys.rules)
        let present = Self.others.filter { section.has($0) }
        if !keys.isOn { keys.unused = present }
        if !hasTrust {
            for key in (keys.isOn && section.has("signatures") ? ["signatures"] : []) + present {
                section.problem(key, "needs a section trust with its regimes; see docs/trust.md")
            }
        }
        checkFirst(section, keys)
        return keys
    }

    private func readRules(_ section: ConfigurationSection, _ rules: inout TrunkSignatures) {
        rules.caller = section.choice("signed_caller", default: rules.caller)
        rules.called = section.choice("called_number", default: rules.called)
        rules.policy.retargeted = section.choice("retargeted", default: rules.policy.retargeted)
        rules.policy.malformed = section.choice("malformed", default: rules.policy.malformed)
        rules.policy.replay = section.choice("replay", default: rules.policy.replay)
        rules.policy.allowsCompactForm = section.choice("compact_form", default: FormWord.off) == .on
        rules.source = section.choice("verification_source", default: rules.source)
        rules.onFailed = section.choice("on_failed", default: rules.onFailed)
        // Without the key the regime decides.
        if section.has("name_source") { rules.names = section.choice("name_source", default: .directoryFirst) }
    }

    /// Reads names of regimes, each once.
    private func regimes(_ section: ConfigurationSection) -> [String] {
        let known = trust?.regimes.map(\.regime.name) ?? []
        let names = section.list("regimes") { text throws(AddressProblem) in
            guard trust == nil || known.contains(text) else {
                throw .unfit(
                    "\"\(text)\" is not in trust.regimes: \(known.joined(separator: ", "))"
                        + NearestName.hint(text, among: known))
            }
            return text
        }
        for (position, name) in names.enumerated() where names[..<position].contains(name) {
            section.problem("regimes", element: position, "\"\(name)\" is listed twice")
        }
        if section.isEmptyList("regimes") {
            section.problem("regimes", "must not be empty; write signatures: off instead")
        }
        return names
    }

    /// Reports a mode that has no effect, because the first regime verifies nothing.
    private func checkFirst(_ section: ConfigurationSection, _ keys: HeraldConfiguration.TrunkSignatureKeys) {
        guard keys.isOn, section.has("signatures"), let first = trust?.regimes(named: keys.regimes).first, !first.verify
        else { return }
        section.problem(
            "signatures",
            "has no effect, because the first regime, \(first.name), verifies nothing: write off, or another regime first "
                + "in regimes")
    }
}
