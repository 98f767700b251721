// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// The kinds of records asked for, by their numbers in DNS.
package enum NameRecordType: UInt16, Hashable, Sendable {
    case a = 1
    case aaaa = 28
    case srv = 33
    case naptr = 35

    /// As zone files write it.
    package var name: String {
        switch self {
        case .a: "A"
        case .aaaa: "AAAA"
        case .srv: "SRV"
        case .naptr: "NAPTR"
        }
    }
}

/// One record of an answer.
package struct NameRecord: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A or AAAA; the port is 0.
        case address(PeerAddress)
        /// SRV (RFC 2782); the target "." says that the service is not there.
        case service(priority: UInt16, weight: UInt16, port: UInt16, target: String)
        /// NAPTR (RFC 3403 §4.1).
        case pointer(order: UInt16, preference: UInt16, flags: String, service: String, replacement: String)
    }

    /// Seconds the record may be used, 0 … 2³¹-1.
    package let timeToLive: Int
    package let content: Content

    package init(timeToLive: Int, content: Content) {
        self.timeToLive = timeToLive
        self.content = content
    }
}

/// Why a name has no records of a type.
package enum NameLookupError: Error, Hashable, Sendable {
    /// The name does not exist (NXDOMAIN).
    case notFound
    /// The name exists and has no records of the type.
    case noData
    /// The servers answered with an error code.
    case serverFailure
    /// No server answered in time.
    case timedOut
    /// What came is no answer to the question, or broken.
    case malformed
    /// Nothing can be sent to the servers, or nobody listens there.
    case unreachable
    /// Not a name that can be asked for.
    case badName
    /// The asking task was cancelled.
    case cancelled
    /// The system has no memory or descriptors left.
    case other

    /// True when the servers say for certain that there is no such record.
    package var isAbsence: Bool { self == .notFound || self == .noData }
}

extension NameLookupError: CustomStringConvertible {
    /// What happened and what to do.
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

/// The records of a name, or why there are none.
typealias NameLookupOutcome = Result<[NameRecord], NameLookupError>

/// The role of asking for the records of a name.
package protocol NameLookup: Sendable {
    /// The records of one type that a complete name has, through aliases; at least one.
    func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord]
}
