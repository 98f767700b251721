// SPDX-License-Identifier: Apache-2.0

import Branding

/// The messages of a call between trunk, Herald and PBX, in their order, as far as the ledger keeps them.
///
/// As Homer and sngrep draw a call: three lifelines, and an arrow for each message on each side of Herald.
public struct CallLadder: Hashable, Sendable {
    /// The direction of a message on one side of Herald.
    public enum Arrow: String, Hashable, Sendable, CaseIterable {
        case toPBX
        case toTrunk
        /// The ledger does not know which side sent it.
        case either
    }

    /// One message, or the end of the call without one.
    public struct Rung: Hashable, Sendable {
        /// Microseconds since 1970.
        public let at: Int64
        /// Microseconds after the first INVITE.
        public let sinceInvite: Int64
        /// Method or status; empty without a message.
        public let label: String
        /// Between trunk and Herald; nil without a message there.
        public let left: Arrow?
        /// Between Herald and PBX.
        public let right: Arrow?
        public let what: String
        /// True for the first INVITE, which has the evidence and the changed header lines.
        public let isFirst: Bool
    }

    public let rungs: [Rung]

    public init(_ story: CallStory) {
        let messages = Messages(record: story.record).all(returnedAt: story.returnedAt)
        let start = story.record.inviteAt
        rungs = messages.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map {
            let (position, message) = ($0.offset, $0.element)
            return Rung(
                at: message.at, sinceInvite: message.at - start, label: message.label, left: message.left,
                right: message.right, what: message.what, isFirst: position == 0)
        }
    }

    /// The messages of a record, in the order of a usual call.
    private struct Messages {
        typealias Message = (at: Int64, label: String, left: Arrow?, right: Arrow?, what: String)

        let record: CallRecord

        /// Requests of the caller, and responses of the callee.
        private var forth: Arrow { record.direction == .inbound ? .toPBX : .toTrunk }
        private var back: Arrow { record.direction == .inbound ? .toTrunk : .toPBX }

        func all(returnedAt: Int64?) -> [Message] {
            let answered = record.answeredBy.map { "answered by \($0.rawValue)" } ?? "answered"
            if record.isByDoor { return reported.compactMap { $0 } }
            let messages: [Message?] = [
                invite, attempt, response(record.progressAt, "183", "183, call progress"),
                response(record.ringingAt, "180", "180, the phone rings"),
                response(record.answeredAt, "200", answered), cancel,
                response(record.refusedAt, "\(record.status)", "refused\(refusal), another attempt is awaited"), end,
                returnedAt.map { time -> Message in (time, "INVITE", .toTrunk, .toTrunk, "the subscriber calls back") },
            ]
            return messages.compactMap { $0 }
        }

        /// The times that a PBX reported: no message of the call passed here.
        private var reported: [Message?] {
            func report(_ time: Int64?, _ what: String) -> Message? {
                time.map { time -> Message in (time, "", nil, nil, what) }
            }
            let name = record.reason.map { "unbranded: \($0)" } ?? "the door gave the name"
            return [
                report(record.inviteAt, "the call began, as the PBX reported; \(name)"),
                report(record.ringingAt, "the phone rang"),
                report(record.answeredAt, record.answeredBy.map { "answered by \($0.rawValue)" } ?? "answered"),
                report(record.endedAt, "ended: \(record.outcome?.rawValue ?? "")"),
            ]
        }

        private var invite: Message {
            // Herald responds in the place of the PBX.
            let right = record.isRejected ? nil : forth
            return (record.inviteAt, "INVITE", forth, right, decision)
        }

        private var decision: String {
            if record.direction == .outbound { return "INVITE of the PBX" }
            if record.isRejected { return "INVITE rejected for its signature" }
            return switch record.reason {
            case nil: "INVITE with the brand"
            case .signedName: "INVITE with signed values"
            case let reason?: "INVITE unbranded: \(reason)"
            }
        }

        private var attempt: Message? {
            record.attemptAt.map { time -> Message in (time, "INVITE", forth, forth, "attempt \(record.attempts)") }
        }

        private func response(_ time: Int64?, _ status: String, _ what: String) -> Message? {
            time.map { time -> Message in (time, status, back, back, what) }
        }

        private var refusal: String { record.status == 0 ? "" : " with \(record.status)" }

        private var cancel: Message? {
            record.cancelledAt.map { time -> Message in
                let what = record.answeredAt == nil ? "the caller gives up" : "the caller gives up, crossed by the 2xx"
                return (time, "CANCEL", forth, forth, what)
            }
        }

        private var end: Message? {
            guard let outcome = record.outcome, let time = record.endedAt else { return nil }
            let status = record.answeredAt == nil && record.status > 0 ? ", final status \(record.status)" : ""
            let what = "ended: \(outcome.rawValue)\(status)"
            if record.answeredAt != nil {
                // A call of voicemail has no duration, so nothing shows whether a BYE was seen.
                return record.endIsKnown ? (time, "BYE", .either, .either, what) : (time, "", nil, nil, what)
            }
            // A cancelled call ends with the CANCEL.
            guard record.status >= 300, time != record.cancelledAt else { return (time, "", nil, nil, what) }
            let (left, right) = finalResponse
            return (time, "\(record.status)", left, right, what)
        }

        /// The arrows of a final response: Herald gives one in the place of a PBX, and for a target that does not respond.
        private var finalResponse: (left: Arrow?, right: Arrow?) {
            if record.isRejected { return (back, nil) }
            guard record.status == 408 || record.status == 503 else { return (back, back) }
            return record.direction == .inbound ? (back, .either) : (.either, back)
        }
    }
}
