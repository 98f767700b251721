// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import SIPTransport
import Synchronization
import TestFixtures

/// A resolver with scripted lookups and a clock that stands, and what it told.
final class ResolverBench: Sendable {
    typealias Published = [NextHopName: [ResolvedHop]]

    let clock = ManualClock()
    let lookup: ScriptedLookup
    let resolver: NextHopResolver
    private let told: Told

    /// What the resolver told from its start on.
    private final class Told: Sendable {
        let changes = Mutex<[Published]>([])
        let notices = Mutex<[String]>([])
    }

    /// Each publication, as texts by host.
    var changes: [[String: [String]]] {
        told.changes.withLock { changes in
            changes.map { change in
                Dictionary(uniqueKeysWithValues: change.map { ($0.key.host, $0.value.map(\.text)) })
            }
        }
    }

    var notices: [String] { told.notices.withLock { $0 } }

    init(_ names: [NextHopName], _ table: ScriptedLookup.Table, path: String? = nil, chance: Double = 0.5) {
        let (told, clock) = (Told(), clock)
        self.told = told
        lookup = ScriptedLookup(table)
        resolver = NextHopResolver(
            names: names, lookup: lookup, settings: .init(path: path),
            time: .init(
                clock: clock, wallSeconds: { 1_800_000_000 + clock.now.offset.components.seconds }, chance: { chance }),
            onChange: { change in told.changes.withLock { $0.append(change) } },
            onNotice: { notice in told.notices.withLock { $0.append(notice) } })
    }

    /// Runs the resolver while the body does, which begins when every name was asked for once.
    func run(sleepers: Int = 1, _ body: @Sendable () async throws -> Void) async rethrows {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.resolver.run() }
            defer { group.cancelAll() }
            await clock.waitForSleepers(sleepers)
            try await body()
        }
    }

    /// Lets time pass and waits until everything that it woke is asleep again.
    func advance(_ duration: Duration, sleepers: Int = 1) async {
        clock.advance(by: duration)
        await clock.waitForSleepers(sleepers)
    }
}

/// A file in a folder of its own, which goes with it.
final class TemporaryFile: Sendable {
    let path: String
    private let folder = TemporaryFolder()

    init() { path = folder.path + "/next-hops.json" }

    var text: String? { FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } }

    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
}
