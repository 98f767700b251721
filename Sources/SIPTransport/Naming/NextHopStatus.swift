// SPDX-License-Identifier: Apache-2.0

/// What is known of one next hop's name, for the operator.
package struct NextHopStatus: Hashable, Sendable {
    package let name: NextHopName
    /// The addresses in use; nil when the name was never resolved, empty when the domain declines the service.
    package let hops: [ResolvedHop]?
    /// Since the last good answer; nil when there was none.
    package let age: Duration?
    /// Failed lookups in a row.
    package let failures: Int
    /// What failed last and what to do; nil when the last lookup was good.
    package let problem: String?

    init(_ name: NextHopName, _ entry: NextHopEntry, wall: Int64) {
        self.name = name
        hops = entry.hops
        age = entry.answeredAt.map { .seconds(max(wall - $0, 0)) }
        failures = entry.failures
        problem = entry.problem
    }

    /// One line for the log.
    var notice: String {
        guard let problem else { return "next hop \(name) is resolved again" }
        guard let hops, let age else { return "next hop \(name) has no address yet: \(problem)" }
        let kept = "\(hops.count) addresses, \(age.components.seconds) s old"
        return "next hop \(name) keeps its last answer (\(kept)): \(problem)"
    }
}
