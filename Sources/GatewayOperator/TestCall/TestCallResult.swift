// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

/// The end of a test call as its caller saw it; times in milliseconds since the INVITE.
struct TestCallResult: Hashable, Sendable {
    /// The call back of the PBX.
    struct CallBack: Hashable, Sendable {
        /// Its From.
        var from: String
        var after: UInt64
    }

    /// The final response; nil for none.
    var status: Int?
    /// Its first line without the version, such as `486 Busy Here`.
    var response: String?
    /// The causes in the Reason of the final response.
    private var causes = ReasonCauses()
    /// The first 180 or 183.
    var ringAfter: UInt64?
    /// A 180 came.
    var rang = false
    var answeredAfter: UInt64?
    /// From the 2xx to the end.
    var talked: UInt64?
    var isCancelled = false
    var wasEndedByPBX = false
    /// No response to the INVITE came.
    var isSilent = false
    /// Why the test ended before its time; nil for the ordinary end.
    var interruption: String?
    var callBack: CallBack?

    mutating func failed(_ response: SIPMessage, _ status: Int, wasCancelled: Bool) {
        self.status = status
        isCancelled = wasCancelled
        causes = ReasonCauses(of: response)
        self.response = Self.line(of: response)
    }

    mutating func answered(_ status: Int, after time: UInt64) {
        self.status = status
        answeredAfter = time
    }

    private static func line(of response: SIPMessage) -> String {
        let line = response.bytes.prefix { $0 != 13 && $0 != 10 }
        return String(decoding: line.dropFirst("SIP/2.0 ".utf8.count), as: UTF8.self)
    }

    /// The outcome that an ordinary call would have in the ledger.
    var outcome: CallOutcome {
        if answeredAfter != nil { return .answered }
        return CallEnding(
            status: UInt16(clamping: status ?? 0), q850Cause: causes.q850, sipCause: causes.sip, rang: rang,
            alerted: ringAfter != nil, cancelled: isCancelled
        ).outcome
    }

    /// Why a call back would not count as `returned`, by `outcomes.returned_originals`; nil where it would.
    func returnObstacle(answeredToo: Bool) -> String? {
        if outcome.isUnanswered || answeredToo && outcome == .answered { return nil }
        return "a call that rang and was \(answeredToo ? "answered or not" : "not answered")"
    }
}
