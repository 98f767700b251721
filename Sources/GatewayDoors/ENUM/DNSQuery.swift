// SPDX-License-Identifier: Apache-2.0

/// A query as a server of one zone reads it (RFC 1035 §4, RFC 6891).
package struct DNSQuery: Hashable, Sendable {
    /// Numbers of record types and of ranges of types (RFC 1035 §3.2, RFC 3403, RFC 6895 §3.1).
    package enum RecordType {
        package static let nameServer: UInt16 = 2
        package static let authority: UInt16 = 6
        package static let naptr: UInt16 = 35
        package static let options: UInt16 = 41
        /// Types of queries alone, such as ANY and zone transfers, and of records that are never stored.
        package static let queriesAlone: ClosedRange<UInt16> = 128...255
    }

    /// The class of the Internet.
    package static let internet: UInt16 = 1

    package let id: UInt16
    /// RD, which the response repeats.
    package let wantsRecursion: Bool
    /// Name, type and class as they were sent, for the response.
    package let question: [UInt8]
    /// The places of the name's labels in `question`, without their lengths and without the root.
    package let labels: [Range<Int>]
    package let type: UInt16
    package let recordClass: UInt16
    /// The version of EDNS; nil without it.
    package let ednsVersion: UInt8?

    /// Compares labels from `first` on with lower-case ones; ASCII letters in any case agree (RFC 4343).
    package func labels(from first: Int, are lowercased: [[UInt8]]) -> Bool {
        guard labels.count - first == lowercased.count else { return false }
        return zip(labels[first...], lowercased).allSatisfy { place, label in
            question[place].elementsEqual(label) { Self.lowercased($0) == $1 }
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

/// A message that came to a server, by the response that it gets.
package enum DNSMessage: Hashable, Sendable {
    case query(DNSQuery)
    /// A message that is no query of a form that a server of one zone reads.
    case fault(DNSFault)
    /// No response: a response itself, or shorter than a header. Two servers would otherwise send each other errors for ever.
    case ignored
}

/// The parts of a rejected message that its response repeats.
package struct DNSFault: Hashable, Sendable {
    package let id: UInt16
    package let operation: UInt8
    package let wantsRecursion: Bool
    package let code: DNSResponseCode
}

/// The codes of a response (RFC 1035 §4.1.1, RFC 6891 §9).
package enum DNSResponseCode: UInt16, Hashable, Sendable, CaseIterable {
    case noError = 0
    case formatError = 1
    case nameError = 3
    case notImplemented = 4
    case refused = 5
    case badVersion = 16
}
