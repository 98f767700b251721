// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation

/// The directory's message about a refused request: escaped, truncated and without secrets.
package struct ServerMessage: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// Text for people; empty without an error envelope in the response.
    package var text: String
    /// Code for programs, such as `RATE_LIMIT_EXCEEDED`.
    package var code: String?
    /// The directory's advice.
    package var guidance: String?
    /// True if it has the contract's error body: the directory itself refuses, not a proxy.
    package var isOfContract: Bool

    package init(text: String, code: String? = nil, guidance: String? = nil, isOfContract: Bool = true) {
        self.text = text
        self.code = code
        self.guidance = guidance
        self.isOfContract = isOfContract
    }

    package init(stringLiteral text: String) { self.init(text: text) }

    /// Reads the error envelope of a response.
    init(_ body: Data, clean: (String) -> String) {
        guard let envelope = try? JSONDecoder().decode(ErrorEnvelope.self, from: body) else {
            self.init(text: "", isOfContract: false)
            return
        }
        self.init(envelope, clean: clean)
    }

    /// Reads an envelope that is part of a response.
    init(_ envelope: ErrorEnvelope, clean: (String) -> String) {
        self.init(
            text: clean(envelope.error), code: envelope.code.map(clean), guidance: envelope.retryGuidance.map(clean),
            isOfContract: envelope.isOfContract)
    }

    /// Returns the status of the response, and the message unless it is empty.
    func following(_ status: Int) -> String {
        let words = description
        return words.isEmpty ? "\(status)" : "\(status) \(words)"
    }

    /// `code: text; guidance`, without missing parts.
    package var description: String {
        var out = [code, text.isEmpty ? nil : text].compactMap(\.self).joined(separator: ": ")
        if let guidance { out += (out.isEmpty ? "" : "; ") + "the directory advises: \(guidance)" }
        return out
    }
}
