// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI

/// Removes secrets and telephone numbers without a brand from a debug upload.
struct DebugRedaction {
    let secrets: [String]
    /// Numbers in this index belong to the directory and are kept.
    let index: BrandIndex
    /// Shortest run of digits that counts as a telephone number.
    static let shortest = 7

    func clean(_ text: String) -> String {
        var text = text
        for secret in secrets where !secret.isEmpty { text = text.replacing(secret, with: "<redacted>") }
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count)
        var digits: [UInt8] = []
        for byte in text.utf8 {
            if (0x30...0x39).contains(byte) {
                digits.append(byte)
                continue
            }
            flush(&digits, into: &out)
            out.append(byte)
        }
        flush(&digits, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Cleans the texts in a value. Its JSON numbers are counts and dates and are kept.
    func clean(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(clean(text))
        case .array(let values): .array(values.map(clean))
        case .object(let values): .object(values.mapValues(clean))
        case .null, .bool, .int, .double: value
        }
    }

    private func flush(_ digits: inout [UInt8], into out: inout [UInt8]) {
        defer { digits.removeAll(keepingCapacity: true) }
        guard digits.count >= Self.shortest, !isBrand(digits) else { return out.append(contentsOf: digits) }
        out.append(contentsOf: "<number>".utf8)
    }

    private func isBrand(_ digits: [UInt8]) -> Bool {
        guard let number = E164Number("+" + String(decoding: digits, as: UTF8.self)) else { return false }
        return index.entry(for: number) != nil
    }
}
