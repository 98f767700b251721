// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewayStore

/// The time whose calls the first page counts; the raw value is that of the parameter `span`.
enum CountSpan: String, Hashable, Sendable, CaseIterable {
    case day = "24h"
    case week = "7d"

    /// Hours with a count; the present one is the last.
    private var length: Int64 { self == .day ? 24 : 168 }

    /// Hours of a bar, which ends with a day of the local time.
    var hoursOfBar: Int64 { self == .day ? 1 : 4 }

    var label: String { self == .day ? "24 hours" : "7 days" }

    /// Hours since 1970.
    ///
    /// - Parameter now: seconds since 1970.
    func hours(at now: Int64) -> ClosedRange<Int64> {
        let last = now / 3600
        return (last - length + 1)...last
    }
}

/// The calls of a span, as the recorder has counted them.
struct SpanCounts: Hashable, Sendable {
    var span: CountSpan
    /// Hours since 1970.
    var hours: ClosedRange<Int64>
    var counts: HourCounts

    /// Calls from trunks.
    var inbound: [HourCounts.Kind] { counts.kinds.filter(\.isInbound) }

    /// Whether some of them are in shadow.
    var hasShadow: Bool { counts.kinds.contains { $0.decision == PassThroughReason.shadow.description } }

    /// Sums of calls by what they have in common.
    static func sums<Key: Hashable>(
        _ kinds: [HourCounts.Kind], by key: (HourCounts.Kind) -> Key
    ) -> [Key: CallSums] {
        kinds.reduce(into: [:]) { $0[key($1), default: CallSums()] += $1.sums }
    }

    /// The page of calls that shows calls of this span.
    ///
    /// - Parameter hours: some of its hours; nil for all.
    func path(
        _ hours: ClosedRange<Int64>? = nil, decision: String? = nil, brand: String? = nil, customer: String? = nil,
        trunk: String? = nil
    ) -> String {
        CallsLink(hours ?? self.hours, decision: decision, brand: brand, customer: customer, trunk: trunk).path
    }
}
