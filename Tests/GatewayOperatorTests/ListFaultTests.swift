// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import GatewayTesting
import Host
import Primitives
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// Requirements: a host of lists may fail in any way, and the stored list stays in use with the reason.
@Suite("Hosts of lists that fail", .timeLimit(.minutes(8)))
struct ListFaultTests {
    private let host: ListHost

    init() throws { host = try ListHost() }

    /// A response, the label of its result, a part of the reason, and the pause after it.
    struct Fault: Sendable {
        let response: FaultyPeer.Response
        let result: String
        let reason: String
        let pause: Int64
    }

    private static let hour: Int64 = 3600

    /// Faults of any host.
    private static let faults: [Fault] = [
        Fault(response: .status(404), result: "status", reason: "the server returned 404", pause: 30),
        Fault(response: .status(401), result: "status", reason: "the server returned 401", pause: 30),
        Fault(
            response: .status(302, headers: ["Location": "http://127.0.0.1:22/"]), result: "redirect",
            reason: "it redirects (302), which is not followed", pause: 30),
        Fault(response: .raw(""), result: "network", reason: "the connection failed", pause: 30),
        Fault(
            response: .endless("HTTP/1.1 200 OK\r\n\r\n"), result: "too_large",
            reason: "it is larger than 8388608 bytes", pause: 30),
        Fault(
            response: .status(200, body: "<!DOCTYPE html><html>Log in</html>"), result: "not_list",
            reason: "the host returns something else than a ", pause: hour),
        Fault(response: .status(200), result: "not_list", reason: "something else than a ", pause: hour),
        Fault(
            response: .status(200, body: TrustLab.shared.file(["spc"])), result: "not_list",
            reason: "something else than a ", pause: hour),
        Fault(
            response: .status(200, body: "https://a.example/1.pem\n"), result: "not_list",
            reason: "something else than a ", pause: hour),
    ]

    /// A gateway with both lists and one signer, whose host responds in another way from the second request of a path on.
    private func gateway(_ path: String, _ response: FaultyPeer.Response) async throws -> FetchFixture {
        let list = FaultyPeer.Response.status(
            200, headers: ["ETag": "\"1\""], body: try host.lists.list(7, of: ["root", "rsa_root"]))
        let crl = try host.revocations(7, of: ["revoked"], ["ETag": "\"1\""])
        let isFaulty = Flag()
        let gateway = try await host.gateway { request, _ in
            if request.path == path, isFaulty.isSet { return response }
            if request.headers["if-none-match"] != nil { return .status(304) }
            return request.path == "/crl" ? crl : list
        }
        try await gateway.take(gateway.lab.file(["spc", "revoked"]))
        await gateway.settle()
        isFaulty.set()
        return gateway
    }

    /// Checks that the stored lists are in use, and gives the state of a list after the fault.
    private func expectUnchanged(
        _ gateway: FetchFixture, _ path: String, _ result: String
    ) async throws -> StoredListFetch {
        let before = try gateway.signers.stored()
        await gateway.pass(3600)
        let after = try gateway.signers.stored()
        #expect(after.authorityLists == before.authorityLists && after.revocationLists == before.revocationLists)
        #expect(after.signers == before.signers && after.unknown == before.unknown && after.issuers == before.issuers)
        #expect(after.generation == before.generation, "nothing is decided anew")
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
        #expect(try gateway.call(gateway.signers.address("revoked"), by: "revoked").causes == [.revoked])
        let counts = await gateway.service.lists.counts
        #expect(counts[result] == 1, "\(counts)")
        return try #require(try await gateway.state(of: gateway.address(String(path.dropFirst()), host: "pa.example")))
    }

    @Test(arguments: ["/ca-list", "/crl"], faults.indices)
    func `a fault leaves the stored list in use, with its reason`(path: String, index: Int) async throws {
        let fault = Self.faults[index]
        let gateway = try await gateway(path, fault.response)
        let state = try await expectUnchanged(gateway, path, fault.result)
        #expect(state.reason.contains(fault.reason) && state.attempts == 1, "\(state.reason)")
        let now = gateway.signers.time.now
        #expect((now - 4...now).contains(state.nextAt - fault.pause), "\(state.nextAt - now)")
        #expect(state.fetchedAt != nil, "the last success stays")
        let log = gateway.signers.log.text
        #expect(log.contains("is not refreshed: \(state.reason)") && log.contains("the stored one stays in use"))
    }

