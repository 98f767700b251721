// SPDX-License-Identifier: Apache-2.0

/// Skips hosts after several consecutive timeouts, so that a dead host does not delay the fetches from others.
///
/// Otherwise each file of such a host takes a whole timeout: hours for some thousands.
package struct HostCircuitBreaker: Sendable {
    /// Consecutive failures before a host is skipped.
    static let patience = 3
    /// The most hosts in memory; those beyond it are tried.
    static let mostHosts = 10_000

    private struct Silence {
        var count: Int
        var failure: FetchFailure
        var until: Int64
    }

    private var silences: [String: Silence] = [:]
    private let pause: Int64

    /// - Parameter pause: seconds for which a host is skipped; nil for the life of the value.
    package init(pause: Int64? = nil) { self.pause = pause ?? .max / 2 }

    /// Returns the last failure of a skipped host; nil if the host may be tried.
    package func failure(of host: String, at now: Int64 = 0) -> FetchFailure? {
        guard let silence = silences[host], silence.count >= Self.patience, now < silence.until else { return nil }
        return silence.failure
    }

    /// Records any response of the host.
    package mutating func spoke(_ host: String) { silences[host] = nil }

    /// Records a failed fetch from the host. A failure with a response shows that the host lives.
    package mutating func record(_ failure: FetchFailure, of host: String, at now: Int64 = 0) {
        guard failure.isSilence else { return spoke(host) }
        if silences.count >= Self.mostHosts { silences = silences.filter { now < $0.value.until } }
        guard silences.count < Self.mostHosts || silences[host] != nil else { return }
        silences[host] = Silence(count: (silences[host]?.count ?? 0) + 1, failure: failure, until: now + pause)
    }

    /// The hosts that are skipped.
    package func skipped(at now: Int64) -> Set<String> {
        Set(silences.lazy.filter { $0.value.count >= Self.patience && now < $0.value.until }.map(\.key))
    }
}
