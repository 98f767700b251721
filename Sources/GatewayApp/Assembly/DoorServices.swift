// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayDoors
import GatewayOperator
import GatewayStore
import Host
import Logging
import ServiceLifecycle
import Synchronization

/// The doors of the gateway for systems that ask for names or verifications; a reload opens, moves and closes them.
///
/// A change ends the old server first, so that a new one can take the same port. Connections end with their server.
final class DoorServices: ReloadablePart {
    /// The servers in force.
    let services: ReplaceableServices
    /// Requests since the start, over all servers.
    private let names = NamesCounters()
    private let callingNames = NumberZoneCounters()
    private let redirections = RedirectCounters()
    private let verification = VerificationCounters()
    private let outcomes = OutcomeCounters()
    /// The names that doors gave, by the trunk whose rules they have; a reload keeps them.
    private let given = Mutex<[String: GivenNames]>([:])
    private let ledger: LedgerReader
    private let shared: GatewayShared
    private let running: Mutex<HeraldConfiguration.Doors>
    private let logger = Logger(label: "herald.doors")
    private let notices: Logger

    /// Makes the servers of the start.
    ///
    /// - Parameters:
    ///   - ledger: knows the calls that were reported.
    ///   - expectServer: lets calls wait for a server; returns the callback for its port.
    ///   - logger: takes the lines of a reload.
    init(
        _ configuration: HeraldConfiguration, _ shared: GatewayShared, _ ledger: LedgerReader,
        expectServer: () -> @Sendable (_ port: Int) -> Void, logger: Logger
    ) {
        (self.shared, self.ledger, notices) = (shared, ledger, logger)
        let doors = configuration.doors
        running = Mutex(doors)
        services = ReplaceableServices(logger: self.logger, patience: .seconds(5))
        var first: [any Service] = []
        if let door = doors.names { first.append(server(door, of: doors, onListening: expectServer())) }
        if let door = doors.callingNames { first.append(zoneServer(door, of: doors, onListening: expectServer())) }
        if let door = doors.redirect { first.append(redirectServer(door, of: doors, onListening: expectServer())) }
        if let door = doors.verification { first.append(verificationServer(door, onListening: expectServer())) }
        if let door = doors.outcomes { first.append(outcomeServer(door, onListening: expectServer())) }
        if !first.isEmpty { services.replace { [first] in first } }
    }

