// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import Host
import TestFixtures
import Testing

@Suite("Logo service", .timeLimit(.minutes(8)))
struct LogoServiceTests {
    @Test func `a logo is fetched, kept, and named in the index that calls see`() async throws {
        let peer = try FaultyPeer { _, _ in .picture(Picture.png(), ["ETag": "\"v1\""]) }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"])
        await gateway.service.round()
        let shown = try #require(gateway.shown("/acme.png"))
        #expect(shown.hasPrefix("http://192.0.2.10:9480/logos/") && shown.hasSuffix("-2x3.png"))
        let name = try #require(shown.split(separator: "/").last)
        #expect(gateway.store.read(String(name)) == Picture.png())
        #expect(gateway.traffic.samples.first?.labels.first?.value == "fetched")
    }

    @Test func `neither the key nor anything else of the directory's client travels to a logo's host`() async throws {
        let peer = try FaultyPeer { _, _ in .picture(Picture.png()) }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"])
        await gateway.service.round()
        let request = try #require(peer.requests.first)
        #expect(Set(request.headers.keys).isSubset(of: ["host", "user-agent", "accept", "connection"]))
        #expect(request.headers["host"] == "logos.test:\(peer.port)", "the name, although the address was looked up")
    }

    @Test func `a known logo is asked for conditionally, at most once a day, and 304 keeps it`() async throws {
        let peer = try FaultyPeer { request, _ in
            request.headers["if-none-match"] == "\"v1\""
                ? .status(304) : .picture(Picture.png(), ["ETag": "\"v1\"", "Last-Modified": "Sat, 21 Nov 2026"])
        }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"])
        await gateway.service.round()
        gateway.time.advance(by: .seconds(86_000))
        await gateway.service.round()
        await until { peer.requests.count >= 1 }
        #expect(peer.requests.count == 1)
        gateway.time.advance(by: .seconds(500))
        await gateway.service.round()
        await until { peer.requests.count >= 2 }
        #expect(peer.requests.count == 2)
        #expect(peer.requests[1].headers["if-modified-since"] == "Sat, 21 Nov 2026")
        #expect(gateway.shown("/acme.png")?.hasPrefix("http://192.0.2.10") == true)
        #expect(gateway.builds == 1)
    }

    @Test func `a picture that changed gets another name, so phones need not guess`() async throws {
        let peer = try FaultyPeer { _, position in .picture(Picture.png(width: 3 + position)) }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"])
        await gateway.service.round()
        let first = gateway.shown("/acme.png")
        gateway.time.advance(by: .seconds(100_000))
        await gateway.service.round()
        #expect(gateway.shown("/acme.png") != first)
        let name = try #require(first?.split(separator: "/").last)
        #expect(gateway.store.read(String(name)) != nil, "a phone may still ask for the old one")
    }

    @Test(arguments: Hostility.allCases) func `a hostile host gets nowhere, and is left alone for a while`(
        hostility: Hostility
    ) async throws {
        let peer = try FaultyPeer { _, _ in hostility.response }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"], configure: hostility.patience)
        await gateway.service.round()
        await until { peer.requests.count >= 1 }
        #expect(peer.requests.count == 1)
        let row = try #require(try LogoReader(folder: gateway.folder.path).logos(limit: 1).first)
        #expect(row.status == "failed" && row.reason == hostility.reason)
        #expect(gateway.shown("/acme.png") == nil)
        #expect(gateway.log.lines.filter { $0.contains("cannot be fetched") }.count == 1)
        gateway.time.advance(by: .seconds(299))
        await gateway.service.round()
        await until { peer.requests.count >= 1 }
        #expect(peer.requests.count == 1)
        gateway.time.advance(by: .seconds(1))
        await gateway.service.round()
        await until { peer.requests.count >= 2 }
        #expect(peer.requests.count == 2)
        #expect(gateway.log.lines.filter { $0.contains("cannot be fetched") }.count == 1, "the same again is no news")
        #expect(try LogoReader(folder: gateway.folder.path).logos(limit: 1).first?.failures == 2)
    }

    @Test func `a silent host is asked three times a round, not once for each of its logos`() async throws {
        let peer = try FaultyPeer { _, _ in .silence }
        let gateway = try await LogoFixture(peer, logos: (0..<8).map { "/\($0).png" }) { settings in
            settings.timeout = .seconds(2)
            settings.concurrency = 1
        }
        await gateway.service.round()
        await until { peer.requests.count >= 3 }
        #expect(peer.requests.count == 3)
        let rows = try LogoReader(folder: gateway.folder.path).logos(limit: 10)
        #expect(rows.map(\.reason) == Array(repeating: "timeout", count: 8), "all of them wait for the next round")
        gateway.time.advance(by: .seconds(1_000))
        await gateway.service.round()
        await until { peer.requests.count >= 6 }
        #expect(peer.requests.count == 6)
    }

