// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GRDB
import GatewayStore
import GatewayTesting
import Host
import Primitives
import Testing

@testable import GatewayOperator

/// A replayed mix of calls in the real store: four weeks to learn, a normal week, and days with spoofed calls.
@Suite("Alarms of spoofed numbers")
struct SpoofingAlarmTests {
    private static let settings = HeraldConfiguration.Alarms()

    /// The kinds and brands of the alarms of a day.
    private static func kinds(_ mix: CallMix, day: Int64) throws -> Set<String> {
        let alarms = try mix.reader.spoofingAlarms(settings, days: 1, now: CallMix.noon(of: day))
        return Set(alarms.map { "\($0.brand) \($0.kind.rawValue)" })
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a normal week after four weeks has no alarm`(seed: UInt64) throws {
        let mix = try CallMix(seed: seed)
        for day in 0..<Int64(35) { try mix.normal(day: day) }
        for day in 0..<Int64(35) {
            #expect(try Self.kinds(mix, day: day).isEmpty, "day \(day)")
        }
    }

    @Test func `three kinds of spoofing have an alarm each, for their brand alone`() throws {
        let mix = try CallMix(seed: 7)
        for day in 0..<Int64(31) { try mix.normal(day: day) }
        // From a cheap trunk that is not trusted.
        for _ in 0..<20 {
            mix.call(28, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted)
        }
        try mix.store()
        // From the usual trunk, with a failed check.
        for _ in 0..<20 { mix.call(29, .acme, trunk: 0, .failed, reason: .failedVerification) }
        try mix.store()
        // Signed by a provider that never signed for the brand.
        for _ in 0..<20 { mix.call(30, .acme, trunk: 0, .passedA) }
        try mix.store()
        try mix.sign(day: 30, newest: 20, by: "999Z")
        #expect(try Self.kinds(mix, day: 28) == ["Acme attestation", "Acme trunk", "Acme untrusted"])
        #expect(try Self.kinds(mix, day: 29) == ["Acme attestation"])
        #expect(try Self.kinds(mix, day: 30) == ["Acme provider"])
    }

    @Test func `a digest has evidence and no callee`() throws {
        let mix = try CallMix(seed: 7)
        for day in 0..<Int64(29) { try mix.normal(day: day) }
        for _ in 0..<20 { mix.call(28, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted) }
        try mix.store()
        let alarms = try mix.reader.spoofingAlarms(Self.settings, days: 1, now: CallMix.noon(of: 28))
        let alarm = try #require(alarms.first { $0.kind == .trunk })
        #expect(alarm.calls >= 20 && alarm.findings.first?.name == "cheap" && alarm.threshold >= 5)
        #expect(alarm.usual == ["carrier", "overflow"] && !alarm.examples.isEmpty)
        #expect(alarm.numbers.allSatisfy { $0.hasPrefix("+6125550100") })
        let text = try Output.line(json: alarm.json)
        #expect(!text.contains("61255502") && !text.contains("reception"), "\(text)")
        #expect(alarm.key == "alarm:2026-01-29:trunk::b-Acme:Acme")
    }

    @Test func `a brand in its first week, or with few calls, has no alarm`() throws {
        let mix = try CallMix(seed: 7)
        for day in 0..<Int64(6) { try mix.normal(day: day) }
        for _ in 0..<50 { mix.call(5, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted) }
        try mix.store()
        #expect(try Self.kinds(mix, day: 5).isEmpty)
        let few = try CallMix(seed: 7)
        for day in 0..<Int64(10) { few.call(day, .acme, trunk: 0, .passedA) }
        for _ in 0..<50 { few.call(10, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted) }
        try few.store()
        #expect(try Self.kinds(few, day: 10).isEmpty)
    }

    @Test func `an added carrier is learned without an alarm of its trunk`() throws {
        let mix = try CallMix(seed: 7)
        for day in 0..<Int64(29) { try mix.normal(day: day) }
        for _ in 0..<30 { mix.call(28, .acme, trunk: 3, .passedA) }
        try mix.store()
        #expect(try Self.kinds(mix, day: 28).isEmpty)
    }

    @Test func `an attack of some days stays an alarm`() throws {
        let mix = try CallMix(seed: 7)
        for day in 0..<Int64(34) {
            try mix.normal(day: day)
            guard day >= 28 else { continue }
            for _ in 0..<20 { mix.call(day, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted) }
            try mix.store()
        }
        for day in 28..<Int64(34) { #expect(try Self.kinds(mix, day: day).contains("Acme untrusted"), "\(day)") }
    }

    @Test func `a hostile provider is escaped in the table and in the log`() throws {
        let mix = try CallMix(seed: 7)
        for day in 0..<Int64(29) { try mix.normal(day: day) }
        for _ in 0..<20 { mix.call(28, .acme, trunk: 0, .passedA) }
        try mix.store()
        try mix.sign(day: 28, newest: 20, by: "\u{1B}[2J\u{202E}<script>")
        let alarms = try mix.reader.spoofingAlarms(Self.settings, days: 1, now: CallMix.noon(of: 28))
        #expect(alarms.map(\.kind) == [.provider])
        let table = AlarmListing.table(alarms, .wide)
        #expect(!table.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" }, "\(table.debugDescription)")
        let standing = AlarmStanding()
        standing.read(alarms, at: CallMix.noon(of: 28))
        let gauges = standing.gauges.map(\.value)
        #expect(gauges == [0, 0, 0, 1])
    }

    /// The kinds of alarms of a brand of 50 calls a day and 1,000 on each seventh, of which 0.9 % are forwarded.
    ///
    /// - Parameters:
    ///   - weeks: whether the days before have such campaigns, or the last day is the first one.
    ///   - forwarded: forwarded calls of the last day, a campaign.
    private static func kindsOfCampaign(weeks: Bool, forwarded: Int) -> [SpoofingAlarm.Kind] {
        func arrivals(_ day: Int64, _ calls: Int, isForwarded: Bool) -> BrandArrivals {
            var evidence = DecisionEvidence()
            (evidence.isTrusted, evidence.verification) = (!isForwarded, isForwarded ? .none : .passedA)
            return BrandArrivals(
                owner: .init(brand: "Acme", brandID: "b-7", customer: nil), day: day,
                way: .init(trunk: isForwarded ? "cheap" : "carrier", evidence: evidence, isBranded: !isForwarded),
                calls: calls, firstAt: 0, lastAt: 0)
        }
        let rows = (0..<Int64(28)).flatMap { day in
            let isCampaign = weeks && day % 7 == 0
            let forwarded = isCampaign ? 9 : day % 3 == 1 ? 1 : 0
            return [arrivals(day, isCampaign ? 1_000 : 50, isForwarded: false)]
                + (forwarded > 0 ? [arrivals(day, forwarded, isForwarded: true)] : [])
        }
        let today = [arrivals(28, 1_000, isForwarded: false), arrivals(28, forwarded, isForwarded: true)]
        return SpoofingRules(settings: settings, trunks: ["carrier": -99, "cheap": -99])
            .alarms(of: 28, rows + today).map(\.kind)
    }

    @Test(arguments: [true, false])
    func `a day of many calls has more unusual ones without an alarm`(weeks: Bool) {
        #expect(Self.kindsOfCampaign(weeks: weeks, forwarded: 9).isEmpty)
        #expect(Self.kindsOfCampaign(weeks: weeks, forwarded: 60) == [.attestation, .trunk, .untrusted])
    }
}
