// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import GatewayTesting
import Host
import Synchronization
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// A host of lists beside that of certificates: `/ca-list` has the list of authorities, `/crl` the revocation list.
///
/// Real addresses are those of the administrators: `/api/v1/ca-list` and `/download/v1/crl` of the United States,
/// `/crl` of France, `/api/v1/crl` of Canada.
struct ListHost {
    let lists: ListAuthority
    /// Keys of the regime beside those of `RegimeText`.
    var keys: String
    var files: [String: String] = [:]

    /// A regime with an address for the list of authorities and for the revocation list.
    init() throws {
        lists = try ListAuthority()
        keys = """
            anchors: ["http://pa.example:PORT/ca-list"]
            list_root: pa.pem
            crl: ["http://pa.example:PORT/crl"]
            crl_signer: crl.pem
            crl_form: indirect

            """
        files = ["pa.pem": try lists.rootFile, "crl.pem": try lists.revocationFile]
    }

    /// A gateway that knows the signer of lists.
    func gateway(
        trust: String = FetchFixture.trust,
        _ response: @escaping @Sendable (FaultyPeer.Request, Int) -> FaultyPeer.Response
    ) async throws -> FetchFixture {
        let gateway = try await FetchFixture(trust: trust, regime: RegimeText(keys: keys, files: files), response)
        try await gateway.take(lists.signerFile)
        return gateway
    }

    /// A response with a revocation list in PEM.
    func revocations(
        _ number: Int, of names: [String], life: Int64 = 86_400, _ headers: [String: String] = [:]
    ) throws -> FaultyPeer.Response {
        let text = Data(try lists.revocations(number, of: names, life: life)).base64EncodedString()
        return .status(
            200, headers: headers, body: "-----BEGIN X509 CRL-----\n\(text)\n-----END X509 CRL-----\n")
    }
}

extension FetchFixture {
    var listAddress: String { address("ca-list", host: "pa.example") }
    var crlAddress: String { address("crl", host: "pa.example") }

    /// The state of a list.
    func state(of address: String) async throws -> StoredListFetch? {
        try await SignerReader(folder: signers.state).listFetches()[address]
    }

    /// Requests for a path.
    func count(_ path: String) -> Int { peer.requests.count { $0.path == path } }

    /// Lets time pass and carries out what is due.
    func pass(_ seconds: Int64) async {
        signers.time.advance(by: .seconds(seconds))
        await settle()
    }
}

@Suite("Lists with an address", .timeLimit(.minutes(8)))
struct ListRefreshTests {
    private let host: ListHost

    init() throws { host = try ListHost() }

    // MARK: The first fetch, and later ones

    @Test(arguments: [FetchFixture.trust, "{regimes: [private], signers: 1000}"])
    func `lists are fetched without a call, and decide on all signers`(trust: String) async throws {
        let good = FaultyPeer.Response.json(try host.lists.list(1, of: ["root", "rsa_root"]))
        let crl = try host.revocations(1, of: ["revoked"])
        let gateway = try await host.gateway(trust: trust) { request, _ in
            request.path == "/ca-list" ? good : request.path == "/crl" ? crl : .status(404)
        }
        try await gateway.take(gateway.lab.file(["spc", "revoked"]))
        #expect(try gateway.call(gateway.signers.address("spc")).causes == [.signerNotYetKnown], "no anchor yet")
        await gateway.settle()
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
        let revoked = try gateway.call(gateway.signers.address("revoked"), by: "revoked")
        #expect(revoked.causes == [.revoked] && revoked.number == .failed)
        let stored = try gateway.signers.stored()
        #expect(stored.authorityLists.map(\.sequence) == [1] && stored.revocationLists.count == 1)
        let now = gateway.signers.time.now
        let state = try #require(try await gateway.state(of: gateway.listAddress))
        #expect(state.attempts == 0 && state.reason.isEmpty && now - (state.fetchedAt ?? 0) <= 2)
        #expect(gateway.signers.log.text.contains("2 authorities, sequence 1, until"), "\(gateway.signers.log.text)")
        #expect(gateway.peer.requests.allSatisfy { $0.method == "GET" && $0.headers["authorization"] == nil })
    }

