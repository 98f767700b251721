// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestFixtures
import Testing
import Trust

@testable import ConfigurationFiles

@Suite("Regimes of signed calls")
struct RegimeFileTests {
    private let folder = TemporaryFolder()

    private func regime(_ name: String) throws -> TrustRegime {
        try RegimeFile(name, beside: folder.path).read(position: 0).regime
    }

    private func problems(of text: String) throws -> [String] {
        try folder.write(text, to: "lab.yaml")
        do {
            _ = try RegimeFile("lab.yaml", beside: folder.path).read(position: 0)
            return []
        } catch {
            return error.problems.map { $0.description.replacing(folder.path + "/", with: "") }
        }
    }

    @Test(arguments: RegimeFile.builtIn)
    func `a regime of the program is valid, and has the times of RFC 8224 §6.2 and RFC 8946 §4.2`(name: String) throws {
        let regime = try regime(name)
        #expect(regime.name == name)
        #expect(regime.maxAge == 60)
        #expect(regime.maxAhead == 60)
        #expect(regime.innerAge == 10_800)
        #expect(regime.diversions == 5)
        #expect(regime.allowsX5C)
        #expect(regime.fetch == nil)
    }

    /// SHAKEN: anchors out of the signed list, P-256 alone, one provider code, an indirect revocation list.
    @Test func `us has the rules of SHAKEN`() throws {
        let us = try regime("us")
        #expect(us.anchors == [folder.path + "/regimes/sti-pa.jwt"])
        #expect(us.listRoot == folder.path + "/regimes/stipa-root.pem")
        #expect(us.revocationForm == .indirect)
        #expect(us.keys == .p256)
        #expect(us.authority == .oneCode)
        #expect(us.reason == .stir)
        #expect(us.verstatFailed == .atis)
        #expect(us.addresses.ports == [443, 8443])
        #expect(!us.addresses.allowsHTTP)
        #expect(us.countries == [1])
        #expect(us.codes.isEmpty)
    }

    /// MAN: each call is signed, Date counts, To may be the called number, and the cause goes into a response's Reason.
    @Test func `fr has the rules of the MAN`() throws {
        let fr = try regime("fr")
        #expect(fr.required)
        #expect(fr.checksDate)
        #expect(fr.called == .requestURIOrTo)
        #expect(fr.parameters == .strict)
        #expect(fr.reason == .sip)
        #expect(fr.reasonPlace == .ok)
        #expect(fr.codes == [.unsigned: 428, .unsupportedPPT: 438, .notANumber: 400])
        #expect(fr.bypass == .pass)
        #expect(fr.names == .directoryOnly)
        #expect(fr.verstatFailed.isEmpty)
        #expect(fr.countries.count == 8)
    }

    /// A laboratory or a company has delegates, RSA authorities, and addresses on its own network.
    @Test func `private allows what an own authority has`() throws {
        let own = try regime("private")
        #expect(own.keys == .p256RSA)
        #expect(own.authority == .any)
        #expect(own.delegates)
        #expect(own.addresses.ports == nil)
        #expect(own.addresses.allowsHTTP)
        #expect(own.addresses.allowsPrivate)
        #expect(own.verstatFailed == .failures)
    }

    @Test func `in verifies nothing, and br wants the directory and the token to agree`() throws {
        #expect(try regime("in").verify == false)
        #expect(try regime("br").names == .mustAgree)
    }

    @Test func `an empty key has the default that us explains`() throws {
        try folder.write("verify: true\n", to: "lab.yaml")
        var usual = TrustRegime(name: "lab", position: 0)
        #expect(try regime("lab.yaml") == usual)
        try folder.write("fetch: off\nverstat_failed: [revoked, bad_signature]\n", to: "lab.yaml")
        usual.fetch = false
        usual.verstatFailed = TrustCauses([.revoked, .badSignature])
        #expect(try regime("lab.yaml") == usual)
    }

