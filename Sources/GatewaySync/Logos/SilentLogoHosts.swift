// SPDX-License-Identifier: Apache-2.0

/// Hosts that gave no answer several times in a row: one that is dead must not hold up the logos of all others.
///
/// Without it each logo of such a host takes a whole timeout, some thousands of them hours.
struct SilentLogoHosts {
    /// Silences in a row after which a host is asked no more.
    static let patience = 3

    private var silences: [String: (count: Int, problem: LogoProblem)] = [:]

    /// What became of the last one asked for, where the host has been silent too often; nil where it may be asked.
    func problem(of host: String) -> LogoProblem? {
        guard let silence = silences[host], silence.count >= Self.patience else { return nil }
        return silence.problem
    }

    /// The host gave an answer, be it a refusal.
    mutating func spoke(_ host: String) { silences[host] = nil }

    /// The host's logo could not be had.
    mutating func note(_ problem: LogoProblem, of host: String) {
        switch problem {
        case .timeout, .network, .unresolvable:
            silences[host] = ((silences[host]?.count ?? 0) + 1, problem)
        default:
            spoke(host)
        }
    }
}
