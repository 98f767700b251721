// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Primitives

/// Identifies the present values of an object; equal values have equal versions.
///
/// A client sends it with a change, so that the values of another client are not overwritten unseen. The time of a change
/// has whole seconds, in which two persons can save.
package struct ValueVersion: Hashable, Sendable {
    /// 16 hexadecimal digits for all values, then four for each field, with dashes between them.
    ///
    /// The directory keeps no earlier values. The digits of the fields name those that differ.
    package let text: String
    private let names: [String]
    /// 16 hexadecimal digits for all values.
    var digits: Substring { text.prefix(16) }

    /// - Parameters:
    ///   - id: the identifier of the object within its account.
    ///   - fields: names and values; nil equals an empty value.
    init(of id: String, _ fields: [(name: String, value: String?)]) {
        let values = fields.map { $0.value ?? "" }
        let digits = [Self.digits([id] + values, 16)] + values.map { Self.digits([$0], 4) }
        (text, names) = (digits.joined(separator: "-"), fields.map(\.name))
    }

    /// The names of the fields whose values differ from those of an earlier version.
    ///
    /// - Parameter earlier: the text of a version; an unreadable one, or nil, differs in all fields.
    func fields(changedSince earlier: String?) -> [String] {
        let (old, new) = (Self.marks(earlier ?? ""), Self.marks(text))
        guard old.count == new.count else { return names }
        let changed = zip(names, zip(old, new)).filter { $0.1.0 != $0.1.1 }.map { $0.0 }
        return changed.isEmpty ? names : changed
    }

    private static func marks(_ text: String) -> [Substring] { Array(text.split(separator: "-").dropFirst()) }

    private static func digits(_ values: [String], _ count: Int) -> String {
        var hash = SHA256()
        // A length before each text keeps two texts from reading as one.
        for value in values { hash.update(data: Data("\(value.utf8.count):\(value)".utf8)) }
        return String(Hexadecimal.text(hash.finalize()).prefix(count))
    }
}
