// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewaySync
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import GatewayOperator

/// A logo server with brands, for pictures by number and phonebooks.
final class PhoneServerFixture: Sendable {
    static let hash = "0123456789abcdef0123456789abcdef"
    static let base = "http://192.0.2.10:9480"
    /// A brand with a logo, another whose name has the signs of XML and vCard, and one without a logo.
    static let brands: [(number: String, name: String, logo: String?)] = [
        ("+61255501001", "Acme Bank", "https://assets.example/acme.png"),
        ("+61255501002", "<Fish> & \"Chips\"; O'Neil, \\Söhne", "https://assets.example/acme.png"),
        ("+441632960001", "Zebra Crossing", nil),
    ]

    let current: CurrentBranding
    let isEnabled = Mutex(true)
    let files: [String: [UInt8]]
    let log = RecentLog()

    init(
        _ brands: [(number: String, name: String, logo: String?)] = PhoneServerFixture.brands,
        files: [String] = ["128x128.png", "128x128.jpg", "150x150opaque.png", "64x64grey.bmp"]
    ) throws {
        current = CurrentBranding(
            BrandingSnapshot(index: try Self.index(brands, generation: 1), gates: BrandingGates()))
        self.files = Dictionary(uniqueKeysWithValues: files.map { ("\(Self.hash)-\($0)", Array("file \($0)".utf8)) })
    }

    static func index(
        _ brands: [(number: String, name: String, logo: String?)], generation: Int64
    ) throws -> BrandIndex {
        let hosted = HostedLogos(
            publicURL: base, missing: .none, files: ["https://assets.example/acme.png": "\(hash)-128x128.png"])
        var builder = BrandIndexBuilder(
            profile: RenderingProfile(logos: hosted), generation: generation, expectedCount: brands.count)
        for brand in brands {
            builder.add(
                BrandRecord(
                    number: try #require(E164Number(brand.number)), name: brand.name, brandID: brand.name,
                    logoURL: brand.logo, callReason: nil, updatedAt: "2026-01-01T00:00:00Z"))
        }
        return builder.finish()
    }

    /// Runs the server for as long as `body` takes.
    func run(
        phones: [PhoneFamily] = [.mitel, .snom370, .snom, .grandstream], limit: Int = 1000,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let isOn: @Sendable () -> Bool = { self.isEnabled.withLock { $0 } }
        let forms = [LogoForm(width: 128, height: 128, .png)] + phones.map(\.form)
        let files = FixedLogos(files: files)
        let logger = Logger(label: "test") { [log] label in
            RecentLogHandler(SilentHandler(), label: label, recent: log) { "now" }
        }
        let pictures = NumberPictures(
            current, isEnabled: isOn, regions: ["AU", "GB"].compactMap { Region($0) }, forms: forms, families: phones)
        let phonebooks = Phonebooks(
            current, isEnabled: isOn, logos: files, photos: .init(publicURL: Self.base, families: phones),
            limit: limit, logger: logger)
        try await RunningServer.run(
            {
                let own = PhoneFiles(
                    cache: files, traffic: LogoTraffic(), pictures: pictures, phonebooks: phonebooks)
                return LogoServer($0, files: { $0 == nil ? own : nil }, logger: $1)
            }, body)
    }
}

/// A cache with fixed files.
struct FixedLogos: LogoCache {
    var files: [String: [UInt8]] = [:]

    func read(_ name: String) -> [UInt8]? { files[name] }
    func prepare(now: Int64) async throws {}
    func takeOver(now: Int64) async throws -> Int { 0 }
    func due(limit: Int, now: Int64) async throws -> [DueLogo] { [] }
    func has(hash: String) async throws -> Bool { false }
    func store(hash: String, _ files: [LogoFile], now: Int64) async throws {}
    func record(_ result: LogoResult, of url: String, now: Int64, dueAt: Int64) async throws {}
    func recordUse(of names: [String], now: Int64) async throws {}
    func tidy(now: Int64) async throws {}
    func hosted() async throws -> HostedLogos { HostedLogos(publicURL: "http://x", missing: .none, files: [:]) }
    func totals() async throws -> LogoTotals { LogoTotals() }
}

extension LoopbackClient {
    /// Sends these header lines and returns the response, head and body.
    static func exchange(_ lines: String, port: Int) async throws -> (head: String, body: String) {
        let lines = lines.components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ").map(String.init)
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
        }
        let response = try await ask(RawRequest(method: start[0], path: start[1], headers: headers), port: port)
        return (response.head, response.text)
    }
}

/// Takes lines of every level and writes none.
private struct SilentHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}
