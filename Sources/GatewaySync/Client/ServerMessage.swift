// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation

/// What a directory said about a request it did not do: escaped, cut and without secrets.
package struct ServerMessage: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// For people; empty when the answer held no error envelope.
    package var text: String
    /// For programs, such as `RATE_LIMIT_EXCEEDED`.
    package var code: String?
    /// What the directory advises to do.
    package var guidance: String?
    /// True where it came in the contract's error body: the directory itself refuses, and nothing on the way to it.
    package var isOfContract: Bool

    package init(text: String, code: String? = nil, guidance: String? = nil, isOfContract: Bool = true) {
        self.text = text
        self.code = code
        self.guidance = guidance
        self.isOfContract = isOfContract
    }

    package init(stringLiteral text: String) { self.init(text: text) }

    /// Reads the error envelope of an answer.
    init(_ body: Data, clean: (String) -> String) {
        guard let envelope = try? JSONDecoder().decode(ErrorEnvelope.self, from: body) else {
            self.init(text: "", isOfContract: false)
            return
        }
        self.init(envelope, clean: clean)
    }

    /// The same of an envelope inside an answer.
    init(_ envelope: ErrorEnvelope, clean: (String) -> String) {
        self.init(
            text: clean(envelope.error), code: envelope.code.map(clean), guidance: envelope.retryGuidance.map(clean),
            isOfContract: envelope.isOfContract)
    }

    /// The status it came with, and the message unless it is empty.
    func following(_ status: Int) -> String {
        let words = description
        return words.isEmpty ? "\(status)" : "\(status) \(words)"
    }

    /// `code: text; guidance`, as far as they are there.
    package var description: String {
        var out = [code, text.isEmpty ? nil : text].compactMap(\.self).joined(separator: ": ")
        if let guidance { out += (out.isEmpty ? "" : "; ") + "the directory advises: \(guidance)" }
        return out
    }
}
