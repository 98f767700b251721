// SPDX-License-Identifier: Apache-2.0

/// Limits the datagrams of each source, by leaky buckets in bounded memory.
///
/// A source is an IPv4 address or an IPv6 network of 64 bits. With UDP a source may be forged, and its victim gets the responses.
/// So of two datagrams above the limit one is dropped, and the other gets a reduced response, which is no longer than the
/// request. A real client goes on by it. Source: the response rate limiting of BIND, with a slip of 2. Not thread-safe.
struct SourceRates: Sendable {
    enum Verdict: Hashable, Sendable { case granted, reduced, dropped }

    private struct Bucket {
        /// Microseconds at which the bucket is empty.
        var emptyAt: UInt64 = 0
        var excess: UInt64 = 0
    }

    /// The most sources with a bucket of their own; further ones share one.
    static let mostSources = 4096
    private static let sweepPause: UInt64 = 100_000

    private let interval: UInt64
    private var buckets: [[UInt8]: Bucket] = [:]
    private var shared = Bucket()
    private var sweptAt: UInt64 = 0

    /// - Parameter perSecond: datagrams of one source, 1 to 1,000,000; as many may come at once.
    init(perSecond: Int) { interval = UInt64(1_000_000 / min(max(perSecond, 1), 1_000_000)) }

    /// Takes one datagram of a source.
    ///
    /// - Parameters:
    ///   - address: 4 or 16 bytes.
    ///   - microseconds: of a monotonic clock.
    mutating func take(_ address: [UInt8], at microseconds: UInt64) -> Verdict {
        let source = address.count == 16 ? Array(address.prefix(8)) : address
        if buckets[source] == nil, buckets.count >= Self.mostSources, !sweep(microseconds) {
            return Self.take(&shared, microseconds, interval)
        }
        return Self.take(&buckets[source, default: Bucket()], microseconds, interval)
    }

    private static func take(_ bucket: inout Bucket, _ now: UInt64, _ interval: UInt64) -> Verdict {
        let ahead = bucket.emptyAt > now ? bucket.emptyAt - now : 0
        guard ahead + interval <= 1_000_000 else {
            bucket.excess += 1
            return bucket.excess % 2 == 1 ? .reduced : .dropped
        }
        bucket.emptyAt = max(bucket.emptyAt, now) + interval
        return .granted
    }

    /// Removes empty buckets, at most ten times a second; true if there is capacity.
    private mutating func sweep(_ now: UInt64) -> Bool {
        guard now >= sweptAt + Self.sweepPause else { return false }
        sweptAt = now
        buckets = buckets.filter { $0.value.emptyAt > now }
        return buckets.count < Self.mostSources
    }
}
