// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber

/// Converts a caller's number, as a trunk sends it, to E.164.
///
/// An uncertain number gives nil. Reads global numbers (`+…`), numbers with an international prefix of the trunk's
/// region (`00`, `011`, `0011`), and national numbers of that region. Ignores blanks and the visual separators of RFC
/// 3966 §3. Checks the *possible* length and first digit of a number, not its allocated range, because the library's
/// tables lack newer ranges. Thread-safe; 10–24 µs through the library, some nanoseconds for plain `+digits`.
public struct NumberNormaliser: Sendable {
    /// The country whose national numbers are accepted. Nil accepts only numbers with a plus sign.
    public let region: Region?
    /// Phone-contexts whose local numbers are national numbers of the region, in lower case.
    private let contexts: [[UInt8]]
    private let plan = CallingCodePlan.shared
    /// True if national numbers of the region are dialled with a leading zero.
    private let dialsZero: Bool

    /// The largest accepted text in bytes: fifteen digits and their separators.
    public static let maxLength = 32

    /// - Parameter contexts: domain names of phone-contexts for national numbers of the region.
    public init(region: Region?, contexts: [String] = []) {
        self.region = region
        self.contexts = contexts.map { Array($0.lowercased().utf8) }
        dialsZero = region.map { CallingCodePlan.shared.dialsZero(code: $0.callingCode) } ?? false
    }

    /// Reads the user part of a SIP URI or the number of a tel URI, without parameters.
    ///
    /// - Returns: nil for words, vanity letters, feature codes (`*67…`), short codes and local numbers, and for any
    ///   other text that is not certainly one international number.
    @inlinable
    public func normalise(_ text: some Collection<UInt8>) -> E164Number? {
        if let number = text.withContiguousStorageIfAvailable({ read($0) }) { return number }
        return Array(text.prefix(Self.maxLength + 1)).withUnsafeBufferPointer { read($0) }
    }

    /// The same without the cost of generic code.
    public func normalise(_ text: ArraySlice<UInt8>) -> E164Number? { text.withUnsafeBufferPointer { read($0) } }

    /// Reads a number with a phone-context (RFC 3966 §5.1.5, RFC 3261 §19.1.6).
    ///
    /// A global prefix as context (`+44`) precedes the local number. With a domain name as context, the number is
    /// national only if `contexts` lists the domain. A number with a plus sign needs no context.
    public func normalise(_ text: some Collection<UInt8>, context: some Collection<UInt8>) -> E164Number? {
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

    /// The single compiled implementation for every kind of collection.
    @usableFromInline
    func read(_ text: UnsafeBufferPointer<UInt8>) -> E164Number? {
        // Fast path: `+digits` that the library returns unchanged.
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
        // Some trunks omit the plus sign, which makes two readings possible. `3912345678` is an Italian mobile number,
        // or a number with Italy's code 39. To a German trunk, `4315012345` is a number in Kiel without its zero, or
        // one in Vienna.
        let hasCode = dialled.starts(with: region.callingCode)
        guard hasCode || dialsZero && !dialled.starts(with: 0), let global = Self.ask(dialled.asGlobal, region: nil),
            global != national
        else { return national }
        let isForeign = herald_phone_is_allocated(global.digits) == 1
        let isSettled = !isForeign && (!hasCode || herald_phone_is_allocated(national.digits) == 1)
        return isSettled ? national : nil
    }

    /// True if a zero follows the calling code although national numbers of the region are dialled with a leading zero.
    ///
    /// The library then stripped only one of two zeros.
    private func hasStrayZero(_ number: E164Number, in region: Region) -> Bool {
        guard dialsZero else { return false }
        return DialledDigits(number).starts(with: region.callingCode * 10)
    }

    /// Reads `00` and a calling code on trunks whose region dials another international prefix.
    ///
    /// Only a number of an allocated range is accepted.
    private func international(_ dialled: DialledDigits) -> E164Number? {
        guard let rest = dialled.behindTwoZeros, let number = Self.ask(rest, region: nil),
            herald_phone_is_allocated(number.digits) == 1
        else { return nil }
        return number
    }

    /// False for a number that cannot exist: no number of the plan begins with its first digit behind the code.
    ///
    /// A wrong region makes such numbers, such as +1 049… of an Australian number on a trunk with `region: US`. An
    /// allocated range outweighs the table of first digits, because a plan may open new ones.
    private static func exists(_ number: E164Number) -> Bool {
        CallingCodePlan.shared.mayBegin(number) || herald_phone_is_allocated(number.digits) == 1
    }

    private static func ask(_ dialled: DialledDigits, region: Region?) -> E164Number? {
        var digits: UInt64 = 0
        let result = dialled.bytes.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let region else { return herald_phone_normalise(text.baseAddress, text.count, nil, &digits) }
                return region.withLetters { herald_phone_normalise(text.baseAddress, text.count, $0, &digits) }
            }
        }
        guard result == HERALD_PHONE_OK, let number = E164Number(digits: digits) else { return nil }
        return exists(number) ? number : nil
    }
}

/// Dialled digits with an optional plus sign, without separators.
private struct DialledDigits {
    private(set) var bytes: [UInt8] = []

    var isGlobal: Bool { bytes.first == UInt8(ascii: "+") }

    /// Nil for any other character, for no digit, or for more than `NumberNormaliser.maxLength` bytes.
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

    /// The digits after two leading zeros, with a plus sign; nil without two leading zeros.
    var behindTwoZeros: DialledDigits? {
        let zeros: [UInt8] = [UInt8(ascii: "0"), UInt8(ascii: "0")]
        guard bytes.starts(with: zeros), bytes.count > 2 else { return nil }
        var copy = self
        copy.bytes.replaceSubrange(0..<2, with: [UInt8(ascii: "+")])
        return copy
    }

    /// The same digits with a plus sign.
    var asGlobal: DialledDigits {
        var copy = self
        if !isGlobal { copy.bytes.insert(UInt8(ascii: "+"), at: 0) }
        return copy
    }

    /// Prepends a global prefix; false if the result exceeds `NumberNormaliser.maxLength`.
    mutating func prepend(_ prefix: DialledDigits) -> Bool {
        bytes.insert(contentsOf: prefix.bytes, at: 0)
        return bytes.count <= NumberNormaliser.maxLength
    }

    /// True if the digits start with those of a non-negative number.
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
