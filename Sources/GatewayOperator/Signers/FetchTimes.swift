// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Trust

/// The times between two fetches of one address. All are seconds; `chance` is in 0 ..< 1.
enum FetchTimes {
    /// Pauses after failures in a row; the last one repeats.
    private static let pauses: [Int64] = [30, 120, 600, 3600]
    /// The pause after a certificate that cannot be used, and the shortest time in which one is kept (ATIS-1000074).
    static let day: Int64 = 86_400
    /// The shortest time between two fetches of a certificate that counts.
    private static let shortest: Int64 = 3600

    /// The pause after failures in a row, counted from one, spread by ± 20 %.
    static func pause(afterFailures count: Int, _ cause: TrustCause, chance: Double) -> Int64 {
        let pause = cause == .certificateUnreachable ? pauses[min(max(count, 1), pauses.count) - 1] : day
        return Int64(Double(pause) * (0.8 + 0.4 * chance))
    }

    private static let hour: Int64 = 3600

    /// The pause of a list after failures in a row, counted from one, spread by ± 20 %. A list that is refused is read again
    /// after an hour.
    static func pauseOfList(afterFailures count: Int, isRefused: Bool, chance: Double) -> Int64 {
        pause(afterFailures: isRefused ? pauses.count : count, .certificateUnreachable, chance: chance)
    }

    /// The time of the next fetch of a list: after an hour, or after the time that the host permits, six hours at most.
    ///
    /// From the last hour of a list to a day after its end it is every ten minutes, until the next one is there.
    /// - Parameters:
    ///   - lifetime: that of the host; nil without one.
    ///   - end: the end of the list.
    static func nextList(at now: Int64, lifetime: Int64?, end: Int64?, chance: Double) -> Int64 {
        let pause = min(max(lifetime ?? hour, hour), 6 * hour)
        let next = now + Int64(Double(pause) * (1 - 0.2 * chance))
        guard let end, now - end < day else { return next }
        return min(next, max(end - hour, now + 600))
    }

    /// The end of a certificate in the store, and the time of its refresh: at 80 % of its life, or a day before its end.
    ///
    /// - Parameters:
    ///   - lifetime: that of the host; less than a day counts as a day.
    ///   - end: the last second of the chain.
    static func refresh(
        at now: Int64, lifetime: Int64?, end: Int64, chance: Double
    ) -> (expires: Int64, next: Int64) {
        guard end > now else { return (end, now + day) }
        let expires = min(now + min(max(lifetime ?? 0, day), end - now), end)
        let life = Int64(Double(expires - now) * (0.8 - 0.1 * chance))
        return (expires, max(min(now + life, end - day), now + shortest))
    }
}
