// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import HTTPTypes
import Hummingbird
import Logging

/// A request that was turned down, in the contract's error envelope.
struct Refusal: Error {
    let status: HTTPResponse.Status
    let message: String
    let code: String
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ message: String, code: String, headers: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers
    }

    static let noKey = Refusal(.unauthorized, "A valid X-API-Key is required", code: "unauthorized")

    static func badRequest(_ message: String) -> Refusal { Refusal(.badRequest, message, code: "bad_request") }

    static func notFound(_ message: String) -> Refusal { Refusal(.notFound, message, code: "not_found") }

    /// Names the methods the path has (RFC 9110 §15.5.6).
    static func method(allowed: [HTTPRequest.Method]) -> Refusal {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Refusal(
            .methodNotAllowed, "This path takes \(names)", code: "method_not_allowed", headers: [.allow: names])
    }
}

/// Turns every error into the envelope, so that no client ever meets an answer of another shape.
struct ErrorEnvelopes: RouterMiddleware {
    typealias Context = KeyedContext

    let logger: Logger

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        let response = try await answer(request, context, next)
        // A body behind the answer to HEAD would be taken for the next answer (RFC 9110 §9.3.2).
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, _ context: KeyedContext,
        _ next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let refusal as Refusal {
            return try envelope(refusal)
        } catch let error as any HTTPResponseError {
            let isMissing = error.status == .notFound
            return try envelope(
                isMissing
                    ? .notFound("There is nothing here")
                    : Refusal(error.status, error.status.reasonPhrase, code: "http_\(error.status.code)"))
        } catch {
            logger.error("a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return try envelope(
                Refusal(.internalServerError, "The directory could not do this; see its log", code: "internal"))
        }
    }

    private func envelope(_ refusal: Refusal) throws -> Response {
        var response = try Answers.json(
            ErrorEnvelope(error: refusal.message, code: refusal.code), status: refusal.status)
        for field in refusal.headers { response.headers.append(field) }
        return response
    }
}
