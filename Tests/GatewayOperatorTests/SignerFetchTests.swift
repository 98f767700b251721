// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ChildPrograms
import Foundation
import GRDB
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import GatewayTesting
import Host
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

@Suite("Fetched signers", .timeLimit(.minutes(8)))
struct SignerFetchTests {
    // MARK: First fetch

    @Test func `the call of an unknown signer goes on unsigned, and the next one is verified`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc", ["ETag": "\"v1\""]) }
        let address = gateway.address()
        let first = try gateway.call(address)
        #expect(first.causes == [.signerNotYetKnown] && first.number == .none)
        await gateway.settle()
        let second = try gateway.call(address)
        #expect(second.causes == [.passed] && second.number == .passed(.a) && second.requests.isEmpty)
        let state = try #require(try await gateway.stored(address))
        let now = gateway.signers.time.now
        #expect(state.cause == nil && state.attempts == 0 && state.etag == "\"v1\"" && !state.isRenewed)
        #expect(state.fetchedAt == now && state.expiresAt == now + 86_400 && state.nextAt < now + 86_400 * 8 / 10)
        let trust = try gateway.signers.stored()
        #expect(trust.signers.map(\.address) == [address] && trust.unknown.isEmpty)
        #expect(trust.signers[0].row == second.signer?.row)
        await gateway.settle()
        #expect(gateway.peer.requests.count == 1)
        #expect(await gateway.service.fetchFigures?.counts == ["fetched": 1])
    }

    @Test func `a leaf that comes alone is completed from known certificates`() async throws {
        let gateway = try await FetchFixture { _, _ in .status(200, body: TrustLab.shared.pem("spc")) }
        try gateway.call(gateway.address())
        await gateway.settle()
        // Its issuer is unknown as yet.
        #expect(try gateway.call(gateway.address()).causes == [.untrustedSigner])
        let file = try gateway.signers.folder.write(gateway.lab.pem("mid"), to: "mid.pem")
        _ = try await TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).take([file])
        await gateway.publisher.look()
        #expect(try gateway.call(gateway.address()).causes == [.signerNotYetKnown], "decided by rules that are gone")
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        #expect(gateway.peer.requests.count == 2)
    }

    @Test func `certificates beside the path to an anchor are not kept`() async throws {
        let lab = TrustLab.shared
        let body = ["spc", "mid", "root", "alien_root", "rsa_root"].map { lab.pem($0) + "\n" }.joined()
        let gateway = try await FetchFixture { _, _ in .status(200, body: body) }
        try gateway.call(gateway.address())
        await gateway.settle()
        #expect(try gateway.signers.stored().signers.first?.certificates == [lab.der("spc"), lab.der("mid")])
        #expect(try gateway.signers.stored().issuers == [lab.der("mid")])
    }

    // MARK: Requests

    @Test func `only a fresh call for one of our numbers is fetched for`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        #expect(try gateway.call(gateway.address(), age: 300).causes == [.stale])
        #expect(try gateway.call(gateway.address(), age: -300).causes == [.future])
        #expect(try gateway.call(gateway.address(), dest: "12025559999").causes == [.calledMismatch])
        await gateway.settle()
        #expect(gateway.peer.requests.isEmpty && gateway.signers.requests.takeAll().isEmpty)
        #expect(try gateway.signers.stored().unknown.isEmpty)
    }

    @Test func `a trunk without fetching lists addresses alone`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        try gateway.call(gateway.address(), rules: [])
        await gateway.settle()
        #expect(gateway.peer.requests.isEmpty)
        #expect(try gateway.signers.stored().unknown.keys.contains(gateway.address()))
        // The same address is fetched for a call of another trunk.
        try gateway.call(gateway.address(), trunk: 2)
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
    }

    @Test func `a chain in a token is never fetched`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        gateway.signers.requests.add(.check(chain: gateway.signers.chain("alien")), trunk: 1, rules: try gateway.rules)
        await gateway.settle()
        #expect(gateway.peer.requests.isEmpty)
    }

    // MARK: Failures

    @Test(arguments: [FaultyPeer.Response.status(500), .status(403, body: "<html>"), .raw(""), .status(302)])
    func `a host without a certificate is asked again after each pause, for a call`(
        response: FaultyPeer.Response
    ) async throws {
        let gateway = try await FetchFixture { _, _ in response }
        let address = gateway.address()
        #expect(try gateway.call(address).causes == [.signerNotYetKnown])
        await gateway.settle()
        for (count, pause) in [(1, 30), (2, 120), (3, 600), (4, 3600), (5, 3600)] as [(Int, Int64)] {
            let state = try #require(try await gateway.stored(address))
            #expect(state.attempts == count && state.nextAt - gateway.signers.time.now == pause)
            // Missing evidence is none, and each call of the pause is one without a fetch.
            let verdict = try gateway.call(address)
            #expect(verdict.causes == [.certificateUnreachable] && verdict.number == .none)
            gateway.signers.time.advance(by: .seconds(pause - 3))
            await gateway.settle()
            #expect(gateway.peer.requests.count == count)
            // Without a call nothing is fetched either.
            gateway.signers.time.advance(by: .seconds(10))
            await gateway.settle()
            #expect(gateway.peer.requests.count == count)
            try gateway.call(address)
            await gateway.settle()
            #expect(gateway.peer.requests.count == count + 1)
        }
        #expect(gateway.signers.log.all.filter { $0.contains("is not in use (certificate_unreachable)") }.count <= 4)
    }

    @Test func `an unreachable host is code 436, but not beside another cause`() async throws {
        let gateway = try await FetchFixture { _, _ in .status(500) }
        try gateway.call(gateway.address())
        await gateway.settle()
        var verdict = try gateway.call(gateway.address())
        #expect(verdict.code(under: TrustLab.regimes[0]) == 436)
        verdict.causes.append(.signerNotYetKnown)
        #expect(verdict.code(under: TrustLab.regimes[0]) == nil)
    }

    /// Bodies of a response with 200, and the cause of calls that name the address.
    private static let refusedBodies: [(body: String, cause: TrustCause)] = [
        ("<html>parked</html>", .certificateMalformed), ("", .certificateMalformed),
        (chain("mid", "spc"), .certificateMalformed), (chain("alien"), .untrustedSigner),
        (chain("none", "mid"), .noAuthority), (chain("unknown-critical", "mid"), .certificateMalformed),
    ]

    private static func chain(_ names: String...) -> String {
        names.map { TrustLab.shared.pem($0) }.joined(separator: "\n")
    }

    @Test(arguments: refusedBodies)
    func `a certificate that does not count has its cause for a day`(body: String, cause: TrustCause) async throws {
        let gateway = try await FetchFixture { _, _ in .status(200, body: body) }
        try gateway.call(gateway.address())
        await gateway.settle()
        let verdict = try gateway.call(gateway.address())
        #expect(verdict.causes == [cause] && verdict.number == .failed && verdict.signer == nil)
        gateway.signers.time.advance(by: .seconds(86_390))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 1)
        gateway.signers.time.advance(by: .seconds(20))
        try gateway.call(gateway.address())
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        #expect(try gateway.signers.stored().signers.isEmpty)
    }

    @Test func `a dead host costs three attempts a minute, whatever the number of its addresses`() async throws {
        let gateway = try await FetchFixture { _, _ in .raw("") }
        for number in 0..<10 { try gateway.call(gateway.address("\(number).pem")) }
        await gateway.settle()
        // Two run at once when the third one fails.
        #expect((3...4).contains(gateway.peer.requests.count))
        let figures = try #require(await gateway.service.fetchFigures)
        #expect(figures.skippedHosts == 1 && figures.waiting == 0 && (6...7).contains(figures.counts["skipped"] ?? 0))
        for number in 0..<10 {
            #expect(try gateway.call(gateway.address("\(number).pem")).causes == [.certificateUnreachable])
        }
    }

    // MARK: Refresh

    @Test func `a refresh at four fifths of its life keeps the certificate, conditionally and without a call`()
        async throws
    {
        let gateway = try await FetchFixture { request, _ in
            request.headers["if-none-match"] == "\"v1\""
                ? .status(304, headers: ["Cache-Control": "max-age=172800"])
                : FetchFixture.chain("spc", ["ETag": "\"v1\"", "Cache-Control": "max-age=0"])
        }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        let snapshot = gateway.signers.current.load()
        gateway.signers.time.advance(by: .seconds(86_400 * 7 / 10))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 1)
        gateway.signers.time.advance(by: .seconds(86_400 / 10))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        let state = try #require(try await gateway.stored(address))
        #expect(state.expiresAt == gateway.signers.time.now + 172_800 && state.etag == "\"v1\"")
        #expect(gateway.signers.current.load() === snapshot, "the call path learns nothing new")
        #expect(await gateway.service.fetchFigures?.counts == ["fetched": 1, "unchanged": 1])
    }

    @Test func `a refresh that fails leaves the certificate in use`() async throws {
        let gateway = try await FetchFixture { _, position in position == 0 ? FetchFixture.chain("spc") : .status(500) }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        for count in 2...4 {
            gateway.signers.time.advance(by: .seconds(86_400))
            await gateway.settle()
            #expect(gateway.peer.requests.count == count)
            #expect(try gateway.call(address).number == .passed(.a))
        }
        #expect(try await gateway.stored(address)?.attempts == 3)
    }

    @Test func `a page instead of the certificate leaves it in use too`() async throws {
        let gateway = try await FetchFixture { _, position in
            position == 0 ? FetchFixture.chain("spc") : .status(200, body: "<html>")
        }
        try gateway.call(gateway.address())
        await gateway.settle()
        gateway.signers.time.advance(by: .seconds(86_400))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
    }

    @Test func `doctor has certificates that end while their refreshes fail`() async throws {
        let gateway = try await FetchFixture { _, position in
            position == 0 ? FetchFixture.chain("spc") : .status(503)
        }
        try gateway.call(gateway.address())
        await gateway.settle()
        try gateway.call(gateway.address("other.pem"))
        gateway.signers.time.advance(by: .seconds(86_400))
        await gateway.settle()
        let configuration = try gateway.signers.configuration(FetchFixture.trust)
        let end = try #require(try gateway.signers.stored().signers.first).validity.upperBound
        func texts(at time: Int64) -> [String] { DoctorTrust.findings(configuration, at: time).map(\.text) }
        let early = texts(at: end - 8 * 86_400)
        #expect(early.contains { $0.hasPrefix("1 addresses of signers have no certificate") }, "\(early)")
        #expect(!early.contains { $0.contains("their refreshes fail") })
        let late = texts(at: end - 6 * 86_400)
        #expect(
            late.contains {
                $0.hasPrefix("1 fetched certificates end within 7 days") && $0.contains(gateway.address())
                    && $0.contains("the server returned 503")
            }, "\(late)")
    }

    // MARK: Renewal

    @Test func `after a wrong signature the certificate is fetched once, and then the call fails`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        let wrong = try gateway.call(address, by: "delegate")
        #expect(wrong.causes == [.signerChanged] && wrong.number == .none)
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        let again = try gateway.call(address, by: "delegate")
        #expect(again.causes == [.badSignature] && again.number == .failed && again.requests.isEmpty)
        #expect(try gateway.call(address).number == .passed(.a))
        // An import or the decision of a day permits another one.
        try await gateway.signers.importSigners([], FetchFixture.trust)
        await gateway.publisher.look()
        #expect(try gateway.call(address, by: "delegate").causes == [.signerChanged])
    }

    @Test func `a key that was replaced at its address is found by that fetch`() async throws {
        let gateway = try await FetchFixture { _, position in FetchFixture.chain(position == 0 ? "clock-1" : "spc") }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        #expect(try gateway.call(address).causes == [.signerChanged])
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        #expect(try gateway.call(address).number == .passed(.a))
    }

    @Test func `an ended certificate is fetched at once, and once`() async throws {
        let gateway = try await FetchFixture { request, position in
            FetchFixture.chain(position == 0 || request.path == "/old.pem" ? "expired" : "spc")
        }
        for path in ["spc.pem", "old.pem"] {
            let address = gateway.address(path)
            try gateway.call(address)
            await gateway.settle()
            let ended = try gateway.call(address)
            #expect(ended.causes == [.certificateExpired] && ended.number == .failed)
            await gateway.settle()
            let next = try gateway.call(address)
            #expect(next.causes == [path == "spc.pem" ? .passed : .certificateExpired] && next.requests.isEmpty)
        }
        #expect(gateway.peer.requests.count == 4)
    }

    @Test func `until that fetch succeeds the call is none`() async throws {
        let gateway = try await FetchFixture { _, position in position == 0 ? FetchFixture.chain("spc") : .status(503) }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        for _ in 0..<3 {
            #expect(try gateway.call(address, by: "delegate").causes == [.signerChanged])
            await gateway.settle()
        }
        #expect(gateway.peer.requests.count == 2, "the pause after a failure holds for renewals")
    }

    @Test func `an imported certificate is fetched after a wrong signature`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let address = gateway.address()
        let chain = gateway.lab.file(["delegate"]).replacing(gateway.signers.address("delegate"), with: address)
        let file = try gateway.signers.folder.write(chain, to: "imported.pem")
        _ = try await TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).take([file])
        await gateway.publisher.look()
        let row = try gateway.signers.stored().signers[0].row
        let verdict = try gateway.call(address)
        #expect(verdict.causes == [.noAuthority] || verdict.causes == [.signerChanged])
        gateway.signers.requests.add(.renew(address: address), trunk: 1, rules: try gateway.rules)
        await gateway.settle()
        #expect(try gateway.call(address).number == .passed(.a))
        #expect(try gateway.signers.stored().signers.map(\.row) == [row])
    }

    // MARK: Restarts and imports

    @Test func `a restart keeps certificates, pauses and validators`() async throws {
        let gateway = try await FetchFixture { request, _ in
            request.path == "/spc.pem" ? FetchFixture.chain("spc", ["ETag": "\"v1\""]) : .status(500)
        }
        try gateway.call(gateway.address())
        try gateway.call(gateway.address("dead.pem", host: "dead.example"))
        await gateway.settle()
        #expect(gateway.peer.requests.count == 2)
        let next = try gateway.restarted()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        #expect(
            try gateway.call(gateway.address("dead.pem", host: "dead.example")).causes == [.certificateUnreachable])
        await next.service.round()
        await next.service.finishFetches()
        #expect(gateway.peer.requests.count == 2, "the pause goes on")
        gateway.signers.time.advance(by: .seconds(86_400))
        await next.service.round()
        await next.service.finishFetches()
        #expect(gateway.peer.requests.count == 3)
        #expect(gateway.peer.requests.last?.headers["if-none-match"] == "\"v1\"")
    }

    @Test func `an import goes first, and results wait for it`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let store = try SignerStore(folder: gateway.signers.state)
        try await store.announceImport(at: gateway.signers.time.now)
        let former = try store.contents()
        try gateway.call(gateway.address())
        await gateway.settle()
        #expect(gateway.peer.requests.count == 1)
        #expect(try gateway.signers.stored().signers.isEmpty)
        try await store.replace(former, by: former)
        try store.close()
        await gateway.publisher.look()
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        #expect(gateway.peer.requests.count == 1)
    }

    @Test func `an import is announced at the present time, however long ago it was begun`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let queue = try DatabaseQueue(path: gateway.signers.file)
        try await queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE seen (until INTEGER);
                    CREATE TRIGGER announced AFTER INSERT ON import_wait BEGIN INSERT INTO seen VALUES (new.until); END;
                    """)
        }
        let importer = try TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now)
        gateway.signers.time.advance(by: .seconds(900))
        _ = try await importer.take([])
        let seen = try await queue.read { try Int64.fetchAll($0, sql: "SELECT until FROM seen") }
        #expect(seen == [gateway.signers.time.now + 600])
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM import_wait") } == 0)
        try queue.close()
    }

    @Test func `an import that is killed holds results for ten minutes at most`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let store = try SignerStore(folder: gateway.signers.state)
        try await store.announceImport(at: gateway.signers.time.now)
        try store.close()
        try gateway.call(gateway.address())
        await gateway.settle()
        #expect(try gateway.signers.stored().signers.isEmpty)
        gateway.signers.time.advance(by: .seconds(600))
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
    }

    @Test func `a forgotten address stays forgotten until a call names it again`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        try gateway.call(gateway.address())
        await gateway.settle()
        try await TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).remove(gateway.address(), asJSON: true)
        await gateway.publisher.look()
        #expect(try await gateway.stored(gateway.address()) == nil)
        #expect(try gateway.call(gateway.address()).causes == [.signerNotYetKnown])
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
    }

    @Test func `a writer that is killed inside its transaction changes nothing`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        try gateway.call(gateway.address())
        await gateway.settle()
        let before = try #require(try await gateway.stored(gateway.address()))
        let script = """
            import os, signal, sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("PRAGMA cache_size = 1")
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM signer")
            database.execute("UPDATE fetch SET cause = 24, attempts = 9")
            database.execute("UPDATE state SET generation = generation + 1")
            database.execute("UPDATE fetch_state SET changes = changes + 1")
            for number in range(2000):
                database.execute("INSERT INTO unknown_address VALUES (?, 1)", (f"https://a.example/{number}.pem",))
            os.kill(os.getpid(), signal.SIGKILL)
            """
        let writer = try await ChildProgram.run("python3", ["-c", script, gateway.signers.file])
        #expect(writer.code == -1, "\(writer.errors)")
        await gateway.publisher.look()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        #expect(try await gateway.stored(gateway.address()) == before)
    }

    // MARK: Floods

    @Test func `fifty thousand invented addresses fill neither the file, the memory nor the queue`() async throws {
        let gateway = try await FetchFixture { request, _ in
            request.path == "/spc.pem" ? FetchFixture.chain("spc") : .status(404)
        }
        try gateway.call(gateway.address())
        await gateway.settle()
        let rules = try gateway.rules
        for number in 0..<50_000 {
            gateway.signers.requests.add(
                .fetch(address: gateway.address("\(number).pem", host: "host\(number).example")),
                trunk: UInt16(number % 5), rules: rules)
            guard number % 250 == 249 else { continue }
            await gateway.service.round()
            await gateway.service.finishFetches()
            gateway.signers.time.advance(by: .seconds(5))
        }
        await gateway.settle()
        let trust = try gateway.signers.stored()
        #expect(trust.signers.count == 1 && trust.unknown.count <= 999 && trust.fetches.count <= 1000)
        #expect(gateway.signers.snapshot.count <= 1001)
        let figures = try #require(await gateway.service.fetchFigures)
        #expect(figures.waiting <= FetchQueue.mostWaiting && gateway.peer.requests.count < 50_000)
        // A signer that is new gets its place: addresses that have failed leave for it.
        try gateway.call(gateway.address("late/spc.pem", host: "late.example"), trunk: 99)
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        let late = gateway.address("late/spc.pem", host: "late.example")
        #expect(try gateway.signers.stored().unknown[late] != nil)
    }
}
