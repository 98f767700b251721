// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GatewayStore
import GatewayTesting
import Primitives
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

@Suite("Unknown signers of calls", .timeLimit(.minutes(8)))
struct SignerServiceTests {
    private let fixture = SignerFixture()
    private var lab: TrustLab { fixture.lab }

    /// A round whose batch is due, and a look at the file.
    private func batch(_ service: SignerService, _ publisher: TrustPublisher) async {
        fixture.time.advance(by: .seconds(2))
        await service.round()
        await publisher.look()
    }

    // MARK: Addresses

    @Test func `an address is listed once, and one of a signer is not`() async throws {
        try await fixture.importSigners(["spc"])
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        for address in [
            "https://a.example/1.pem", fixture.address("spc"), "https://a.example/1.pem", "https://b.example/1.pem",
        ] {
            fixture.requests.add(.fetch(address: address), trunk: 1)
            fixture.requests.add(.renew(address: address), trunk: 2)
            await batch(service, publisher)
        }
        #expect(try fixture.stored().unknown.keys.sorted() == ["https://a.example/1.pem", "https://b.example/1.pem"])
        #expect(await service.dropped == 0)
        // An import of the certificate takes the address off the list, and a later call brings nothing back.
        let chain = lab.file(["delegate"]).replacing(fixture.address("delegate"), with: "https://a.example/1.pem")
        _ = try await TrustImport(fixture.configuration(), now: lab.now).take([
            try fixture.folder.write(chain, to: "a.pem")
        ])
        fixture.requests.add(.fetch(address: "https://a.example/1.pem"), trunk: 1)
        await batch(service, publisher)
        #expect(try fixture.stored().unknown.keys.sorted() == ["https://b.example/1.pem"])
    }

    @Test func `results are stored in batches`() async throws {
        try await fixture.importSigners([])
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        await batch(service, publisher)
        for number in 0..<3 {
            fixture.requests.add(.fetch(address: "https://a.example/\(number).pem"), trunk: 1)
            await service.round()
        }
        #expect(try fixture.stored().unknown.count == 1, "the first batch is due at once")
        await batch(service, publisher)
        #expect(try fixture.stored().unknown.count == 3)
    }

    @Test func `a trunk names twenty new addresses a minute`() async throws {
        try await fixture.importSigners([])
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        for number in 0..<30 {
            for trunk in [UInt16(1), 2] {
                fixture.requests.add(.fetch(address: "https://a\(trunk).example/\(number).pem"), trunk: trunk)
            }
        }
        await batch(service, publisher)
        #expect(try fixture.stored().unknown.count == 40)
        #expect(await service.dropped == 20)
        fixture.time.advance(by: .seconds(60))
        fixture.requests.add(.fetch(address: "https://a1.example/29.pem"), trunk: 1)
        await batch(service, publisher)
        #expect(try fixture.stored().unknown.count == 41)
    }

