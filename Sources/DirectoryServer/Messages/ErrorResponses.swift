// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import Synchronization

/// Turns every error into the contract's envelope, so that no client gets an error of another shape.
struct ErrorResponses: Sendable {
    let logger: Logger
    private let outages = OutageLines()

    init(logger: Logger) { self.logger = logger }

    /// The response of `handler`, or the envelope of its error.
    nonisolated(nonsending) func respond(
        to request: Request, _ handler: nonisolated(nonsending) () async throws -> Response
    ) async throws -> Response {
        do {
            return try await handler()
        } catch {
            return try Self.envelope(refusal(of: error, request))
        }
    }

    /// The refusal for any error of a request; outages of the store and unknown errors are logged.
    func refusal(of error: any Error, _ request: Request) -> Refusal {
        switch error {
        case let error as any HTTPResponseError:
            return error.status == .notFound
                ? .notFound("There is nothing here")
                : Refusal(error.status, error.status.reasonPhrase, code: "http_\(error.status.code)")
        case is HTTPParserError:
            var refusal = Refusal.badRequest("The body breaks off, or its chunks cannot be read (RFC 9112 §7.1)")
            refusal.headers[.connection] = "close"
            return refusal
        default:
            if let refusal = Refusal(of: error) {
                if StoreOutage(error) != nil { outages.log(error, request, logger) }
                return refusal
            }
            logger.error("a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return Refusal(.internalServerError, "The directory could not do this; see its log", code: "internal")
        }
    }

    private static func envelope(_ refusal: Refusal) throws -> Response {
        var response = try JSONBody.response(refusal.envelope, status: refusal.status)
        for field in refusal.headers { response.headers.append(field) }
        return response
    }
}

extension Refusal {
    var envelope: ErrorEnvelope {
        ErrorEnvelope(error: message, code: code, retryGuidance: guidance, details: details)
    }
}

/// Applies the envelope to all routes, and removes the bodies of responses to HEAD.
struct ErrorEnvelopes: RouterMiddleware {
    typealias Context = KeyedContext

    let errors: ErrorResponses

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        let response = try await errors.respond(to: request) { try await next(request, context) }
        // A client would read a body after a response to HEAD as the next response (RFC 9110 §9.3.2).
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// Logs requests that the database cannot serve, at most one a minute: clients repeat them.
private final class OutageLines: Sendable {
    private struct State {
        var last: ContinuousClock.Instant?
        var failed = 0
    }

    private let state = Mutex(State())

    func log(_ error: any Error, _ request: Request, _ logger: Logger) {
        let now = ContinuousClock.now
        let failed = state.withLock { state -> Int? in
            state.failed += 1
            if let last = state.last, now - last < .seconds(60) { return nil }
            defer { state = State(last: now) }
            return state.failed
        }
        guard let failed else { return }
        logger.error(
            "requests failed; see /readyz for the remedy",
            metadata: ["path": "\(request.uri.path)", "error": "\(error)", "since_last_line": "\(failed)"])
    }
}
