// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber

/// Turns the caller's number as a trunk writes it into E.164, or into nil when that is not certain.
///
/// Reads global numbers (`+…`), numbers behind an international prefix of the trunk's region (`00`, `011`, `0011`) and
/// national numbers of that region, with the visual separators of RFC 3966 §3 and blanks. Numbers are judged by
/// *possible* length, not by allocated ranges, because the library's tables are older than some ranges. Any thread;
/// 10–24 µs through the library, some nanoseconds for plain `+digits`.
package struct NumberNormaliser: Sendable {
    /// Whose national forms are understood; nil when only numbers with a plus sign are.
    package let region: Region?
    /// Contexts whose local numbers are the region's national ones, in lower case.
    private let contexts: [[UInt8]]
    private let plan = CallingCodePlan.shared
    /// A zero stands in front of national numbers there.
    private let dialsZero: Bool

    /// The longest text looked at, in bytes; a number has fifteen digits, the rest are separators.
    package static let maxLength = 32

    /// - Parameter contexts: domain names that a phone-context may have for the region's own numbers.
    package init(region: Region?, contexts: [String] = []) {
        self.region = region
        self.contexts = contexts.map { Array($0.lowercased().utf8) }
        dialsZero = region.map { CallingCodePlan.shared.dialsZero(code: $0.callingCode) } ?? false
    }

    /// Reads the user part of a SIP URI or the number of a tel URI, without its parameters.
    ///
    /// - Returns: nil for words, vanity letters, feature codes (`*67…`), short codes, local numbers, and anything else
    ///   that is not surely one international number.
    @inlinable
    package func normalise(_ text: some Collection<UInt8>) -> E164Number? {
        if let number = text.withContiguousStorageIfAvailable({ read($0) }) { return number }
        return Array(text.prefix(Self.maxLength + 1)).withUnsafeBufferPointer { read($0) }
    }

    /// Reads a number that came with a phone-context (RFC 3966 §5.1.5, RFC 3261 §19.1.6).
    ///
    /// A context that is a global prefix (`+44`) goes in front of a local number. A local number of a domain is one of the
    /// region's only if the domain is one of `contexts`. A number with a plus sign needs no context.
    package func normalise(_ text: some Collection<UInt8>, context: some Collection<UInt8>) -> E164Number? {
        if text.first == UInt8(ascii: "+") { return normalise(text) }
        guard context.first == UInt8(ascii: "+") else { return isOwn(context) ? normalise(text) : nil }
        guard var dialled = Array(text.prefix(Self.maxLength + 1)).withUnsafeBufferPointer({ DialledDigits($0) }),
            let prefix = Array(context.prefix(Self.maxLength + 1)).withUnsafeBufferPointer({ DialledDigits($0) })
        else { return nil }
        if !dialled.isGlobal, !dialled.prepend(prefix) { return nil }
        return number(from: dialled)
    }

    private func isOwn(_ context: some Collection<UInt8>) -> Bool {
        let name = context.prefix(256).map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        return contexts.contains(name)
    }

    /// The one compiled body behind every kind of collection.
    @usableFromInline
    func read(_ text: UnsafeBufferPointer<UInt8>) -> E164Number? {
        // The fast path: plus and digits that the library would return unchanged.
        if text.first == UInt8(ascii: "+"), let number = E164Number(plusDigits: text),
            plan.accepts(number, digitCount: text.count - 1)
        {
            return KeypadWords.areSpelled(by: number.digits) ? nil : number
        }
        return DialledDigits(text).flatMap(number)
    }

    private func number(from dialled: DialledDigits) -> E164Number? {
        guard let number = surelyRead(dialled), !KeypadWords.areSpelled(by: number.digits) else { return nil }
        return number
    }

    private func surelyRead(_ dialled: DialledDigits) -> E164Number? {
        guard let region, !dialled.isGlobal else { return Self.ask(dialled, region: nil) }
        guard let national = Self.ask(dialled, region: region), !hasStrayZero(national, in: region) else {
            return international(dialled)
        }
        // Trunks that leave the plus sign off make `3912345678` an Italian mobile number or one with the code in front,
        // and `4315012345`, to a German trunk, a number of Kiel without its zero or one of Vienna.
        let hasCode = dialled.starts(with: region.callingCode)
        guard hasCode || dialsZero && !dialled.starts(with: 0), let global = Self.ask(dialled.asGlobal, region: nil),
            global != national
        else { return national }
        let isForeign = herald_phone_is_allocated(global.digits) == 1
        let isSettled = !isForeign && (!hasCode || herald_phone_is_allocated(national.digits) == 1)
        return isSettled ? national : nil
    }

    /// Whether a zero is behind the region's code where a national number begins after its zero: the library took one of
    /// two for the prefix.
    private func hasStrayZero(_ number: E164Number, in region: Region) -> Bool {
        guard dialsZero else { return false }
        return DialledDigits(number).starts(with: region.callingCode * 10)
    }

    /// What 00 and a calling code mean on trunks whose region dials another international prefix; only a number of an
    /// allocated range settles it.
    private func international(_ dialled: DialledDigits) -> E164Number? {
        guard let rest = dialled.behindTwoZeros, let number = Self.ask(rest, region: nil),
            herald_phone_is_allocated(number.digits) == 1
        else { return nil }
        return number
    }

    private static func ask(_ dialled: DialledDigits, region: Region?) -> E164Number? {
        var digits: UInt64 = 0
        let result = dialled.bytes.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let region else { return herald_phone_normalise(text.baseAddress, text.count, nil, &digits) }
                return region.withLetters { herald_phone_normalise(text.baseAddress, text.count, $0, &digits) }
            }
        }
        return result == HERALD_PHONE_OK ? E164Number(digits: digits) : nil
    }
}

