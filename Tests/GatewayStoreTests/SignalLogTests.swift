// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import HeraldTesting
import Testing

@testable import GatewayStore

@Suite("Signal log: what a round keeps")
struct SignalLogTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }
    private var path: String { folder + "/signals.log" }
    private static let ring: Int64 = 77

    private func open() throws -> SignalLog { try SignalLog(path: path, size: 4_096) }

    private static func signals(_ numbers: ClosedRange<UInt64>) -> PackedSignals {
        var signals = PackedSignals()
        for number in numbers {
            signals.append(
                CallSignal(
                    kind: .bye, direction: .inbound, call: CallIdentifier(high: 1, low: number), wallMicroseconds: 1),
                texts: nil)
        }
        return signals
    }

    /// Numbers of the calls a start would take from the log.
    private func replayed(
        ledgerAt position: UInt64?, of ring: Int64 = SignalLogTests.ring
    ) throws -> (calls: [UInt64], reached: UInt64?) {
        let log = try open()
        var calls: [UInt64] = []
        let reached = try log.replay(position: { $0 == ring ? position : nil }) { signal, _ in
            calls.append(signal.call.low)
        }
        return (calls, reached?.position)
    }

    /// Signals 11 to 13 and 14 to 15, kept while the ledger stood at 10.
    private func keepTwoRounds() throws {
        var log = try open()
        try log.append(Self.signals(11...13), ringID: Self.ring, after: 10, through: 13)
        try log.append(Self.signals(14...15), ringID: Self.ring, after: 13, through: 15)
    }

    @Test func `what was kept is handed out from where the ledger stands`() throws {
        try keepTwoRounds()
        #expect(try replayed(ledgerAt: 10) == ([11, 12, 13, 14, 15], 15))
    }

    @Test(arguments: [0, 9, 11, 12, 13, 14, 15, 16, nil] as [UInt64?])
    func `a log that does not begin where the ledger stands is old, and nothing is taken from it`(
        position: UInt64?
    ) throws {
        try keepTwoRounds()
        #expect(try replayed(ledgerAt: position) == ([], nil))
    }

    @Test func `nothing is taken for a ring the ledger has never read`() throws {
        try keepTwoRounds()
        #expect(try replayed(ledgerAt: 10, of: 78) == ([], nil))
    }

    @Test func `a new log is empty, and so is one of zeros`() throws {
        #expect(try replayed(ledgerAt: 0) == ([], nil))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 4_096)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `written anew from its beginning, nothing older comes out`() throws {
        try keepTwoRounds()
        var log = try open()
        // The records before take as many bytes as one of these and one more: the second old one stands right behind.
        try log.append(Self.signals(16...18), ringID: Self.ring, after: 15, through: 18)
        #expect(try replayed(ledgerAt: 15) == ([16, 17, 18], 18))
        log.rewind()
        try log.append(Self.signals(19...19), ringID: Self.ring, after: 18, through: 19)
        #expect(try replayed(ledgerAt: 18) == ([19], 19))
    }

    @Test func `a byte damaged anywhere costs its round and those after it, no more`() throws {
        try keepTwoRounds()
        let whole = try Data(contentsOf: URL(filePath: path))
        let first = 48 + Self.signals(11...13).bytes.count
        let length = first + 48 + Self.signals(14...15).bytes.count
        for index in 0..<length {
            var damaged = whole
            damaged[index] ^= 0x10
            try damaged.write(to: URL(filePath: path))
            let (calls, reached) = try replayed(ledgerAt: 10)
            #expect(calls == (index < first ? [] : [11, 12, 13]))
            #expect(reached == (index < first ? nil : 13))
        }
    }

    @Test func `cut off anywhere, whole rounds come out`() throws {
        try keepTwoRounds()
        let whole = try Data(contentsOf: URL(filePath: path))
        let first = 48 + Self.signals(11...13).bytes.count
        for length in [1, 47, 48, first - 8, first, first + 47, first + 48] {
            // What a power cut leaves of the file is as long as before.
            try (whole.prefix(length) + Data(count: whole.count - length)).write(to: URL(filePath: path))
            #expect(try replayed(ledgerAt: 10).calls == (length < first ? [] : [11, 12, 13]))
        }
    }

    @Test func `room goes down by what is kept and comes back`() throws {
        var log = try open()
        let room = log.room
        try log.append(Self.signals(1...2), ringID: Self.ring, after: 0, through: 2)
        let used = room - log.room
        #expect(used == 48 + Self.signals(1...2).bytes.count)
        log.rewind()
        let after = log.room
        #expect(after == room)
    }

    @Test func `a log that cannot be made says which, why and for how long`() throws {
        let error = #expect(throws: SignalLogError.self) { _ = try SignalLog(path: "/nowhere/x.log", size: 4_096).room }
        #expect(error?.description == "cannot use the signal log /nowhere/x.log: No such file or directory")
    }
}
