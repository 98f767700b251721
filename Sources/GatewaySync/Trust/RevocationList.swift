// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftASN1
import X509

/// A certificate revocation list of version 2 (RFC 5280 §5), direct or indirect.
///
/// Its signature is not checked by reading it. Lists with critical extensions beyond those read here, such as deltas, are
/// refused.
package struct RevocationList: Sendable {
    /// A certificate by its issuer and serial number.
    private struct Entry: Hashable {
        var issuer: DistinguishedName
        var serial: [UInt8]
    }

    /// The name of the issuer.
    let issuer: DistinguishedName
    /// The same in DER.
    let issuerBytes: [UInt8]
    /// The time of the list.
    package let thisUpdate: Int64
    /// The time before which the next list comes; nil if the list has none.
    package let nextUpdate: Int64?
    /// The number of the list, without leading zeros (RFC 5280 §5.2.3); nil if it has none.
    package let number: [UInt8]?
    /// Whether entries may name other issuers.
    let isIndirect: Bool
    private let entries: Set<Entry>
    private let signed: ArraySlice<UInt8>
    private let signature: ArraySlice<UInt8>
    private let algorithm: Certificate.SignatureAlgorithm

    /// The most entries of a list.
    static let mostEntries = 1_000_000

    /// The count of revoked certificates.
    package var count: Int { entries.count }

    /// The name of the issuer for the operator.
    package var name: String { ServerText.clean("\(issuer)") }

    /// Reads a list; nil for a damaged encoding, another version and an unknown critical extension.
    package init?(der: [UInt8]) {
        guard let list = try? RevocationListReader(der) else { return nil }
        issuer = list.issuer
        issuerBytes = list.issuerBytes
        thisUpdate = list.thisUpdate
        nextUpdate = list.nextUpdate
        number = list.number
        isIndirect = list.isIndirect
        entries = Set(list.entries.map { Entry(issuer: $0.issuer, serial: $0.serial) })
        signed = list.signed
        signature = list.signature
        algorithm = list.algorithm
    }

    /// True if the list has the certificate.
    func hasRevoked(_ certificate: Certificate) -> Bool {
        entries.contains(Entry(issuer: certificate.issuer, serial: Array(certificate.serialNumber.bytes)))
    }

    /// True if the key of the certificate has signed the list.
    func isSigned(by certificate: Certificate) -> Bool {
        certificate.publicKey.isValidSignature(signature, for: signed, signatureAlgorithm: algorithm)
    }

    /// True if the list is older than another one: by number if both have one, else or with the same number by time.
    package func isOlder(than other: RevocationList) -> Bool {
        guard let number, let theirs = other.number, number != theirs else { return thisUpdate < other.thisUpdate }
        if number.count != theirs.count { return number.count < theirs.count }
        return number.lexicographicallyPrecedes(theirs)
    }
}

/// The steps of reading a revocation list.
private struct RevocationListReader {
    private enum Damage: Error { case found }

    var issuer = DistinguishedName()
    var issuerBytes: [UInt8] = []
    var thisUpdate: Int64 = 0
    var nextUpdate: Int64?
    var number: [UInt8]?
    var isIndirect = false
    var entries: [(issuer: DistinguishedName, serial: [UInt8])] = []
    var signed: ArraySlice<UInt8> = []
    var signature: ArraySlice<UInt8> = []
    var algorithm = Certificate.SignatureAlgorithm.ecdsaWithSHA256
    /// Names that were read, by their bytes.
    private var names: [ArraySlice<UInt8>: DistinguishedName] = [:]

    init(_ der: [UInt8]) throws {
        var parts = try Self.parts(of: try DER.parse(der))
        guard let list = parts.next(), let kind = parts.next(), let bits = parts.next(), parts.next() == nil
        else { throw Damage.found }
        algorithm = try Self.algorithm(kind)
        signed = list.encodedBytes
        signature = try ASN1BitString(derEncoded: bits).bytes
        try readList(list, outer: kind)
    }

    private mutating func readList(_ list: ASN1Node, outer: ASN1Node) throws {
        var fields = try Self.parts(of: list)
        var field = fields.next()
        if let version = field, version.identifier == .integer {
            guard try Int(derEncoded: version) == 1 else { throw Damage.found }
            field = fields.next()
        }
        // The algorithm is there twice (RFC 5280 §5.1.1.2).
        guard let inner = field, inner.encodedBytes.elementsEqual(outer.encodedBytes), let name = fields.next(),
            let begin = fields.next()
        else { throw Damage.found }
        issuer = try DistinguishedName(derEncoded: name)
        issuerBytes = Array(name.encodedBytes)
        thisUpdate = try Self.seconds(begin)
        field = fields.next()
        if let end = field, end.identifier == .utcTime || end.identifier == .generalizedTime {
            nextUpdate = try Self.seconds(end)
            field = fields.next()
        }
        var revoked: ASN1Node?
        if let sequence = field, sequence.identifier == .sequence {
            revoked = sequence
            field = fields.next()
        }
        if let extensions = field { try readExtensions(extensions) }
        guard fields.next() == nil else { throw Damage.found }
        if let revoked { try readEntries(revoked) }
    }