/// What was dialled: an optional plus sign and digits, separators taken out.
private struct DialledDigits {
    private(set) var bytes: [UInt8] = []

    var isGlobal: Bool { bytes.first == UInt8(ascii: "+") }

    /// Nil when there is any other character, no digit at all, or more than `NumberNormaliser.maxLength` bytes.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.reserveCapacity(NumberNormaliser.maxLength)
        var length = 0
        for byte in text {
            length += 1
            guard length <= NumberNormaliser.maxLength else { return nil }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            case UInt8(ascii: "+") where bytes.isEmpty: bytes.append(byte)
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: " "): continue
            default: return nil
            }
        }
        guard bytes.count > (isGlobal ? 1 : 0) else { return nil }
    }

    /// The digits of a number, without a plus sign.
    init(_ number: E164Number) { bytes = Array(number.description.utf8.dropFirst()) }

    /// What follows two zeros, behind a plus sign; nil where there are not two in front.
    var behindTwoZeros: DialledDigits? {
        let zeros: [UInt8] = [UInt8(ascii: "0"), UInt8(ascii: "0")]
        guard bytes.starts(with: zeros), bytes.count > 2 else { return nil }
        var copy = self
        copy.bytes.replaceSubrange(0..<2, with: [UInt8(ascii: "+")])
        return copy
    }

    /// The same digits behind a plus sign.
    var asGlobal: DialledDigits {
        var copy = self
        if !isGlobal { copy.bytes.insert(UInt8(ascii: "+"), at: 0) }
        return copy
    }

    /// Puts a global prefix in front; false when the result would be too long to be a number.
    mutating func prepend(_ prefix: DialledDigits) -> Bool {
        bytes.insert(contentsOf: prefix.bytes, at: 0)
        return bytes.count <= NumberNormaliser.maxLength
    }

    /// Whether the digits begin with those of a number that is not negative.
    func starts(with number: Int) -> Bool {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        for byte in bytes {
            guard byte == UInt8(ascii: "0") + UInt8(number / divisor % 10) else { return false }
            if divisor == 1 { return true }
            divisor /= 10
        }
        return false
    }
}
