// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// Requirements: the certificate that signs a fetched list comes from the host of the list, and from no other; it counts by
/// its chain to `list_root` alone, and is stored with its list or not at all.
@Suite("Signers of fetched lists", .timeLimit(.minutes(8)))
struct ListSignerTests {
    /// A host of lists whose present list is signed by a certificate at one of its paths.
    private struct Signed: Sendable {
        var list: ListAuthority
        var sequence = 1
        /// Of the certificate in the list; nil for one on the host itself.
        var address: String?
        var path = "/signer-1.pem"
        var certificate: FaultyPeer.Response
    }

    private let host: ListHost
    private let lists: ListAuthority

    init() throws {
        host = try ListHost()
        lists = host.lists
    }

    private func signed(_ sequence: Int = 1) throws -> Signed {
        Signed(list: lists, sequence: sequence, certificate: .status(200, body: try lists.signerCertificate))
    }

    /// A gateway without the signer of lists; its host has the last of these states that was entered.
    private func gateway(
        _ states: Signed..., at state: Stage = Stage(), trust: String = FetchFixture.trust
    ) async throws -> FetchFixture {
        let crl = try host.revocations(1, of: [])
        let regime = RegimeText(keys: host.keys, files: host.files)
        let gateway = try await FetchFixture(trust: trust, regime: regime) { request, _ in
            let signed = states[min(state.number, states.count - 1)]
            switch request.path {
            case "/crl": return crl
            case "/ca-list":
                let own = "http://\(request.headers["host"] ?? "")\(signed.path)"
                let text = try? signed.list.list(
                    signed.sequence, of: signed.sequence == 1 ? ["root"] : ["root", "rsa_root"],
                    signer: signed.address ?? own)
                return text.map { .json($0) } ?? .status(500)
            case signed.path: return signed.certificate
            default: return .status(404)
            }
        }
        try await gateway.take(gateway.lab.file(["spc"]))
        return gateway
    }

    private func sequences(_ gateway: FetchFixture) throws -> [Int64] {
        try gateway.signers.stored().authorityLists.map(\.sequence)
    }

    // MARK: Good certificates

    @Test func `the first list brings the certificate of its signer`() async throws {
        let gateway = try await gateway(signed())
        await gateway.settle()
        #expect(try sequences(gateway) == [1] && gateway.count("/signer-1.pem") == 1)
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
        let address = gateway.address("signer-1.pem", host: "pa.example")
        #expect(try gateway.signers.stored().signers.contains { $0.address == address }, "it is kept as by an import")
        let log = gateway.signers.log.text
        #expect(log.contains("sequence 1, until") && log.contains("its signer is new: \(address)"), "\(log)")
        let request = gateway.peer.requests.first { $0.path == "/signer-1.pem" }
        #expect(request?.method == "GET" && request?.headers["authorization"] == nil)
        #expect(await gateway.service.lists.counts == ["fetched": 2])
    }

    @Test func `a known signer is fetched no more`() async throws {
        let stage = Stage()
        let gateway = try await gateway(signed(), signed(2), at: stage)
        await gateway.settle()
        stage.next()
        await gateway.pass(3600)
        #expect(try sequences(gateway) == [2] && gateway.count("/signer-1.pem") == 1)
    }

    @Test(arguments: ["/signer-1.pem", "/signer-2.pem"])
    func `a successor replaces the signer, at its address or at a new one`(path: String) async throws {
        let stage = Stage()
        let other = try lists.renewed(later: 86_400)
        let next = Signed(
            list: other, sequence: 2, path: path, certificate: .status(200, body: try other.signerCertificate))
        let gateway = try await gateway(signed(), next, at: stage)
        await gateway.settle()
        stage.next()
        await gateway.pass(3600)
        #expect(try sequences(gateway) == [2], "\(gateway.signers.log.text)")
        #expect(gateway.count(path) == (path == "/signer-1.pem" ? 2 : 1))
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
    }

    // MARK: Certificates that do not count

    /// A host, and how its list is refused: label, part of the reason, pause, requests for the certificate.
    private struct Fault {
        var signed: Signed
        var result = "refused"
        var reason: String
        var pause: Int64 = 3600
        var requests = 1
    }

