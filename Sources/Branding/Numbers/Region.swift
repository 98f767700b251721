// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber

/// A country whose dialling rules apply to a trunk's national numbers.
///
/// Two upper-case letters of ISO 3166-1, such as `AU` or `GB`, for which libphonenumber has a numbering plan.
public struct Region: Hashable, Sendable, CustomStringConvertible {
    private let first: UInt8
    private let second: UInt8

    /// Parses two upper-case ASCII letters.
    ///
    /// - Returns: nil for other text, and for a region without a numbering plan.
    public init?(_ text: some StringProtocol) {
        let letters = Array(text.utf8.prefix(3))
        guard letters.count == 2, letters.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else {
            return nil
        }
        self.init(first: letters[0], second: letters[1])
        guard withLetters({ herald_phone_region_known($0) }) == 1 else { return nil }
    }

    private init(first: UInt8, second: UInt8) {
        self.first = first
        self.second = second
    }

    /// All regions with a numbering plan, in alphabetical order.
    public static var all: [Region] {
        let count = Int(herald_phone_regions(nil, 0))
        let letters = [CChar](unsafeUninitializedCapacity: count * 2) { buffer, length in
            _ = herald_phone_regions(buffer.baseAddress, count * 2)
            length = count * 2
        }
        return stride(from: 0, to: letters.count, by: 2).map {
            Region(first: UInt8(bitPattern: letters[$0]), second: UInt8(bitPattern: letters[$0 + 1]))
        }
    }

    /// The country calling code, 1 to 999; several regions may share one.
    public var callingCode: Int { withLetters { Int(herald_phone_calling_code($0)) } }

    public var description: String { String(decoding: [first, second], as: UTF8.self) }

    /// Calls `body` with the two letters as a C string.
    func withLetters<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let letters = (CChar(bitPattern: first), CChar(bitPattern: second), CChar(0))
        return withUnsafeBytes(of: letters) { bytes in
            bytes.withMemoryRebound(to: CChar.self) { buffer in
                guard let base = buffer.baseAddress else { preconditionFailure("a tuple of three has an address") }
                return body(base)
            }
        }
    }
}
