// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CheckedHTTP
import Foundation
import GatewayStore
import GatewayStoreTesting
import GatewaySync
import GatewaySyncTesting
import Logging
import Synchronization
import TestFixtures
import Testing

/// The logo side of a gateway on a database of its own; brands name logos of one hostile host.
final class LogoFixture: Sendable {
    let folder = TemporaryFolder()
    let time = ManualTime()
    let log = RecordingLog()
    let traffic = LogoTraffic()
    let store: LogoCacheStore
    let current: CurrentBranding
    let service: LogoService
    private let seen = Seen()

    /// How often the index was built again.
    var builds: Int { seen.builds.withLock { $0 } }
    /// The names that were looked up.
    var lookups: [String] { seen.lookups.withLock { $0 } }

    init(
        _ peer: FaultyPeer, logos: [String], host: String = "logos.test",
        configure: (inout LogoSettings) -> Void = { _ in }
    ) async throws {
        let base = "http://\(host):\(peer.port)"
        let database = try HeraldDatabase(folder: folder.path)
        let cache = BrandCacheStore(database)
        let records = try logos.enumerated().map { position, path in
            BrandRecord(
                number: try #require(E164Number("+6125550\(1000 + position)")), name: "Acme \(position)", brandID: path,
                logoURL: base + path, callReason: nil, updatedAt: "2026-01-01T00:00:00Z")
        }
        _ = try await cache.apply(
            StoredResponse(isFull: true, upserts: records, removals: [], cursor: "c", gates: .init(), now: 1))
        let store = LogoCacheStore(
            cache, stateFolder: folder.path,
            settings: .init(forms: .asItCame, publicURL: "http://192.0.2.10:9480", missing: .none),
            clock: QueueClock { [time] in time.now * 1_000_000 })
        let log = log
        let logger = Logger(label: "test") { _ in log.handler }
        let index = BrandCacheIndexFile(
            cache, folder: folder.path, profile: RenderingProfile(), logos: { store }, logger: logger)
        let current = CurrentBranding(BrandingSnapshot(index: try await index.load(), gates: BrandingGates()))
        let publisher = BrandingPublisher(current: current, cache: cache, logger: logger)
        var settings = LogoSettings(hosts: ["logos.test:\(peer.port)"], forms: .asItCame, version: "1.2.3")
        settings.allowsHTTP = true
        settings.allowsPrivate = true
        settings.maxFile = 65_536
        settings.maxPixels = 10_000
        settings.timeout = .seconds(450)
        configure(&settings)
        let seen = seen
        service = LogoService(
            settings, cache: store, traffic: traffic, current: current,
            resolve: { host in
                seen.lookups.withLock { $0.append(host) }
                return HostAddress("127.0.0.1").map { [$0] } ?? []
            },
            shape: { bytes, _ in bytes },
            publish: {
                seen.builds.withLock { $0 += 1 }
                await publisher.publish(try await index.rebuild())
            },
            time: time.clock, logger: logger)
        self.store = store
        self.current = current
        try await store.prepare(now: time.now)
    }

    /// The icon a call of the logo's brand gets at this instant; nil for none.
    func shown(_ path: String) -> String? {
        let index = current.load().index
        for position in 0..<100 {
            guard let number = E164Number("+6125550\(1000 + position)"), let entry = index.entry(for: number),
                index.text(.brandID, entry) == path
            else { continue }
            return index.logoURL(of: entry)
        }
        return nil
    }
}

/// What a service asked of its surroundings.
private final class Seen: Sendable {
    let builds = Mutex(0)
    let lookups = Mutex<[String]>([])
}

/// Responses of a host instead of a logo.
enum Hostility: CaseIterable {
    case page, script, declaredTooLarge, endless, redirectHome, redirectAway, bomb, wideBomb, webp, cutWebP, cutBody,
        cutPicture, slow
    case silent, missing, unasked304, noResponse

    /// Only a host that says nothing is worth a short patience; all others get the time a busy machine needs.
    func patience(_ settings: inout LogoSettings) {
        if self == .slow || self == .silent { settings.timeout = .seconds(2) }
    }

    var response: FaultyPeer.Response {
        switch self {
        case .page: .status(200, headers: ["Content-Type": "image/png"], body: "<html>not a logo</html>")
        case .script: .status(200, headers: ["Content-Type": "image/svg+xml"], body: "<svg onload='alert(1)'/>")
        case .declaredTooLarge: .raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        case .endless: .endless("HTTP/1.1 200 OK\r\n\r\n")
        case .redirectHome: .status(302, headers: ["Location": "http://127.0.0.1:22/"])
        case .redirectAway: .status(301, headers: ["Location": "https://evil.example/"])
        case .bomb: .picture(Picture.png(width: 100_000, height: 100_000))
        case .wideBomb: .picture(Picture.png(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF))
        case .webp: .picture(PictureSample.webp)
        case .cutWebP: .picture(Array(PictureSample.webp.dropLast(6)))
        case .cutBody: .raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n\u{89}PNG")
        case .cutPicture: .picture(Array(Picture.png().dropLast(6)))
        case .slow: .stall("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome bytes")
        case .silent: .silence
        case .missing: .status(404, body: "gone")
        case .unasked304: .status(304)
        case .noResponse: .raw("")
        }
    }

    var reason: String {
        switch self {
        case .page, .script: "not_a_picture"
        case .declaredTooLarge, .endless: "too_large"
        case .redirectHome, .redirectAway: "redirect"
        case .bomb, .wideBomb: "too_many_pixels"
        case .cutBody, .noResponse: "network"
        case .webp: "not_for_phones"
        case .cutPicture, .cutWebP: "cut"
        case .slow, .silent: "timeout"
        case .missing, .unasked304: "status"
        }
    }
}
