// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing
import Trust

@testable import ConfigurationFiles

@Suite("herald.yaml: signed calls of a trunk")
struct TrunkSignatureSchemaTests {
    private let folder = TemporaryFolder()

    /// - Parameters:
    ///   - keys: of the trunk, from line 5 on.
    ///   - trust: the section, or nothing.
    private func text(_ keys: String, trust: String = "trust: {regimes: [us, fr, in]}") -> String {
        let lines = keys.split(separator: ";").map { "\n    \($0.drop { $0 == " " })" }.joined()
        return smallest.replacing("[203.0.113.5]", with: "[203.0.113.5]" + lines) + trust + "\n"
    }

    private func configuration(
        _ keys: String, trust: String = "trust: {regimes: [us, fr, in]}"
    ) throws -> HeraldConfiguration {
        try folder.load(text(keys, trust: trust))
    }

    private func signatures(
        _ keys: String, trust: String = "trust: {regimes: [us, fr, in]}"
    ) throws -> TrunkSignatures? {
        let configuration = try configuration(keys, trust: trust)
        return configuration.signatures(of: configuration.trunks[0])
    }

    @Test func `a trunk without keys is in shadow, with every default of the specification`() throws {
        let signatures = try #require(try signatures(""))
        #expect(signatures.mode == .shadow && signatures.caller == .asserted && signatures.called == .requestURI)
        #expect(signatures.source == .ownFirst && signatures.onFailed == .noBrand && signatures.policy.denied.isEmpty)
        let policy = signatures.policy
        #expect(policy.regimes.map(\.name) == ["us", "fr", "in"] && policy.regimes.map(\.position) == [0, 1, 2])
        #expect(policy.regimeSet == RegimeSet.number(of: ["us", "fr", "in"]))
        #expect(policy.retargeted == .asUnsigned && policy.malformed == .failed && policy.replay == .note)
        #expect(!policy.allowsCompactForm && !policy.fetches)
    }

    @Test(arguments: [
        ("", ""), ("signatures: off", ""), ("signatures: off", "trust: {regimes: [us]}"),
        ("", "trust: {regimes: [in]}"), ("", "trust: {regimes: [in, us]}"),
        ("regimes: [in, us]", "trust: {regimes: [us, in]}"), ("signatures: off; regimes: [us]", "trust: {regimes: us}"),
    ])
    func `it is off without trust, by its word, and where the first regime verifies nothing`(
        keys: String, trust: String
    ) throws {
        #expect(try signatures(keys, trust: trust) == nil)
    }

    private typealias Rule = @Sendable (inout TrunkSignatures) -> Void

    private static let values: [(String, Rule)] = [
        ("signatures: shadow", { $0.mode = .shadow }), ("signatures: decide", { $0.mode = .decide }),
        ("signed_caller: pai", { $0.caller = .asserted }), ("signed_caller: from", { $0.caller = .from }),
        ("signed_caller: either", { $0.caller = .either }),
        ("called_number: ruri", { $0.called = .requestURI }), ("called_number: to", { $0.called = .to }),
        ("called_number: p_called_party_id", { $0.called = .calledPartyID }),
        ("retargeted: as_unsigned", { $0.policy.retargeted = .asUnsigned }),
        ("retargeted: accept", { $0.policy.retargeted = .accept }),
        ("malformed: failed", { $0.policy.malformed = .failed }), ("malformed: none", { $0.policy.malformed = .none }),
        ("replay: note", { $0.policy.replay = .note }), ("replay: as_unsigned", { $0.policy.replay = .asUnsigned }),
        ("compact_form: off", { $0.policy.allowsCompactForm = false }),
        ("compact_form: on", { $0.policy.allowsCompactForm = true }),
        ("verification_source: own_first", { $0.source = .ownFirst }),
        ("verification_source: trunk_first", { $0.source = .trunkFirst }),
        ("verification_source: worst", { $0.source = .worst }),
        ("verification_source: own_only", { $0.source = .ownOnly }),
        ("on_failed: no_brand", { $0.onFailed = .noBrand }), ("on_failed: pass", { $0.onFailed = .pass }),
        ("on_failed: reject", { $0.onFailed = .reject }),
        ("name_source: directory_first", { $0.names = .directoryFirst }),
        ("name_source: rcd_first", { $0.names = .rcdFirst }), ("name_source: must_agree", { $0.names = .mustAgree }),
        ("name_source: rcd_only", { $0.names = .rcdOnly }),
        ("name_source: directory_only", { $0.names = .directoryOnly }),
    ]

