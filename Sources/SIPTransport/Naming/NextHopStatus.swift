// SPDX-License-Identifier: Apache-2.0

/// State of one next hop's name, for the operator.
public struct NextHopStatus: Hashable, Sendable {
    public let name: NextHopName
    /// The addresses in use. Nil if the name was never resolved, empty if the domain declines the service.
    public let hops: [ResolvedHop]?
    /// Age of the last good result; nil without one.
    public let age: Duration?
    /// Consecutive failed lookups.
    public let failures: Int
    /// The last failure with its remedy; nil if the last lookup succeeded.
    public let problem: String?

    init(_ name: NextHopName, _ entry: NextHopEntry, wall: Int64) {
        self.name = name
        hops = entry.hops
        age = entry.resolvedAt.map { .seconds(max(wall - $0, 0)) }
        failures = entry.failures
        problem = entry.problem
    }

    /// A line for the log.
    var notice: String {
        guard let problem else { return "next hop \(name) is resolved again" }
        guard let hops, let age else { return "next hop \(name) has no address yet: \(problem)" }
        let kept = "\(hops.count) addresses, \(age.components.seconds) s old"
        return "next hop \(name) keeps its last result (\(kept)): \(problem)"
    }
}
