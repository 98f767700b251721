// SPDX-License-Identifier: Apache-2.0

/// The limits of one trunk or one route: calls a second, and calls at a time. Any thread, no lock.
package final class TrunkAdmission: Sendable {
    /// The decision about a new call.
    package enum Verdict: Hashable, Sendable {
        case admitted
        /// To be rejected with 503 and Retry-After.
        case refused(Reason, retryAfter: Int)

        /// Nil for an admitted call.
        var orNil: Verdict? { self == .admitted ? nil : self }
    }

    /// The limit that was reached.
    package enum Reason: Hashable, Sendable { case rate, number }

    /// The limits; nil for none.
    package struct Limits: Hashable, Sendable {
        package var callsPerSecond: Double?
        /// Calls that may arrive at once above the rate; by default the rate of one second.
        package var burst: Int?
        package var mostCalls: Int?

        package init(callsPerSecond: Double? = nil, burst: Int? = nil, mostCalls: Int? = nil) {
            self.callsPerSecond = callsPerSecond
            self.burst = burst
            self.mostCalls = mostCalls
        }
    }

    package let limits: Limits
    /// Its calls in progress.
    package let calls: TrunkCalls
    private let rate: RateLimit?

    package init(_ limits: Limits = Limits(), calls: TrunkCalls = TrunkCalls()) {
        self.limits = limits
        self.calls = calls
        rate = limits.callsPerSecond.map { perSecond in
            RateLimit(perSecond: perSecond, burst: limits.burst ?? max(1, Int(perSecond.rounded(.up))))
        }
    }

    /// Asks for one more call beside those in progress; `milliseconds` is monotonic.
    package func admit(at milliseconds: UInt64) -> Verdict {
        if let most = limits.mostCalls, calls.count >= most { return .refused(.number, retryAfter: 5) }
        if let seconds = rate?.take(at: milliseconds) { return .refused(.rate, retryAfter: seconds) }
        return .admitted
    }
}
