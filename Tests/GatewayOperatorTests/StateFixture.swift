// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GRDB
import GatewayStore
import TestFixtures

@testable import GatewayOperator

/// The state folder of a gateway with calls, whose recorder may be stopped, killed and started again.
final class StateFixture {
    private let temporary = TemporaryFolder()
    /// The state folder.
    let state: String
    private var running: (database: HeraldDatabase, ring: UpdateRing, recorder: OutcomeRecorder)?
    private var count: UInt64 = 0

    init() throws {
        state = temporary.path + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try put([1, 2, 3], "secret")
        try put(Array("device-1\n".utf8), "device-id")
        try begin()
    }

    /// A path beside the state folder.
    func path(_ name: String) -> String { temporary.path + "/" + name }

    /// Writes a file of the state folder.
    func put(_ bytes: [UInt8], _ name: String) throws {
        let url = URL(fileURLWithPath: state + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    /// The content of a file of the state folder; nil without it.
    func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: state + "/" + name).map(Array.init)
    }

    /// Starts the recorder on what is in the folder.
    func begin() throws {
        let database = try HeraldDatabase(folder: state)
        let ring = try UpdateRing(path: path("signals.ring"), capacity: 4_096)
        let recorder = OutcomeRecorder(
            database: database, ring: ring, settings: OutcomeRecorder.Settings(),
            now: { EndedCalls.start + 100_000_000 })
        try recorder.drain()
        running = (database, ring, recorder)
    }

    /// Stops as a gateway does: the ring is read, the databases are closed.
    func stop() throws {
        try running?.recorder.drain()
        try running?.database.close()
        running = nil
    }

    /// Stores missed calls with the Call-IDs `c1`, `c2` and so on.
    func end(_ calls: Int) throws {
        for _ in 0..<calls {
            count += 1
            running?.ring.appendMissed(count, brand: "Acme")
        }
        try running?.recorder.drain()
    }

    /// The calls and the keys of the events in a file, each sorted.
    static func accounts(in file: String) throws -> [[String]] {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: file, configuration: configuration).read { database in
            try #"SELECT sip_call_id FROM call ORDER BY 1;SELECT key FROM event ORDER BY 1"#.split(separator: ";").map {
                try String.fetchAll(database, sql: String($0))
            }
        }
    }

    /// The calls and the keys of the events in the state folder.
    func accounts() throws -> [[String]] { try Self.accounts(in: state + "/herald.sqlite") }

    /// Names and contents of all files, to see that nothing has changed.
    func everything() throws -> [String: [UInt8]] {
        try FileManager.default.subpathsOfDirectory(atPath: state).reduce(into: [:]) { files, name in
            if name != "lock" { files[name] = content(name) }
        }
    }
}
