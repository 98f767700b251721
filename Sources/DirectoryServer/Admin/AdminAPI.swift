// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import Hummingbird

/// The operator's HTTP API below `/admin/v1`, behind `AdminGate`: the commands, for other programs.
struct AdminAPI: Sendable {
    let database: DirectoryDatabase
    let options: DirectoryServer.Options
    let logos: ServedLogos
    let gate: AdminGate

    private typealias Handler = @Sendable (AdminRequest) async throws -> Response

    /// Adds all routes; other methods of a path get 405.
    func add(to router: Router<KeyedContext>) {
        let group = router.group("admin/v1").add(middleware: gate)
        for (path, handlers) in accounts + brands + files + reports {
            for (method, handler) in handlers {
                group.on(RouterPath(path), method: method) { [database] request, context in
                    try await handler(
                        AdminRequest(database: database, request: request, parameters: context.parameters))
                }
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

    private typealias Path = (path: String, handlers: [(HTTPRequest.Method, Handler)])

    private var accounts: [Path] {
        let routes = AdminAccountRoutes(now: options.now)
        return [
            ("accounts", [(.get, routes.list), (.post, routes.create)]),
            ("accounts/:account", [(.get, routes.show), (.patch, routes.change)]),
            ("accounts/:account/close", [(.post, routes.close)]),
            ("accounts/:account/keys", [(.get, routes.keys), (.post, routes.createKey)]),
            ("accounts/:account/keys/:key", [(.delete, routes.revokeKey)]),
            ("accounts/:account/keys/:key/rotate", [(.post, routes.rotateKey)]),
        ]
    }

    private var brands: [Path] {
        let routes = AdminBrandRoutes(now: options.now)
        return [
            ("accounts/:account/brands", [(.get, routes.brands), (.post, routes.createBrand)]),
            ("accounts/:account/brands/:brand", [(.get, routes.brand), (.patch, routes.changeBrand)]),
            ("accounts/:account/numbers", [(.get, routes.numbers)]),
            (
                "accounts/:account/numbers/:number",
                [(.get, routes.number), (.put, routes.setNumber), (.delete, routes.deactivateNumber)]
            ),
            ("accounts/:account/deactivate", [(.post, routes.deactivate)]),
        ]
    }

    private var files: [Path] {
        let routes = AdminFileRoutes(folder: options.logos, publicURL: options.publicURL, now: options.now)
        let pictures = AdminLogoRoutes(logos: logos, intake: LogoIntake(), now: options.now)
        return [
            ("accounts/:account/import", [(.post, routes.importBrands)]),
            ("accounts/:account/export", [(.get, routes.export)]),
            ("logos", [(.get, pictures.list), (.post, pictures.post)]),
            ("logos/:name", [(.put, pictures.put), (.delete, pictures.remove)]),
        ]
    }

    private var reports: [Path] {
        let routes = AdminReportRoutes()
        let debug = AdminDebugRoutes(now: options.now)
        return [
            ("accounts/:account/debug", [(.get, debug.list), (.post, debug.ask), (.delete, debug.withdraw)]),
            ("accounts/:account/debug/:upload/logs", [(.get, debug.logs)]),
            ("accounts/:account/events", [(.get, routes.events)]),
            ("accounts/:account/devices", [(.get, routes.devices)]),
            ("accounts/:account/devices/:device/log", [(.get, routes.deviceLog)]),
            ("reports/:month", [(.get, routes.report)]),
        ]
    }
}