    @Test func `fifty thousand invented addresses fill neither the file nor the memory`() async throws {
        let trust = "{regimes: [private], signers: 2000}"
        try await fixture.importSigners(["spc"], trust)
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher, trust)
        for number in 0..<50_000 {
            fixture.requests.add(
                .fetch(address: "https://host\(number).example/v1/certificate-\(number).pem"),
                trunk: UInt16(number % 50))
            if number % 200 == 199 {
                fixture.time.advance(by: .seconds(10))
                await service.round()
            }
        }
        await batch(service, publisher)
        let stored = try fixture.stored()
        #expect(stored.unknown.count <= 1999 && stored.unknown.count >= 1900, "\(stored.unknown.count)")
        #expect(await service.dropped == UInt64(50_000 - stored.unknown.count))
        #expect(stored.signers.count == 1 && fixture.snapshot.signer(at: fixture.address("spc")) != nil)
        let size = try FileManager.default.attributesOfItem(atPath: fixture.file)[.size] as? Int
        let log = try FileManager.default.attributesOfItem(atPath: fixture.file + "-wal")[.size] as? Int
        #expect((size ?? .max) < 1 << 20 && (log ?? .max) < 32 << 20, "\(size ?? 0) \(log ?? 0)")
        // A signer has precedence over an address without a certificate.
        try await fixture.importSigners(["delegate"], trust)
        #expect(try fixture.stored().signers.count == 2)
    }

    // MARK: Chains

    @Test func `the next call of a chain in tokens is verified`() async throws {
        try await fixture.importSigners([])
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        let item = try #require(lab.cases.first { $0.id == "x01" })
        let first = try fixture.verdict(on: item)
        #expect(first.causes == [.signerNotYetKnown])
        for request in first.requests { fixture.requests.add(request, trunk: 1) }
        await batch(service, publisher)
        let second = try fixture.verdict(on: item)
        #expect(second.causes == [.passed] && second.number == .passed(.a))
        // It is a signer like an imported one: listed, explained, and decided anew.
        let stored = try fixture.stored()
        #expect(stored.signers.count == 1 && stored.signers[0].address == nil)
        #expect(second.signer?.row == stored.signers[0].row)
        try await fixture.importSigners([])
        await publisher.look()
        #expect(try fixture.verdict(on: item).causes == [.passed])
        #expect(await service.dropped == 0)
    }

    /// The standing of a chain once it is checked, and whether it is stored as a signer.
    private func standing(of chain: [String]) async throws -> (standings: [TrustCause]?, isSigner: Bool) {
        try await fixture.importSigners([])
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        fixture.requests.add(.check(chain: chain), trunk: 1)
        await batch(service, publisher)
        return (
            fixture.snapshot.signer(of: ChainDigest(of: chain))?.standings, try fixture.stored().signers.count == 1
        )
    }

    @Test(arguments: [
        ("alien", TrustCause.untrustedSigner), ("text", .noAuthority), ("none", .noAuthority),
        ("both-constraints", .certificateMalformed), ("unknown-critical", .certificateMalformed),
    ])
    func `a chain that does not count has its cause`(name: String, cause: TrustCause) async throws {
        let result = try await standing(of: fixture.chain(name))
        #expect(result.standings == [cause] && !result.isSigner)
    }

    @Test func `list and show have chains of tokens that are no signers`() async throws {
        _ = try await standing(of: fixture.chain("alien"))
        let listing = try TrustListing(fixture.configuration(), now: fixture.time.now)
        #expect(
            listing.text(.wide).contains("private untrusted_signer")
                && listing.text(.wide).contains("in tokens, not stored"))
        #expect(
            listing.text(.wide).contains("1 chain of tokens without a stored certificate"), "\(listing.text(.wide))")
        let text = try await listing.explanation(of: "#-1")
        #expect(
            text.contains("under private: untrusted_signer") && text.contains("herald trust check TOKEN"), "\(text)")
        // Anybody can send such chains.
        let store = try SignerStore(folder: fixture.state)
        let invented = (0..<100).map { "invented \($0)\u{1B}[31m".asTemporary }
        try await store.add(
            lasting: [], temporary: invented, decidedAt: try store.contents().generation, at: fixture.time.now,
            limit: 1000,
            mostTemporary: 1000)
        try store.close()
        let flooded = try TrustListing(fixture.configuration(), now: fixture.time.now).text(.narrow)
        #expect(flooded.contains("invented 99") && !flooded.contains("invented 79") && !flooded.contains("\u{1B}"))
        #expect(flooded.contains("101 chains of tokens without a stored certificate"), "\(flooded)")
    }

    @Test func `a chain of six certificates is checked, and one of seven is not`() async throws {
        let six = fixture.texts(["spc", "mid", "root", "alien_root", "rsa_root", "parent_spc"])
        let result = try await standing(of: six)
        // Anybody can add certificates to a published chain, so it is none of the lasting ones.
        #expect(result.standings == [.passed] && !result.isSigner)
        let more = try await standing(of: six + fixture.texts(["parent_range"]))
        #expect(more.standings == nil)
    }

    @Test func `a chain with its anchor at the end lasts, and one in another order does not`() async throws {
        let ordered = try await standing(of: fixture.texts(["spc", "mid", "root"]))
        #expect(ordered.standings == [.passed] && ordered.isSigner)
        let other = SignerServiceTests()
        let swapped = try await other.standing(of: fixture.texts(["spc", "root", "mid"]))
        #expect(swapped.standings == [.passed] && !swapped.isSigner)
    }

    @Test(arguments: ["MIIBAAAA", "####", "MIIB", ""])
    func `a text that is no certificate has a cause too`(text: String) async throws {
        let result = try await standing(of: [text])
        #expect(result.standings == [.certificateMalformed] && !result.isSigner)
    }

    @Test func `a chain of more than 64 kB is dropped`() async throws {
        let result = try await standing(of: [String(repeating: "MIIB", count: 20_000)])
        #expect(result.standings == nil)
    }

    @Test func `ten chains a second are checked, each once in ten minutes`() async throws {
        try await fixture.importSigners([])
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        func add(_ numbers: Range<Int>) {
            for number in numbers {
                fixture.requests.add(.check(chain: [Data("chain \(number)".utf8).base64EncodedString()]), trunk: 1)
            }
        }
        add(0..<15)
        await batch(service, publisher)
        #expect(fixture.snapshot.count == 10)
        #expect(await service.dropped == 5)
        // A decision removes them, and each may be checked at once by the new one.
        try await fixture.importSigners([])
        await publisher.look()
        #expect(fixture.snapshot.count == 0)
        add(0..<3)
        await batch(service, publisher)
        #expect(fixture.snapshot.count == 3)
        // One that has left the store is in its pause.
        let store = try SignerStore(folder: fixture.state)
        let generation = try store.contents().generation
        try await store.add(
            lasting: [], temporary: [try #require(lab.signers.first).asTemporary], decidedAt: generation,
            at: fixture.time.now, limit: 100,
            mostTemporary: 1)
        try store.close()
        await publisher.look()
        #expect(fixture.snapshot.count == 1)
        add(0..<3)
        await batch(service, publisher)
        #expect(fixture.snapshot.count == 1)
        #expect(await service.dropped == 8)
        fixture.time.advance(by: .seconds(600))
        add(0..<3)
        await batch(service, publisher)
        #expect(fixture.snapshot.count == 4)
    }

    @Test func `while the stored rules are others no chain is checked`() async throws {
        try await fixture.importSigners([], "{regimes: [fr, private]}")
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        fixture.requests.add(.check(chain: fixture.chain("spc")), trunk: 1)
        await batch(service, publisher)
        #expect(fixture.snapshot.count == 0)
        #expect(await service.dropped == 1)
        try await fixture.importSigners([])
        await publisher.look()
        fixture.requests.add(.check(chain: fixture.chain("spc")), trunk: 1)
        await batch(service, publisher)
        #expect(fixture.snapshot.count == 1)
    }

    @Test func `a file that cannot be written is one warning with its remedy, and addresses wait`() async throws {
        try FileManager.default.createDirectory(atPath: fixture.state, withIntermediateDirectories: true)
        try fixture.folder.write(Array(repeating: UInt8(0x55), count: 8192), to: "state/signers.sqlite")
        let publisher = fixture.publisher()
        let service = try fixture.service(publisher)
        fixture.requests.add(.fetch(address: "https://a.example/1.pem"), trunk: 1)
        for _ in 0..<3 { await batch(service, publisher) }
        let warnings = fixture.log.all.filter { $0.contains("unknown signers of calls cannot be stored") }
        #expect(warnings.count == 1 && warnings[0].contains("move the file away"), "\(fixture.log.text)")
        unlink(fixture.file)
        await batch(service, publisher)
        #expect(try fixture.stored().unknown.count == 1)
    }
}

extension String {
    /// A chain that counts nowhere, with a digest of its name.
    fileprivate var asTemporary: StoredSigner {
        StoredSigner(
            address: nil, certificates: [], chain: ChainDigest(of: [self]).bytes, key: nil, authority: nil,
            constraints: [], validity: 0...0, standings: [TrustCause.untrustedSigner.rawValue], subject: self,
            importedAt: 0)
    }
}
