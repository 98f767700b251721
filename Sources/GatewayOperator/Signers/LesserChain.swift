// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Trust

/// The reason why a fetched chain does not replace the stored one of its address.
///
/// A host that sends an old file, or whose page anybody has changed, takes no good certificate out of use.
struct LesserChain: Equatable {
    let cause: TrustCause
    let reason: String

    /// Nil for a chain that replaces the stored one: as good as that one, or the stored one is not in force.
    ///
    /// A chain with a later beginning may have an earlier end: providers change to certificates of shorter life.
    /// - Parameters:
    ///   - fetched: decided by the same rules as the stored one.
    ///   - now: seconds since 1970.
    init?(_ fetched: StoredSigner, beside stored: KnownFetch.Chain, at now: Int64) {
        let passed = TrustCause.passed.rawValue
        guard stored.standings.contains(passed), stored.validity.contains(now) else { return nil }
        let (first, last) = (fetched.validity.lowerBound, fetched.validity.upperBound)
        if last < now {
            self.init(.certificateExpired, "the fetched certificate ended at \(OperatorTime.text(last))")
        } else if first > now {
            self.init(.certificateExpired, "the fetched certificate begins at \(OperatorTime.text(first))")
        } else if let lost = zip(stored.standings, fetched.standings).first(where: { $0 == passed && $1 != passed }) {
            let cause = TrustCause(rawValue: lost.1) ?? .certificateMalformed
            self.init(cause, "the fetched certificate counts under fewer regimes")
        } else if last < stored.validity.upperBound, first <= stored.validity.lowerBound {
            self.init(
                .certificateExpired, "the fetched certificate is an older one, until \(OperatorTime.text(last))")
        } else {
            return nil
        }
    }

    private init(_ cause: TrustCause, _ reason: String) {
        self.cause = cause
        self.reason = reason
    }
}