    @Test func `a host that responds is no silent one, whatever the response`() async throws {
        let peer = try FaultyPeer { _, position in position % 3 == 0 ? .status(404, body: "") : .raw("") }
        let gateway = try await LogoFixture(peer, logos: (0..<8).map { "/\($0).png" }) { $0.concurrency = 1 }
        await gateway.service.round()
        await until { peer.requests.count >= 8 }
        #expect(peer.requests.count == 8)
    }

    @Test func `what a bad response leaves is the last good copy`() async throws {
        let peer = try FaultyPeer { _, position in position == 0 ? .picture(Picture.png()) : .status(500) }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"])
        await gateway.service.round()
        let shown = gateway.shown("/acme.png")
        gateway.time.advance(by: .seconds(100_000))
        await gateway.service.round()
        await until { peer.requests.count >= 2 }
        #expect(peer.requests.count == 2)
        #expect(shown != nil && gateway.shown("/acme.png") == shown)
    }

    @Test func `a name that leads to this machine is not asked, even if it led elsewhere before`() async throws {
        let peer = try FaultyPeer { _, _ in .picture(Picture.png()) }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"]) { $0.allowsPrivate = false }
        await gateway.service.round()
        #expect(peer.requests.isEmpty)
        let row = try LogoReader(folder: gateway.folder.path).logos(limit: 1).first
        #expect(row?.reason == "forbidden_address")
    }

    @Test func `the checked address is the one connected to`() async throws {
        // The system cannot resolve logos.test at all: only the response that was checked can have led to the peer.
        let peer = try FaultyPeer { _, _ in .picture(Picture.png()) }
        let gateway = try await LogoFixture(peer, logos: ["/acme.png"], host: "LOGOS.test")
        await gateway.service.round()
        await until { peer.requests.count >= 1 }
        #expect(peer.requests.count == 1)
        #expect(gateway.lookups == ["logos.test"], "looked up once, by us")
    }

    @Test func `many new logos build the index once`() async throws {
        let peer = try FaultyPeer { request, _ in .picture(Picture.png(width: request.target.utf8.count)) }
        let paths = (0..<30).map { "/" + String(repeating: "x", count: 1 + $0) }
        let gateway = try await LogoFixture(peer, logos: paths)
        await gateway.service.round()
        #expect(peer.requests.count == 30)
        #expect(gateway.builds == 1)
        #expect(paths.allSatisfy { gateway.shown($0) != nil })
    }

    @Test func `one picture under two addresses is one file, fetched at the same time or not`() async throws {
        let peer = try FaultyPeer { _, _ in .picture(Picture.png()) }
        let gateway = try await LogoFixture(peer, logos: ["/a", "/b", "/c", "/d"])
        await gateway.service.round()
        #expect(try await gateway.store.totals().files == 1)
        #expect(Set(["/a", "/b", "/c", "/d"].map { gateway.shown($0) }).count == 1)
    }

    @Test func `a full disk stops the fetching, says so once, and the next round goes on`() async throws {
        let peer = try FaultyPeer { _, _ in .picture(Picture.png()) }
        let gateway = try await LogoFixture(peer, logos: ["/a", "/b", "/c", "/d", "/e"])
        let logos = gateway.folder.path + "/logos"
        try FileManager.default.removeItem(atPath: logos)
        try Data().write(to: URL(fileURLWithPath: logos))
        await gateway.service.round()
        await gateway.service.round()
        #expect(peer.requests.count <= 4, "a batch each round, not all of them")
        #expect(gateway.log.lines.filter { $0.contains("logos are not fetched for now") }.count == 1)
        try FileManager.default.removeItem(atPath: logos)
        try FileManager.default.createDirectory(atPath: logos, withIntermediateDirectories: false)
        await gateway.service.round()
        #expect(gateway.shown("/e") != nil)
        #expect(gateway.log.lines.contains { $0.contains("logos are fetched again") })
    }

    @Test func `a log line cannot be forged by a URL`() async throws {
        let peer = try FaultyPeer { _, _ in .silence }
        let gateway = try await LogoFixture(peer, logos: ["/a\u{1B}[2J\nforged"])
        await gateway.service.round()
        #expect(peer.requests.isEmpty)
        #expect(gateway.log.lines.contains { $0.contains("\\u{1b}[2J\\u{a}forged") })
        #expect(!gateway.log.lines.contains { $0.contains("\u{1B}") || $0.contains("\n") })
    }
}