    /// The source of metrics and status.
    var metrics: DoorMetrics {
        DoorMetrics(
            names: names, callingNames: callingNames, redirect: redirections, verification: verification,
            outcomes: outcomes)
    }

    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)? {
        let (old, doors) = (running.withLock { $0 }, next.doors)
        guard doors != old else { return nil }
        try Self.check(doors.names?.listen, against: old.names?.listen, [.tcp], key: "doors.names.listen")
        try Self.check(
            doors.callingNames?.listen, against: old.callingNames?.listen, [.udp, .tcp], key: "doors.enum.listen")
        try Self.check(
            doors.redirect?.listen, against: old.redirect?.listen, [.udp], key: "doors.redirect.listen")
        try Self.check(
            doors.verification?.listen, against: old.verification?.listen, [.tcp], key: "doors.verification.listen")
        try Self.check(
            doors.outcomes?.listen, against: old.outcomes?.listen, [.tcp], key: "doors.outcomes.listen")
        let next = later(doors)
        return { [self] in
            running.withLock { $0 = doors }
            services.replace { next }
            notices.notice(
                "the doors have their new settings",
                metadata: [
                    "names": "\(doors.names.map(\.listen.description) ?? "off")",
                    "enum": "\(doors.callingNames.map(\.listen.description) ?? "off")",
                    "redirect": "\(doors.redirect.map(\.listen.description) ?? "off")",
                    "verification": "\(doors.verification.map(\.listen.description) ?? "off")",
                    "outcomes": "\(doors.outcomes.map(\.listen.description) ?? "off")",
                ])
        }
    }

    /// The servers of a reload.
    private func later(_ doors: HeraldConfiguration.Doors) -> [any Service] {
        let names = doors.names.map { door in
            AfterReload(
                service: server(door, of: doors, onListening: { _ in }), name: "the door for names (doors.names)",
                logger: logger)
        }
        let callingNames = doors.callingNames.map { door in
            AfterReload(
                service: zoneServer(door, of: doors, onListening: { _ in }),
                name: "the door for calling names (doors.enum)",
                logger: logger)
        }
        let redirect = doors.redirect.map { door in
            AfterReload(
                service: redirectServer(door, of: doors, onListening: { _ in }),
                name: "the redirect door (doors.redirect)",
                logger: logger)
        }
        let verification = doors.verification.map { door in
            AfterReload(
                service: verificationServer(door, onListening: { _ in }),
                name: "the door for verifications (doors.verification)", logger: logger)
        }
        let outcomes = doors.outcomes.map { door in
            AfterReload(
                service: outcomeServer(door, onListening: { _ in }),
                name: "the door for reports of calls (doors.outcomes)", logger: logger)
        }
        return [names, callingNames, redirect, verification, outcomes].compactMap { $0 }
    }

    /// Refuses an address that another program has, while the old server still runs.
    private static func check(
        _ address: EndpointAddress?, against old: EndpointAddress?, _ wires: [ListenRefusal.Wire], key: String
    ) throws {
        guard let address, address.port != 0, address.port != old?.port else { return }
        for wire in wires {
            let code = address.bindCode(wire)
            if code != 0 { throw ListenRefusal(wire, "\(address)", code: code, key: key) }
        }
    }

    private func server(
        _ door: HeraldConfiguration.Doors.Names, of doors: HeraldConfiguration.Doors,
        onListening: @escaping @Sendable (Int) -> Void
    ) -> HTTPDoorServer<NamesDesk> {
        let names = names(by: door.trunk, of: doors)
        let desk = NamesDesk(names, allow: door.allow, states: door.states, counters: self.names, logger: logger)
        return HTTPDoorServer(door.listen, desk, logger: logger, onListening: onListening)
    }

    private func zoneServer(
        _ door: HeraldConfiguration.Doors.CallingNames, of doors: HeraldConfiguration.Doors,
        onListening: @escaping @Sendable (Int) -> Void
    ) -> NumberZoneServer {
        let names = names(by: door.trunk, of: doors)
        return NumberZoneServer(door, names, counters: callingNames, onListening: onListening, logger: logger)
    }

    private func redirectServer(
        _ section: HeraldConfiguration.Doors.Redirect, of doors: HeraldConfiguration.Doors,
        onListening: @escaping @Sendable (Int) -> Void
    ) -> RedirectServer {
        let names = names(by: section.trunk, of: doors)
        let door = RedirectDoor(
            shared.settings, names, unnamed: section.unbranded == .notFound ? .notFound : .serviceUnavailable)
        return RedirectServer(section, door, counters: redirections, onListening: onListening, logger: logger)
    }

    private func verificationServer(
        _ door: HeraldConfiguration.Doors.Verification, onListening: @escaping @Sendable (Int) -> Void
    ) -> HTTPDoorServer<VerificationDesk> {
        let verification = DoorVerification(shared.settings, shared.trust, trunk: door.trunk)
        let desk = VerificationDesk(
            verification, door, counters: self.verification, logger: logger,
            now: { Int64(Date().timeIntervalSince1970) })
        return HTTPDoorServer(door.listen, desk, logger: logger, onListening: onListening)
    }

    /// The names of callers by the rules of a trunk; reports of their calls, if there are any, find them.
    private func names(by trunk: String, of doors: HeraldConfiguration.Doors) -> DoorNames {
        let given = doors.outcomes?.trunk == trunk ? given(by: trunk) : nil
        return DoorNames(shared.settings, shared.branding, shared.trust, trunk: trunk, given: given)
    }

    private func given(by trunk: String) -> GivenNames {
        given.withLock { given in
            let names = given[trunk] ?? GivenNames(now: Self.now)
            given[trunk] = names
            return names
        }
    }

    /// Microseconds since 1970.
    private static let now: @Sendable () -> Int64 = ClockStepDetector.wall

    private func outcomeServer(
        _ door: HeraldConfiguration.Doors.Outcomes, onListening: @escaping @Sendable (Int) -> Void
    ) -> HTTPDoorServer<OutcomeDesk> {
        let names = DoorNames(shared.settings, shared.branding, shared.trust, trunk: door.trunk)
        let reports = DoorReports(names, given: given(by: door.trunk), updates: shared.updates)
        let ledger = StoredDoorCalls(ledger)
        let intake = OutcomeIntake(reports) { try await ledger.has($0) }
        let desk = OutcomeDesk(
            intake, allow: door.allow, rate: door.rate, counters: outcomes, logger: logger, now: Self.now)
        return HTTPDoorServer(door.listen, desk, logger: logger, onListening: onListening)
    }
}
