// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

@Suite("The sentence of a call")
struct CallTitleTests {
    /// A branded call of +61 2 5550 1001 to `reception`, 0 s: the INVITE left with the name.
    static func call(
        _ reason: PassThroughReason? = nil, to subscriber: String = "reception", brand: String? = "Acme Bank",
        direction: CallUpdate.Direction = .inbound, _ change: (inout CallRecord) -> Void = { _ in }
    ) -> CallRecord {
        var record = CallRecord(
            call: CallIdentifier(high: 1, low: 2), direction: direction, sipCallID: "a@b", trunk: "carrier",
            caller: reason == .privacy ? nil : E164Number("+61255501001"), destination: E164Number("+61255502000"),
            subscriber: subscriber, brandName: reason == nil || reason == .signedName ? brand : nil, reason: reason,
            inviteAt: 0)
        var evidence = DecisionEvidence()
        (evidence.isNamed, evidence.writesCallInfo) = (reason == nil || reason == .signedName, true)
        (evidence.isTrusted, evidence.policy) = (true, .standard)
        if direction == .inbound { record.evidence = evidence }
        change(&record)
        return record
    }

    static func text(_ record: CallRecord, returnedAt: Int64? = nil, isContinued: Bool = false) -> String {
        CallStory(record, returnedAt: returnedAt, isContinued: isContinued).title.text { "<\($0)>" }
    }

    /// Rings at 1 s and ends `seconds` later.
    private static func rings(_ record: inout CallRecord, _ outcome: CallOutcome, for seconds: Int64, _ status: UInt16)
    {
        record.ringingAt = 1_000_000
        record.endedAt = (1 + seconds) * 1_000_000
        (record.outcome, record.status) = (outcome, status)
    }

    typealias Ending = (name: String, change: @Sendable (inout CallRecord) -> Void, course: String, shown: String)

    private static let showed = "the phone showed \"Acme Bank\""
    private static let notShown = "no phone showed \"Acme Bank\""

    static let endings: [Ending] = [
        (
            "answered",
            {
                rings(&$0, .answered, for: 65, 200); $0.answeredAt = 5_000_000
            },
            "rang <reception> for 4 s and talked for 1 min 1 s", showed
        ),
        (
            "answered, no BYE",
            {
                rings(&$0, .answered, for: 65, 200); $0.answeredAt = 5_000_000; $0.endIsKnown = false
            },
            "rang <reception> for 4 s and was answered; the end was not seen", showed
        ),
        (
            "a queue",
            {
                rings(&$0, .answered, for: 65, 200); $0.answeredAt = 5_000_000; $0.machine = .system
            },
            "rang <reception> for 4 s and reached a queue or menu for 1 min 1 s", showed
        ),
        (
            "voicemail",
            {
                rings(&$0, .missed, for: 65, 200); $0.answeredAt = 21_000_000; $0.machine = .voicemail
            },
            "rang <reception> for 20 s and reached the voicemail", showed
        ),
        ("missed", { rings(&$0, .missed, for: 12, 480) }, "rang <reception> for 12 s and was not answered", showed),
        (
            "cancelled",
            {
                rings(&$0, .missed, for: 12, 487); $0.cancelledAt = $0.endedAt
            },
            "rang <reception> for 12 s and was not answered", showed
        ),
        (
            "cancelled at once",
            {
                rings(&$0, .missed, for: 1, 487); ($0.ringingAt, $0.cancelledAt) = (nil, 2_000_000)
            },
            "called <reception> and gave up before a phone rang", notShown
        ),
        (
            "nobody there",
            {
                rings(&$0, .missed, for: 1, 480); $0.ringingAt = nil
            },
            "called <reception> and was not answered", notShown
        ),
        ("declined", { rings(&$0, .rejected, for: 4, 603) }, "rang <reception> for 4 s and was declined", showed),
        (
            "busy",
            {
                rings(&$0, .busy, for: 0, 486); $0.ringingAt = nil
            },
            "called <reception> and found the line busy", notShown
        ),
        (
            "failed",
            {
                rings(&$0, .failed, for: 0, 404); $0.ringingAt = nil
            },
            "called <reception> and failed with 404", notShown
        ),
        (
            "lost",
            {
                rings(&$0, .failed, for: 0, 0); ($0.ringingAt, $0.endIsKnown) = (nil, false)
            },
            "called <reception>; the end was not seen", notShown
        ),
        (
            "blocked",
            {
                rings(&$0, .blocked, for: 0, 608); $0.ringingAt = nil
            },
            "called <reception> and was blocked by the network", notShown
        ),
        (
            "elsewhere", { rings(&$0, .answeredElsewhere, for: 3, 487) },
            "rang <reception> for 3 s and was answered at another phone", showed
        ),
        (
            "declined elsewhere", { rings(&$0, .declinedElsewhere, for: 3, 487) },
            "rang <reception> for 3 s and was declined at another phone", showed
        ),
        ("in progress", { _ in }, "is calling <reception>", "the INVITE has \"Acme Bank\""),
        ("ringing", { $0.ringingAt = 1_000_000 }, "is ringing <reception>", "the phone shows \"Acme Bank\""),
        (
            "talking", { ($0.ringingAt, $0.answeredAt) = (1_000_000, 2_000_000) },
            "is talking to <reception>", "the phone shows \"Acme Bank\""
        ),
        (
            "at a queue", { ($0.answeredAt, $0.machine) = (2_000_000, .system) },
            "is at a queue or menu of <reception>", "the INVITE has \"Acme Bank\""
        ),
        (
            "challenged", { ($0.refusedAt, $0.status) = (1_000_000, 407) },
            "called <reception> and got status 407; another attempt is awaited", "the INVITE has \"Acme Bank\""
        ),
    ]