    @Test func `a file of the operator replaces the regime of the program`() throws {
        #expect(try regime("us").delegates == false)
        try FileManager.default.createDirectory(atPath: folder.path + "/regimes", withIntermediateDirectories: true)
        try folder.write("delegates: true\nanchors: [roots.pem, /etc/other.pem]\n", to: "regimes/us.yaml")
        let own = try RegimeFile("us", beside: folder.path).read(position: 3)
        #expect(own.file == folder.path + "/regimes/us.yaml" && own.regime.position == 3)
        #expect(own.regime.delegates && own.regime.anchors == [folder.path + "/regimes/roots.pem", "/etc/other.pem"])
    }

    @Test(arguments: [
        ("delegate: true", "lab.yaml:1:1: delegate: unknown key; did you mean \"delegates\"?"),
        ("keys: rsa", "lab.yaml:1:7: keys: \"rsa\" is not one of p256, p256_rsa"),
        ("diversions: 6", "lab.yaml:1:13: diversions: 6 is out of range (1 to 5)"),
        ("max_age: 60", "lab.yaml:1:10: max_age: must be a time with its unit, such as 500ms, 30s, 5m, 24h or 90d"),
        ("codes: {stal: 403}", "lab.yaml:1:9: codes.stal: unknown key; did you mean \"stale\"?"),
        ("codes: {stale: 200}", "lab.yaml:1:16: codes.stale: must be 400 to 699, or 0 for no code"),
        ("x5u_ports: [0]", "lab.yaml:1:13: x5u_ports[0]: \"0\" is no port (1 to 65535); any alone allows all"),
        ("x5u_ports: []", "lab.yaml:1:12: x5u_ports: must not be empty; any allows all ports"),
        (
            "crl: [lab.crl, https://a.example:9443/crl]",
            "lab.yaml:1:16: crl[1]: \"https://a.example:9443/crl\" must be an address that x5u_ports, x5u_http and "
        ),
        ("crl: [ldap://a.example/crl]", "lab.yaml:1:7: crl[0]: \"ldap://a.example/crl\" must be an address that "),
        ("crl: [http://a.example/crl]", "lab.yaml:1:7: crl[0]: \"http://a.example/crl\" must be an address that "),
        ("crl: [https://10.0.0.1/crl]", "lab.yaml:1:7: crl[0]: \"https://10.0.0.1/crl\" must be an address that "),
        (
            "anchors: [https://a.example/list]",
            "lab.yaml:1:10: anchors: an address needs list_root, the root above the signer of its list"
        ),
        (
            "{anchors: [https://a.example/1, https://b.example/1], list_root: a.pem}",
            "lab.yaml:1:11: anchors: must have at most one address of a list of authorities"
        ),
        (
            "{anchors: [lab.pem], list_authorization_file: login}",
            "lab.yaml:1:47: list_authorization_file: needs an https address of a list in anchors"
        ),
        (
            "{anchors: [http://a.example/1], list_root: a.pem, x5u_http: true, list_authorization_file: login}",
            "lab.yaml:1:92: list_authorization_file: needs an https address of a list in anchors"
        ),
        (
            "crl_form: indirect",
            "lab.yaml:1:11: crl_form: indirect needs crl_signer, the certificate that signs the list"
        ),
        ("foreign_mark: on", "lab.yaml:1:15: foreign_mark: \"on\" is not one of off"),
        ("rcd: {needs: D}", "lab.yaml:1:14: rcd.needs: \"D\" is not one of A, B, C"),
        ("countries: [0]", "lab.yaml:1:13: countries[0]: \"0\" is no country code (1 to 999, such as 33)"),
    ])
    func `a wrong value is an error with its place`(text: String, problem: String) throws {
        let found = try problems(of: text)
        #expect(found.count == 1 && found.first?.hasPrefix(problem) == true, "\(found)")
    }

    @Test func `lists have files and addresses`() throws {
        let text = """
            anchors: [lab.jwt, https://a.example/api/v1/ca-list]
            list_root: root.pem
            list_authorization_file: login
            crl: [https://a.example/download/v1/crl, lab.crl, http://b.example:8080/crl]
            x5u_http: true
            x5u_ports: any

            """
        try folder.write(text, to: "lab.yaml")
        let found = try regime("lab.yaml")
        #expect(found.anchors == [folder.path + "/lab.jwt"])
        #expect(found.listAddress == "https://a.example/api/v1/ca-list")
        #expect(found.listAuthorization == folder.path + "/login")
        #expect(found.revocationLists == [folder.path + "/lab.crl"])
        #expect(found.revocationAddresses == ["https://a.example/download/v1/crl", "http://b.example:8080/crl"])
        #expect(found.fetch == nil, "addresses of lists are a choice of their own")
    }

