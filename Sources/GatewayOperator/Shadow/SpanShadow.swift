// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewayStore

/// The ended calls in shadow of a span, as the recorder has counted them.
struct SpanShadow: Hashable, Sendable {
    var span: CountSpan
    /// Hours since 1970.
    var hours: ClosedRange<Int64>
    var counts: ShadowCounts

    /// The sums of all calls in shadow.
    var all: CallSums { Self.sum(counts.kinds) }

    /// The calls that would have had a brand, or values of a signature.
    var branded: [ShadowCounts.Kind] { counts.kinds.filter { $0.decision == Self.decision } }

    /// The calls that would have had no brand.
    var unbranded: [ShadowCounts.Kind] { counts.kinds.filter { $0.decision != Self.decision } }

    private static let decision = PassThroughReason.shadow.description

    static func sum(_ kinds: [ShadowCounts.Kind]) -> CallSums {
        kinds.reduce(into: CallSums()) { $0 += $1.sums }
    }

    /// The kinds by what they have in common, those of the most calls first.
    static func groups<Key: Hashable & Comparable>(
        _ kinds: [ShadowCounts.Kind], by key: (ShadowCounts.Kind) -> Key
    ) -> [(key: Key, kinds: [ShadowCounts.Kind])] {
        Dictionary(grouping: kinds, by: key).map { (key: $0.key, kinds: $0.value) }
            .sorted { (sum($1.kinds).calls, $0.key) < (sum($0.kinds).calls, $1.key) }
    }

    /// The page of calls that shows calls of this span.
    func path(decision: String, brand: String, customer: String?) -> String {
        CallsLink(hours, decision: decision, brand: brand, customer: customer).path
    }
}
