// SPDX-License-Identifier: Apache-2.0

import Primitives
package import Trust

extension TrustRegime.RevocationForm: ConfigurationWord {}
extension TrustRegime.StaleRevocation: ConfigurationWord {}
extension TrustRegime.Keys: ConfigurationWord {}
extension TrustRegime.Parameters: ConfigurationWord {}
extension TrustRegime.Called: ConfigurationWord {}
extension TrustRegime.Reason: ConfigurationWord {}
extension TrustRegime.ReasonPlace: ConfigurationWord {}
extension TrustRegime.Bypass: ConfigurationWord {}
extension TrustRegime.CardByContent: ConfigurationWord {}
extension TrustRegime.Names: ConfigurationWord {}
extension AuthorityRule: ConfigurationWord {}
extension Trust.Attestation: ConfigurationWord {
    package var word: String {
        switch self {
        case .a: "A"
        case .b: "B"
        case .c: "C"
        }
    }
}

/// Reads the keys of a regime, in the order of `Regimes/us.yaml`.
struct RegimeSchema {
    let file: ConfigurationFile
    let root: ConfigurationSection

    /// The regime with the values of the file; a missing key keeps the value of `regime`.
    func read(_ regime: TrustRegime) -> TrustRegime {
        var regime = regime
        regime.verify = root.bool("verify", default: regime.verify)
        let listed = readAnchors(&regime)
        readChains(&regime)
        check(listed, regime)
        readTokens(&regime)
        readReports(&regime)
        root.within("rcd") { readNames($0, &regime) }
        regime.names = root.choice("names", default: regime.names)
        regime.countries = root.list("countries") { text throws(AddressProblem) in
            guard let code = Int(text), (1...999).contains(code) else {
                throw .unfit("\"\(text)\" is no country code (1 to 999, such as 33)")
            }
            return code
        }
        return regime
    }

    /// The files and addresses of anchors and of revocation lists, which are returned as they are in the file.
    private func readAnchors(_ regime: inout TrustRegime) -> (anchors: [String], revocations: [String]) {
        let anchors = root.texts("anchors")
        regime.anchors = anchors.filter { !Self.isAddress($0) }.map(file.resolved)
        regime.listAddress = anchors.first(where: Self.isAddress)
        regime.listRoot = root.string("list_root").map(file.resolved)
        regime.listAuthorization = root.string("list_authorization_file").map(file.resolved)
        let lists = root.texts("crl")
        regime.revocationLists = lists.filter { !Self.isAddress($0) }.map(file.resolved)
        regime.revocationAddresses = lists.filter(Self.isAddress)
        regime.revocationSigner = root.string("crl_signer").map(file.resolved)
        regime.revocationForm = root.choice("crl_form", default: regime.revocationForm)
        if regime.revocationForm == .indirect, regime.revocationSigner == nil {
            root.problem("crl_form", "indirect needs crl_signer, the certificate that signs the list")
        }
        regime.staleRevocation = root.choice("crl_stale", default: regime.staleRevocation)
        return (anchors, lists)
    }

    private static func isAddress(_ text: String) -> Bool { text.contains("://") }

    /// The most addresses of revocation lists of a regime.
    private static let mostRevocationAddresses = 16

    /// Reports addresses of lists that nothing is fetched from.
    private func check(_ listed: (anchors: [String], revocations: [String]), _ regime: TrustRegime) {
        for (key, texts) in [("anchors", listed.anchors), ("crl", listed.revocations)] {
            for (position, text) in texts.enumerated()
            where Self.isAddress(text) && !regime.addresses.allow(text) {
                root.problem(
                    key, element: position,
                    "\"\(text)\" must be an address that x5u_ports, x5u_http and x5u_private allow, such as "
                        + "https://pa.example.net/list")
            }
        }
        if listed.anchors.count(where: Self.isAddress) > 1 {
            root.problem("anchors", "must have at most one address of a list of authorities")
        }
        if regime.revocationAddresses.count > Self.mostRevocationAddresses {
            root.problem("crl", "must have at most \(Self.mostRevocationAddresses) addresses")
        }
        if regime.listAddress != nil, regime.listRoot == nil {
            root.problem("anchors", "an address needs list_root, the root above the signer of its list")
        }
        guard regime.listAuthorization != nil else { return }
        if regime.listAddress?.hasPrefix("https://") != true {
            root.problem(
                "list_authorization_file", "needs an https address of a list in anchors, to whose host alone it is sent"
            )
        }
    }