    @Test(arguments: [
        ("lower", "its sequence 6 is below 7"), ("forged", "its signature is not by"),
        ("empty", "no list takes the last one away"), ("ended", "ended at 2016-"),
        ("refusal", "is a response with the status failure and not success"),
        ("anchor", "its authority 1 is no certificate of an authority"),
    ])
    func `a list of authorities that an import refuses is refused with its cause`(
        kind: String, reason: String
    ) async throws {
        let lists = host.lists
        let text =
            switch kind {
            case "lower": try lists.list(6, of: ["alien_root"])
            case "forged": try ListAuthority().list(8, of: ["alien_root"])
            case "empty": try lists.list(8, of: [])
            case "ended": try lists.list(8, of: ["alien_root"], life: -1)
            case "anchor": try lists.list(8, of: ["spc"])
            default: #"{"status":"failure","message":"login","caList":""}"#
            }
        let gateway = try await gateway("/ca-list", .json(text))
        let state = try await expectUnchanged(gateway, "/ca-list", "refused")
        #expect(state.reason.contains(reason) && state.attempts == 1, "\(state.reason)")
        #expect(state.nextAt >= gateway.signers.time.now + Self.hour - 4)
    }

    @Test(arguments: [("older", "is older than the stored list of"), ("forged", "name it in crl_signer")])
    func `a revocation list that an import refuses is refused with its cause`(
        kind: String, reason: String
    ) async throws {
        let lists = kind == "forged" ? try ListAuthority() : host.lists
        let der = try lists.revocations(kind == "older" ? 6 : 8, of: ["spc"])
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(der.count)\r\n\r\n"
        let gateway = try await gateway("/crl", .bytes(Array(head.utf8) + der))
        let state = try await expectUnchanged(gateway, "/crl", "refused")
        #expect(state.reason.contains(reason), "\(state.reason)")
    }

