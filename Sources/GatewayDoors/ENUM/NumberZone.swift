// SPDX-License-Identifier: Apache-2.0

package import Branding
package import ConfigurationFiles

/// A zone of DNS with a calling name for each branded number (RFC 6116, draft-ietf-enum-cnam-08).
///
/// The name of a number has its digits in reverse order, each as a label: `1.0.3.1.0.5.5.5.2.1.6.cnam.example.net` for
/// +61255501301. It has one NAPTR record. The zone knows no other name, server or zone: it resolves nothing, and lists nothing.
/// Any thread; a response takes no I/O and no lock beyond those of `find`.
package struct NumberZone: Sendable {
    /// Finds the record of a number.
    package typealias Find = @Sendable (E164Number) -> FoundCallingName

    /// The result of a query, for counters.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        case named, unavailable, empty, refused, malformed, limited
        /// A number with a brand that its trunk does not show.
        case shadow
    }

    /// A response and its outcome.
    package struct Reply: Hashable, Sendable {
        package let bytes: [UInt8]
        package let outcome: Outcome
    }

    private let zone: ZoneName
    private let uri: CallingNameURI
    private let lifetime: UInt32
    private let find: Find

    /// - Parameter lifetime: for which a resolver keeps a response, in seconds.
    package init(_ zone: ZoneName, uri: CallingNameURI = CallingNameURI(), lifetime: UInt32, find: @escaping Find) {
        (self.zone, self.uri) = (zone, uri)
        (self.lifetime, self.find) = (lifetime, find)
    }

    /// The response to a message of any content; nil for none.
    ///
    /// - Parameter isLimited: true for a client above its limit: it is asked to repeat the query over TCP.
    package func reply(to message: DNSMessage, isLimited: Bool = false) -> Reply? {
        switch message {
        case .ignored: nil
        case .fault(let fault): Reply(bytes: DNSResponse(to: fault).bytes, outcome: .malformed)
        case .query(let query) where isLimited:
            Self.end(DNSResponse(to: query, .noError, isAuthoritative: false, isTruncated: true), query, .limited)
        case .query(let query): reply(to: query)
        }
    }

    private func reply(to query: DNSQuery) -> Reply {
        if let version = query.ednsVersion, version != 0 { return Self.refusal(of: query, .badVersion) }
        let depth = query.labels.count - zone.labels.count
        guard query.recordClass == DNSQuery.internet, query.type != 0, query.type != DNSQuery.RecordType.options,
            !DNSQuery.RecordType.queriesAlone.contains(query.type), depth >= 0,
            query.labels(from: depth, are: zone.labels)
        else { return Self.refusal(of: query, .refused) }
        // Length bytes come before each label; a zone begins with the one of its first label.
        let apex = query.labels[depth].lowerBound - 1
        guard depth > 0 else { return apexReply(to: query) }
        guard depth <= 15, let digits = Self.digits(of: query, depth) else { return empty(query, .nameError, apex) }
        // Digits without a record may be the beginning of a longer number, so their name exists (RFC 8020 §2).
        guard query.type == DNSQuery.RecordType.naptr, let number = E164Number(plusDigits: digits) else {
            return empty(query, .noError, apex)
        }
        let found = find(number)
        let reply = found.record.map { self.found(query, $0) } ?? empty(query, .noError, apex)
        return found.isInShadow ? Reply(bytes: reply.bytes, outcome: .shadow) : reply
    }

    /// A plus sign and the digits of the first labels in the order of the number; nil unless each label is a digit.
    private static func digits(of query: DNSQuery, _ count: Int) -> [UInt8]? {
        var digits = [UInt8(ascii: "+")]
        for place in query.labels[..<count].reversed() {
            let byte = query.question[place.lowerBound]
            guard place.count == 1, (0x30...0x39).contains(byte) else { return nil }
            digits.append(byte)
        }
        return digits
    }

    private func found(_ query: DNSQuery, _ record: CallingNameRecord) -> Reply {
        var response = DNSResponse(to: query, .noError, isAuthoritative: true)
        response.append(.answer, owner: 0, type: DNSQuery.RecordType.naptr, lifetime: lifetime) { data in
            data.append(UInt16(10))
            data.append(UInt16(100))
            data.append(text: "u".utf8)
            data.append(text: "E2U+pstndata:cnam".utf8)
            data.append(text: Array("!^.*$!".utf8) + uri.bytes(record) + [UInt8(ascii: "!")])
            data.appendRoot()
        }
        let outcome: Outcome =
            switch record {
            case .name: .named
            case .unavailable: .unavailable
            }
        return Self.end(response, query, outcome)
    }

    /// The records of the zone itself: where it begins, and that its server is its own.
    private func apexReply(to query: DNSQuery) -> Reply {
        switch query.type {
        case DNSQuery.RecordType.authority:
            var response = DNSResponse(to: query, .noError, isAuthoritative: true)
            appendAuthority(.answer, to: &response, 0)
            return Self.end(response, query, .empty)
        case DNSQuery.RecordType.nameServer:
            var response = DNSResponse(to: query, .noError, isAuthoritative: true)
            response.append(.answer, owner: 0, type: query.type, lifetime: lifetime) { $0.point(to: 0) }
            return Self.end(response, query, .empty)
        default: return empty(query, .noError, 0)
        }
    }

    /// A response without a record. The record of the zone has the time for which a resolver keeps it (RFC 2308 §3).
    private func empty(_ query: DNSQuery, _ code: DNSResponseCode, _ apex: Int) -> Reply {
        var response = DNSResponse(to: query, code, isAuthoritative: true)
        appendAuthority(.authority, to: &response, apex)
        return Self.end(response, query, .empty)
    }

    private func appendAuthority(_ section: DNSResponse.Section, to response: inout DNSResponse, _ apex: Int) {
        response.append(section, owner: apex, type: DNSQuery.RecordType.authority, lifetime: lifetime) { data in
            data.point(to: apex)
            data.append(text: "hostmaster".utf8)
            data.point(to: apex)
            // Serial, refresh, retry, expire: of no use without zone transfers. The last is the time for missing names.
            for value: UInt32 in [1, 86_400, 7_200, 604_800, lifetime] { data.append(value) }
        }
    }

    private static func refusal(of query: DNSQuery, _ code: DNSResponseCode) -> Reply {
        end(DNSResponse(to: query, code, isAuthoritative: false), query, .refused, code)
    }

    private static func end(
        _ response: DNSResponse, _ query: DNSQuery, _ outcome: Outcome, _ code: DNSResponseCode = .noError
    ) -> Reply {
        var response = response
        if query.ednsVersion != nil { response.appendOptions(code) }
        return Reply(bytes: response.bytes, outcome: outcome)
    }
}
