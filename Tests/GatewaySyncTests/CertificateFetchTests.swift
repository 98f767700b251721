// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import Synchronization
import TestFixtures
import Testing
import Trust
import TrustFixtures
import X509

@testable import GatewaySync

/// Real hosts are as in the reports of the project shaken-pki-reports of 2022 to 2025: most name no caching, some less than a
/// day; media types are anything; a host that is down returns 403 or 503 with a page.
@Suite("Certificates of signers", .timeLimit(.minutes(8)))
struct CertificateFetchTests {
    private static let lab = TrustLab.shared
    private static let now: Int64 = 1_700_000_000

    /// The PEM texts of the laboratory's certificates.
    private static func pem(_ names: String...) -> String { names.map { lab.pem($0) + "\n" }.joined() }

    private static var rules: AddressRules {
        var rules = AddressRules()
        (rules.ports, rules.allowsHTTP, rules.allowsPrivate) = (nil, true, true)
        return rules
    }

    private func fetch(to address: String = "127.0.0.1") -> CertificateFetch {
        CertificateFetch(
            version: "1.2.3", resolve: { _ in HostAddress(address).map { [$0] } ?? [] }, total: .seconds(30))
    }

    private func url(_ peer: FaultyPeer, _ path: String = "/spc.pem") -> String {
        "http://signer.example:\(peer.port)\(path)"
    }

