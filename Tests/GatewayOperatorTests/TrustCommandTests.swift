// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import Host
import Primitives
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// The commands of `herald trust` on the laboratory of the vectors, with real files and a real database.
@Suite("herald trust")
struct TrustCommandTests {
    private let lab = TrustLab.shared
    private let folder = TemporaryFolder()

    /// A configuration with the regimes us, fr and private of the program, whose anchors are those of the laboratory.
    private func configuration(_ trust: String = "{regimes: [us, fr, private]}") throws -> HeraldConfiguration {
        try FileManager.default.createDirectory(atPath: folder.path + "/regimes", withIntermediateDirectories: true)
        try folder.write(lab.pem("pa_root"), to: "regimes/stipa-root.pem")
        try folder.write(lab.pem("pa_crl"), to: "regimes/sti-pa-crl.pem")
        try folder.write(lab.pem("root") + "\n" + lab.pem("rsa_root"), to: "regimes/man.pem")
        try folder.write(lab.pem("root") + "\n" + lab.pem("rsa_root"), to: "regimes/lab.pem")
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.19.1}]
            trunks: [{sources: [127.83.19.2]}]
            pbx: [{address: 127.83.19.3}]
            trust: \(trust)

            """
        return try HeraldConfiguration.load(path: try folder.write(text, to: "herald.yaml"))
    }

    private func importer(at now: Int64? = nil) throws -> TrustImport {
        try TrustImport(configuration(), now: now ?? lab.now)
    }

    private func stored() throws -> StoredTrust { try SignerReader(folder: folder.path + "/state").contents() }

    private func standing(_ name: String) throws -> [String] {
        let address = lab.certificates[name]?.x5u
        return try #require(stored().signers.first { $0.address == address }).standings.map { TrustWords.cause($0) }
    }

    /// Imports all signers, and the list that is the anchor of us.
    @discardableResult
    private func importAll(_ further: [String] = []) async throws -> TrustImport.Outcome {
        let files = [
            try folder.write(lab.file(lab.signers), to: "chains.pem"),
            try folder.write(lab.listSigner, to: "list-signer.pem"), try folder.write(lab.list("l01"), to: "list.json"),
        ]
        return try await importer().take(files + further)
    }

    // MARK: Import

    @Test func `an import reports each change, and a second one none`() async throws {
        let first = try await importAll()
        #expect(first.refused == 0, "\(first.changes)")
        #expect(
            first.changes.contains {
                $0.kind == "list" && $0.detail.hasPrefix("2 authorities, sequence 7, until 2016-08-17")
            })
        #expect(first.changes.count { $0.kind == "added" } == lab.signers.count + 1)
        #expect(first.remarks.contains { $0.contains("sti-pa.jwt cannot be read") })
        let text = try importer().text(first)
        #expect(
            text.contains("https://cert.example.net/spc.pem") && text.contains("us passed, fr passed, private passed"))
        let second = try await importAll()
        #expect(second.changes.isEmpty && second.unchanged == lab.signers.count + 1, "\(second.changes)")
        #expect(try importer().text(second).hasPrefix("nothing changed\n"))
    }

    @Test func `standings are those of the chain policy, with anchors out of the list`() async throws {
        try await importAll()
        #expect(try standing("spc") == ["passed", "passed", "passed"])
        #expect(try standing("delegate") == ["no_authority", "no_authority", "passed"])
        #expect(try standing("rsa") == ["certificate_policy", "certificate_policy", "passed"])
        #expect(try standing("alone") == ["passed", "passed", "passed"])
        #expect(try standing("alien") == ["untrusted_signer", "untrusted_signer", "untrusted_signer"])
    }

    @Test func `without its list a regime has no anchor, and gets one with it`() async throws {
        let chains = try folder.write(lab.file(["spc"]), to: "chains.pem")
        _ = try await importer().take([chains])
        #expect(try standing("spc") == ["signer_not_yet_known", "passed", "passed"])
        let outcome = try await importAll()
        #expect(outcome.changes.contains { $0.kind == "decided" && $0.subject.hasSuffix("/spc.pem") })
        #expect(try standing("spc") == ["passed", "passed", "passed"])
    }

    @Test(arguments: [
        ("l03", "its sequence 6 is below 7"), ("l05", "its signature is not by"),
        ("l06", "no list takes the last one away"),
    ])
    func `a refused list leaves the anchors as they are`(id: String, reason: String) async throws {
        try await importAll()
        let before = try stored().authorityLists
        let outcome = try await importer().take([try folder.write(lab.list(id), to: "other.json")])
        #expect(outcome.refused == 1 && outcome.changes.first?.detail.contains(reason) == true, "\(outcome.changes)")
        #expect(try stored().authorityLists == before && standing("spc")[0] == "passed")
    }

    @Test func `a list past its end stays in use, and is not imported anew`() async throws {
        try await importAll()
        let late = try #require(lab.lists.first { $0.id == "l04" })
        let outcome = try await importer(at: late.now).take([try folder.write(late.text, to: "late.json")])
        #expect(outcome.changes.first?.detail.contains("ended at 2016-08-17") == true, "\(outcome.changes)")
        #expect(try standing("spc")[0] == "passed")
        let listing = try TrustListing(configuration(), now: late.now)
        #expect(listing.text(.wide).contains("sequence 7, ended at 2016-08-17T19:23:38Z"), "\(listing.text(.wide))")
        try await importer().removeList(of: "us", asJSON: true)
        #expect(try standing("spc")[0] == "signer_not_yet_known")
        #expect(try await importer().take([try folder.write(lab.list("l03"), to: "other.json")]).refused == 0)
    }

    @Test func `a revoked signer counts no more from the next decision on`() async throws {
        let list = try folder.write(lab.crls["indirect"]?.pem ?? "", to: "indirect.crl")
        let outcome = try await importAll([list])
        #expect(
            outcome.changes.contains { $0.kind == "revocations" && $0.detail.hasPrefix("1 revoked") },
            "\(outcome.changes)")
        #expect(try standing("revoked") == ["revoked", "passed", "passed"])
        _ = try await importer().take([try folder.write(lab.crls["direct"]?.pem ?? "", to: "direct.crl")])
        #expect(try standing("revoked") == ["revoked", "revoked", "revoked"])
        _ = try await importer(at: 1_472_153_028).take([])
        #expect(try standing("spc") == ["crl_stale", "crl_stale", "crl_stale"])
    }

    @Test func `parts are refused with file and line, and the others are stored`() async throws {
        let text =
            lab.file(["spc"]) + "x5u: http://cert.example.net/plain.pem\n" + lab.pem("swapped")
            + "\n-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\nhttps://a.example/1.pem\nhttps://a.example/?q=1\n"
        let configured = try configuration("{regimes: [us]}")
        let outcome = try await TrustImport(configured, now: lab.now).take([try folder.write(text, to: "mixed.pem")])
        #expect(outcome.refused == 3, "\(outcome.changes)")
        #expect(outcome.changes.contains { $0.detail.contains("see x5u_ports, x5u_http and x5u_private") })
        #expect(try stored().signers.count == 1 && stored().unknown.keys.sorted() == ["https://a.example/1.pem"])
        let crl = try folder.write(lab.crls["indirect"]?.pem ?? "", to: "indirect.crl")
        try FileManager.default.removeItem(atPath: folder.path + "/regimes/sti-pa-crl.pem")
        let refused = try await TrustImport(configured, now: lab.now).take([crl])
        #expect(refused.changes.first?.detail.contains("name it in crl_signer") == true, "\(refused.changes)")
    }

    /// Issuers first, as `cat ca.pem leaf.pem` has them, and issuers mixed up.
    @Test(arguments: [[1, 0], [2, 1, 0], [2, 0, 1], [0, 2, 1], [0, 1], [0, 1, 2]])
    func `a chain in another order is sorted, and the import says so`(order: [Int]) async throws {
        let address = try #require(lab.certificates["spc"]?.x5u)
        let issuer = try #require(lab.certificates["spc"]?.served?.last)
        let chain = [lab.pem("spc"), lab.pem(issuer), lab.pem("root")]
        let text =
            "x5u: \(address)\n" + order.map { chain[$0] + "\n" }.joined() + "x5u: https://a.example/1.pem\n"
            + lab.pem("alone") + "\n"
        let outcome = try await importer().take([try folder.write(text, to: "mixed-up.pem")])
        let isSorted = order == order.sorted()
        #expect(outcome.changes.count { $0.kind == "sorted" } == (isSorted ? 0 : 1), "\(outcome.changes)")
        #expect(outcome.refused == 0 && outcome.changes.count { $0.kind == "added" } >= 2)
        #expect(try standing("spc")[1] == "passed")
        #expect(try stored().signers.count == 2)
    }

    @Test(arguments: [
        ("missing.pem", "No such file or directory"), ("regimes", "Is a directory"),
        ("/dev/zero", "has more than 64 MB"),
    ])
    func `a file that cannot be read changes nothing`(name: String, reason: String) async throws {
        let good = try folder.write(lab.file(["spc"]), to: "chains.pem")
        let path = name.hasPrefix("/") ? name : folder.path + "/" + name
        let failure = await #expect(throws: CommandFailure.self) { try await importer().take([good, path]) }
        let text = failure.map { "\($0)" } ?? ""
        #expect(text.contains(path), "\(text)")
        #expect(text.contains(reason), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/state/signers.sqlite"))
    }

    /// A shell gives the output of another program so: `herald trust import <(program)`.
    @Test func `a pipe is read to its end`() async throws {
        let pipe = Pipe()
        let text = lab.file(lab.signers)
        let writer = Thread {
            try? pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try? pipe.fileHandleForWriting.close()
        }
        writer.start()
        let outcome = try await importer().take(["/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"])
        #expect(outcome.changes.count { $0.kind == "added" } == lab.signers.count, "\(outcome.changes)")
    }

    @Test func `the limit of signers holds`() async throws {
        let text = (0..<101).map { "https://a\($0).example/1.pem\n" }.joined()
        let configured = try configuration("{regimes: [us], signers: 100}")
        let outcome = try await TrustImport(configured, now: lab.now).take([try folder.write(text, to: "addresses")])
        #expect(try outcome.refused == 1 && stored().unknown.count == 100)
    }

    @Test func `imports at once lose nothing`() async throws {
        _ = try await importer().take([])
        let names = lab.signers
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names.prefix(8) {
                let file = try folder.write(lab.file([name]), to: "\(name).pem")
                let importer = try TrustImport(
                    HeraldConfiguration.load(path: folder.path + "/herald.yaml"), now: lab.now)
                group.addTask { _ = try await importer.take([file]) }
            }
            try await group.waitForAll()
        }
        #expect(try stored().signers.count == 8)
    }

    /// An archive as `tar -cf all.tar -C regimes .` makes it, with folders and a private key left in it.
    @Test func `an archive is taken in member by member`() async throws {
        _ = try configuration()
        let parts: [(String, String)] = [
            ("in/chains.pem", lab.file(["spc", "delegate"])), ("in/deep/er/list-signer.pem", lab.listSigner),
            ("in/list.json", lab.list("l01")), ("in/addresses", "https://a.example/1.pem\n"), ("in/empty", ""),
            ("in/a b\n.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"),
        ]
        try FileManager.default.createDirectory(
            atPath: folder.path + "/in/deep/er", withIntermediateDirectories: true)
        for (name, text) in parts { try folder.write(text, to: name) }
        for format in ["gnu", "ustar", "pax"] {
            let path = folder.path + "/\(format).tar"
            try await Self.tar(["--format=\(format)", "-cf", path, "-C", folder.path, "in"])
            let outcome = try await importer().take([path])
            let refused = outcome.changes.filter { $0.kind == "refused" }
            #expect(
                Set(refused.map(\.detail)) == [
                    "is empty", "is a private key, which no verifier needs; remove it from the file",
                ])
            #expect(refused.contains { $0.subject.hasPrefix("\(path):in/a") && $0.subject.hasSuffix(".pem:1") })
            #expect(refused.allSatisfy { !$0.subject.contains("\n") })
            #expect(try stored().signers.count == 3 && stored().unknown.count == 1)
            #expect(try standing("spc") == ["passed", "passed", "passed"])
        }
    }

    /// Each member that a trusted archive never has, with the reason of the refusal.
    private static let hostile: [(members: [TarMember], reason: String)] = [
        (
            [.init("a.pem"), .init("b.pem", kind: "2", link: "/etc/shadow")],
            "member b.pem -> /etc/shadow is no file: a link"
        ),
        ([.init("b.pem", kind: "1", link: "a.pem")], "member b.pem link to a.pem is no file: a link"),
        ([.init("sda", kind: "4")], "member sda is no file: a device"),
        ([.init("tty", kind: "3")], "member tty is no file: a device"),
        ([.init("pipe", kind: "6")], "member pipe is no file: a pipe"),
        ([.init("a/../../b.pem")], "member a/../../b.pem leads out of the archive"),
        ([.init("/etc/cron.d/x")], "member /etc/cron.d/x leads out of the archive"),
        ([.init("zeros", size: 10 << 30)], "cannot be read as an archive: /usr/bin/tar: Unexpected EOF in archive"),
        ([.init("a.pem", size: 100 << 10)], "cannot be read as an archive: /usr/bin/tar: Unexpected EOF in archive"),
        ((0...10_000).map { TarMember("\($0)") }, "has more than 10000 members"),
        ((0..<100_000).map { TarMember("\($0)") }, "has too many members, or too long names"),
    ]

    @Test(arguments: hostile.indices)
    func `a hostile archive changes nothing`(index: Int) async throws {
        let (members, reason) = Self.hostile[index]
        let path = try folder.write(TarMember.archive(members), to: "all.tar")
        let good = try folder.write(lab.file(["spc"]), to: "chains.pem")
        let failure = await #expect(throws: CommandFailure.self) { try await importer().take([good, path]) }
        #expect(failure.map { "\($0)" } == "\(path) \(reason)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/state/signers.sqlite"))
    }

    @Test func `a sparse file of 10 GB and a compressed archive are refused`() async throws {
        let sparse = folder.path + "/zeros"
        #expect(FileManager.default.createFile(atPath: sparse, contents: nil))
        try #require(FileHandle(forWritingAtPath: sparse)).truncate(atOffset: 10 << 30)
        try await Self.tar(["-cSf", folder.path + "/sparse.tar", "-C", folder.path, "zeros"])
        try folder.write(lab.file(["spc"]), to: "chains.pem")
        try await Self.tar(["-czf", folder.path + "/all.tar.gz", "-C", folder.path, "chains.pem"])
        for (name, reason) in [("sparse.tar", "has more than 64 MB"), ("all.tar.gz", "is compressed: unpack it")] {
            let path = folder.path + "/" + name
            let failure = await #expect(throws: CommandFailure.self) { try await importer().take([path]) }
            #expect(failure.map { "\($0)".hasPrefix("\(path) \(reason)") } == true, "\(String(describing: failure))")
        }
    }

    private static func tar(_ arguments: [String]) async throws {
        let tar = try await ChildProgram.run("/usr/bin/tar", arguments)
        try #require(tar.code == 0, "\(tar.errors)")
    }

    // MARK: List, show, remove

    @Test func `lists show signers, lists in force and addresses without a certificate`() async throws {
        try await importAll([try folder.write("https://a.example/1.pem\n", to: "addresses")])
        let listing = try TrustListing(
            configuration("{regimes: [us, fr, private], signer: {123a: watch, 99ZZ: deny}}"), now: lab.now)
        #expect(listing.text(.wide).contains("trust.signer has a rule for 99ZZ, a code that no stored signer has"))
        #expect(!listing.text(.wide).contains("a rule for 123A"))
        #expect(
            listing.text(.wide).contains("list of authorities of regime us: 2, sequence 7, until 2016-08-17T19:23:38Z"))
        #expect(
            listing.text(.wide).contains("1 addresses without a certificate") && listing.text(.wide).contains("(watch)")
        )
        #expect(
            listing.text(.wide).contains("12025551000 and 99 more") && !listing.text(.wide).contains("have changed"))
        let other = try TrustListing(configuration("{regimes: [fr]}"), now: lab.now)
        #expect(other.text(.wide).contains("the regimes or their files have changed since the last import"))
    }

    @Test func `show explains a signer by code, number, address and row`() async throws {
        try await importAll([try folder.write("https://a.example/1.pem\n", to: "addresses")])
        let listing = try TrustListing(configuration(), now: lab.now)
        let text = try await listing.explanation(of: "https://cert.example.net/text.pem")
        #expect(text.contains("under us: no_authority: the TNAuthList of the leaf cannot be read"), "\(text)")
        let alien = try await listing.explanation(of: "https://cert.example.net/alien.pem")
        #expect(alien.contains("under us: untrusted_signer: no chain to an anchor of regime us; issuer"), "\(alien)")
        let expired = try await listing.explanation(of: "https://cert.example.net/expired.pem")
        #expect(expired.contains("so its tokens are certificate_expired"))
        #expect(try await listing.explanation(of: "123a").contains("signs for   123A"))
        let number = try await listing.explanation(of: "+12025551000")
        #expect(number.contains("signers have this number") && number.contains("12025551000 and 99 more"))
        #expect(try await listing.explanation(of: "#1").hasPrefix("#1 "))
        #expect(try await listing.explanation(of: "https://a.example/1.pem").contains("signer_not_yet_known"))
        await #expect(throws: CommandFailure.self) { try await listing.explanation(of: "nobody") }
    }

    @Test func `a removed signer is unknown again`() async throws {
        try await importAll()
        let count = try stored().signers.count
        try await importer().remove("https://cert.example.net/spc.pem", asJSON: true)
        #expect(try stored().signers.count == count - 1)
        await #expect(throws: CommandFailure.self) {
            try await importer().remove("https://cert.example.net/spc.pem", asJSON: true)
        }
    }

    // MARK: Check

    /// The cases of the vectors that need no memory of earlier calls.
    private static let cases = TrustLab.shared.cases.filter { $0.sequence == nil && $0.fetch == nil && $0.date == nil }

    private func check(_ item: TrustLab.Case, known: [String]) async throws -> TrustVerdict {
        var files = [
            try folder.write(lab.file(known), to: "chains.pem"),
            try folder.write(lab.listSigner, to: "list-signer.pem"), try folder.write(lab.list("l01"), to: "list.json"),
        ]
        if let crl = item.crl.flatMap({ lab.crls[$0] }) { files.append(try folder.write(crl.pem, to: "list.crl")) }
        _ = try await importer().take(files)
        let check = try TrustCheck(
            .init(caller: item.caller, called: item.called, at: "\(item.now)"), regime: item.regime, configuration(),
            path: folder.path + "/herald.yaml")
        return await check.verdict(on: item.identity)
    }

    // A check judges the chain of x01 at once, which the call path does not.
    @Test(arguments: cases.filter { ($0.known != nil || $0.crl != nil) && $0.id != "x01" })
    func `a case with some signers has its causes`(_ item: TrustLab.Case) async throws {
        let verdict = try await check(item, known: item.known ?? lab.signers)
        #expect(verdict.causes.map(\.name) == item.expect.us.causes, "\(item)")
    }

    @Test func `all other cases have their results after one import`() async throws {
        try await importAll()
        let configuration = try configuration()
        var count = 0
        for item in Self.cases where item.known == nil && item.crl == nil {
            guard !item.caller.isEmpty, CanonicalNumber(item.caller) != nil, CanonicalNumber(item.called) != nil else {
                continue
            }
            // The vectors know these chains only by the address.
            guard !item.identity.isEmpty else { continue }
            let check = try TrustCheck(
                .init(
                    caller: item.caller, called: item.called, to: CanonicalNumber(item.to).map { _ in item.to },
                    at: "\(item.now)"),
                regime: item.regime, configuration, path: folder.path + "/herald.yaml")
            let verdict = await check.verdict(on: item.identity)
            #expect(verdict.causes.map(\.name) == item.expect.us.causes, "\(item)")
            #expect(
                TrustVerdictText(verdict).number.replacing("passed without attestation", with: "passed(-)")
                    == item.expect.us.number, "\(item)")
            count += 1
        }
        #expect(count > 80, "\(count)")
    }

    @Test func `a check prints each step with its result`() async throws {
        try await importAll()
        let item = try #require(lab.cases.first { $0.id == "c01" })
        let token = String(try #require(item.identity.first).prefix { $0 != ";" })
        func text(_ at: String, called: String = "+1 (202) 555-1001") async throws -> String {
            let check = try TrustCheck(
                .init(caller: "+12025551000", called: called, at: at), regime: nil, configuration(),
                path: folder.path + "/herald.yaml")
            let fields = [TrustCheck.field(token)]
            return await check.text(fields, await check.verdict(on: fields))
        }
        let good = try await text("2016-08-16T19:23:48Z")
        #expect(
            good.contains(
                "token 1     shaken of https://cert.example.net/spc.pem, from 12025551000 to 12025551001, at 2016-08-16T19:23:38Z"
            ))
        #expect(
            good.contains(
                "  signature     ok\n  result        passed\nverdict     passed(A)\nbound to    called number\n"),
            "\(good)")
        let late = try await text("2026-11-29")
        #expect(
            late.contains("  time          stale: the token is too old")
                && late.contains("  numbers       not reached"), "\(late)")
        #expect(late.contains("verdict     failed") && late.contains("code        403 under us"))
        let other = try await text("1471375428", called: "12025559999")
        #expect(other.contains("  numbers       called_mismatch: dest lacks the called number"), "\(other)")
        #expect(throws: CommandFailure.self) {
            try TrustCheck(
                .init(caller: "1", called: "sip:x", at: nil), regime: "us", configuration(), path: "herald.yaml")
        }
        #expect(throws: CommandFailure.self) {
            try TrustCheck(
                .init(caller: "1", called: "1", at: "noon"), regime: "us", configuration(), path: "herald.yaml")
        }
    }

    /// As with `openssl verify`, only a proof is a success: c01 passes, then it is too old, then its signer is unknown.
    @Test(arguments: [("1471375428", true, true), ("2026-11-29", true, false), ("1471375428", false, false)])
    func `a check succeeds if the number passed`(at: String, isKnown: Bool, hasPassed: Bool) async throws {
        if isKnown { try await importAll() }
        let item = try #require(lab.cases.first { $0.id == "c01" })
        let check = try TrustCheck(
            .init(caller: item.caller, called: item.called, at: at), regime: nil, configuration(),
            path: folder.path + "/herald.yaml")
        #expect(try await check.run(item.identity, asJSON: true) == hasPassed)
    }

    @Test func `each cause has a step and a text, and hostile text is escaped`() async throws {
        for cause in TrustCause.allCases { #expect(!TrustCauseText.text(of: cause).isEmpty) }
        #expect(Set(TrustCause.allCases.map { TrustStep($0) }) == Set(TrustStep.allCases))
        let check = try TrustCheck(
            .init(caller: "1", called: "1", at: nil), regime: "us", configuration(), path: folder.path + "/herald.yaml")
        for field in [
            "", ";", "a.b.c", "\u{1B}[31m", "e30.e30.AAAA;info=<\u{1B}]0;x\u{7}>;ppt=shaken",
            String(repeating: "a", count: 70_000),
        ] {
            let text = await check.text([field], await check.verdict(on: [field]))
            #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
        }
    }
}