    @Test(arguments: values.indices) func `a value changes its rule and no other one`(index: Int) throws {
        let (key, rule) = Self.values[index]
        var expected = try #require(try signatures(""))
        rule(&expected)
        #expect(try signatures(key) == expected, "\(key)")
    }

    @Test func `a trunk has some of the regimes in an order of its own, and the set is that of the process`() throws {
        let policy = try #require(try signatures("regimes: [fr, us]")).policy
        #expect(policy.regimes.map(\.name) == ["fr", "us"] && policy.regimes.map(\.position) == [1, 0])
        #expect(policy.regimeSet == RegimeSet.number(of: ["us", "fr", "in"]))
        #expect(try signatures("regimes: fr")?.policy.regimes.map(\.name) == ["fr"])
    }

    @Test func `denied signers are those of trust, and watched ones are not among them`() throws {
        let trust = "trust: {regimes: [us], signer: {\"123A\": deny, 567B: watch, 89CD: deny}}"
        #expect(try signatures("", trust: trust)?.policy.denied == ["123A", "89CD"])
    }

    /// The regimes of a running gateway are those of its start, and a reload may name others.
    @Test func `a regime that the process does not have is left out`() throws {
        var configuration = try configuration("")
        configuration.trunks[0].signatures.regimes = ["lab", "fr"]
        #expect(configuration.signatures(of: configuration.trunks[0])?.policy.regimes.map(\.name) == ["fr"])
        configuration.trunks[0].signatures.regimes = ["lab"]
        #expect(configuration.signatures(of: configuration.trunks[0]) == nil)
    }

    @Test(arguments: [
        ("signatures: on", "5:17: trunks[0].signatures: \"on\" is not one of off, shadow, decide"),
        ("signatures: decid", "5:17: trunks[0].signatures: \"decid\" is not one of off, shadow, decide; did you mean"),
        ("signature: off", "5:5: trunks[0].signature: unknown key; did you mean \"signatures\"?"),
        (
            "region: US; regimes: [us, rf]",
            "6:19: trunks[0].regimes[1]: \"rf\" is not in trust.regimes: us, fr, in; did you mean \"fr\"?"
        ),
        ("regimes: [ca]", "5:15: trunks[0].regimes[0]: \"ca\" is not in trust.regimes: us, fr, in"),
        ("regimes: [us, us]", "5:19: trunks[0].regimes[1]: \"us\" is listed twice"),
        ("regimes: []", "5:14: trunks[0].regimes: must not be empty; write signatures: off instead"),
        ("signed_caller: p_asserted", "5:20: trunks[0].signed_caller: \"p_asserted\" is not one of pai, from, either"),
        ("called_number: request_uri", "\"request_uri\" is not one of ruri, to, p_called_party_id"),
        ("retargeted: yes", "5:17: trunks[0].retargeted: \"yes\" is not one of as_unsigned, accept"),
        ("malformed: pass", "5:16: trunks[0].malformed: \"pass\" is not one of failed, none"),
        ("replay: as_unsined", "is not one of note, as_unsigned; did you mean \"as_unsigned\"?"),
        ("compact_form: true", "5:19: trunks[0].compact_form: \"true\" is not one of off, on"),
        ("verification_source: own", "is not one of own_first, trunk_first, worst, own_only"),
        ("on_failed: drop", "5:16: trunks[0].on_failed: \"drop\" is not one of no_brand, pass, reject"),
        (
            "regimes: [in]; signatures: decide",
            "6:17: trunks[0].signatures: has no effect, because the first regime, in, verifies nothing: write off, or"
        ),
        (
            "name_source: rcd",
            "5:18: trunks[0].name_source: \"rcd\" is not one of directory_first, rcd_first, must_agree, rcd_only"
        ),
    ])
    func `a wrong value is an error with its place`(keys: String, problem: String) throws {
        let found = try folder.problems(in: text(keys))
        #expect(found.count == 1 && found.first?.contains(problem) == true, "\(found)")
    }