    /// The problem of a response; nil for a chain.
    private func problem(_ response: FaultyPeer.Response) async throws -> CertificateProblem? {
        let peer = try FaultyPeer { _, _ in response }
        do throws(CertificateProblem) {
            _ = try await fetch().response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Chains

    @Test(arguments: [
        ("application/pem-certificate-chain", ["spc", "mid"]), ("text/plain", ["spc", "mid"]),
        ("application/octet-stream", ["spc"]), ("text/html", ["spc", "mid", "root"]), ("", ["spc"]),
    ])
    func `a chain is read whatever its media type is`(type: String, names: [String]) async throws {
        let body = "Signer of a carrier\n" + names.map { Self.lab.pem($0) + "\n" }.joined()
        let peer = try FaultyPeer { _, _ in
            .status(200, headers: type.isEmpty ? [:] : ["Content-Type": type], body: body)
        }
        let response = try await fetch().response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
        #expect(response == .chain(names.map { Self.lab.der($0) }, CertificateFreshness()))
        let headers = try #require(peer.requests.first).headers
        #expect(headers["host"] == "signer.example:\(peer.port)" && headers["user-agent"] == "herald/1.2.3")
        #expect(Set(headers.keys).isSubset(of: ["host", "user-agent", "accept", "connection"]))
    }

    @Test(arguments: [
        ("<!DOCTYPE html><html><body>Parked</body></html>", "not_pem"), ("", "not_pem"), ("{\"error\": 1}", "not_pem"),
        (pem("mid", "spc"), "chain"), (pem("root", "mid", "spc"), "chain"), (pem("mid"), "chain"),
        (pem("spc", "mid", "delegate"), "chain"),
        (pem("spc", "mid", "root", "alien_root", "rsa_root", "parent_spc", "parent_range"), "chain"),
        ("-----BEGIN CERTIFICATE-----\n####\n-----END CERTIFICATE-----\n", "chain"),
        ("-----BEGIN CERTIFICATE-----\nMIIB", "chain"),
        ("-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n", "not_pem"),
    ])
    func `anything else is a certificate that cannot be used`(body: String, reason: String) async throws {
        let problem = try await problem(.status(200, body: body))
        #expect(problem?.reason == reason && problem?.cause == .certificateMalformed, "\(String(describing: problem))")
    }

    @Test func `six certificates are a chain`() async throws {
        let body = Self.pem("spc", "mid", "root", "alien_root", "rsa_root", "parent_spc")
        #expect(try await problem(.status(200, body: body)) == nil)
    }

    @Test func `a packed body is not unpacked`() async throws {
        // The head of a gzip stream, as a host might send without being asked.
        let body: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + Array(repeating: 0xED, count: 500)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
        #expect(try await problem(.bytes(Array(head.utf8) + body)) == .notPEM)
    }

    // MARK: Hosts

    @Test(arguments: [
        (FaultyPeer.Response.status(403, body: pem("spc")), "status"),
        (.status(503, body: "<html>down</html>"), "status"),
        (.status(500), "status"), (.status(404), "status"), (.status(304), "status"), (.status(204), "status"),
        (.status(302, headers: ["Location": "http://127.0.0.1:22/"]), "redirect"),
        (.status(308, headers: ["Location": "https://other.example/spc.pem"]), "redirect"),
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n"), "too_large"),
        (.endless("HTTP/1.1 200 OK\r\n\r\n"), "too_large"), (.raw(""), "network"),
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + pem("spc")), "network"),
        (.raw("SSH-2.0\r\n"), "network"),
    ])
    func `a host without a certificate is missing evidence`(response: FaultyPeer.Response, reason: String) async throws
    {
        let problem = try await problem(response)
        #expect(
            problem?.reason == reason && problem?.cause == .certificateUnreachable, "\(String(describing: problem))")
    }

    @Test(arguments: [
        FaultyPeer.Response.silence, .stall("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n-----BEGIN"),
        .stall("HTTP/1.1 200 OK\r\nX-Slow"),
    ])
    func `a slow host has five seconds at most`(response: FaultyPeer.Response) async throws {
        #expect(CertificateFetch.total == .seconds(5) && CertificateFetch.connect == .seconds(3))
        let peer = try FaultyPeer { _, _ in response }
        let fetch = CertificateFetch(
            version: "1", resolve: { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] },
            total: .seconds(1))
        await #expect(throws: CertificateProblem.fetch(.timeout(.seconds(1)))) {
            try await fetch.response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
        }
    }

    @Test func `a dead host is a failed connection`() async throws {
        let peer = try FaultyPeer { _, _ in .silence }
        peer.close()
        do throws(CertificateProblem) {
            _ = try await fetch().response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
            Issue.record("a response")
        } catch {
            #expect(error.reason == "network")
        }
    }

    // MARK: Addresses

    @Test(arguments: [
        ["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["::1"], ["::ffff:127.0.0.1"], ["8.8.8.8", "192.168.1.1"],
    ])
    func `a name with a private address is not asked`(addresses: [String]) async throws {
        var rules = Self.rules
        rules.allowsPrivate = false
        let peer = try FaultyPeer { _, _ in .status(200, body: Self.pem("spc")) }
        let fetch = CertificateFetch(
            version: "1", resolve: { _ in addresses.compactMap { HostAddress($0) } })
        let forbidden = try #require(addresses.last)
        await #expect(throws: CertificateProblem.fetch(.forbiddenAddress(forbidden))) {
            try await fetch.response(
                of: "http://signer.example:\(peer.port)/a", under: [rules], known: nil, at: Self.now)
        }
        #expect(peer.requests.isEmpty)
    }

    @Test func `a private network is open to the requests of its regime alone`() async throws {
        let peer = try FaultyPeer { _, _ in .status(200, body: Self.pem("spc")) }
        var open = Self.rules
        open.allowsPrivate = false
        // The rules of a regime do not hold for an address that the same regime refuses.
        var other = AddressRules()
        (other.ports, other.allowsPrivate) = ([9443], true)
        let fetch = fetch()
        for rules in [[open], [open, other]] {
            await #expect(throws: CertificateProblem.fetch(.forbiddenAddress("127.0.0.1"))) {
                try await fetch.response(of: url(peer), under: rules, known: nil, at: Self.now)
            }
        }
        #expect(peer.requests.isEmpty)
        _ = try await fetch.response(of: url(peer), under: [open, Self.rules], known: nil, at: Self.now)
        #expect(peer.requests.count == 1)
    }

    @Test func `a name is resolved once, and the connection goes to the checked address`() async throws {
        // The second response is that of a rebound name. The system cannot resolve the name at all.
        let lookups = Mutex(0)
        let peer = try FaultyPeer { _, _ in .status(200, body: Self.pem("spc")) }
        let fetch = CertificateFetch(
            version: "1",
            resolve: { _ in
                let count = lookups.withLock { count in
                    count += 1
                    return count
                }
                return HostAddress(count == 1 ? "127.0.0.1" : "203.0.113.9").map { [$0] } ?? []
            }, total: .seconds(30))
        _ = try await fetch.response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
        #expect(lookups.withLock { $0 } == 1 && peer.requests.count == 1)
    }

    @Test func `a name without an address is missing evidence`() async throws {
        let fetch = CertificateFetch(version: "1", resolve: { _ in [] })
        await #expect(throws: CertificateProblem.fetch(.unresolvable("signer.example"))) {
            try await fetch.response(of: "http://signer.example/a", under: [Self.rules], known: nil, at: Self.now)
        }
    }

    @Test(arguments: [
        "http://signer.example/a.pem", "https://signer.example:9443/a.pem", "https://user@signer.example/a.pem",
        "https://signer.example/a.pem?x=1", "https://signer.example/a.pem#1", "https://10.0.0.1/a.pem",
        "https://localhost/a.pem", "ftp://signer.example/a.pem", "https://signer.example/a b.pem", "",
        "https://signer.example/" + String(repeating: "a", count: 490),
    ])
    func `an address beside the rules of the regimes is never asked`(address: String) async throws {
        let fetch = CertificateFetch(
            version: "1",
            resolve: { host in
                Issue.record("\(host) was looked up")
                return []
            })
        #expect(!CertificateFetch.allows(address, under: [AddressRules()]))
        await #expect(throws: CertificateProblem.notAllowed) {
            try await fetch.response(of: address, under: [AddressRules()], known: nil, at: Self.now)
        }
    }

    // MARK: TLS

    @Test func `a certificate comes over TLS from a host with a good name alone`() async throws {
        let authority = try TestAuthority()
        let roots = [try NIOSSLCertificate(bytes: authority.certificate.serializeAsPEM().derBytes, format: .der)]
        var rules = AddressRules()
        (rules.ports, rules.allowsPrivate) = (nil, true)
        for (name, isGood) in [("signer.example", true), ("other.example", false)] {
            let peer = try await TLSPeer(
                authority.certificate(for: name, key: P256.Signing.PrivateKey()), response: Self.pem("spc", "mid"))
            let port = try #require(URL(string: peer.url)?.port)
            let fetch = CertificateFetch(
                version: "1", resolve: { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] },
                roots: roots, total: .seconds(30))
            do throws(CertificateProblem) {
                let response = try await fetch.response(
                    of: "https://signer.example:\(port)/a.pem", under: [rules], known: nil, at: Self.now)
                #expect(
                    isGood && response == .chain([Self.lab.der("spc"), Self.lab.der("mid")], CertificateFreshness()))
            } catch {
                #expect(!isGood && error.reason == "network", "\(error)")
            }
            try await peer.stop()
        }
    }

    // MARK: Caching

    @Test(
        arguments: [
            ([:], nil), (["Cache-Control": "max-age=3600"], 3600),
            (["Cache-Control": "public, Max-Age=\"86400\""], 86_400),
            (["Cache-Control": "max-age=0"], 0), (["Cache-Control": "no-store"], 0), (["Cache-Control": "no-cache"], 0),
            (["Cache-Control": "max-age=315360000"], 315_360_000), (["Cache-Control": "max-age=100", "Age": "30"], 70),
            (["Cache-Control": "max-age=99999999999999999999"], Int64.max / 4), (["Cache-Control": "max-age=-1"], 0),
            (["Cache-Control": "max-age=soon"], 0), (["Cache-Control": "must-revalidate"], nil),
            (["Expires": "0"], 0), (["Expires": "Tue, 14 Nov 2023 23:13:20 GMT"], 3600),
            (["Expires": "Tue, 14 Nov 2023 23:13:20 GMT", "Date": "Tue, 14 Nov 2023 23:12:20 GMT"], 60),
            (["Expires": "Tue, 14 Nov 2023 23:13:20 GMT", "Cache-Control": "max-age=7"], 7),
        ] as [([String: String], Int64?)])
    func `the time for keeping is that of RFC 9111`(headers: [String: String], lifetime: Int64?) async throws {
        let peer = try FaultyPeer { _, _ in .status(200, headers: headers, body: Self.pem("spc")) }
        let response = try await fetch().response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
        #expect(response == .chain([Self.lab.der("spc")], CertificateFreshness(lifetime: lifetime)))
    }

    @Test func `a known certificate is asked for conditionally`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.headers["if-none-match"] == "\"v1\""
                ? .status(304, headers: ["Cache-Control": "max-age=90000"])
                : .status(200, headers: ["ETag": "\"v1\"", "Last-Modified": "Sat, 21 Nov 2026"], body: Self.pem("spc"))
        }
        let known = CertificateFreshness(etag: "\"v1\"", lastModified: "Sat, 21 Nov 2026")
        let first = try await fetch().response(of: url(peer), under: [Self.rules], known: nil, at: Self.now)
        #expect(first == .chain([Self.lab.der("spc")], known))
        let second = try await fetch().response(of: url(peer), under: [Self.rules], known: known, at: Self.now)
        #expect(second == .unchanged(CertificateFreshness(lifetime: 90_000)))
        #expect(peer.requests.last?.headers["if-modified-since"] == "Sat, 21 Nov 2026")
    }
}
