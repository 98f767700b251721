// SPDX-License-Identifier: Apache-2.0

/// Writes the response to one query.
///
/// Owners of records are pointers into the question, so a response is not much longer than its query (RFC 1035 §4.1.4).
package struct DNSResponse: Sendable {
    /// The most bytes of a response. Every path carries them in one datagram, and no response is truncated for its length.
    package static let longest = 512
    /// The largest datagram that this server receives, for EDNS.
    private static let payload: UInt16 = 1232

    private(set) package var bytes: [UInt8] = []

    /// Begins a response with header and question.
    ///
    /// - Parameters:
    ///   - isAuthoritative: for names of the zone.
    ///   - isTruncated: asks the client to repeat the query over TCP.
    init(to query: DNSQuery, _ code: DNSResponseCode, isAuthoritative: Bool, isTruncated: Bool = false) {
        let flags =
            0x8000 | (isAuthoritative ? 0x0400 : 0) | (isTruncated ? 0x0200 : 0) | (query.wantsRecursion ? 0x0100 : 0)
        append(query.id)
        append(UInt16(flags) | code.rawValue & 0xF)
        append(UInt16(1))
        bytes += [0, 0, 0, 0, 0, 0]
        bytes += query.question
    }

    /// The response to a message that is not read further: its header alone.
    init(to fault: DNSFault) {
        append(fault.id)
        let flags = 0x8000 | UInt16(fault.operation) << 11 | (fault.wantsRecursion ? 0x0100 : 0)
        append(flags | fault.code.rawValue & 0xF)
        bytes += [0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// The sections of records, by the place of their count in the header.
    enum Section: Int { case answer = 6, authority = 8, additional = 10 }

    /// Adds a record of the Internet.
    ///
    /// - Parameters:
    ///   - owner: place of the owner's name in the question.
    ///   - lifetime: in seconds.
    mutating func append(
        _ section: Section, owner: Int, type: UInt16, lifetime: UInt32, _ write: (inout DNSResponse) -> Void
    ) {
        count(section)
        point(to: owner)
        append(type)
        append(DNSQuery.internet)
        append(lifetime)
        let length = bytes.count
        append(UInt16(0))
        write(&self)
        let written = UInt16(bytes.count - length - 2)
        (bytes[length], bytes[length + 1]) = (UInt8(written >> 8), UInt8(written & 0xFF))
    }

    /// Adds the OPT record of a query with EDNS (RFC 6891 §6.1.1).
    mutating func appendOptions(_ code: DNSResponseCode) {
        count(.additional)
        bytes.append(0)
        append(DNSQuery.RecordType.options)
        append(Self.payload)
        bytes += [UInt8(code.rawValue >> 4), 0, 0, 0, 0, 0]
    }

    private mutating func count(_ section: Section) { bytes[section.rawValue + 1] += 1 }

    // MARK: Parts of records

    mutating func append(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(value & 0xFF)] }

    mutating func append(_ value: UInt32) {
        append(UInt16(value >> 16))
        append(UInt16(value & 0xFFFF))
    }

    /// Adds a pointer to a name of the question.
    mutating func point(to place: Int) { append(0xC000 | UInt16(DNSMessage.header + place)) }

    /// Adds a text with its length; at most 255 bytes.
    mutating func append(text: some Collection<UInt8>) {
        bytes.append(UInt8(text.count))
        bytes += text
    }

    /// Adds the name of the root.
    mutating func appendRoot() { bytes.append(0) }
}