    @Test func `a dead host is asked again after each pause, and its list comes back`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["root"]))
        let crl = try host.revocations(1, of: [])
        let isUp = Flag()
        let gateway = try await host.gateway { request, _ in
            request.path == "/crl" ? crl : isUp.isSet ? list : .status(503)
        }
        await gateway.settle()
        for (count, pause) in [(1, 30), (2, 120), (3, 600), (4, 3600), (5, 3600)] as [(Int, Int64)] {
            let state = try #require(try await gateway.state(of: gateway.listAddress))
            #expect(state.attempts == count && gateway.count("/ca-list") == count)
            if pause > 60 {
                await gateway.pass(pause - 40)
                #expect(gateway.count("/ca-list") == count, "the pause holds")
            }
            if count == 5 { isUp.set() }
            await gateway.pass(70)
            #expect(gateway.count("/ca-list") == count + 1)
        }
        let state = try #require(try await gateway.state(of: gateway.listAddress))
        #expect(state.attempts == 0 && state.reason.isEmpty)
        #expect(
            gateway.signers.log.all.count { $0.contains("is not refreshed") } == 2,
            "the first failure, and the first one with the longest pause")
    }

    @Test func `a private address is refused unless the regime has private networks`() async throws {
        let regime = RegimeText(keys: host.keys, files: host.files, isPrivate: false)
        let gateway = try await FetchFixture(regime: regime) { _, _ in .status(200) }
        await gateway.settle()
        #expect(gateway.peer.requests.isEmpty)
        let state = try await gateway.state(of: gateway.address("ca-list", host: "pa.example"))
        #expect(state?.reason == "127.0.0.1 is no public address; see x5u_private")
    }

    // MARK: Login

    @Test func `a login never leaves its file but to its host, and appears nowhere`() async throws {
        var host = host
        host.keys =
            host.keys.replacing("http://pa.example:PORT/ca-list", with: "https://pa.example:PORT/ca-list")
            + "list_authorization_file: login\n"
        host.files["login"] = "Bearer s3cret-t0ken\n"
        let crl = try host.revocations(1, of: [])
        // The host speaks no TLS, so the request for its list fails. The other address is of another origin.
        let gateway = try await host.gateway { _, _ in crl }
        await gateway.settle()
        let address = gateway.listAddress.replacing("http://", with: "https://")
        let state = try #require(try await gateway.state(of: address))
        #expect(state.attempts == 1 && !state.reason.contains("s3cret"), "\(state.reason)")
        #expect(gateway.peer.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(try await gateway.state(of: gateway.crlAddress)?.attempts == 0, "it goes without the login")
        let configuration = try gateway.signers.configuration(FetchFixture.trust)
        let listing = try TrustListing(configuration, now: gateway.signers.time.now).text(.wide)
        let findings = DoctorTrust.findings(configuration, at: gateway.signers.time.now).map(\.text).joined()
        for text in [gateway.signers.log.text, listing, findings] {
            #expect(text.contains(address) && !text.contains("s3cret"), "\(text)")
        }
        #expect(configuration.remarks.contains { $0.contains("/regimes/login contains a secret") })
        // A login may last some hours, so the file is read at each fetch.
        try gateway.signers.folder.write("two\nlines\n", to: "regimes/login")
        await gateway.pass(60)
        #expect(try await gateway.state(of: address)?.reason.contains("login has no value for Authorization") == true)
        try FileManager.default.removeItem(atPath: gateway.signers.folder.path + "/regimes/login")
        await gateway.pass(300)
        #expect(try await gateway.state(of: address)?.reason.contains("cannot be read: No such file") == true)
        let missing = DoctorTrust.findings(configuration, at: gateway.signers.time.now).map(\.text)
        #expect(missing.contains { $0.contains("needs a login") && $0.hasSuffix("see list_authorization_file") })
    }

    // MARK: Operator

    @Test func `listing, doctor and status have the last fetch and its failure`() async throws {
        let list = FaultyPeer.Response.json(try host.lists.list(1, of: ["root"]))
        let gateway = try await host.gateway { request, _ in request.path == "/crl" ? .status(404) : list }
        let configuration = try gateway.signers.configuration(FetchFixture.trust)
        let new = try TrustListing(configuration, now: gateway.signers.time.now).text(.wide)
        #expect(
            new.contains("list of authorities of regime private at \(gateway.listAddress): not fetched yet\n"), "\(new)"
        )
        let early = DoctorTrust.findings(configuration, at: gateway.signers.time.now).map(\.text)
        #expect(early.contains { $0.contains("is not fetched yet: a running gateway does so within a minute") })
        #expect(early.contains { $0.contains("until its list is taken in from \(gateway.listAddress)") }, "\(early)")
        await gateway.settle()
        let text = try TrustListing(configuration, now: gateway.signers.time.now).text(.wide)
        #expect(text.contains("at \(gateway.listAddress): fetched at 2016-08-16T19:23:48Z, next at 2016-"), "\(text)")
        let failure =
            "at \(gateway.crlAddress): the last fetch failed: the server returned 404; never fetched, next"
        #expect(text.contains("revocation list of regime private " + failure), "\(text)")
        let findings = DoctorTrust.findings(configuration, at: gateway.signers.time.now)
        let warning = try #require(findings.first { $0.text.contains(failure) })
        #expect(warning.level == .warning && warning.text.hasSuffix("import the list with herald trust import FILE"))
        let metrics = TrustMetrics(
            GatewayTrust(signers: gateway.signers.current), gateway.publisher, gateway.service)
        let gauges = await metrics.gauges().filter { $0.name.hasPrefix("herald_trust_list_fetch_") }
        #expect(
            gauges.map(\.name) == [
                "herald_trust_list_fetch_age_seconds", "herald_trust_list_fetch_failures",
                "herald_trust_list_fetch_failures",
            ])
        #expect(gauges.dropFirst().map(\.value) == [0, 1])
        let counts = await metrics.counters().filter { $0.name == "herald_trust_list_fetches_total" }
        #expect(counts.map(\.value) == [1, 1])
        let figures = await gateway.service.listFigures.map(GatewayStatus.Trust.ListFetch.init)
        #expect(
            figures.map { $0.text(at: gateway.signers.time.now) } == [
                "authorities of private at \(gateway.listAddress) fetched 2 s ago",
                "revocations of private at \(gateway.crlAddress) not fetched yet, the last fetch failed: the server returned 404",
            ])
    }
}
