// SPDX-License-Identifier: Apache-2.0

/// Skips hosts after several consecutive timeouts, so that a dead host does not delay the logos of others.
///
/// Otherwise each logo of such a host takes a whole timeout: hours for some thousands.
struct HostCircuitBreaker {
    /// Consecutive failures before a host is skipped.
    static let patience = 3

    private var silences: [String: (count: Int, problem: LogoProblem)] = [:]

    /// Returns the last failure of a skipped host; nil if the host may be tried.
    func problem(of host: String) -> LogoProblem? {
        guard let silence = silences[host], silence.count >= Self.patience else { return nil }
        return silence.problem
    }

    /// Records any response of the host.
    mutating func spoke(_ host: String) { silences[host] = nil }

    /// Records a failed fetch from the host.
    mutating func record(_ problem: LogoProblem, of host: String) {
        switch problem {
        case .timeout, .network, .unresolvable:
            silences[host] = ((silences[host]?.count ?? 0) + 1, problem)
        default:
            spoke(host)
        }
    }
}
