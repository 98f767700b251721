// SPDX-License-Identifier: Apache-2.0

/// The body of every error response.
///
/// Decodes both published shapes: `error` as text with `code` beside it, or as an object with `code`, `message` and
/// `retry_guidance`. Encodes the first shape. Sources: securenode-endpoint-contract, mobile-api.
package struct ErrorEnvelope: Hashable, Sendable {
    /// Always false.
    package var success: Bool
    /// Description for people.
    package var error: String
    /// Code for programs.
    package var code: String?
    /// Advice on a retry, if the server sends any.
    package var retryGuidance: String?
    /// Facts for programs, such as `retry_after`; they depend on the code.
    ///
    /// Encoded but not decoded: no client here uses them, and arbitrary JSON costs far more time to decode than to
    /// send.
    package var details: [String: JSONValue]?
    /// True if the body follows the contract.
    ///
    /// Proxies and firewalls send `error` too. Requires `success: false` beside `error`, or a `code`.
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

    /// Decodes either shape; throws if `error` is neither text nor an object.
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
