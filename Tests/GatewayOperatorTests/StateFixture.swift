// SPDX-License-Identifier: Apache-2.0

import Branding
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

    /// 2026-01-01T00:00:00Z in microseconds.
    private static let start: Int64 = 1_767_225_600_000_000

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
            database: database, ring: ring, settings: OutcomeRecorder.Settings(), now: { Self.start + 100_000_000 })
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
            let call = CallIdentifier(high: 7, low: count)
            let texts = CallTexts(
                sipCallID: Array("c\(count)".utf8), brandName: Array("Acme".utf8), subscriber: Array("1001".utf8))
            running?.ring.append(update(.invite, call, 0), texts: texts)
            running?.ring.append(update(.provisional, call, 1, 180))
            running?.ring.append(update(.failed, call, 31, 480))
        }
        try running?.recorder.drain()
    }

    private func update(
        _ kind: CallUpdate.Kind, _ call: CallIdentifier, _ second: Int64, _ status: UInt16 = 0
    ) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: .inbound, call: call, wallMicroseconds: Self.start + second * 1_000_000,
            status: status, caller: 61_255_501_001, destination: 61_255_502_000, reason: nil)
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