    @Test func `a revocation counts from the next snapshot on`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["root"]))
        let before = try host.revocations(1, of: [])
        let after = try host.revocations(2, of: ["spc"])
        let isRevoked = Flag()
        let gateway = try await host.gateway { request, _ in
            switch request.path {
            case "/ca-list": list
            case "/crl": isRevoked.isSet ? after : before
            default: FetchFixture.chain("spc")
            }
        }
        await gateway.settle()
        try gateway.call(gateway.address())
        await gateway.settle()
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        isRevoked.set()
        await gateway.pass(3000)
        #expect(gateway.count("/crl") == 1, "within the hour")
        #expect(try gateway.call(gateway.address()).number == .passed(.a))
        await gateway.pass(600)
        #expect(gateway.count("/crl") == 2)
        let verdict = try gateway.call(gateway.address())
        #expect(verdict.causes == [.revoked] && verdict.number == .failed)
    }

    @Test func `the metrics have the time before which the next revocation list is due`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["root"]))
        let (before, after) = (try host.revocations(1, of: []), try host.revocations(2, of: [], life: 172_800))
        let isLater = Flag()
        let gateway = try await host.gateway { request, _ in
            request.path == "/ca-list" ? list : isLater.isSet ? after : before
        }
        let metrics = TrustMetrics(
            GatewayTrust(signers: gateway.signers.current), gateway.publisher, gateway.service)
        func ends() async -> [GaugeSample] {
            await metrics.gauges().filter { $0.name == "herald_trust_revocations_expire_seconds" }
        }
        #expect(await ends().isEmpty)
        await gateway.settle()
        let first = try #require(await ends().first)
        #expect(first.labels.map(\.value) == ["CN=PA revocations"])
        // The metrics have the clock of the machine, long after that of the laboratory.
        #expect(abs(first.value - Double(TrustLab.shared.now + 86_400 - ServiceClock.system.now())) < 30)
        isLater.set()
        await gateway.pass(3600)
        let second = try #require(await ends().first)
        #expect(abs(second.value - first.value - 86_400) < 30)
        #expect(await ends().count == 1)
    }

    @Test func `an issuer with several keys has one end, that of the list that is late first`() throws {
        let lives: [Int64] = [86_400, 172_800, 3600]
        let stored = try lives.enumerated().map { place, life in
            StoredRevocationList(
                signer: [UInt8(place)], der: try host.lists.revocations(place + 1, of: [], life: life), importedAt: 0)
        }
        let ends = RevocationEnd.earliest(of: stored)
        #expect(ends.map(\.issuer) == ["CN=PA revocations"])
        #expect(ends.map(\.next) == [TrustLab.shared.now + 3600])
    }

    @Test func `a list of DER, and one with text around it, are read`() async throws {
        let der = try host.lists.revocations(1, of: ["revoked"])
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/pkix-crl\r\nContent-Length: \(der.count)\r\n\r\n"
        let list = FaultyPeer.Response.status(200, body: "\n" + (try host.lists.list(1, of: ["root"])) + "\n")
        let gateway = try await host.gateway { request, _ in
            request.path == "/crl" ? .bytes(Array(head.utf8) + der) : list
        }
        await gateway.settle()
        #expect(try gateway.signers.stored().revocationLists.map(\.der) == [der])
        #expect(try gateway.signers.stored().authorityLists.count == 1)
    }

    @Test func `the same list is no change, with a validator and without`() async throws {
        let list = FaultyPeer.Response.status(
            200, headers: ["ETag": "\"v1\""], body: try host.lists.list(1, of: ["root"]))
        let crl = try host.revocations(1, of: [])
        let gateway = try await host.gateway { request, _ in
            guard request.path == "/ca-list" else { return crl }
            return request.headers["if-none-match"] == "\"v1\"" ? .status(304) : list
        }
        await gateway.settle()
        let (before, snapshot) = (try gateway.signers.stored(), gateway.signers.current.load())
        await gateway.pass(3600)
        #expect(gateway.count("/ca-list") == 2 && gateway.count("/crl") == 2)
        #expect(gateway.peer.requests.last { $0.path == "/ca-list" }?.headers["if-none-match"] == "\"v1\"")
        #expect(try gateway.signers.stored().generation == before.generation)
        #expect(gateway.signers.current.load() === snapshot, "the call path learns nothing new")
        #expect(await gateway.service.lists.counts == ["fetched": 2, "unchanged": 2])
        // Without its list the store needs the whole response again.
        try await TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).removeList(of: "private", asJSON: true)
        await gateway.pass(3600)
        #expect(gateway.peer.requests.last { $0.path == "/ca-list" }?.headers["if-none-match"] == nil)
        #expect(try gateway.signers.stored().authorityLists.count == 1)
    }

    /// Bounds of the times between two fetches: the host's lifetime, the end of the list, and the next fetch.
    @Test(
        arguments: [
            (nil, nil, 3240), (0, nil, 3240), (7200, nil, 6480), (30 * 86_400, nil, 19_440), (nil, 90_000, 3240),
            (nil, 5000, 1400), (nil, 3000, 600), (21_600, 10_000, 6400), (nil, 0, 600), (21_600, -9000, 600),
            (nil, -86_399, 600), (nil, -86_400, 3240),
        ] as [(Int64?, Int64?, Int64)])
    func `a list is fetched by the hour, and more often around its end`(
        lifetime: Int64?, end: Int64?, next: Int64
    ) {
        let now: Int64 = 1_471_375_428
        #expect(
            FetchTimes.nextList(at: now, lifetime: lifetime, end: end.map { now + $0 }, chance: 0.5) - now == next)
    }

    // MARK: Order of lists

    @Test func `a revocation list that came before its authority is fetched again once that is known`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["mid"]))
        let crl = FaultyPeer.Response.status(200, body: try #require(TrustLab.shared.crls["direct"]).pem)
        let isThere = Flag()
        let gateway = try await host.gateway { request, _ in
            request.path == "/crl" ? crl : isThere.isSet ? list : .status(500)
        }
        await gateway.settle()
        let refused = try #require(try await gateway.state(of: gateway.crlAddress))
        #expect(refused.reason.contains("no known certificate of") && refused.attempts == 1, "\(refused.reason)")
        isThere.set()
        await gateway.pass(60)
        #expect(try gateway.signers.stored().authorityLists.count == 1)
        await gateway.pass(60)
        #expect(try gateway.signers.stored().revocationLists.count == 1)
        let state = try #require(try await gateway.state(of: gateway.crlAddress))
        #expect(state.reason.isEmpty && state.attempts == 0 && gateway.count("/crl") == 2, "\(state)")
    }

    @Test func `a fetched list never replaces a newer import`() async throws {
        let old = FaultyPeer.Response.json(try host.lists.list(2, of: ["rsa_root"]))
        let crl = try host.revocations(4, of: ["spc"])
        let gateway = try await host.gateway { request, _ in request.path == "/crl" ? crl : old }
        let newer = try gateway.signers.folder.write(try host.lists.revocations(5, of: []), to: "newer.crl")
        try await gateway.take(host.lists.list(3, of: ["root", "rsa_root"]), gateway.lab.file(["spc"]))
        _ = try await TrustImport(
            gateway.signers.configuration(FetchFixture.trust), now: gateway.signers.time.now
        ).take([newer])
        await gateway.publisher.look()
        await gateway.settle()
        #expect(try gateway.signers.stored().authorityLists.map(\.sequence) == [3])
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
        let list = try #require(try await gateway.state(of: gateway.listAddress))
        #expect(list.reason.contains("its sequence 2 is below 3") && list.attempts == 1 && list.fetchedAt == nil)
        let revocations = try #require(try await gateway.state(of: gateway.crlAddress))
        #expect(revocations.reason.contains("is older than the stored list of"), "\(revocations.reason)")
        #expect(await gateway.service.lists.counts == ["refused": 2])
    }

    @Test func `beside an address a file is the list of the first start, and no problem later`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(2, of: ["root"]))
        let crl = try host.revocations(2, of: [])
        let gateway = try await firstStart(by: host.lists).gateway { request, _ in request.path == "/crl" ? crl : list
        }
        try await gateway.take(gateway.lab.file(["spc"]))
        #expect(try gateway.call(gateway.signers.address("spc")).causes == [.revoked])
        await gateway.settle()
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
        let later = try await gateway.take()
        #expect(later.refused == 0, "\(later.changes)")
        #expect(try gateway.signers.stored().authorityLists.map(\.sequence) == [2])
    }

    /// Lists of the first start beside the addresses, by an administrator.
    private func firstStart(by first: ListAuthority) throws -> ListHost {
        var host = host
        host.keys = host.keys.replacing("anchors: [", with: "anchors: [first.jwt, ")
            .replacing("crl: [", with: "crl: [first.crl, ")
        host.files["first.jwt"] = try first.list(1, of: ["root"], life: 86_400)
        let crl = Data(try first.revocations(1, of: ["spc"])).base64EncodedString()
        host.files["first.crl"] = "-----BEGIN X509 CRL-----\n\(crl)\n-----END X509 CRL-----\n"
        return host
    }

    @Test func `the list of the first start replaces no later one with its sequence`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["root", "rsa_root"]))
        let crl = try host.revocations(2, of: [])
        let gateway = try await firstStart(by: host.lists).gateway { request, _ in
            request.path == "/crl" ? crl : list
        }
        let first = try #require(try gateway.signers.stored().authorityLists.first)
        await gateway.settle()
        let fetched = try gateway.signers.stored().authorityLists
        #expect(
            fetched.count == 1 && fetched.first?.sequence == 1
                && fetched.first.map { $0.expires > first.expires } == true)
        let later = try await gateway.take()
        #expect(later.refused == 0 && !later.changes.contains { $0.kind == "list" }, "\(later.changes)")
        #expect(try gateway.signers.stored().authorityLists == fetched)
    }

    @Test func `lists of the first start whose signer was replaced are no problem beside later ones`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(2, of: ["root"]))
        let crl = try host.revocations(2, of: [])
        let gateway = try await firstStart(by: ListAuthority()).gateway { request, _ in
            request.path == "/crl" ? crl : list
        }
        let before = try await gateway.take()
        #expect(before.changes.filter { $0.kind == "refused" }.count == 2, "\(before.changes)")
        await gateway.settle()
        let later = try await gateway.take()
        #expect(later.refused == 0, "\(later.changes)")
        #expect(try gateway.signers.stored().authorityLists.map(\.sequence) == [2])
    }

    @Test func `an imported list with the stored sequence and an earlier end is refused`() async throws {
        let gateway = try await host.gateway { _, _ in .status(500) }
        #expect(try await gateway.take(host.lists.list(3, of: ["root"])).refused == 0)
        let outcome = try await gateway.take(host.lists.list(3, of: ["root"], life: 86_400))
        let reason = outcome.changes.first { $0.kind == "refused" }?.detail
        #expect(reason?.contains("it ends before the stored list with the same sequence, at ") == true, "\(outcome)")
        #expect(try await gateway.take(host.lists.list(3, of: ["root"], life: 60 * 86_400)).refused == 0, "a later end")
    }

    @Test(arguments: [(1, 2, 0, true), (2, 1, 60, false), (300, 2, 60, false), (2, 2, 60, true), (2, 2, -60, false)])
    func `revocation lists are ordered by number, and with one number by time`(
        number: Int, other: Int, later: Int64, isOlder: Bool
    ) throws {
        let now = TrustLab.shared.now
        let list = try #require(RevocationList(der: ListAuthority(at: now).revocations(number, of: [])))
        let second = try #require(RevocationList(der: ListAuthority(at: now + later).revocations(other, of: [])))
        #expect(list.isOlder(than: second) == isOlder)
    }

    @Test(arguments: [0, 1]) func `an address of two regimes has the login of the one that names it`(first: Int) throws
    {
        let folder = TemporaryFolder()
        let login = ["list_authorization_file: login\n", ""]
        let regimes = try [login[first], login[1 - first]].enumerated().map { number, key in
            let text = "anchors: [\"https://pa.example/ca-list\"]\nlist_root: pa.pem\n" + key
            try folder.write(text, to: "regime-\(number).yaml")
            return try RegimeFile("regime-\(number).yaml", beside: folder.path).read(position: number)
        }
        let lists = ListAddress.all(of: regimes)
        #expect(lists.count == 1 && lists.first?.names.count == 2)
        #expect(lists.first?.authorization == folder.path + "/login")
    }

    @Test func `a restart keeps states, and fetches nothing before its time`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["root"]))
        let gateway = try await host.gateway { request, _ in request.path == "/crl" ? .status(500) : list }
        await gateway.settle()
        let next = try gateway.restarted()
        await next.service.round()
        await next.service.finishFetches()
        #expect(gateway.peer.requests.count == 2)
        #expect(await next.service.listFigures.map(\.state.attempts) == [0, 1])
        gateway.signers.time.advance(by: .seconds(60))
        await next.service.round()
        await next.service.finishFetches()
        #expect(gateway.count("/crl") == 2 && gateway.count("/ca-list") == 1)
    }
}

/// A switch between a test and the host's threads.
final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
