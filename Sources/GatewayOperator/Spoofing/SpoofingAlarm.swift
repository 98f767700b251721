// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayStore
import Primitives

/// One day's calls with numbers of a brand that arrived in one unusual way; it names no callee.
package struct SpoofingAlarm: Hashable, Sendable {
    /// The unusual way.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// From a trunk that is not trusted, without a signature that vouches for the number.
        case untrusted
        /// With a failed check, or with a weaker attestation than the brand usually has.
        case attestation
        /// From a trunk that the brand does not use.
        case trunk
        /// Signed by a provider that does not sign for the brand.
        case provider
    }

    /// Calls with one finding, such as a trunk or an attestation.
    struct Finding: Hashable, Sendable {
        var name: String
        var calls: Int
    }

    var kind: Kind
    var brand: String
    var brandID: String?
    /// Nil for a usual brand.
    var customer: String?
    /// Days since 1970, in UTC.
    var day: Int64
    var calls: Int
    /// The number of unusual calls from which a day of this brand has the alarm.
    var threshold: Int
    /// Microseconds since 1970.
    var firstAt: Int64
    var lastAt: Int64
    /// The brand's numbers in these calls, at most `mostListed`.
    var numbers: [String]
    /// The findings of the most calls first, at most `mostListed`.
    var findings: [Finding]
    /// The usual values of the kind.
    var usual: [String]
    /// Call ids of some of the calls, at most `mostListed`.
    var examples: [String]

    static let mostListed = ArrivalsReading.mostListed

    /// Names the alarm: one for a brand, a day and a kind.
    var key: String {
        let owner = [customer ?? "", brandID ?? "", brand].map { AlarmKeyPart.escaped($0) }.joined(separator: ":")
        return "alarm:\(OperatorTime.day(day)):\(kind.rawValue):\(owner)"
    }

    /// The alarm in one sentence.
    var sentence: String {
        let calls = calls == 1 ? "1 call" : "\(calls) calls"
        let list = findings.map(\.name).joined(separator: ", ")
        switch kind {
        case .untrusted: return "\(calls) from trunks that are not trusted: \(list)"
        case .attestation: return "\(calls) with a weaker attestation than usual: \(list)"
        case .trunk: return "\(calls) from a trunk that the brand does not use: \(list)"
        case .provider: return "\(calls) signed by a provider that is new to the brand: \(list)"
        }
    }

    /// The digest for the brand's owner.
    var json: [String: JSONValue?] {
        [
            "type": .string("spoofing_alarm"), "key": .string(key), "kind": .string(kind.rawValue),
            "brand": .string(brand), "brand_id": JSONValue(brandID), "customer": JSONValue(customer),
            "day": .string(OperatorTime.day(day)), "calls": .int(calls), "threshold": .int(threshold),
            "first_at": JSONValue(microseconds: firstAt), "last_at": JSONValue(microseconds: lastAt),
            "numbers": .array(numbers.map { .string($0) }),
            "findings": .array(
                findings.map { .object(["name": .string($0.name), "calls": .int($0.calls)]) }),
            "usual": .array(usual.map { .string($0) }), "call_ids": .array(examples.map { .string($0) }),
            "text": .string(sentence),
        ]
    }
}

/// A part of a key without the colon that separates parts, and in ASCII for a header field.
private enum AlarmKeyPart {
    static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { out, byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default: out += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}

extension OperatorTime {
    /// `2026-01-31`, of days since 1970.
    static func day(_ day: Int64) -> String { String(LocalZone.utc.wall(day * 86_400).prefix(10)) }
}
