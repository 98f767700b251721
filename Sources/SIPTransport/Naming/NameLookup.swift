// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// DNS record types with their numbers.
package enum NameRecordType: UInt16, Hashable, Sendable {
    case a = 1
    case aaaa = 28
    case srv = 33
    case naptr = 35

    /// The name in zone files.
    package var name: String {
        switch self {
        case .a: "A"
        case .aaaa: "AAAA"
        case .srv: "SRV"
        case .naptr: "NAPTR"
        }
    }
}

/// One record of a DNS response.
package struct NameRecord: Hashable, Sendable {
    /// The data of a record, by its type.
    package enum Content: Hashable, Sendable {
        /// A or AAAA.
        ///
        /// The port is 0.
        case address(PeerAddress)
        /// SRV (RFC 2782).
        ///
        /// The target "." means that the service is not available.
        case service(priority: UInt16, weight: UInt16, port: UInt16, target: String)
        /// NAPTR (RFC 3403 §4.1).
        case pointer(order: UInt16, preference: UInt16, flags: String, service: String, replacement: String)
    }

    /// Seconds for which the record may be cached, 0 to 2³¹-1.
    package let timeToLive: Int
    package let content: Content

    package init(timeToLive: Int, content: Content) {
        self.timeToLive = timeToLive
        self.content = content
    }
}

/// The reason why a lookup returned no record.
package enum NameLookupError: Error, Hashable, Sendable {
    /// The name does not exist (NXDOMAIN).
    case notFound
    /// The name exists but has no record of the type.
    case noData
    /// A server responded with an error code.
    case serverFailure
    /// No server responded in time.
    case timedOut
    /// The response does not match the question, or is malformed.
    case malformed
    /// No server can be reached, or none listens on its port.
    case unreachable
    /// The name is not valid in DNS.
    case badName
    /// The task was cancelled.
    case cancelled
    /// The system lacks memory or descriptors.
    case other

    /// True if the server states that no such record exists.
    package var isAbsence: Bool { self == .notFound || self == .noData }
}

extension NameLookupError: CustomStringConvertible {
    /// The cause and the remedy.
    package var description: String {
        switch self {
        case .notFound: "the name does not exist; check its spelling and its zone"
        case .noData: "the name has no such records; add them to its zone"
        case .serverFailure: "the name server answered with an error; check the zone, or ask another one (dns.servers)"
        case .timedOut: "no name server answered in time; check dns.servers, /etc/resolv.conf and port 53"
        case .malformed: "the name server's answer is broken; ask another server (dns.servers)"
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
///
/// Tests replace it.
package protocol NameLookup: Sendable {
    /// Returns at least one record of the type.
    ///
    /// The name must be complete; CNAMEs are followed.
    func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord]
}
