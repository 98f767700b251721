// SPDX-License-Identifier: Apache-2.0

// Comparison of message parts with literals, several bytes at once: methods with their case, names without it (RFC 3261
// §7.1, §7.3.1). Inlined into callers, where the literal becomes a number.

extension RawSpan {
    /// True when the bytes are a text, case and all.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool { compares(text, anyCase: false) }

    /// True when the bytes are a text of letters, digits and signs without bit 6 (`-`, `/`, `.`), in any case.
    @inline(__always)
    func matches(_ text: StaticString) -> Bool { compares(text, anyCase: true) }

    @inline(__always)
    private func compares(_ text: StaticString, anyCase: Bool) -> Bool {
        let known = UnsafeRawPointer(text.utf8Start)
        let count = byteCount
        guard count == text.utf8CodeUnitCount else { return false }
        // The last word or half of one overlaps the one before it.
        if count >= 8 {
            var offset = 0
            while offset < count - 8 {
                guard compares(known, at: offset, as: UInt64.self, anyCase) else { return false }
                offset += 8
            }
            return compares(known, at: count - 8, as: UInt64.self, anyCase)
        }
        if count >= 4 {
            return compares(known, at: 0, as: UInt32.self, anyCase)
                && compares(known, at: count - 4, as: UInt32.self, anyCase)
        }
        for offset in 0..<count where !compares(known, at: offset, as: UInt8.self, anyCase) { return false }
        return true
    }

    /// Compares the bits of two words, except bit 5 of a letter (a byte with bit 6), which is its case.
    @inline(__always)
    private func compares<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ known: UnsafeRawPointer, at offset: Int, as word: Word.Type, _ anyCase: Bool
    ) -> Bool {
        let letters = known.loadUnaligned(fromByteOffset: offset, as: Word.self)
        let inEachByte = Word.max / 255
        let cases = anyCase ? (letters & (inEachByte &* 0x40)) &>> 1 : 0
        // The counts have been compared; every bit pattern is a valid integer.
        return unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Word.self) | cases == letters | cases
    }
}
