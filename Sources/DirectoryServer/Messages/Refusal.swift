// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import HTTPTypes
import Hummingbird
import Logging

/// The refusal of a request, in the contract's error envelope.
struct Refusal: Error {
    let status: HTTPResponse.Status
    let message: String
    let code: String
    var headers: HTTPFields
    /// Values for programs.
    var details: [String: JSONValue]?
    /// The remedy.
    var guidance: String?

    init(
        _ status: HTTPResponse.Status, _ message: String, code: String, headers: HTTPFields = [:],
        details: [String: JSONValue]? = nil, guidance: String? = nil
    ) {
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers
        self.details = details
        self.guidance = guidance
    }

    static let noKey = Refusal(
        .unauthorized, "A valid X-API-Key is required", code: "unauthorized", headers: [.wwwAuthenticate: "Bearer"])

    /// The client type is unknown.
    static func clientType(_ provided: String) -> Refusal {
        let allowed = ClientType.allCases.map(\.rawValue)
        var refusal = Refusal(
            .unprocessableContent, "Invalid client type. Must be one of: \(allowed.joined(separator: ", "))",
            code: "INVALID_CLIENT_TYPE")
        refusal.details = [
            "provided": .string(String(provided.prefix(64))), "allowed": .array(allowed.map { .string($0) }),
        ]
        return refusal
    }

    static func badRequest(_ message: String) -> Refusal { Refusal(.badRequest, message, code: "bad_request") }

    static func notFound(_ message: String) -> Refusal { Refusal(.notFound, message, code: "not_found") }

    /// The path does not have this method; `Allow` lists its methods (RFC 9110 §15.5.6).
    static func method(allowed: [HTTPRequest.Method]) -> Refusal {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Refusal(
            .methodNotAllowed, "This path takes \(names)", code: "method_not_allowed", headers: [.allow: names])
    }
}
