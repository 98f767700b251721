// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayDoors
import GatewayTesting
import NIOCore
import SIPCore
import TestFixtures
import Testing

/// A door for names on a port of the system's choice, with two brands on a trunk of Australia.
final class NamesDoor: Sendable {
    let branding: CurrentBranding
    let counters = NamesCounters()
    private let log = LogLines()
    private let settings: CurrentSettings
    private let allow: [SourceRange]
    private let limits: DoorPlaces.Limits
    private let idle: TimeAmount

    /// The numbers of the brands, and their names.
    static let brands = [("+61255501301", "Harbour Dental"), ("+61255501302", "Fish & \"Chips\" 100 % ${x}")]

    init(
        allow: [String] = ["127.0.0.0/8"], limits: DoorPlaces.Limits = DoorPlaces.Limits(),
        idle: TimeAmount = .seconds(450), gates: BrandingGates = BrandingGates(), isEmpty: Bool = false,
        brands: BrandMode = .on
    ) throws {
        var builder = BrandIndexBuilder(profile: RenderingProfile(), generation: 1, expectedCount: 2)
        for (number, name) in isEmpty ? [] : Self.brands {
            builder.add(
                BrandRecord(
                    number: try #require(E164Number(number)), name: name, brandID: "brand-\(number.suffix(4))",
                    logoURL: "", callReason: "", updatedAt: "2026-01-01T00:00:00Z"))
        }
        branding = CurrentBranding(BrandingSnapshot(index: builder.finish(), gates: gates))
        settings = CurrentSettings(DoorGateway.settings(brands: brands))
        self.allow = try allow.map { try SourceRange.read($0) }
        (self.limits, self.idle) = (limits, idle)
    }

    /// The names of the door.
    var names: DoorNames { DoorNames(settings, branding, GatewayTrust(), trunk: "carrier") }

    /// A redirect door with the same names.
    func redirectDoor(_ unnamed: RedirectDoor.OnwardStatus = .notFound) -> RedirectDoor {
        RedirectDoor(settings, names, unnamed: unnamed)
    }

    /// A server that nobody runs yet.
    func server(onListening: @escaping @Sendable (_ port: Int) -> Void) -> HTTPDoorServer<NamesDesk> {
        let desk = NamesDesk(names, allow: allow, counters: counters, logger: log.logger)
        return HTTPDoorServer(
            EndpointAddress(host: "127.0.0.1", port: 0, isIPv6: false), desk, limits: limits, idle: idle,
            logger: log.logger, onListening: onListening)
    }

    /// Runs the server for as long as `body` takes.
    func run(_ body: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
        let (ports, announced) = AsyncStream.makeStream(of: Int.self)
        let services = RunningServices([server { announced.yield($0) }], logger: log.logger) { announced.finish() }
        try await services.stop(after: {
            var iterator = ports.makeAsyncIterator()
            try await body(try #require(await iterator.next(), "the server ended before it listened"))
        })
    }

    /// The warnings of the log.
    var warnings: [String] { log.all.filter { $0.hasPrefix("warning ") } }

    /// The requests with a result.
    func count(_ label: String) -> UInt64 { counters.all.first { $0.label == label }?.count ?? 0 }
}
