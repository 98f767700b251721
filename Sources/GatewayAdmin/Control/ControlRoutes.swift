// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import Hummingbird

/// The commands of the control socket.
///
/// | request | does |
/// |---|---|
/// | `POST /v1/sync` | syncs at once; `?full=true` asks for the whole set. Responds when the sync has ended. |
/// | `GET /v1/trace` | traces calls by the order in the query; the response goes on until the trace ends. |
struct ControlRoutes: Sendable {
    let control: any GatewayControl
    /// Nil where nothing can be traced.
    let trace: (any TraceSource)?

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.post("/v1/sync") { request, _ in
            let sync = await control.sync(full: request.uri.queryParameters["full"] == "true")
            return try ControlResponse.value(sync, status: Self.status(of: sync))
        }
        if let trace { router.get("/v1/trace") { request, _ in try TraceRoute.response(to: request, from: trace) } }
        return router
    }

    private static func status(of sync: ControlledSync) -> HTTPResponse.Status {
        switch sync.result {
        case .succeeded: .ok
        case .failed: .badGateway
        case .busy: .conflict
        case .unavailable: .serviceUnavailable
        }
    }
}
