// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GRDB
import GatewayStore
import Host
import TestFixtures
import Testing
import TrustFixtures

@testable import GatewayOperator

/// Findings on the laboratory of the vectors, with real files and a real database.
@Suite("Doctor: signed calls")
struct DoctorTrustTests {
    private static let day: Int64 = 86_400
    private let lab = TrustLab.shared
    private let folder = TemporaryFolder()

    /// A configuration with the regime us of the program or others, and the keys of its trunk.
    private func configuration(
        _ trust: String = "{regimes: [us]}", trunk: String = "region: US"
    ) throws -> HeraldConfiguration {
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.20.1}]
            trunks: [{name: carrier, sources: [127.83.20.2], \(trunk)}]
            pbx: [{address: 127.83.20.3}]
            trust: \(trust)

            """
        return try HeraldConfiguration.load(path: try folder.write(text, to: "herald.yaml"))
    }

    /// Writes the files that us names. Nil leaves one out.
    private func writeFiles(list: String? = "l01", root: String? = "pa_root", crlSigner: String? = "pa_crl") throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/regimes", withIntermediateDirectories: true)
        if let list { try folder.write(lab.list(list), to: "regimes/sti-pa.jwt") }
        if let root { try folder.write(lab.pem(root), to: "regimes/stipa-root.pem") }
        if let crlSigner { try folder.write(lab.pem(crlSigner), to: "regimes/sti-pa-crl.pem") }
        try folder.write(lab.crls["indirect"]?.pem ?? "", to: "regimes/sti-pa.crl")
    }

    /// Imports these signers and the signer of lists, with the files of the regimes.
    private func take(_ signers: [String], _ trust: String = "{regimes: [us]}", further: [String] = []) async throws {
        let files = [
            try folder.write(lab.file(signers), to: "chains.pem"), try folder.write(lab.listSigner, to: "signer.pem"),
        ]
        _ = try await TrustImport(configuration(trust), now: lab.now).take(files + further)
    }

    private func findings(
        _ configuration: HeraldConfiguration? = nil, at now: Int64? = nil
    ) throws -> [DoctorFinding] {
        DoctorTrust.findings(try configuration ?? self.configuration(), at: now ?? lab.now)
    }

    /// Warnings and notes, as `level text`.
    private func remarks(_ configuration: HeraldConfiguration? = nil, at now: Int64? = nil) throws -> [String] {
        try findings(configuration, at: now).map { "\($0.level.rawValue) \($0.text)" }.filter { !$0.hasPrefix("ok ") }
    }

    @Test func `without trust, and where no trunk verifies, there is nothing to check`() throws {
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.20.1}]
            trunks: [{name: carrier, sources: [127.83.20.2]}]
            pbx: [{address: 127.83.20.3}]

            """
        let none = try HeraldConfiguration.load(path: try folder.write(text, to: "herald.yaml"))
        #expect(try findings(none).isEmpty)
        #expect(try findings(configuration(trunk: "signatures: off")).isEmpty)
        #expect(try findings(configuration("{regimes: [in]}")).isEmpty)
    }

    @Test func `signers of a complete regime are counted in one line`() async throws {
        try writeFiles(list: "l01")
        try await take(["spc", "alien"])
        let found = try findings(at: lab.now + 3600)
        // The list of the laboratory lasts a day.
        #expect(
            found.map(\.text) == [
                "the list of authorities of regime us ends at 2016-08-17T19:23:38Z: it stays in use, without later changes; "
                    + "import a new one with herald trust import FILE"
            ])
        try writeLab(anchors: "root")
        try await take(["spc", "alien"], "{regimes: [lab.yaml]}")
        let good = try findings(configuration("{regimes: [lab.yaml]}"))
        #expect(good == [DoctorFinding("trust", .ok, "3 signers: 1 count under lab")], "\(good)")
    }

    /// A regime of the operator with PEM anchors, and further keys.
    private func writeLab(anchors: String, _ keys: String = "") throws {
        try folder.write(lab.pem(anchors), to: "lab.pem")
        try folder.write("anchors: [lab.pem]\nkeys: p256\ntnauthlist: any\n\(keys)\n", to: "lab.yaml")
    }

    @Test func `a new installation has each missing file with its effect`() throws {
        let found = try remarks()
        let place = folder.path + "/regimes/"
        let missing = "cannot be read: No such file or directory"
        #expect(
            found == [
                "warning regime us: anchors: \(place)sti-pa.jwt \(missing): signers below it do not count; put the file "
                    + "there, then run herald trust import",
                "warning regime us: list_root: \(place)stipa-root.pem \(missing): no list of authorities can be taken in; "
                    + "put the root there, then run herald trust import",
                "warning regime us: crl: \(place)sti-pa.crl \(missing): revoked signers count; put the list there, or take "
                    + "it in with herald trust import FILE",
                "warning regime us: crl_signer: \(place)sti-pa-crl.pem \(missing): no revocation list of its signer "
                    + "counts; put the certificate there, then run herald trust import",
                "warning no signer is stored: each signed call has the cause signer_not_yet_known; take in certificates "
                    + "with herald trust import FILE",
            ], "\(found)")
    }

    @Test func `files of a regime that no trunk has are not missed`() throws {
        let found = try remarks(configuration("{regimes: [us, fr]}", trunk: "regimes: [fr]"))
        #expect(found.contains { $0.contains("man.pem") } && !found.contains { $0.contains("regime us") }, "\(found)")
    }

    @Test func `lists that were taken in from elsewhere make a missing file a note`() async throws {
        try writeFiles()
        try await take(["spc"])
        for name in ["sti-pa.jwt", "sti-pa.crl"] {
            try FileManager.default.removeItem(atPath: folder.path + "/regimes/" + name)
        }
        let found = try remarks().filter { $0.contains("cannot be read") }
        #expect(found.count == 2, "\(found)")
        #expect(found.first?.hasPrefix("note regime us: anchors: ") == true)
        #expect(found.first?.hasSuffix("; the stored list of authorities is in use") == true)
        #expect(found.last?.hasPrefix("note regime us: crl: ") == true)
        #expect(found.last?.hasSuffix("; the stored list is in use") == true)
    }

    @Test func `a file that is no certificate, and a regime without anchors, are found`() throws {
        try folder.write("hello\n", to: "lab.pem")
        try folder.write("anchors: [lab.pem]\n", to: "lab.yaml")
        let found = try remarks(configuration("{regimes: [lab.yaml]}"))
        #expect(
            found.first
                == "warning regime lab: anchors: \(folder.path)/lab.pem neither PEM, DER, a list of authorities nor "
                + "addresses; correct the file, then run herald trust import")
        try folder.write("verify: true\n", to: "lab.yaml")
        let none = try remarks(configuration("{regimes: [lab.yaml]}"))
        #expect(none.first?.hasPrefix("warning regime lab has no anchor: no signer counts under it; ") == true)
    }

    /// The authorities of the laboratory end on 1 January 2046.
    private static let end: Int64 = 2_398_377_600

    @Test(arguments: [
        (end - 31 * day, ""), (end - 29 * day, "ends at 2046-01-01T00:00:00Z"),
        (end + day, "ended at 2046-01-01T00:00:00Z"),
    ])
    func `an anchor has a warning thirty days before its end`(now: Int64, words: String) async throws {
        try writeLab(anchors: "root")
        try await take(["spc"], "{regimes: [lab.yaml]}")
        let found = try remarks(configuration("{regimes: [lab.yaml]}"), at: now).filter { $0.contains("anchor") }
        #expect(found.count == (words.isEmpty ? 0 : 1), "\(found)")
        #expect(
            words.isEmpty
                || found.first?.hasPrefix("warning anchor of regime lab \(words), ") == true
                    && found.first?.contains("Herald Lab Root") == true,
            "\(found)")
    }

    @Test func `so have anchors of a list, and the root above its signer`() async throws {
        try writeFiles()
        try await take(["spc"])
        let found = try remarks(at: Self.end - Self.day)
        #expect(found.count { $0.hasPrefix("warning listed anchor of regime us ends at 2046") } == 2, "\(found)")
        #expect(found.count { $0.hasPrefix("warning list_root of regime us ends at 2046") } == 1, "\(found)")
    }

    /// The list l01 ends on 17 August 2016, 19:23:38.
    @Test(arguments: [
        (-8 * day, ""), (-6 * day, "ends at"), (0, "ended at"), (100 * day, "ended at"),
    ])
    func `a list of authorities has a warning seven days before its end`(after: Int64, words: String) async throws {
        try writeFiles()
        try await take(["spc"])
        let end: Int64 = 1_471_461_818
        let found = try remarks(at: end + after).filter { $0.contains("the list of authorities of regime us") }
        #expect(found.count == (words.isEmpty ? 0 : 1), "\(found)")
        #expect(words.isEmpty || found.first?.contains("\(words) 2016-08-17T19:23:38Z: it stays in use") == true)
    }

    /// Both revocation lists of the laboratory end on 17 August 2016, 18:23:38, and count for seven days more.
    @Test(arguments: [
        ("", -1, ""), ("", 1, "it counts until 2016-08-24T18:23:38Z"), ("", 7 * day + 1, "the cause crl_stale"),
        ("crl_stale: as_unsigned", 1, "the cause crl_stale"),
    ])
    func `a revocation list past its end has the time until which it counts`(
        keys: String, after: Int64, words: String
    ) async throws {
        try writeLab(anchors: "root", keys)
        let list = try folder.write(lab.crls["direct"]?.pem ?? "", to: "direct.crl")
        try await take(["spc"], "{regimes: [lab.yaml]}", further: [list])
        let found = try remarks(configuration("{regimes: [lab.yaml]}"), at: 1_471_458_218 + after)
            .filter { $0.contains("the revocation list of") }
        #expect(found.count == (words.isEmpty ? 0 : 1), "\(found)")
        #expect(words.isEmpty || found.first?.contains("Herald Lab CA 1") == true)
        #expect(words.isEmpty || found.first?.contains("ended at 2016-08-17T18:23:38Z: ") == true)
        #expect(words.isEmpty || found.first?.contains(words) == true, "\(found)")
    }

    @Test func `a strict regime beside a patient one is named`() async throws {
        try writeLab(anchors: "root")
        try folder.write("anchors: [lab.pem]\ntnauthlist: any\ncrl_stale: as_unsigned\n", to: "strict.yaml")
        let regimes = "{regimes: [lab.yaml, strict.yaml]}"
        let list = try folder.write(lab.crls["direct"]?.pem ?? "", to: "direct.crl")
        try await take(["spc"], regimes, further: [list])
        let found = try remarks(configuration(regimes), at: 1_471_458_219)
        #expect(found.contains { $0.contains("it counts until 2016-08-24T18:23:38Z, and no more under strict;") })
    }

    @Test(arguments: [(8 * day, false), (8 * day + 1, true), (30 * day, true)])
    func `a decision of more than eight days ago has a warning`(age: Int64, isOld: Bool) async throws {
        try writeLab(anchors: "root")
        try await take(["spc"], "{regimes: [lab.yaml]}")
        let found = try remarks(configuration("{regimes: [lab.yaml]}"), at: lab.now + age)
        let text =
            "warning the signers were decided \(AgeText.text(age)) ago: later ends and revocations do not count; "
        #expect(found.contains { $0.hasPrefix(text) && $0.hasSuffix("without a file") } == isOld, "\(found)")
    }

    @Test func `so has one for other rules, until the next import`() async throws {
        try writeLab(anchors: "root")
        try await take(["spc"], "{regimes: [lab.yaml]}")
        try writeLab(anchors: "root", "delegates: true")
        let found = try remarks(configuration("{regimes: [lab.yaml]}"))
        #expect(
            found == [
                "warning the signers were decided for other regimes or files: run herald trust import without a file"
            ])
        try await take([], "{regimes: [lab.yaml]}")
        #expect(try remarks(configuration("{regimes: [lab.yaml]}")).isEmpty)
    }

    @Test func `signers that do not count, ended ones and waiting addresses are counted`() async throws {
        try writeLab(anchors: "alien_root")
        let addresses = try folder.write("https://a.example/1.pem\nhttps://a.example/2.pem\n", to: "addresses")
        try await take(["spc", "expired"], "{regimes: [lab.yaml]}", further: [addresses])
        let found = try remarks(configuration("{regimes: [lab.yaml]}"))
        #expect(
            found == [
                "warning none of 3 signers counts under lab: see the causes with herald trust list",
                "note 1 of 3 signers has ended: tokens of an ended signer are certificate_expired; import new chains",
                "note 2 addresses wait for a certificate: herald trust list --unknown; import the chains",
            ], "\(found)")
    }

    @Test(arguments: [
        ("[us]", "region: FR", "us"), ("[us]", "region: US", ""), ("[us]", "region: CA", ""), ("[us]", "", ""),
        ("[us, fr]", "region: FR", "us"), ("[fr, us]", "region: FR", ""), ("[private]", "region: FR", ""),
        ("[private, us]", "region: FR", "us"), ("[fr]", "region: RE", ""),
        ("[us, fr]", "region: FR, regimes: [fr]", ""),
        ("[us]", "region: FR, signatures: off", ""),
    ])
    func `a regime of another country is found by the region of the trunk`(
        regimes: String, trunk: String, name: String
    ) throws {
        let found = try remarks(configuration("{regimes: \(regimes)}", trunk: trunk))
            .filter { $0.contains("country code") }
        #expect(found.count == (name.isEmpty ? 0 : 1), "\(found)")
        let text =
            "warning trunk carrier has the region FR, country code 33, and its regime \(name) is for 1: tokens are judged"
        #expect(name.isEmpty || found.first?.hasPrefix(text) == true, "\(found)")
    }

    /// The clock guard takes offsets of more than 30 s for a wrong clock.
    @Test(arguments: [
        (nil, ""), (0, ""), (30, ""), (-30, ""), (31, "31 s behind the tokens"), (-90, "90 s ahead of the tokens"),
    ])
    func `a running gateway shows a wrong clock by the tokens of its calls`(offset: Int64?, words: String) {
        let trust = GatewayStatus.Trust(signers: 9, unknownAddresses: 0, calls: [:], clockOffset: offset)
        let found = DoctorTrust.running(trust)
        #expect(found.count == (words.isEmpty ? 0 : 1), "\(found)")
        #expect(words.isEmpty || found.first?.text.contains("this machine's clock is \(words) of most signers") == true)
    }

    @Test func `so does it the reason why calls find no signers`() {
        let trust = GatewayStatus.Trust(signers: 0, unknownAddresses: 0, calls: [:], problem: "cannot open a file")
        #expect(DoctorTrust.running(trust).map(\.text) == ["cannot open a file"])
        #expect(DoctorTrust.running(nil).isEmpty)
    }

    @Test func `a brand whose number a new provider signs is a note without the number`() async throws {
        try writeLab(anchors: "root")
        try await take(["spc"], "{regimes: [lab.yaml]}")
        let configured = try configuration("{regimes: [lab.yaml]}")
        #expect(try remarks(configured).isEmpty)
        let database = try HeraldDatabase(folder: folder.path + "/state")
        let ledger = try database.ledger
        for (row, daysAgo, provider) in [(1, 20, "123A"), (2, 3, "567B\u{1B}")] as [(Int64, Int64, String)] {
            try await ledger.write { [lab] database in
                try database.execute(
                    sql: """
                        INSERT INTO call (id, call_id, sip_call_id, direction, decision, invite_at, caller, brand_id,
                            brand_name)
                        VALUES (?, ?, ?, 1, 'matched', ?, 12025551000, 'acme', 'Acme')
                        """,
                    arguments: [row, "\(row)", "\(row)", (lab.now - daysAgo * Self.day) * 1_000_000])
                try database.execute(
                    sql: "INSERT INTO call_signature (call, provider) VALUES (?, ?)", arguments: [row, provider])
            }
        }
        try database.close()
        let found = try remarks(configured)
        #expect(
            found.count == 1 && found[0].hasPrefix("note 567B\\u{1b} has signed a number of Acme since "), "\(found)")
        #expect(!found.joined().contains("12025551000"))
    }

    @Test func `a database that cannot be read is a warning`() throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
        try folder.write(String(repeating: "no database\n", count: 400), to: "state/signers.sqlite")
        let found = try remarks()
        #expect(found.count == 1 && found.first?.contains("signers.sqlite") == true, "\(found)")
    }
}
