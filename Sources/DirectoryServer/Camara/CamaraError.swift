// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// An error in the shape of the CAMARA interfaces (`ErrorInfo`).
struct CamaraError: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var headers: HTTPFields = [:]

    private struct Body: Encodable {
        let status: Int
        let code: String
        let message: String
    }

    /// Longest message, in characters.
    private static let longest = 512

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
        (self.status, self.code, self.message, self.headers) = (status, code, message, headers)
    }

    static func invalid(_ message: String) -> CamaraError { CamaraError(.badRequest, "INVALID_ARGUMENT", message) }

    /// The token lacks the scope of the request.
    static func denied(_ scope: CamaraScope) -> CamaraError {
        CamaraError(
            .forbidden, "PERMISSION_DENIED", "The access token lacks the scope \(scope.rawValue)",
            headers: [.wwwAuthenticate: #"Bearer error="insufficient_scope", scope="\#(scope.rawValue)""#])
    }

    /// The response; its media type has no parameter, as the published tests want it.
    func response() throws -> Response {
        let body = Body(status: status.code, code: code, message: String(message.prefix(Self.longest)))
        var response = try CamaraJSON.response(body, status: status)
        for field in headers { response.headers.append(field) }
        return response
    }
}

/// Writes JSON bodies of the CAMARA interfaces.
enum CamaraJSON {
    static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONBody.encoder().encode(value))))
    }
}

extension CamaraError {
    /// Any error of a handler; `errors` logs those that no client has caused.
    init(of error: any Error, _ request: Request, _ errors: ErrorResponses) {
        switch error {
        case let error as CamaraError: self = error
        case let error as RegistrationError: self.init(error)
        default: self.init(errors.refusal(of: error, request))
        }
    }

    private init(_ error: RegistrationError) {
        switch error {
        case .unknown:
            self.init(.notFound, "NOT_FOUND", "There is no registration of this registrationId")
        case .unknownNumber(let number):
            self.init(
                .notFound, "GENERIC_404_IDENTIFIER_NOT_FOUND",
                "The account does not have the number \(number); the operator of the directory adds numbers")
        case .unusableNumber(let number):
            self.init(
                .unprocessableContent, "SERVICE_NOT_APPLICABLE",
                "The operator of the directory has taken the number \(number) out of use")
        case .taken(let number):
            self.init(
                .conflict, "ALREADY_EXISTS", "The number \(number) has a registration; change it, or delete it first")
        case .unknownName:
            self.init(
                .unprocessableContent, "SERVICE_NOT_APPLICABLE",
                "The account has no brand of this displayName; the operator of the directory adds brands")
        }
    }

    private init(_ refusal: Refusal) {
        let code =
            switch refusal.status {
            case .badRequest: "INVALID_ARGUMENT"
            case .unauthorized: "UNAUTHENTICATED"
            case .notFound: "NOT_FOUND"
            case .methodNotAllowed: "METHOD_NOT_ALLOWED"
            case .contentTooLarge: "PAYLOAD_TOO_LARGE"
            case .unsupportedMediaType: "UNSUPPORTED_MEDIA_TYPE"
            case .tooManyRequests: "TOO_MANY_REQUESTS"
            case .serviceUnavailable: "UNAVAILABLE"
            default: refusal.status.code < 500 ? "INVALID_ARGUMENT" : "INTERNAL"
            }
        self.init(refusal.status, code, refusal.message, headers: refusal.headers)
    }
}

extension Refusal {
    /// The request has no token.
    static let noToken = token(challenge: "Bearer")

    /// The token is unknown or expired, or its key has ended (RFC 6750 §3.1).
    static let wrongToken = token(challenge: #"Bearer error="invalid_token""#)

    private static func token(challenge: String) -> Refusal {
        Refusal(
            .unauthorized, "A valid access token is required; POST \(CamaraRoutes.tokenPath) issues one",
            code: "unauthorized", headers: [.wwwAuthenticate: challenge])
    }
}
