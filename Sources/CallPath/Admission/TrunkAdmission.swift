// SPDX-License-Identifier: Apache-2.0

/// The limits of one trunk or one route: calls a second, and calls at a time. Any thread, no lock.
public final class TrunkAdmission: Sendable {
    /// The decision about a new call.
    public enum Verdict: Hashable, Sendable {
        case admitted
        /// To be rejected with 503 and Retry-After.
        case refused(Reason, retryAfter: Int)

        /// Nil for an admitted call.
        var orNil: Verdict? { self == .admitted ? nil : self }
    }

    /// The limit that was reached.
    public enum Reason: Hashable, Sendable { case rate, number }

    /// The limits; nil for none.
    public struct Limits: Hashable, Sendable {
        public var callsPerSecond: Double?
        /// Calls that may arrive at once above the rate; by default the rate of one second.
        public var burst: Int?
        public var mostCalls: Int?

        public init(callsPerSecond: Double? = nil, burst: Int? = nil, mostCalls: Int? = nil) {
            self.callsPerSecond = callsPerSecond
            self.burst = burst
            self.mostCalls = mostCalls
        }
    }

    public let limits: Limits
    /// Its calls in progress.
    public let calls: TrunkCalls
    private let rate: RateLimit?

    public init(_ limits: Limits = Limits(), calls: TrunkCalls = TrunkCalls()) {
        self.limits = limits
        self.calls = calls
        rate = limits.callsPerSecond.map { perSecond in
            RateLimit(perSecond: perSecond, burst: limits.burst ?? max(1, Int(perSecond.rounded(.up))))
        }
    }

    /// Asks for one more call beside those in progress; `milliseconds` is monotonic.
    public func admit(at milliseconds: UInt64) -> Verdict {
        if let most = limits.mostCalls, calls.count >= most { return .refused(.number, retryAfter: 5) }
        if let seconds = rate?.take(at: milliseconds) { return .refused(.rate, retryAfter: seconds) }
        return .admitted
    }
}
