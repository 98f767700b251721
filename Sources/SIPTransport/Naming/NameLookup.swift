// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// Record types by their numbers in DNS.
public enum NameRecordType: UInt16, Hashable, Sendable {
    case a = 1
    case aaaa = 28
    case srv = 33
    case naptr = 35

    /// The name of the type in zone files.
    public var name: String {
        switch self {
        case .a: "A"
        case .aaaa: "AAAA"
        case .srv: "SRV"
        case .naptr: "NAPTR"
        }
    }
}

/// One record of a DNS response.
public struct NameRecord: Hashable, Sendable {
    /// The data of a record, by its type.
    public enum Content: Hashable, Sendable {
        /// A or AAAA. The port is 0.
        case address(PeerAddress)
        /// SRV (RFC 2782). The target "." means that the service is not available.
        case service(priority: UInt16, weight: UInt16, port: UInt16, target: String)
        /// NAPTR (RFC 3403 §4.1).
        case pointer(order: UInt16, preference: UInt16, flags: String, service: String, replacement: String)
    }

    /// Lifetime of the record in seconds, 0 … 2³¹-1.
    public let timeToLive: Int
    public let content: Content

    public init(timeToLive: Int, content: Content) {
        self.timeToLive = timeToLive
        self.content = content
    }
}

/// The reason why a lookup returned no record.
public enum NameLookupError: Error, Hashable, Sendable {
    /// The name does not exist (NXDOMAIN).
    case notFound
    /// The name exists but has no record of the type.
    case noData
    /// The servers returned an error code.
    case serverFailure
    /// No server responded in time.
    case timedOut
    /// The response is broken or does not match the query.
    case malformed
    /// The servers cannot be reached, or no server listens there.
    case unreachable
    /// Not a valid name for a lookup.
    case badName
    /// The task was cancelled.
    case cancelled
    /// The system lacks memory or descriptors.
    case other

    /// True if the servers report that no such record exists.
    public var isAbsence: Bool { self == .notFound || self == .noData }
}

extension NameLookupError: CustomStringConvertible {
    /// Cause and remedy.
    public var description: String {
        switch self {
        case .notFound: "the name does not exist; check its spelling and its zone"
        case .noData: "the name has no such records; add them to its zone"
        case .serverFailure: "the name server returned an error; check the zone, or ask another one (dns.servers)"
        case .timedOut: "no name server responded in time; check dns.servers, /etc/resolv.conf and port 53"
        case .malformed: "the name server's response is broken; ask another server (dns.servers)"
        case .unreachable: "the name server cannot be reached; check dns.servers, /etc/resolv.conf and the routes"
        case .badName: "this is no name that can be looked up; write letters, digits, hyphens and dots only"
        case .cancelled: "the lookup was given up"
        case .other: "the system has no memory or descriptors left for a lookup; see `ulimit -n`"
        }
    }
}

/// The records of a name, or the error.
typealias NameLookupOutcome = Result<[NameRecord], NameLookupError>

/// Looks up DNS records.
public protocol NameLookup: Sendable {
    /// Returns the records of one type of a complete name, through aliases; at least one.
    func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord]
}
