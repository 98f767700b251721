// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Branding
import CSQLite
import CallAccounting
import Foundation
import GatewayStore
import Host

/// What an answered call costs from the ring to its rows.
///
/// Half of the calls are branded. A thousand calls are stored once a second, in memory, so that the disk's time is left out.
func recorderBenchmarks() {
    Benchmark("recorder: an answered call, four signals, to its rows") { benchmark in
        let load = try RecorderLoad()
        for _ in 0..<3 { try load.second(of: 1_000) }
        benchmark.startMeasurement()
        // An iteration is a thousand pieces: the calls of one second.
        try load.second(of: benchmark.scaledIterations.count)
        benchmark.stopMeasurement()
    }
}

/// A recorder with files of its own, and calls for it; time is counted, not waited for.
private final class RecorderLoad {
    private final class Clock: @unchecked Sendable {
        var microseconds: Int64 = 1_767_225_600_000_000
    }

    private static let rounds = 22
    private let folder = "/dev/shm/herald-recorder-\(UUID().uuidString)"
    private let clock = Clock()
    private let ring: UpdateRing
    private let recorder: OutcomeRecorder
    private var calls: UInt64 = 0
    /// Signals by the round in which they come.
    private var coming: [Int: [(update: CallUpdate, texts: CallTexts?)]] = [:]
    private var round = 0

    init() throws {
        herald_sqlite_without_statistics()
        let database = try HeraldDatabase(folder: folder)
        ring = try UpdateRing(path: folder + "/signals.ring")
        var settings = OutcomeRecorder.Settings()
        settings.trunks = [1: "carrier"]
        let clock = clock
        recorder = OutcomeRecorder(
            database: database, ring: ring, settings: settings, now: { clock.microseconds },
            clockSteps: ClockStepDetector(steady: { clock.microseconds }))
        try recorder.drain()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func second(of count: Int) throws {
        for turn in 0..<Self.rounds {
            for _ in 0..<(count + turn) / Self.rounds { begin() }
            for (update, texts) in coming.removeValue(forKey: round) ?? [] { ring.append(update, texts: texts) }
            round += 1
            clock.microseconds += 1_000_000 / Int64(Self.rounds)
        }
        while try recorder.drain().updates >= OutcomeRecorder.mostAtOnce {}
    }

    /// Rings at once, is answered 0.1 s later and ended after 0.3.
    private func begin() {
        calls += 1
        let isListed = calls.isMultiple(of: 2)
        // As keyed hashes are: different in all bits.
        let call = CallIdentifier(high: calls &* 0x9e37_79b9_7f4a_7c15, low: calls &* 0xc2b2_ae3d_27d4_eb4f)
        func update(_ kind: CallUpdate.Kind, _ milliseconds: Int64, _ status: UInt16 = 0) -> CallUpdate {
            CallUpdate(
                kind: kind, direction: .inbound, call: call,
                wallMicroseconds: clock.microseconds + milliseconds * 1_000, status: status, trunk: 1,
                caller: 12_025_000_000 + calls % 1_000_000, destination: 12_025_550_142,
                reason: isListed ? nil : .noMatch)
        }
        let texts = CallTexts(
            sipCallID: Array("\(calls)-4711@203.0.113.17".utf8),
            brandName: isListed ? Array("Harbour Insurance 4711".utf8) : [],
            brandID: isListed ? Array("b-4711".utf8) : [], subscriber: Array("+12025550142".utf8))
        coming[round, default: []] += [(update(.invite, 0), texts), (update(.provisional, 5, 180), nil)]
        coming[round + 2, default: []].append((update(.answered, 105, 200), nil))
        coming[round + 6, default: []].append((update(.bye, 305), nil))
    }
}
