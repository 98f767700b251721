// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Synchronization
import Testing

@Suite("Reports of calls whose names came by a door")
struct DoorReportsTests {
    typealias Options = GatewayUnderTest.Options

    private static let start: Int64 = 1_800_000_000_000_000
    private static let brand = #"Acme "Bank""#
    private static let caller = "+61491570156"

    /// A gateway with a door for names, a door for reports, and a clock.
    private final class Doors {
        let gateway: GatewayUnderTest
        let given: GivenNames
        let names: DoorNames
        let reports: DoorReports

        init(_ change: (inout Options) -> Void = { _ in }) throws {
            var options = Options()
            change(&options)
            let gateway = try GatewayUnderTest(
                numbers: [try #require(E164Number(DoorReportsTests.caller))], options: options)
            let clock = Clock()
            self.gateway = gateway
            self.time = clock
            given = GivenNames { clock.now }
            names = DoorNames(
                gateway.shared.settings, gateway.branding, gateway.shared.trust, trunk: "carrier", given: given)
            reports = DoorReports(names, given: given, updates: gateway.ring)
        }

        let time: Clock

        final class Clock: Sendable {
            private let time = Mutex(DoorReportsTests.start - 3_600_000_000)
            var now: Int64 { time.withLock { $0 } }
            func set(_ seconds: Int64) { time.withLock { $0 = DoorReportsTests.start + seconds * 1_000_000 } }
        }

        /// A client asks for the caller's name at a second.
        func ask(at second: Int64, number: String = DoorReportsTests.caller, called: String = "") {
            time.set(second)
            _ = names.name(of: StatedCall(number: Array(number.utf8), called: Array(called.utf8)))
        }
    }

    /// A call that rings after 2 s, is answered after 5 s and ends after 65 s.
    private func outcome(
        caller: String = caller, called: String = "+61291234567", id: String = "1800000000.7", shown: String = brand
    ) -> StatedOutcome {
        var outcome = StatedOutcome(
            StatedCall(number: Array(caller.utf8), called: Array(called.utf8)), callID: Array(id.utf8),
            began: Self.start, ended: Self.start + 65_000_000)
        (outcome.rang, outcome.answered) = (Self.start + 2_000_000, Self.start + 5_000_000)
        outcome.shownName = Array(shown.utf8)
        return outcome
    }

    // MARK: The join

    /// The second of the lookup, and the reason of the report.
    static let lookups: [(second: Int64?, reason: PassThroughReason?)] = [
        (0, nil), (1, nil), (-60, nil), (61, nil), (-61, .notAsked), (63, .notAsked), (nil, .notAsked),
    ]

    @Test(arguments: lookups) func `a report is joined with a lookup of its time`(
        second: Int64?, reason: PassThroughReason?
    ) throws {
        let doors = try Doors()
        if let second { doors.ask(at: second) }
        let report = try #require(doors.reports.report(outcome()))
        #expect(report.reason == reason && report.isShown == (reason == nil))
        #expect(doors.gateway.updates().first?.reason == reason)
    }

    @Test func `a lookup of another number does not count`() throws {
        let doors = try Doors()
        doors.ask(at: 0, number: "+61491570157")
        #expect(doors.reports.report(outcome())?.reason == .notAsked)
        #expect(doors.reports.report(outcome(caller: "+61491570157", id: "2"))?.reason == .noMatch)
    }

    /// The name on the phone, and whether it is the brand's.
    static let names: [(shown: String, isShown: Bool)] = [
        (brand, true), ("\"\(brand)\"", true), (" \(brand) ", true), ("", false), ("Carrier", false),
        ("acme \"bank\"", false), (brand + "!", false),
    ]

    @Test(arguments: names) func `a name counts as shown only if the phone had exactly it`(
        shown: String, isShown: Bool
    ) throws {
        let doors = try Doors()
        doors.ask(at: 0)
        let report = try #require(doors.reports.report(outcome(shown: shown)))
        #expect(report.reason == nil && report.isShown == isShown)
        let invite = try #require(doors.gateway.updates().first)
        #expect(invite.evidence?.isByDoor == true && invite.evidence?.isNamed == isShown)
    }

    @Test func `a call from before the start needs the name on the phone, because lookups are forgotten`() throws {
        let doors = try Doors()
        var early = outcome()
        early.began = Self.start - 3_600_000_001
        #expect(doors.reports.report(early)?.reason == nil)
        early.callID = Array("3".utf8)
        early.ended = early.began + 1_000_000
        early.answered = early.began
        #expect(doors.reports.report(early)?.reason == nil, "a PBX repeats the report of a call at the start")
        early.callID = Array("4".utf8)
        early.began -= 302_000_000
        early.ended = early.began + 1_000_000
        early.answered = early.began
        #expect(doors.reports.report(early)?.reason == .notAsked)
        early.callID = Array("2".utf8)
        early.shownName = []
        #expect(doors.reports.report(early)?.reason == .notAsked)
    }

    // MARK: Callers and numbers without events

    @Test(arguments: ["anonymous", "Restricted", "+266696687"])
    func `a withheld caller has neither number nor Call-ID`(caller: String) throws {
        let doors = try Doors()
        doors.ask(at: 0)
        let report = try #require(doors.reports.report(outcome(caller: caller, id: "61491570156-1@sbc")))
        #expect(report.reason == .privacy && !report.isShown)
        var texts: [CallTexts?] = []
        _ = doors.gateway.ring.read(after: 0, limit: 9) { update, text in
            #expect(update.caller == 0)
            texts.append(text)
        }
        let callID = String(decoding: try #require(texts[0]).sipCallID, as: UTF8.self)
        #expect(callID.hasPrefix("withheld-") && !callID.contains("61491570156"))
    }

    @Test func `an emergency call has no brand, though the door gave a name`() throws {
        let doors = try Doors { $0.emergencyNumbers = ["000"] }
        doors.ask(at: 0)
        #expect(doors.reports.report(outcome(called: "000"))?.reason == .emergency)
    }

    @Test func `a closed gate and an untrusted trunk have their own reasons`() throws {
        #expect(
            try Doors { $0.gates = BrandingGates(capReached: true) }.reports.report(outcome())?.reason
                == .gatedCapReached)
        #expect(try Doors { $0.isTrusted = false }.reports.report(outcome())?.reason == .untrusted)
        #expect(try Doors().reports.report(outcome(caller: "61"))?.reason == .numberUnclear)
    }

    // MARK: Identifiers

    @Test func `a repeated report has the identifier of the first, whatever else it has`() throws {
        let doors = try Doors()
        let first = doors.reports.identifiers(of: outcome())
        #expect(first == doors.reports.identifiers(of: outcome(caller: "anonymous", called: "1", shown: "")))
        #expect(first != doors.reports.identifiers(of: outcome(id: "1800000000.8")))
        let other = DoorReports(
            DoorNames(
                doors.gateway.shared.settings, doors.gateway.branding, doors.gateway.shared.trust, trunk: "second"),
            given: doors.given, updates: doors.gateway.ring)
        #expect(first != other.identifiers(of: outcome()))
    }

    @Test func `a replaced secret still finds the calls of the one before`() throws {
        let secret = Secret(key0: 7, key1: 8)
        let before = try Doors { $0.secret = secret }.reports.identifiers(of: outcome())
        let after = try Doors { $0.secret = Secret(key0: 9, key1: 9).replacing(secret) }.reports.identifiers(
            of: outcome())
        #expect(after.count == 2 && after.last == before.first)
    }

    // MARK: The course of a call

    /// Codes of a PBX and the status of the call, by RFC 3398 §7.2.4.1.
    static let ends: [(cause: UInt16, status: UInt16)] = [
        (1, 404), (2, 404), (3, 404), (17, 486), (18, 408), (19, 480), (20, 480), (21, 403), (22, 410), (23, 410),
        (26, 487), (27, 502), (28, 484), (29, 501), (16, 487), (31, 487), (34, 503), (38, 503), (41, 503), (42, 503),
        (47, 503), (55, 403), (57, 403), (58, 503), (65, 488), (70, 488), (79, 501), (87, 403), (88, 503), (102, 504),
        (111, 500), (127, 500), (0, 487),
    ]

    @Test(arguments: ends) func `a cause of Q.850 ends a call as its SIP status would`(cause: UInt16, status: UInt16) {
        #expect(ReportedEnd(cause: cause).finalStatus == status)
        #expect(ReportedEnd(status: 603, cause: cause).finalStatus == 603)
    }

    @Test func `the updates are those of a call that passes`() throws {
        let doors = try Doors()
        _ = doors.reports.report(outcome())
        #expect(doors.gateway.updates().map(\.kind) == [.invite, .provisional, .answered, .bye])
        var missed = outcome(id: "2")
        (missed.answered, missed.end) = (nil, ReportedEnd(cause: 16))
        _ = doors.reports.report(missed)
        #expect(doors.gateway.updates().dropFirst(4).map(\.kind) == [.invite, .provisional, .cancelled, .failed])
        var voicemail = outcome(id: "3")
        voicemail.answerer = .voicemail
        _ = doors.reports.report(voicemail)
        #expect(doors.gateway.updates().suffix(2).first?.marks == .voicemail)
    }

    @Test func `a name of another customer is never taken`() throws {
        let given = GivenNames { 7 }
        let number = try #require(E164Number("+61491570156"))
        given.add(GivenNames.Name(text: "A", brandID: "a", customer: 1), of: number)
        given.add(GivenNames.Name(text: "B", brandID: "b", customer: 2), of: number)
        let always = Int64.min...Int64.max
        #expect(given.newest(of: number, in: always, for: 1)?.brandID == "a")
        #expect(given.newest(of: number, in: always, for: 3) == nil && given.newest(of: number, in: always) == nil)
        // By a lookup without a called number.
        given.add(GivenNames.Name(text: "C", brandID: "c"), of: number)
        #expect(given.newest(of: number, in: always, for: 1)?.brandID == "a")
        #expect(given.newest(of: number, in: always, for: 3)?.brandID == "c")
    }

    @Test func `names are kept up to a number, the oldest give way`() throws {
        let clock = Doors.Clock()
        let given = GivenNames(most: 2) { clock.now }
        let numbers = try ["+61491570156", "+61491570157", "+61491570158"].map { try #require(E164Number($0)) }
        for number in numbers { given.add(GivenNames.Name(text: "A", brandID: "a"), of: number) }
        let always = Int64.min...Int64.max
        #expect(given.newest(of: numbers[0], in: always) == nil)
        #expect(
            given.newest(of: numbers[1], in: always)?.text == "A" && given.newest(of: numbers[2], in: always) != nil)
        given.add(GivenNames.Name(text: "B", brandID: "b"), of: numbers[2])
        #expect(
            given.newest(of: numbers[2], in: always)?.text == "B" && given.newest(of: numbers[1], in: always) == nil)
    }
}
