// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The addresses of a next hop's name, and their lifetime.
public struct NextHopResponse: Hashable, Sendable {
    /// By priority, then falling weight, then address. Empty if the domain declines the service.
    public var hops: [ResolvedHop]
    /// The smallest lifetime of the records, within the configured limits.
    public var lifetime: Duration
    /// Lookups that failed although others gave addresses, with remedies. Empty if all succeeded.
    public var gaps: [String]
}

/// A next hop's name could not be resolved.
public struct NextHopFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the lookup; for SRV with the service in front.
    public let name: String
    public let type: NameRecordType
    public let reason: NameLookupError

    /// `pbx.example.net A: no name server responded in time; check …`.
    public var description: String { "\(name) \(type.name): \(reason)" }
}

/// Resolves a next hop with a fixed transport (RFC 3263 §4.2).
///
/// Pure except for the given lookups: the same records give the same result in any order, so rotating records cause no
/// change. The sender chooses by the weights.
public struct NextHopResolution: Hashable, Sendable {
    /// Addresses of other families are not looked up.
    public var families: AddressFamilies
    /// Lower limit of the lifetime.
    public var shortestLifetime: Duration
    /// Upper limit of the lifetime.
    public var longestLifetime: Duration
    /// Limit of hops per name, and of SRV targets looked up.
    public var hopLimit: Int

    public init(
        families: AddressFamilies = [.ipv4, .ipv6], shortestLifetime: Duration = .seconds(5),
        longestLifetime: Duration = .seconds(3600), hopLimit: Int = 16
    ) {
        self.families = families
        self.shortestLifetime = shortestLifetime
        self.longestLifetime = longestLifetime
        self.hopLimit = hopLimit
    }

    /// Looks up the records that the name needs.
    ///
    /// - Throws: `NextHopFailure` of the deciding lookup if no address was found.
    public func resolve(
        _ name: NextHopName, using lookup: some NameLookup
    ) async throws(NextHopFailure) -> NextHopResponse {
        if let literal = name.literal {
            return NextHopResponse(
                hops: [ResolvedHop(address: literal, priority: 0, weight: 0)], lifetime: longestLifetime, gaps: [])
        }
        if let port = name.port { return try await addresses(of: [NextHopTarget(name.host, port)], using: lookup) }
        let records: [NameRecord]
        do {
            records = try await lookup.records(of: name.serviceName, type: .srv)
        } catch  where error.isAbsence {
            // RFC 3263 §4.2: "If no SRV records were found, the client performs an A or AAAA record lookup".
            return try await addresses(of: [NextHopTarget(name.host, name.transport.defaultPort)], using: lookup)
        } catch {
            // A failing server does not prove that no SRV record exists. The default port might be the wrong one.
            throw NextHopFailure(name: name.serviceName, type: .srv, reason: error)
        }
        return try await service(records, of: name, using: lookup)
    }

    /// Follows SRV records to their targets (RFC 2782).
    private func service(
        _ records: [NameRecord], of name: NextHopName, using lookup: some NameLookup
    ) async throws(NextHopFailure) -> NextHopResponse {
        let targets = records.compactMap(NextHopTarget.init).sorted { $0.order < $1.order }
        let lifetime = records.map(\.timeToLive).min() ?? 0
        let isDeclined = records.contains { $0.isDecline }
        guard !targets.isEmpty else {
            if isDeclined { return NextHopResponse(hops: [], lifetime: clamped(lifetime), gaps: []) }
            throw NextHopFailure(name: name.serviceName, type: .srv, reason: .malformed)
        }
        return try await addresses(of: Array(targets.prefix(hopLimit)), within: lifetime, using: lookup)
    }

    /// Looks up the addresses of all targets at once.
    private func addresses(
        of targets: [NextHopTarget], within lifetime: Int = .max, using lookup: some NameLookup
    ) async throws(NextHopFailure) -> NextHopResponse {
        let questions = targets.flatMap { target in recordTypes.map { (target: target, type: $0) } }
        let outcomes = await withTaskGroup(of: (Int, NameLookupOutcome).self) { group in
            for (position, question) in questions.enumerated() {
                group.addTask {
                    (position, await lookup.outcome(of: question.target.host, type: question.type))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var found = NextHopAddresses(secondsLeft: lifetime)
        for (position, question) in questions.enumerated() {
            guard let outcome = outcomes[position] else { continue }
            found.add(outcome, of: question.target, type: question.type)
        }
        guard let hops = found.ordered(limit: hopLimit) else { throw found.failure(of: targets) }
        return NextHopResponse(
            hops: hops, lifetime: clamped(found.secondsLeft), gaps: found.failures.map(\.description))
    }

    private var recordTypes: [NameRecordType] {
        (families.contains(.ipv4) ? [.a] : []) + (families.contains(.ipv6) ? [.aaaa] : [])
    }

    private func clamped(_ seconds: Int) -> Duration {
        min(max(.seconds(min(seconds, Int(Int32.max))), shortestLifetime), longestLifetime)
    }
}

extension NameLookup {
    /// Returns the records or the error as a value.
    fileprivate func outcome(of name: String, type: NameRecordType) async -> NameLookupOutcome {
        do throws(NameLookupError) {
            return .success(try await records(of: name, type: type))
        } catch {
            return .failure(error)
        }
    }
}

extension NameRecord {
    /// True for "A Target of "." means that the service is decidedly not available at this domain" (RFC 2782).
    fileprivate var isDecline: Bool {
        if case .service(_, _, _, ".") = content { return true }
        return false
    }
}

/// A host with the port and rank of its addresses.
struct NextHopTarget: Hashable, Sendable {
    var host: String
    var port: UInt16
    var priority = 0
    var weight = 0

    init(_ host: String, _ port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Nil for other records than SRV, for a declined service, and without a port.
    init?(_ record: NameRecord) {
        guard case .service(let priority, let weight, let port, let target) = record.content,
            target != ".", port != 0
        else { return nil }
        self.init(target, port)
        self.priority = Int(priority)
        self.weight = Int(weight)
    }

    /// Sorts by priority, then by falling weight, then by name.
    var order: (Int, Int, String, UInt16) { (priority, -weight, host, port) }
}
