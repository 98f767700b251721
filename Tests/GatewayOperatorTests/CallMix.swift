// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import GatewayStore
import GatewayTesting

/// A ledger whose recorder stores a replayed mix of calls: two brands, two usual trunks and some rare ones.
final class CallMix {
    /// A brand with numbers of its own.
    enum Brand: UInt64, CaseIterable {
        case acme = 61_255_501_001
        case bolt = 61_255_501_005

        var name: String { self == .acme ? "Acme" : "Bolt" }
        /// Calls of a usual day.
        var calls: Int { self == .acme ? 60 : 12 }
    }

    /// Marks of the trunks: two that the brands use, a cheap one without trust, and one that an operator adds.
    private static let trunks: [UInt16: String] = [0: "carrier", 1: "overflow", 2: "cheap", 3: "added"]
    /// 2026-01-01T00:00:00Z in seconds.
    private static let start: Int64 = 1_767_225_600

    private let folder: GatewayFolder
    private let database: HeraldDatabase
    private let ring: UpdateRing
    private let recorder: OutcomeRecorder
    private var random: UInt64
    private var count: UInt64 = 0

    var reader: LedgerReader { LedgerReader(database) }

    init(seed: UInt64) throws {
        folder = try GatewayFolder()
        database = try HeraldDatabase(folder: folder.path)
        ring = try UpdateRing(inMemory: 8_192)
        var settings = OutcomeRecorder.Settings()
        settings.trunks = Self.trunks
        recorder = OutcomeRecorder(
            database: database, ring: ring, settings: settings, now: { (Self.start + 40 * 86_400) * 1_000_000 })
        random = seed
    }

    /// Seconds since 1970 of the last hour of a day.
    static func noon(of day: Int64) -> Int64 { start + day * 86_400 + 86_000 }

    /// A usual day: some overflow, now and then a weaker attestation, and a call that somebody forwards over a cheap trunk.
    func normal(day: Int64) throws {
        for brand in Brand.allCases {
            for _ in 0..<brand.calls {
                switch next() % 1000 {
                case ..<40: call(day, brand, trunk: 1, .passedA)
                case ..<45: call(day, brand, trunk: 0, .passedC)
                case ..<48: call(day, brand, trunk: 2, .none, isTrusted: false, reason: .untrusted)
                default: call(day, brand, trunk: 0, .passedA)
                }
            }
        }
        // Calls of numbers without a brand, over all trunks but the added one.
        for trunk in 0..<UInt16(3) {
            call(day, nil, trunk: trunk, .none, isTrusted: trunk < 2, reason: trunk < 2 ? .noMatch : .untrusted)
        }
        try store()
        try sign(day: day, newest: nil, by: "123A")
    }

    /// A call that nobody takes, at a time of the day.
    func call(
        _ day: Int64, _ brand: Brand?, trunk: UInt16, _ verification: Verification, isTrusted: Bool = true,
        reason: PassThroughReason? = nil
    ) {
        count += 1
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isTrusted, evidence.policy) = (.from, isTrusted, .standard)
        (evidence.verification, evidence.lookup) = (verification, reason == nil ? .brandFound : .noBrand)
        let name = reason == nil ? brand?.name ?? "" : ""
        let texts = CallTexts(
            sipCallID: Array("c\(count)".utf8), brandName: Array(name.utf8),
            brandID: Array((name.isEmpty ? "" : "b-\(name)").utf8), subscriber: Array("reception".utf8))
        let begin = Self.start + day * 86_400 + Int64(next() % 80_000)
        let caller = brand.map { $0.rawValue + next() % 2 } ?? 61_255_509_000 + next() % 9
        let destination = 61_255_502_000 + next() % 900
        func update(_ kind: CallUpdate.Kind, _ second: Int64, _ status: UInt16 = 0) -> CallUpdate {
            CallUpdate(
                kind: kind, direction: .inbound, call: CallIdentifier(high: 9, low: count),
                wallMicroseconds: (begin + second) * 1_000_000, status: status, trunk: trunk,
                caller: caller, destination: destination, reason: reason)
        }
        var invite = update(.invite, 0)
        invite.evidence = evidence
        ring.append(invite, texts: texts)
        ring.append(update(.failed, 20, 480))
    }

    /// Stores the calls of the ring.
    func store() throws { while try recorder.drain().updates > 0 {} }

    /// Gives calls of a day a signature, as the recorder does for a known signer.
    ///
    /// - Parameter newest: the number of calls, the latest ones; nil for all of the day without a signature.
    func sign(day: Int64, newest: Int?, by provider: String) throws {
        let begin = (Self.start + day * 86_400) * 1_000_000
        try database.ledger.write { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO call_signature (call, trust, provider)
                    SELECT id, ?, ? FROM call
                    WHERE invite_at BETWEEN ? AND ? AND decision = 'matched' ORDER BY id DESC LIMIT ?
                    """,
                arguments: [
                    Int64(TrustEvidence().facts), provider, begin, begin + 86_400_000_000 - 1, newest ?? 1_000_000,
                ])
        }
    }

    /// A repeatable series (Knuth, MMIX).
    private func next() -> UInt64 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return random >> 33
    }
}
