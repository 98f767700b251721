// SPDX-License-Identifier: Apache-2.0

/// The parts of an event's key, `<outcome>:<call id>`; the outcome may be the operator's term with any character.
struct EventKey {
    let text: String
    let outcome: String
    /// Empty in a key that no gateway wrote.
    let callID: String

    init(_ text: String) {
        self.text = text
        let separator = text.utf8.index(text.utf8.endIndex, offsetBy: -37, limitedBy: text.utf8.startIndex)
        outcome = separator.map { String(text[..<$0]) } ?? text
        callID = separator.map { String(text[$0...].dropFirst()) } ?? ""
    }
}
