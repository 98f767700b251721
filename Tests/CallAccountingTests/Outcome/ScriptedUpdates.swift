// SPDX-License-Identifier: Apache-2.0

import Branding

@testable import CallAccounting

/// The signals of one call, written as a test reads them: what happened after how many seconds.
struct ScriptedUpdates {
    static let start: Int64 = 1_767_225_600_000_000  // 2026-01-01T00:00:00Z
    var call = CallIdentifier(high: 1, low: 2)
    var direction = CallUpdate.Direction.inbound
    var caller: UInt64 = 4_930_123_456
    var destination: UInt64 = 61_291_234_567
    var reason: PassThroughReason?

    func invite(at seconds: Double = 0) -> CallUpdate { update(.invite, seconds) }
    func provisional(_ status: UInt16, at seconds: Double) -> CallUpdate { update(.provisional, seconds, status) }
    func answered(
        at seconds: Double, by marks: CallUpdate.Marks = [], session: UInt32 = 0
    ) -> CallUpdate {
        var update = update(.answered, seconds, 200)
        update.marks = marks
        update.sessionSeconds = session
        return update
    }
    func refreshed(_ session: UInt32, at seconds: Double) -> CallUpdate {
        var refresh = update(.refreshed, seconds)
        refresh.sessionSeconds = session
        return refresh
    }
    func bye(at seconds: Double) -> CallUpdate { update(.bye, seconds) }

    func failed(_ status: UInt16, q850: UInt16 = 0, sip: UInt16 = 0, at seconds: Double) -> CallUpdate {
        update(.failed, seconds, status, q850, sip)
    }

    func cancelled(q850: UInt16 = 0, sip: UInt16 = 0, at seconds: Double) -> CallUpdate {
        update(.cancelled, seconds, 0, q850, sip)
    }

    private func update(
        _ kind: CallUpdate.Kind, _ seconds: Double, _ status: UInt16 = 0, _ q850: UInt16 = 0, _ sip: UInt16 = 0
    ) -> CallUpdate {
        CallUpdate(
            kind: kind, direction: direction, call: call,
            wallMicroseconds: Self.start + Int64(seconds * 1_000_000), status: status, q850Cause: q850, sipCause: sip,
            caller: caller, destination: destination, reason: reason)
    }
}

extension CallStateMachine {
    /// A machine that has taken an INVITE and then the given signals.
    init(after updates: [CallUpdate], awaitsRedial: Bool = false) {
        let texts = CallTexts(
            sipCallID: Array("a1@trunk".utf8), brandName: Array("Acme Bank".utf8), brandID: Array("b-7".utf8),
            subscriber: Array("1001".utf8))
        self.init(CallRecord(updates[0], texts: texts, trunk: "carrier"), awaitsRedial: awaitsRedial)
        for update in updates.dropFirst() { _ = receive(update) }
    }
}
