// SPDX-License-Identifier: Apache-2.0

import Branding

/// The account of one call for a reader: a sentence, the brand that was sent, a ladder, and the reason of a missing brand.
///
/// Pure. The page of a call and `herald calls show` print the same story.
public struct CallStory: Hashable, Sendable {
    public let record: CallRecord
    /// Time of the subscriber's call back, in microseconds since 1970; nil for none.
    public let returnedAt: Int64?
    /// True if another gateway goes on with the call.
    public let isContinued: Bool

    public init(_ record: CallRecord, returnedAt: Int64? = nil, isContinued: Bool = false) {
        (self.record, self.returnedAt, self.isContinued) = (record, returnedAt, isContinued)
    }

    /// Whether a phone of the callee is known to have rung or to have been answered.
    public var hasReachedPhone: Bool { record.reach != nil }

    /// The reason of a missing brand with its remedy; nil for a call with a brand and for one from the PBX.
    public var missing: MissingBrand? {
        guard record.direction == .inbound, let reason = record.reason else { return nil }
        return MissingBrand(
            reason, trunk: record.trunk, evidence: record.evidence,
            caller: record.caller.map { StoryText(number: $0.description) })
    }
}