    private mutating func readExtensions(_ node: ASN1Node) throws {
        guard node.identifier == Self.tag(0), let list = try Self.only(node) else { throw Damage.found }
        var parts = try Self.parts(of: list)
        while let part = parts.next() {
            let found = try Certificate.Extension(derEncoded: part)
            switch found.oid {
            case [2, 5, 29, 20]:
                let node = try DER.parse(found.value)
                guard case .primitive(let bytes) = node.content, node.identifier == .integer, bytes.count <= 20,
                    bytes.first.map({ $0 < 0x80 }) ?? false
                else { throw Damage.found }
                number = Array(bytes.drop { $0 == 0 })
            case [2, 5, 29, 28]: try readScope(found.value)
            case let oid where found.critical && oid != .X509ExtensionID.authorityKeyIdentifier: throw Damage.found
            default: break
            }
        }
    }

    /// Reads the issuing distribution point (RFC 5280 §5.2.5). Lists for some reasons or for attributes are no use here.
    private mutating func readScope(_ value: ArraySlice<UInt8>) throws {
        var parts = try Self.parts(of: try DER.parse(value))
        while let part = parts.next() {
            guard part.identifier != Self.tag(3) else { throw Damage.found }
            guard case .primitive(let bytes) = part.content else { continue }
            let isTrue = bytes.first == 0xFF
            if part.identifier == Self.tag(4) { isIndirect = isTrue }
            if part.identifier == Self.tag(5), isTrue { throw Damage.found }
        }
    }

    /// Reads the entries. An entry without an issuer has that of the entry before it (RFC 5280 §5.3.3).
    private mutating func readEntries(_ list: ASN1Node) throws {
        var parts = try Self.parts(of: list)
        var present = issuer
        while let part = parts.next() {
            guard entries.count < RevocationList.mostEntries else { throw Damage.found }
            var fields = try Self.parts(of: part)
            guard let serial = fields.next(), serial.identifier == .integer,
                case .primitive(let bytes) = serial.content,
                fields.next() != nil
            else { throw Damage.found }
            if let list = fields.next() {
                var extensions = try Self.parts(of: list)
                while let node = extensions.next() {
                    let found = try Certificate.Extension(derEncoded: node)
                    if found.oid == [2, 5, 29, 29] {
                        present = try name(found.value)
                    } else if found.critical {
                        throw Damage.found
                    }
                }
            }
            // Only an indirect list may revoke certificates of others.
            if isIndirect || present == issuer { entries.append((present, Self.serial(bytes))) }
        }
    }

    /// The directory name of a certificate issuer.
    private mutating func name(_ value: ArraySlice<UInt8>) throws -> DistinguishedName {
        if let known = names[value] { return known }
        var parts = try Self.parts(of: try DER.parse(value))
        while let part = parts.next() {
            guard part.identifier == Self.tag(4) else { continue }
            guard let inner = try Self.only(part) else { throw Damage.found }
            let name = try DistinguishedName(derEncoded: inner)
            names[value] = name
            return name
        }
        throw Damage.found
    }

    // MARK: Elements

    private static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }

    private static func parts(of node: ASN1Node) throws -> ASN1NodeCollection.Iterator {
        guard node.identifier == .sequence, case .constructed(let parts) = node.content else { throw Damage.found }
        return parts.makeIterator()
    }

    private static func only(_ node: ASN1Node) throws -> ASN1Node? {
        guard case .constructed(let parts) = node.content else { throw Damage.found }
        var iterator = parts.makeIterator()
        let first = iterator.next()
        return iterator.next() == nil ? first : nil
    }

    /// The number in the form in which certificates have it here: without the zero in front of a high bit.
    private static func serial(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(Certificate.SerialNumber(bytes: bytes.count > 1 && bytes.first == 0 ? bytes.dropFirst() : bytes).bytes)
    }

    private static func algorithm(_ node: ASN1Node) throws -> Certificate.SignatureAlgorithm {
        var fields = try parts(of: node)
        guard let first = fields.next() else { throw Damage.found }
        switch try ASN1ObjectIdentifier(derEncoded: first) {
        case [1, 2, 840, 10045, 4, 3, 2]: return .ecdsaWithSHA256
        case [1, 2, 840, 10045, 4, 3, 3]: return .ecdsaWithSHA384
        case [1, 2, 840, 10045, 4, 3, 4]: return .ecdsaWithSHA512
        case [1, 2, 840, 113549, 1, 1, 11]: return .sha256WithRSAEncryption
        case [1, 2, 840, 113549, 1, 1, 12]: return .sha384WithRSAEncryption
        case [1, 2, 840, 113549, 1, 1, 13]: return .sha512WithRSAEncryption
        default: throw Damage.found
        }
    }

    private static func seconds(_ node: ASN1Node) throws -> Int64 {
        if node.identifier == .utcTime {
            let time = try UTCTime(derEncoded: node)
            return seconds(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        }
        let time = try GeneralizedTime(derEncoded: node)
        return seconds(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
    }

    /// Seconds since 1970 of a date of the Gregorian calendar, whose years begin in March here.
    private static func seconds(
        _ year: Int, _ month: Int, _ day: Int, _ hours: Int, _ minutes: Int, _ seconds: Int
    ) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * months + 2) / 5 + day - 719_469
        return Int64(days) * 86_400 + Int64(hours * 3600 + minutes * 60 + seconds)
    }
}
