// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import TestFixtures
import Testing
import Trust
import TrustFixtures
import X509

@testable import GatewaySync

@Suite("Fetches of lists", .timeLimit(.minutes(8)))
struct ListFetchTests {
    private static let lab = TrustLab.shared
    private static let now: Int64 = 1_700_000_000

    private static var rules: AddressRules {
        var rules = AddressRules()
        (rules.ports, rules.allowsHTTP, rules.allowsPrivate) = (nil, true, true)
        return rules
    }

    private func fetch(_ roots: [NIOSSLCertificate]? = nil) -> CertificateFetch {
        CertificateFetch(
            version: "1.2.3", resolve: { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] }, roots: roots,
            total: .seconds(30))
    }

    private static func crl(_ name: String) -> String { lab.crls[name]?.pem ?? "" }

    @Test func `each kind has the form in which it is stored`() throws {
        let bare = try FetchedList(.authorities, in: Array(Self.lab.list("l02").utf8))
        #expect(bare.token == Self.lab.list("l02") && bare.digest == FetchedList.digest(of: Self.lab.list("l02")))
        let wrapped = Self.lab.list("l01")
        let list = try FetchedList(.authorities, in: Array(wrapped.utf8))
        let token = try #require(wrapped.split(separator: "\"").first { $0.hasPrefix("eyJ") })
        #expect(list.token == wrapped && list.digest == FetchedList.digest(of: String(token)))
        let der = TrustLab.der(Self.crl("indirect"))
        for body in [der, Array(Self.crl("indirect").utf8), Array(("A list\n" + Self.crl("indirect")).utf8)] {
            let list = try FetchedList(.revocations, in: body)
            #expect(list.der == der && list.digest == FetchedList.digest(of: der))
        }
    }

    /// Bodies that are no list of the kind, or have more beside it.
    private static let others: [(kind: ListKind, body: String)] = [
        (.authorities, ""), (.authorities, "<html>"), (.authorities, crl("indirect")), (.authorities, lab.pem("root")),
        (.authorities, lab.file(["spc"])), (.authorities, "https://a.example/1.pem\n"), (.revocations, ""),
        (.revocations, "<html>"), (.revocations, lab.list("l02")), (.revocations, "{}"),
        (.revocations, crl("indirect") + "\n" + crl("direct")), (.revocations, crl("direct") + "\n" + lab.pem("root")),
        (.revocations, crl("direct") + "\n" + lab.file(["spc"])), (.revocations, "0\u{82}"),
    ]

    @Test(arguments: others.indices) func `anything else is no list`(index: Int) throws {
        let (kind, body) = Self.others[index]
        let problem = #expect(throws: CertificateProblem.self) { try FetchedList(kind, in: Array(body.utf8)) }
        #expect(problem == .notList(kind) && problem?.reason == "not_list")
        #expect(problem?.description == "the host returns something else than a \(kind.name)")
    }

    @Test func `a list may be larger than a certificate, up to 8 MB`() async throws {
        let size = CertificateFetch.mostBytesOfList
        let comment = String(repeating: "A revocation list\n", count: 6_000)
        let peer = try FaultyPeer { request, _ in
            request.path == "/long"
                ? .raw("HTTP/1.1 200 OK\r\nContent-Length: \(size + 1)\r\n\r\n")
                : .status(200, body: comment + Self.crl("direct"))
        }
        let address = "http://pa.example:\(peer.port)"
        let response = try await fetch().list(
            .revocations, at: address + "/crl", under: [Self.rules], authorization: nil, known: nil, at: Self.now)
        guard case .list(let list, _) = response else { throw CertificateProblem.notPEM }
        #expect(list.der == TrustLab.der(Self.crl("direct")))
        await #expect(throws: CertificateProblem.fetch(.tooLarge(limit: size))) {
            try await fetch().list(
                .revocations, at: address + "/long", under: [Self.rules], authorization: nil, known: nil, at: Self.now)
        }
    }

    @Test func `an address beside the rules, and a private one, are never asked`() async throws {
        let peer = try FaultyPeer { _, _ in .status(200) }
        var rules = Self.rules
        rules.allowsPrivate = false
        let address = "http://pa.example:\(peer.port)/crl"
        await #expect(throws: CertificateProblem.fetch(.forbiddenAddress("127.0.0.1"))) {
            try await fetch().list(
                .revocations, at: address, under: [rules], authorization: nil, known: nil, at: Self.now)
        }
        await #expect(throws: CertificateProblem.notAllowed) {
            try await fetch().list(
                .revocations, at: address, under: [AddressRules()], authorization: nil, known: nil, at: Self.now)
        }
        #expect(peer.requests.isEmpty)
    }

    @Test(arguments: [FaultyPeer.Response.silence, .stall("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n-----BEGIN")])
    func `a slow host has its time and no more`(response: FaultyPeer.Response) async throws {
        #expect(CertificateFetch.totalOfList == .seconds(30))
        let peer = try FaultyPeer { _, _ in response }
        let fetch = CertificateFetch(
            version: "1", resolve: { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] }, total: .seconds(1))
        await #expect(throws: CertificateProblem.fetch(.timeout(.seconds(1)))) {
            try await fetch.list(
                .revocations, at: "http://pa.example:\(peer.port)/crl", under: [Self.rules], authorization: nil,
                known: nil, at: Self.now)
        }
    }

    // MARK: Login

    @Test func `a login goes over TLS alone`() async throws {
        let peer = try FaultyPeer { _, _ in .status(200) }
        await #expect(throws: CertificateProblem.authorization("Authorization is sent over https alone")) {
            try await fetch().list(
                .authorities, at: "http://pa.example:\(peer.port)/a", under: [Self.rules], authorization: "Bearer a",
                known: nil, at: Self.now)
        }
        #expect(peer.requests.isEmpty)
        let authority = try TestAuthority()
        let roots = [try NIOSSLCertificate(bytes: authority.certificate.serializeAsPEM().derBytes, format: .der)]
        for (name, isGood) in [("pa.example", true), ("other.example", false)] {
            let peer = try await TLSPeer(
                authority.certificate(for: name, key: P256.Signing.PrivateKey()), response: Self.lab.list("l02"))
            let port = try #require(URL(string: peer.url)?.port)
            let response = try? await fetch(roots).list(
                .authorities, at: "https://pa.example:\(port)/api/v1/ca-list", under: [Self.rules],
                authorization: "Bearer a b", known: CertificateFreshness(etag: "\"1\""), at: Self.now)
            #expect((response != nil) == isGood)
            let text = peer.text.lowercased()
            #expect(text.contains("authorization: bearer a b\r\n") == isGood, "\(text)")
            #expect(text.contains("get /api/v1/ca-list http/1.1\r\n") == isGood)
            #expect(text.contains("if-none-match: \"1\"\r\n") == isGood)
            try await peer.stop()
        }
    }
}
