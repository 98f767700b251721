// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

extension LedgerCallRow {
    /// One event in the course of a call.
    package struct Moment: Hashable, Sendable {
        /// Microseconds since 1970.
        package let at: Int64
        /// Microseconds after the INVITE.
        package let sinceInvite: Int64
        package let what: String
    }

    /// The course of the call, as far as the ledger keeps it.
    package var timeline: [Moment] {
        var story: [(Int64?, String)] = [
            (inviteAt, invite),
            (progressAt, "183, call progress"),
            (ringingAt, "180, the phone rings"),
            (answeredAt, answeredBy.map { "answered by \($0)" } ?? "answered"),
            (cancelledAt, answeredAt == nil ? "the caller gives up" : "the caller gives up, crossed by the 2xx"),
            (refusedAt, "refused\(status.map { " with \($0)" } ?? ""), another attempt is awaited"),
        ]
        if let outcome {
            // A cancelled call ended with the CANCEL, which is listed already.
            let how = answeredAt == nil ? status.map { ", final status \($0)" } ?? "" : ""
            story.append((endedAt, "ended: \(outcome)\(how)"))
        }
        story.append((returnedAt, "the subscriber calls back"))
        return story.enumerated().compactMap { position, entry in
            entry.0.map { (position, Moment(at: $0, sinceInvite: $0 - inviteAt, what: entry.1)) }
        }.sorted { ($0.1.at, $0.0) < ($1.1.at, $1.0) }.map(\.1)
    }
}

extension LedgerCallRow {
    private var invite: String {
        if trust?.isRejected == true { return "INVITE rejected for its signature" }
        return switch CallRecord.reason(ofDecision: decision) {
        case nil: "INVITE with the brand"
        case .signedName: "INVITE with signed values"
        default: "INVITE unbranded: \(decision)"
        }
    }
}

/// Returns each call once when it has ended: `herald calls --follow`.
package struct CallFollower: Sendable {
    private let reader: LedgerReader
    private let filter: CallFilter
    private var newest: Int64
    private var open: Set<Int64>

    /// Begins after the present calls of the ledger; open calls are still awaited.
    package init(_ reader: LedgerReader, _ filter: CallFilter) throws {
        self.reader = reader
        self.filter = filter
        (newest, open) = try reader.standing()
    }

    /// The calls that pass the filter and ended since the last look, in the order of their begin.
    package mutating func next() throws -> [LedgerCallRow] {
        let (last, stillOpen) = try reader.standing()
        var ended = open.subtracting(stillOpen)
        if last > newest { ended.formUnion(Set((newest + 1)...last).subtracting(stillOpen)) }
        (newest, open) = (last, stillOpen)
        guard !ended.isEmpty else { return [] }
        var filter = filter
        filter.rows = ended
        return try reader.calls(matching: filter, limit: ended.count).reversed()
    }
}
