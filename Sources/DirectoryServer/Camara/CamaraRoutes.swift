// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import Hummingbird

/// Maps the paths of CAMARA Brand Registration and of its tokens to their handlers.
struct CamaraRoutes: Sendable {
    let database: DirectoryDatabase
    let gate: CamaraGate
    let now: @Sendable () -> Int64

    static let tokenPath = "/oauth2/token"
    // The version is that of the definition that was read (camaraproject/VerifiedCaller dd0f9d6).
    private static let collection = "/brand-registration/vwip/registrations"
    private static let record = "/brand-registration/vwip/registrations/:registration"

    private typealias Handler = @Sendable (Request, AccountContext) async throws -> Response

    /// Adds all routes; other methods of a path get 405.
    func add(to router: Router<KeyedContext>) {
        let tokens = ClientTokenRoute(database: database, gate: gate, now: now)
        router.group().route(Self.tokenPath, post: { try await tokens.token($0, $1) })
        let group = router.group().add(middleware: gate).group(context: AccountContext.self)
        let routes = RegistrationRoutes(database: database, now: now)
        let paths: [(path: String, handlers: [(HTTPRequest.Method, Handler)])] = [
            (Self.collection, [(.get, routes.list), (.post, routes.create)]),
            (Self.record, [(.get, routes.show), (.put, routes.replace), (.delete, routes.remove)]),
        ]
        for (path, handlers) in paths {
            for (method, handler) in handlers {
                group.on(RouterPath(path), method: method) { try await handler($0, $1) }
            }
            let allowed = handlers.map(\.0)
            for method in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete] where !allowed.contains(method)
            {
                group.on(RouterPath(path), method: method) { _, _ -> Response in
                    throw Refusal.method(allowed: allowed)
                }
            }
        }
    }
}