    private func fault(_ name: String) throws -> Fault {
        var signed = try signed(2)
        let (foreign, other) = (try ListAuthority(), try lists.renewed())
        switch name {
        case "another host":
            signed.address = "http://signer.example/signer-1.pem"
            return Fault(
                signed: signed, reason: "is not fetched, since it is on another host than the list", requests: 0)
        case "another port":
            signed.address = "http://pa.example:1/signer-1.pem"
            return Fault(signed: signed, reason: "it is on another host than the list", requests: 0)
        case "hostile text":
            signed.address = "http://pa.example/signer-1.pem?x=\\u001b[31m"
            return Fault(signed: signed, reason: "it is on another host than the list", requests: 0)
        case "foreign":
            (signed.list, signed.certificate) = (foreign, .status(200, body: try foreign.signerCertificate))
            return Fault(signed: signed, reason: "has no valid chain to list_root")
        case "not in force":
            let late = try lists.renewed(later: 2 * 365 * 86_400)
            (signed.list, signed.certificate) = (late, .status(200, body: try late.signerCertificate))
            return Fault(signed: signed, reason: "has no valid chain to list_root")
        case "another key":
            signed.certificate = .status(200, body: try other.signerCertificate)
            return Fault(signed: signed, reason: "its signature is not by")
        case "page":
            signed.certificate = .status(200, body: "<html>Log in</html>")
            return Fault(
                signed: signed, result: "not_pem",
                reason: "cannot be fetched: the host returns something else than certificates in PEM")
        case "redirect":
            signed.certificate = .status(302, headers: ["Location": "http://127.0.0.1:22/"])
            return Fault(
                signed: signed, result: "redirect", reason: "cannot be fetched: it redirects (302)", pause: 30)
        default:
            signed.certificate = .status(404)
            return Fault(
                signed: signed, result: "status", reason: "cannot be fetched: the server returned 404", pause: 30)
        }
    }

    @Test(arguments: [
        "another host", "another port", "hostile text", "foreign", "not in force", "another key", "page", "redirect",
        "missing",
    ])
    func `a list whose signer does not count changes nothing`(name: String) async throws {
        let fault = try fault(name)
        let stage = Stage()
        var first = try signed()
        // The first signer is at a path of its own, so that the second one is not known.
        first.path = "/first.pem"
        let gateway = try await gateway(first, fault.signed, at: stage)
        await gateway.settle()
        let before = try gateway.signers.stored()
        stage.next()
        await gateway.pass(3600)
        let after = try gateway.signers.stored()
        #expect(after.authorityLists == before.authorityLists && after.signers == before.signers)
        #expect(after.generation == before.generation)
        #expect(gateway.count("/signer-1.pem") == fault.requests)
        let state = try #require(try await gateway.state(of: gateway.listAddress))
        #expect(state.reason.contains(fault.reason) && state.attempts == 1, "\(state.reason)")
        #expect(!state.reason.contains("\u{1B}"))
        let now = gateway.signers.time.now
        #expect((now - 4...now).contains(state.nextAt - fault.pause), "\(state.nextAt - now)")
        #expect(await gateway.service.lists.counts[fault.result] == 1)
        #expect(try gateway.call(gateway.signers.address("spc")).number == .passed(.a))
    }

    @Test func `a list whose signer has no space in the store is not stored`() async throws {
        let gateway = try await gateway(signed(), trust: "{regimes: [private], fetch: on, signers: 100}")
        let (chain, own) = (gateway.lab.file(["spc"]), gateway.signers.address("spc"))
        try await gateway.take(
            (1..<100).map { chain.replacing(own, with: "https://cert.example.net/\($0).pem") }.joined())
        #expect(try gateway.signers.stored().signers.count == 100)
        await gateway.settle()
        #expect(try sequences(gateway).isEmpty && gateway.count("/signer-1.pem") == 1)
        #expect(try gateway.signers.stored().signers.count == 100)
        let state = try #require(try await gateway.state(of: gateway.listAddress))
        #expect(state.reason.contains("its signer is not stored: the store has 100 signers"), "\(state.reason)")
    }

    @Test func `a list that is refused for itself fetches no certificate`() async throws {
        let stage = Stage()
        let gateway = try await gateway(signed(2), signed(1), at: stage)
        await gateway.settle()
        stage.next()
        await gateway.pass(3600)
        #expect(try sequences(gateway) == [2] && gateway.count("/signer-1.pem") == 1)
        let state = try #require(try await gateway.state(of: gateway.listAddress))
        #expect(state.reason.contains("its sequence 1 is below 2"), "\(state.reason)")
    }
}

/// The state of a host, counted by its test.
private final class Stage: Sendable {
    private let first = Flag()
    var number: Int { first.isSet ? 1 : 0 }
    func next() { first.set() }
}
