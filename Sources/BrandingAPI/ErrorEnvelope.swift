// SPDX-License-Identifier: Apache-2.0

/// The body of every response that is an error.
///
/// Read in both published shapes: `error` as text with `code` beside it, or `error` as an object that holds `code`,
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
    /// Facts a program can use, such as `retry_after`; they depend on the code.
    ///
    /// Written, and not read: nobody here asks for them, and values of any kind cost far more time to decode than to send.
    package var details: [String: JSONValue]?
    /// True where the body is one that the contract describes; proxies and firewalls write `error` too.
    ///
    /// It is where `success: false` stands beside `error`, or a `code` names the error.
    package private(set) var isOfContract = true

    package init(
        error: String, code: String?, retryGuidance: String? = nil, details: [String: JSONValue]? = nil
    ) {
        success = false
        self.error = error
        self.code = code
        self.retryGuidance = retryGuidance
        self.details = details
    }
}

extension ErrorEnvelope: Codable {
    package enum CodingKeys: String, CodingKey {
        case success, error, code, details
        case retryGuidance = "retry_guidance"
    }

    private struct Inner: Decodable {
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
            isOfContract = code != nil || container.tolerantBool(.success) == false
        } else {
            let inner = try container.decode(Inner.self, forKey: .error)
            error = inner.message ?? inner.code ?? ""
            code = inner.code
            retryGuidance = inner.retry_guidance
            isOfContract = code != nil
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(success, forKey: .success)
        try container.encode(error, forKey: .error)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(details, forKey: .details)
        try container.encodeIfPresent(retryGuidance, forKey: .retryGuidance)
    }
}