    /// The rules for certificates and their addresses.
    private func readChains(_ regime: inout TrustRegime) {
        regime.keys = root.choice("keys", default: regime.keys)
        regime.authority = root.choice("tnauthlist", default: regime.authority)
        regime.delegates = root.bool("delegates", default: regime.delegates)
        if root.has("fetch") { regime.fetch = root.choice("fetch", default: HeraldSchema.FetchWord.off) == .on }
        if root.has("x5u_ports") {
            let texts = root.texts("x5u_ports")
            if texts == ["any"] {
                regime.addresses.ports = nil
            } else {
                regime.addresses.ports = root.list("x5u_ports") { text throws(AddressProblem) in
                    guard let port = UInt16(text), port > 0 else {
                        throw .unfit("\"\(text)\" is no port (1 to 65535); any alone allows all")
                    }
                    return port
                }
                if root.isEmptyList("x5u_ports") {
                    root.problem("x5u_ports", "must not be empty; any allows all ports")
                }
            }
        }
        regime.addresses.allowsHTTP = root.bool("x5u_http", default: regime.addresses.allowsHTTP)
        regime.addresses.allowsPrivate = root.bool("x5u_private", default: regime.addresses.allowsPrivate)
        regime.allowsX5C = root.bool("x5c", default: regime.allowsX5C)
    }

    /// The rules for tokens and numbers.
    private func readTokens(_ regime: inout TrustRegime) {
        regime.parameters = root.choice("parameters", default: regime.parameters)
        regime.called = root.choice("called", default: regime.called)
        regime.maxAge = seconds("max_age", regime.maxAge, most: 3600)
        regime.maxAhead = seconds("max_ahead", regime.maxAhead, most: 3600)
        regime.innerAge = seconds("inner_age", regime.innerAge, most: 7 * 86_400)
        regime.checksDate = root.bool("check_date", default: regime.checksDate)
        regime.required = root.bool("required", default: regime.required)
        regime.diversions = root.integer("diversions", default: regime.diversions, in: 1...5)
        regime.bypass = root.choice("bypass", default: regime.bypass)
        _ = root.choice("foreign_mark", default: OffWord.off)
    }

    private enum OffWord: String, ConfigurationWord { case off }

    private func seconds(_ key: String, _ value: Int64, most: Int64) -> Int64 {
        root.duration(key, default: .seconds(value), in: .seconds(1) ... .seconds(most)).components.seconds
    }

    /// The codes and causes that others see.
    private func readReports(_ regime: inout TrustRegime) {
        regime.reason = root.choice("reason", default: regime.reason)
        regime.reasonPlace = root.choice("reason_in", default: regime.reasonPlace)
        root.within("codes") { section in
            for cause in TrustCause.allCases where section.has(cause.name) {
                let code = section.integer(cause.name, default: 0, in: 0...699)
                if code != 0, code < 400 { section.problem(cause.name, "must be 400 to 699, or 0 for no code") }
                regime.codes[cause] = UInt16(code)
            }
        }
        switch root.texts("verstat_failed") {
        case []: break
        case ["atis"]: regime.verstatFailed = .atis
        case ["all"]: regime.verstatFailed = .failures
        case ["none"]: regime.verstatFailed = TrustCauses()
        default:
            let names = TrustCauses.failures.all.map(\.name)
            regime.verstatFailed = TrustCauses(
                root.list("verstat_failed") { text throws(AddressProblem) in
                    guard let cause = TrustCause(named: text), names.contains(text) else {
                        throw .unfit(
                            "\"\(text)\" is neither atis, all, none nor a cause that counts against a call"
                                + NearestName.hint(text, among: names))
                    }
                    return cause
                })
        }
    }

    private func readNames(_ section: ConfigurationSection, _ regime: inout TrustRegime) {
        regime.rcd.needs = section.choice("needs", default: regime.rcd.needs)
        regime.rcd.cardByContent = section.choice("jcl_cid", default: regime.rcd.cardByContent)
        regime.rcd.thirdParty = section.list("third_party") { text throws(AddressProblem) in
            guard WordForm.isWord(text) else { throw .unfit("\"\(text)\" must be \(WordForm.word)") }
            return text
        }
    }
}