    @Test(arguments: [
        "signatures: shadow", "signatures: decide", "regimes: [us]", "signed_caller: pai", "called_number: to",
        "retargeted: accept", "malformed: none", "replay: note", "compact_form: off", "verification_source: worst",
        "on_failed: pass", "name_source: rcd_only",
    ])
    func `a key without trust is an error`(key: String) throws {
        let name = key.prefix { $0 != ":" }
        let found = try folder.problems(in: text(key, trust: ""))
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("herald.yaml:5:") == true, "\(found)")
        #expect(found.first?.contains("trunks[0].\(name): needs a section trust with its regimes") == true, "\(found)")
    }

    @Test func `a wrong section trust leaves the names of regimes alone`() throws {
        let found = try folder.problems(in: text("regimes: [us]", trust: "trust: {regimes: [uss]}"))
        #expect(found.count == 1 && found.first?.contains("trust.regimes[0]") == true, "\(found)")
    }

    // MARK: check-config

    private func lines(_ keys: String, trust: String = "trust: {regimes: [us, fr, in]}") throws -> [String] {
        ConfigurationSummary(try configuration(keys, trust: trust)).text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        ("", "signed  trunk1: shadow, regimes us, fr, in"),
        ("name: carrier; regimes: us", "signed  carrier: shadow, regimes us"),
        (
            "signatures: decide; regimes: [us, fr]",
            "signed  trunk1: decide, regimes us, fr, verification_source own_first, on_failed no_brand, name_source "
                + "directory_first"
        ),
        (
            "signatures: decide; regimes: us; verification_source: worst; on_failed: reject",
            "signed  trunk1: decide, regimes us, verification_source worst, on_failed reject, name_source directory_first"
        ),
        (
            "signatures: decide; regimes: [fr, us]",
            "signed  trunk1: decide, regimes fr, us, verification_source own_first, on_failed no_brand, name_source "
                + "directory_only"
        ),
        (
            "signatures: decide; regimes: fr; name_source: must_agree",
            "signed  trunk1: decide, regimes fr, verification_source own_first, on_failed no_brand, name_source must_agree"
        ),
    ])
    func `the summary has a line for each trunk that verifies`(keys: String, line: String) throws {
        let found = try lines(keys).filter { $0.hasPrefix("signed") }
        #expect(found == [line])
        #expect(try lines(keys).contains("trust   regimes us, fr, in; certificates come from herald trust import"))
    }

    @Test func `a trunk that is off has none, and keys and sections without effect have a remark`() throws {
        let found = try lines("signatures: off; retargeted: accept; on_failed: pass")
        #expect(!found.contains { $0.hasPrefix("signed") })
        #expect(found.contains("note    trunk trunk1 has signatures: off: no effect of retargeted, on_failed"))
        #expect(found.contains { $0.hasPrefix("note    trust has no use: no trunk verifies signed calls") })
        #expect(try !lines("").contains { $0.contains("no effect of") || $0.contains("no use") })
    }

    @Test func `an untrusted trunk brands calls by their signature in decide alone`() throws {
        func remark(_ keys: String) throws -> [String] { try lines(keys).filter { $0.contains("is not trusted") } }
        #expect(try remark("") == ["note    trunk trunk1 is not trusted: its calls are not branded"])
        #expect(
            try remark("signatures: decide") == [
                "note    trunk trunk1 is not trusted: its calls without a good signature are not branded"
            ])
    }

    @Test func `a brand that needs a signed name has a remark`() throws {
        func remark(_ keys: String) throws -> [String] { try lines(keys).filter { $0.contains("signed name") } }
        for source in ["directory_first", "rcd_first", "directory_only"] {
            #expect(try remark("signatures: decide; name_source: \(source)").isEmpty)
        }
        for source in ["must_agree", "rcd_only"] {
            let line = "note    trunk trunk1 shows no brand without a signed name (name_source: \(source))"
            #expect(try remark("signatures: decide; name_source: \(source)") == [line])
            #expect(try remark("name_source: \(source)") == [line + " once signatures is decide"])
        }
    }

    @Test func `rejecting calls has a remark`() throws {
        func remark(_ keys: String) throws -> [String] { try lines(keys).filter { $0.contains("reject") } }
        #expect(try remark("signatures: decide").isEmpty)
        #expect(
            try remark("signatures: decide; on_failed: reject").last
                == "note    trunk trunk1 rejects calls whose signature counts against them (on_failed: reject)")
        let shadow = try remark("on_failed: reject")
        #expect(shadow.last?.hasSuffix("(on_failed: reject) once signatures is decide") == true)
    }
}
