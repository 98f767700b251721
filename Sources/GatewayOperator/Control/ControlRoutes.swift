// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Logging

/// The commands of the control socket.
///
/// | request | does |
/// |---|---|
/// | `POST /v1/sync` | syncs at once; `?full=true` asks for the whole set, `customer=NAME` for a customer's. Responds when the sync has ended. |
/// | `GET /v1/status` | the state of the gateway |
/// | `GET /v1/customers` | the customers; `?name=acme` only one |
/// | `POST /v1/reload` | reads the configuration again; responds when it is applied or refused |
/// | `GET /v1/reload` | what a reload would change |
/// | `POST /v1/drain` | rejects new calls; `?on=false` takes them again. Every flag is `true` or `false`, else 400. |
/// | `GET /v1/log-level` | the level of the log |
/// | `POST /v1/log-level` | `?level=debug&seconds=600` sets it for a time; without `level` the configured one returns |
/// | `GET /v1/targets` | the targets of calls |
/// | `POST /v1/targets` | `?name=192.0.2.20:5060&enabled=false` takes one out of service |
/// | `POST /v1/logos` | fetches all logos again; `?url=URL` only one, `clear=true` removes the copies first, `customer=NAME` those of a customer |
/// | `GET /v1/calls` | calls by the filter in the query (`CallQuery`), newest first, as JSON Lines; `format=csv` as CSV, `limit=20` the newest alone |
/// | `GET /v1/calls/summary` | numbers of calls by decision, reason and outcome, by the same filter |
/// | `GET /v1/test-call` | what a test call would do, by the order in the query |
/// | `POST /v1/test-call` | admits the caller of a test call; the response goes on until the test ends. |
/// | `GET /v1/trace` | traces calls by the order in the query; the response goes on until the trace ends. |
///
/// Every POST is logged with its sender.
struct ControlRoutes: Sendable {
    let control: any GatewayControl
    /// Nil where nothing can be traced.
    let trace: (any TraceSource)?
    /// Nil where none can be read.
    let calls: (any CallSource)?
    /// Nil where no test call can be made.
    let tests: (any TestCallSource)?
    let logger: Logger

    func router() -> Router<ControlContext> {
        let router = Router(context: ControlContext.self)
        router.add(middleware: OrderLog(logger: logger))
        router.post("/v1/sync") { request, _ in
            guard let full = Self.flag(request, "full", default: false) else { return try Self.noFlag("full") }
            let sync = await control.sync(
                full: full, customer: request.uri.queryParameters["customer"].map(String.init))
            return try ControlResponse.value(sync, status: Self.status(of: sync))
        }
        router.get("/v1/status") { _, _ in try ControlResponse.value(await control.state()) }
        router.get("/v1/customers") { request, _ in
            let name = request.uri.queryParameters["name"].map(String.init)
            return try await Self.refusing { () async throws(ControlProblem) in try control.customers(named: name) }
        }
        router.post("/v1/reload") { _, _ in
            let reload = await control.reload()
            return try ControlResponse.value(reload, status: reload.applied ? .ok : .conflict)
        }
        router.get("/v1/reload") { _, _ in try ControlResponse.value(await control.planReload()) }
        router.post("/v1/drain") { request, _ in
            guard let isOn = Self.flag(request, "on", default: true) else { return try Self.noFlag("on") }
            return try await Self.refusing(.conflict) { () async throws(ControlProblem) in try await control.drain(isOn)
            }
        }
        addLogLevel(to: router)
        addTargets(to: router)
        router.post("/v1/logos") { request, _ in
            let query = request.uri.queryParameters
            return try await Self.refusing { () async throws(ControlProblem) in
                try await control.renewLogos(
                    query["url"].map(String.init), clears: query["clear"] == "true",
                    customer: query["customer"].map(String.init))
            }
        }
        if let calls { CallRoutes(source: calls).add(to: router) }
        if let tests {
            router.get("/v1/test-call") { request, _ in try await TestCallRoute.plan(request, tests) }
            router.post("/v1/test-call") { request, _ in try await TestCallRoute.begin(request, tests) }
        }
        if let trace { router.get("/v1/trace") { request, _ in try TraceRoute.response(to: request, from: trace) } }
        return router
    }

    private func addLogLevel(to router: Router<ControlContext>) {
        router.get("/v1/log-level") { _, _ in try ControlResponse.value(control.logLevel()) }
        router.post("/v1/log-level") { request, _ in
            let query = request.uri.queryParameters
            let seconds = query["seconds"].map { Int($0) ?? 0 }
            return try await Self.refusing { () async throws(ControlProblem) in
                try control.setLogLevel(query["level"].map(String.init), seconds: seconds)
            }
        }
    }

    private func addTargets(to router: Router<ControlContext>) {
        router.get("/v1/targets") { _, _ in try ControlResponse.value(await control.targets()) }
        router.post("/v1/targets") { request, _ in
            guard let isEnabled = Self.flag(request, "enabled", default: true) else {
                return try Self.noFlag("enabled")
            }
            let name = request.uri.queryParameters["name"].map(String.init) ?? ""
            return try await Self.refusing { () async throws(ControlProblem) in
                try await control.setTarget(name, isDisabled: !isEnabled)
            }
        }
    }

    /// Reads a parameter that is `true` or `false`; nil for any other value.
    private static func flag(_ request: Request, _ name: Substring, default usual: Bool) -> Bool? {
        let values = request.uri.queryParameters.filter { $0.key == name }.map(\.value)
        guard let value = values.first else { return usual }
        return values.count == 1 && (value == "true" || value == "false") ? value == "true" : nil
    }

    private static func noFlag(_ name: String) throws -> Response {
        try ControlResponse.refusal("\(name) must be true or false; nothing was changed", status: .badRequest)
    }

    /// The value of an order, or its refusal.
    private static func refusing<Value: Encodable & Sendable>(
        _ status: HTTPResponse.Status = .badRequest, _ order: () async throws(ControlProblem) -> Value
    ) async throws -> Response {
        do throws(ControlProblem) {
            let value = try await order()
            return try encoded(value)
        } catch {
            return try ControlResponse.refusal(error.error, status: status)
        }
    }

    private static func encoded(_ value: some Encodable) throws(ControlProblem) -> Response {
        do {
            return try ControlResponse.value(value)
        } catch {
            throw ControlProblem(error: "the gateway cannot write its response as JSON: \(error)")
        }
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

/// Logs every order with the user that gave it.
private struct OrderLog: RouterMiddleware {
    typealias Context = ControlContext

    let logger: Logger

    func handle(
        _ request: Request, context: ControlContext,
        next: @concurrent (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        if request.method == .post {
            let sender = await context.sender
            logger.notice(
                "order on the control socket",
                metadata: [
                    "order": "\(request.uri.path.dropFirst("/v1/".count))", "by": "\(sender)",
                    "parameters": "\(Self.shown(request.uri.query ?? ""))",
                ])
        }
        return try await next(request, context)
    }

    /// The parameters without the one that is no reader's of the log.
    private static func shown(_ query: String) -> String {
        query.split(separator: "&").filter { !$0.hasPrefix(TestCallOrder.secret + "=") }.joined(separator: "&")
    }
}
