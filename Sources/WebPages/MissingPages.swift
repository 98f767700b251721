// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Responds to a browser with a page where no route has the address.
///
/// A program, which does not accept `text/html`, gets the server's own response (RFC 9110 §12.5.1).
struct MissingPages<Context: RequestContext>: RouterMiddleware {
    /// The page of an address that no route has; nil where the site shows this request no page.
    let page: @Sendable (Request) async -> Response?

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError where error.status == .notFound && Self.isForPeople(request) {
            guard let whole = await page(request) else { throw error }
            return request.method == .head ? whole.createHeadResponse() : whole
        }
    }

    private static func isForPeople(_ request: Request) -> Bool {
        (request.method == .get || request.method == .head)
            && request.headers[values: .accept].contains { $0.lowercased().contains("text/html") }
    }
}
