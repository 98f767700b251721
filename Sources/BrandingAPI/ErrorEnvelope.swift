// SPDX-License-Identifier: Apache-2.0

/// The body of every answer that is an error.
///
/// Read in both shapes that are about: `error` as text with `code` beside it, or `error` as an object that holds `code`,
/// `message` and `retry_guidance`. Written in the first. Sources: securenode-endpoint-contract, mobile-api.
package struct ErrorEnvelope: Hashable, Sendable {
    /// Always false.
    package var success: Bool
    /// What happened, for people.
    package var error: String
    /// What happened, for programs.
    package var code: String?
    /// What to do about it, where the server says so.
    package var retryGuidance: String?

    package init(error: String, code: String?, retryGuidance: String? = nil) {
        success = false
        self.error = error
        self.code = code
        self.retryGuidance = retryGuidance
    }
}

extension ErrorEnvelope: Codable {
    package enum CodingKeys: String, CodingKey {
        case success, error, code
        case retryGuidance = "retry_guidance"
    }

    private struct Details: Decodable {
        let code: String?
        let message: String?
        let retry_guidance: String?
    }

    /// Reads either shape; throws when `error` is neither text nor an object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = false
        if let text = container.tolerantString(.error) {
            error = text
            code = container.tolerantString(.code)
            retryGuidance = container.tolerantString(.retryGuidance)
        } else {
            let details = try container.decode(Details.self, forKey: .error)
            error = details.message ?? details.code ?? ""
            code = details.code
            retryGuidance = details.retry_guidance
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(success, forKey: .success)
        try container.encode(error, forKey: .error)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(retryGuidance, forKey: .retryGuidance)
    }
}
