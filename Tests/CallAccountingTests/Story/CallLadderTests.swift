// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

@Suite("The ladder of a call")
struct CallLadderTests {
    /// `second: left label right: meaning` of each rung; `>` leads to the PBX, `<` to the trunk, `-` is unknown.
    private static func rows(_ record: CallRecord, returnedAt: Int64? = nil) -> [String] {
        func mark(_ arrow: CallLadder.Arrow?) -> String {
            switch arrow {
            case nil: "."
            case .toPBX: ">"
            case .toTrunk: "<"
            case .either: "-"
            }
        }
        return CallLadder(CallStory(record, returnedAt: returnedAt)).rungs.map {
            "\($0.sinceInvite / 1_000_000): \(mark($0.left)) \($0.label) \(mark($0.right)): \($0.what)"
        }
    }

    private static func call(
        _ reason: PassThroughReason? = nil, direction: CallUpdate.Direction = .inbound,
        _ change: (inout CallRecord) -> Void
    ) -> CallRecord {
        CallTitleTests.call(reason, direction: direction, change)
    }

    @Test func `an answered call that is returned`() {
        let record = Self.call { record in
            (record.progressAt, record.ringingAt, record.answeredAt) = (1_000_000, 2_000_000, 9_000_000)
            (record.endedAt, record.outcome, record.status) = (70_000_000, .answered, 200)
        }
        #expect(
            Self.rows(record, returnedAt: 99_000_000) == [
                "0: > INVITE >: INVITE with the brand", "1: < 183 <: 183, call progress",
                "2: < 180 <: 180, the phone rings", "9: < 200 <: answered", "70: - BYE -: ended: ANSWERED",
                "99: < INVITE <: the subscriber calls back",
            ])
    }

    @Test func `a call of the PBX has its arrows the other way`() {
        let record = Self.call(.outbound, direction: .outbound) { record in
            record.ringingAt = 2_000_000
            (record.endedAt, record.outcome, record.status) = (9_000_000, .rejected, 603)
        }
        #expect(
            Self.rows(record) == [
                "0: < INVITE <: INVITE of the PBX", "2: > 180 >: 180, the phone rings",
                "9: > 603 >: ended: REJECTED, final status 603",
            ])
    }

    @Test func `a cancelled call ends with the CANCEL`() {
        let record = Self.call(.noMatch) { record in
            (record.ringingAt, record.cancelledAt, record.endedAt) = (1_000_000, 3_000_000, 3_000_000)
            (record.outcome, record.status) = (.missed, 487)
        }
        #expect(
            Self.rows(record) == [
                "0: > INVITE >: INVITE unbranded: no_match", "1: < 180 <: 180, the phone rings",
                "3: > CANCEL >: the caller gives up", "3: .  .: ended: MISSED, final status 487",
            ])
    }

    @Test func `attempts, the response of Herald and an unseen end`() {
        let redialled = Self.call { record in
            (record.attempts, record.attemptAt) = (2, 1_000_000)
            (record.refusedAt, record.status) = (2_000_000, 407)
        }
        #expect(
            Self.rows(redialled) == [
                "0: > INVITE >: INVITE with the brand", "1: > INVITE >: attempt 2",
                "2: < 407 <: refused with 407, another attempt is awaited",
            ])
        let silent = Self.call { ($0.endedAt, $0.outcome, $0.status) = (32_000_000, .failed, 503) }
        #expect(Self.rows(silent).last == "32: < 503 -: ended: FAILED, final status 503", "a target that is silent")
        let rejected = Self.call(.failedVerification) { record in
            (record.endedAt, record.outcome, record.status) = (0, .failed, 438)
            var trust = TrustEvidence()
            trust.isRejected = true
            record.trust = trust
        }
        #expect(
            Self.rows(rejected) == [
                "0: > INVITE .: INVITE rejected for its signature", "0: < 438 .: ended: FAILED, final status 438",
            ])
        let lost = Self.call { record in
            (record.answeredAt, record.endedAt, record.outcome) = (1_000_000, 9_000_000, .answered)
            (record.endIsKnown, record.status) = (false, 200)
        }
        #expect(Self.rows(lost).last == "9: .  .: ended: ANSWERED", "no BYE was seen")
    }

    @Test func `the header lines are those that the evidence shows`() {
        func changes(_ change: (inout CallRecord) -> Void) -> [HeaderChange] {
            CallStory(Self.call(nil, change)).changes
        }
        let all = changes { record in
            record.evidence?.header = .pAssertedIdentity
            record.evidence?.logo = .written
            record.evidence?.callReason = .leftOut
        }
        #expect(
            all == [
                .name(field: "From", before: nil, after: "Acme Bank"),
                .name(field: "P-Asserted-Identity", before: nil, after: "Acme Bank"),
                .callInfo(logo: true, callReason: false),
            ])
        let untrusted = changes { record in
            record.evidence?.header = .pAssertedIdentity
            record.evidence?.isTrusted = false
        }
        #expect(untrusted == [.name(field: "From", before: nil, after: "Acme Bank")])
        let kept = changes { record in
            record.evidence?.isNamed = false
            record.evidence?.callReason = .written
        }
        #expect(kept == [.callInfo(logo: false, callReason: true)])
        let linked = changes { record in
            record.evidence?.isNamed = false
            record.evidence?.hasCardLink = true
        }
        #expect(linked == [.cardLink])
        #expect(CallStory(Self.call(.noMatch) { _ in }).changes.isEmpty)
    }
}