    @Test(arguments: [("fetch: on\n", true), ("fetch: off\n", false)])
    func `fetching is a choice of the regime`(text: String, expected: Bool) throws {
        try folder.write(text, to: "lab.yaml")
        #expect(try regime("lab.yaml").fetch == expected)
    }

    @Test func `causes that count against no call are refused`() throws {
        #expect(try problems(of: "verstat_failed: [unsigned]").first?.contains("counts against a call") == true)
    }
}

@Suite("herald.yaml: trust")
struct TrustSchemaTests {
    private let folder = TemporaryFolder()

    @Test func `a section has its regimes, limits and rules`() throws {
        #expect(try folder.load(smallest).trust == nil)
        try folder.write("delegates: true\n", to: "lab.yaml")
        let trust = try #require(
            folder.load(
                smallest
                    + "trust: {regimes: [us, lab.yaml], fetch: off, signers: 1000, signer: {123a: deny, 567B: watch}}\n"
            ).trust)
        #expect(trust.regimes.map(\.regime.name) == ["us", "lab"])
        #expect(trust.regimes.map(\.regime.position) == [0, 1] && trust.regimes[1].regime.delegates)
        #expect(trust.signers == 1000 && trust.rules == ["123A": .deny, "567B": .watch])
        #expect(try folder.load(smallest + "trust: {regimes: fr}\n").trust?.signers == 50_000)
    }

    @Test(arguments: [
        ("trust: {regimes: [us, lab.yaml], fetch: on}", [true, false]),
        ("trust: {regimes: [us, lab.yaml]}", [false, false]),
        ("trust: {regimes: [in, own.yaml], fetch: off}", [false, true]),
    ])
    func `a regime may have another rule for fetching than the section`(text: String, expected: [Bool]) throws {
        try folder.write("fetch: off\n", to: "lab.yaml")
        try folder.write("fetch: on\nx5u_ports: [9443]\n", to: "own.yaml")
        let configuration = try folder.load(smallest + text + "\n")
        let trust = try #require(configuration.trust)
        #expect(trust.regimes.map { trust.fetches(under: $0.regime) } == expected)
        #expect(trust.fetchRules.count == expected.count { $0 })
        #expect(trust.fetchRules["own"]?.ports == (expected == [false, true] ? [9443] : nil))
        let trunk = try #require(configuration.trunks.first)
        let signatures = configuration.signatures(of: trunk)
        // The first regime of India verifies nothing, so nothing of its trunk is verified.
        #expect(signatures?.policy.fetches ?? false == (expected == [true, false]))
    }

    @Test(arguments: [
        ("trust: {}", "trust.regimes: is missing; write regimes: [us]"),
        ("trust: {regimes: []}", "leave out trust instead"),
        ("trust: {regimes: [uk]}", "\"uk\" is no regime: write one of us, ca, fr, br, in, private"),
        ("trust: {regimes: [us, us]}", "trust.regimes[1]: an earlier entry is named \"us\""),
        ("trust: {regimes: [us], fetch: yes}", "trust.fetch: \"yes\" is not one of off, on"),
        ("trust: {regimes: [us], signer: {\"123A\": allow}}", "trust.signer.123A: \"allow\" is not one of deny, watch"),
        ("trust: {regimes: [us], signer: {123a: deny, 123A: watch}}", "trust.signer: 123A is listed twice"),
        ("trust: {regimes: [us], signers: 5}", "trust.signers: 5 is out of range (100 to 1000000)"),
        ("trust: {regimes: [missing.yaml]}", "missing.yaml: cannot be read"),
        ("trust: {regimes: [bad.yaml]}", "bad.yaml:2:1: delegate: unknown key"),
    ])
    func `a wrong section is an error with its remedy`(text: String, problem: String) throws {
        try folder.write("verify: true\ndelegate: true\n", to: "bad.yaml")
        let found = try folder.problems(in: smallest + text + "\n").joined(separator: "\n")
        #expect(found.contains(problem), "\(found)")
    }
}