    @Test(arguments: endings.indices) func `each end has its sentence`(place: Int) {
        let ending = Self.endings[place]
        let branded = Self.text(Self.call(nil, ending.change))
        #expect(branded == "Acme Bank \(ending.course); \(ending.shown)", "\(ending.name)")
        let unknown = Self.text(Self.call(.noMatch, ending.change))
        #expect(
            unknown == "<+61255501001> \(ending.course); no brand, because the directory has none for the number",
            "\(ending.name)")
    }

    @Test func `every outcome has a row in the table`() {
        let outcomes = Set(
            Self.endings.compactMap { ending -> CallOutcome? in
                var record = Self.call()
                ending.change(&record)
                return record.outcome
            })
        #expect(outcomes == Set(CallOutcome.allCases))
    }

    @Test(arguments: PassThroughReason.allCases) func `every decision without a brand has its clause`(
        reason: PassThroughReason
    ) {
        let title = Self.text(Self.call(reason) { Self.rings(&$0, .missed, for: 12, 480) })
        switch reason {
        case .signedName:
            #expect(title.hasSuffix("was not answered; the phone showed the signed name \"Acme Bank\""), "\(title)")
        case .privacy:
            #expect(title.hasPrefix("A withheld caller rang <reception>") && !title.contains("61255501001"), "\(title)")
        default:
            #expect(title.contains("; no brand, because ") && title.hasPrefix("<+61255501001> rang"), "\(title)")
        }
    }

    @Test func `an unclear caller, one without a number and the callee's number are named`() {
        let unclear = Self.call(.numberUnclear, to: "1001") { ($0.caller, $0.callerReceived) = (nil, "570157") }
        #expect(Self.text(unclear).hasPrefix("<570157> (unclear) is calling <+61255502000>; no brand, because "))
        let unknown = Self.call(.numberUnclear, to: "") { ($0.caller, $0.destination) = (nil, nil) }
        #expect(Self.text(unknown).hasPrefix("A caller without a number is calling an unknown number; "))
        let withheld = Self.call(.emergency, to: "1001") {
            $0.caller = nil
            $0.destination = nil
            $0.evidence?.isWithheld = true
        }
        #expect(Self.text(withheld).hasPrefix("A withheld caller is calling <1001>; "))
    }

    @Test func `a name that stayed is no name of the brand`() {
        let kept = Self.call { record in
            Self.rings(&record, .missed, for: 2, 480)
            record.evidence?.isNamed = false
        }
        #expect(Self.text(kept).hasSuffix("and was not answered; the carrier's name stayed"))
        let named = Self.text(
            CallRecord(
                call: CallIdentifier(high: 1, low: 2), direction: .inbound, brandName: "Acme Bank", inviteAt: 0))
        #expect(named == "Acme Bank is calling an unknown number; the INVITE has \"Acme Bank\"", "without evidence")
    }

    @Test func `forward, call back and another gateway are clauses`() {
        let record = Self.call { record in
            Self.rings(&record, .missed, for: 12, 480)
            record.isForwarded = true
        }
        #expect(
            Self.text(record, returnedAt: 313_000_000, isContinued: true) == """
                Acme Bank rang <reception> for 12 s and was not answered; the call was forwarded; the phone showed \
                "Acme Bank"; <reception> called back 5 min 0 s later; another gateway goes on with the call
                """)
    }

    @Test func `a call of the PBX has its trunk`() {
        let record = Self.call(.outbound, to: "1001", direction: .outbound) { record in
            Self.rings(&record, .answered, for: 65, 200)
            record.answeredAt = 5_000_000
        }
        #expect(
            Self.text(record)
                == "<1001> rang <+61255502000> for 4 s and talked for 1 min 1 s; the call left by trunk carrier")
        #expect(CallStory(record).missing == nil && CallStory(record).sent == nil)
    }

    @Test func `a call that Herald rejected was not rung`() {
        let record = Self.call(.failedVerification) { record in
            (record.outcome, record.status, record.endedAt) = (.failed, 438, 0)
            var trust = TrustEvidence()
            trust.isRejected = true
            record.trust = trust
        }
        #expect(
            Self.text(record).hasPrefix("<+61255501001> called <reception> and was rejected for its signature with 438")
        )
    }
}
