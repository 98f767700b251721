// SPDX-License-Identifier: Apache-2.0

import CUnicode
import Synchronization

/// Writes texts in the letters of another script, by rules of ICU.
///
/// Any thread; one at a time applies the rules.
final class Transliteration: Sendable {
    /// The longest text that is transliterated, in UTF-16 units; the rest is cut off.
    private static let longest = 512

    private let rules: Mutex<OpaquePointer?>

    /// Opens the rules; reads tables of ICU for some 50 ms.
    ///
    /// - Parameter identifier: transforms in order, as ICU names them.
    init(_ identifier: String) {
        let units = Array(identifier.utf16)
        rules = Mutex(herald_unicode_open(units, Int32(units.count)))
    }

    /// The text in the other letters; nil if ICU lacks the rules, or if the result is too long.
    func applied(to text: String) -> String? {
        let units = Array(text.utf16.prefix(Self.longest))
        var form = [UInt16](repeating: 0, count: units.count * 8 + 16)
        let length = rules.withLock { herald_unicode_apply($0, units, Int32(units.count), &form, Int32(form.count)) }
        return length < 0 ? nil : String(decoding: form.prefix(Int(length)), as: UTF16.self)
    }
}
