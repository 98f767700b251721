// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Trust

extension HeraldConfiguration {
    /// The rules and the limits for signers of calls.
    package struct TrustSettings: Equatable, Sendable {
        /// The treatment of a signer by the operator.
        package enum SignerRule: String, ConfigurationWord, Sendable { case deny, watch }

        /// The regimes in the order of the file; at least one.
        package var regimes: [ConfiguredRegime]
        /// Whether certificates of unknown signers are fetched; a regime may have another rule.
        package var fetches = false
        /// The most signers and unknown addresses together.
        package var signers = 50_000
        /// The operator's rules by provider code in folded form.
        package var rules: [String: SignerRule] = [:]

        /// Whether certificates are fetched for calls under a regime.
        package func fetches(under regime: TrustRegime) -> Bool { regime.verify && (regime.fetch ?? fetches) }

        /// Whether something is fetched: certificates of unknown signers, or lists with an address.
        package var fetchesAnything: Bool {
            !fetchRules.isEmpty
                || regimes.map(\.regime).contains {
                    $0.verify && ($0.listAddress != nil || !$0.revocationAddresses.isEmpty)
                }
        }

        /// The addresses that each regime with fetching allows, by its name; none where nothing is fetched.
        package var fetchRules: [String: AddressRules] {
            let fetching = regimes.map(\.regime).filter(fetches(under:))
            return Dictionary(fetching.map { ($0.name, $0.addresses) }, uniquingKeysWith: { first, _ in first })
        }
    }
}

extension HeraldSchema {
    /// The most regimes of a gateway.
    static let mostRegimes = 16

    /// Reads the `trust` section; nil without one.
    func trust() -> HeraldConfiguration.TrustSettings? {
        root.section("trust") { section in
            if !section.has("regimes") { section.missing("regimes", "[us]") }
            let regimes = regimes(section)
            var settings = HeraldConfiguration.TrustSettings(regimes: regimes)
            settings.signers = section.integer("signers", default: settings.signers, in: 100...1_000_000)
            settings.rules = rules(section)
            settings.fetches = section.choice("fetch", default: FetchWord.off) == .on
            return regimes.isEmpty ? nil : settings
        }
    }

    /// Reads the rules; two spellings of one code are an error.
    private func rules(_ section: ConfigurationSection) -> [String: HeraldConfiguration.TrustSettings.SignerRule] {
        let written: [String: HeraldConfiguration.TrustSettings.SignerRule] =
            section.words("signer") { WordForm.isWord($0) }
        for (code, spellings) in Dictionary(grouping: written.keys, by: ProviderCode.folded) where spellings.count > 1 {
            section.problem("signer", "\(code) is listed twice: letters of a code compare without case")
        }
        return Dictionary(written.map { (ProviderCode.folded($0), $1) }, uniquingKeysWith: { first, _ in first })
    }

    /// The values of `fetch`.
    enum FetchWord: String, ConfigurationWord { case off, on }

    private func regimes(_ section: ConfigurationSection) -> [ConfiguredRegime] {
        var regimes: [ConfiguredRegime] = []
        let entries = section.texts("regimes")
        if entries.count > Self.mostRegimes {
            section.problem("regimes", "must have at most \(Self.mostRegimes) entries")
        }
        for (position, entry) in entries.prefix(Self.mostRegimes).enumerated() {
            do {
                let regime = try RegimeFile(entry, beside: file.folder).read(position: regimes.count)
                section.keep(Data(regime.text.utf8), of: "regimes")
                if regimes.contains(where: { $0.regime.name == regime.regime.name }) {
                    section.problem(
                        "regimes", element: position, "an earlier entry is named \"\(regime.regime.name)\"")
                } else {
                    regimes.append(regime)
                }
            } catch {
                for problem in error.problems {
                    if problem.line == 0 {
                        section.problem("regimes", element: position, "\(problem.file): \(problem.message)")
                    } else {
                        section.problem(inFile: problem.file, line: problem.line, key: problem.key, problem.message)
                    }
                }
            }
        }
        if section.isEmptyList("regimes") { section.problem("regimes", "must not be empty; leave out trust instead") }
        return regimes
    }
}
