// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Hummingbird
import WebPages

/// Maps the paths of the admin port to responses.
struct AdminRoutes: Sendable {
    let source: any GatewayStatusSource
    let shares: ConnectionShares
    /// Nil for a server without pages.
    var pages: PageSite?

    func router() -> Router<AdminContext> {
        let router = Router(context: AdminContext.self)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: HealthFirst(shares: shares))
        add("/healthz", to: router) { Self.text(.ok, "ok\n") }
        add("/readyz", to: router) { await readiness() }
        add("/metrics", to: router) { await metrics() }
        add("/status", to: router) { try await status() }
        pages?.add(to: router, address: \.client)
        return router
    }

    /// Adds a path for GET, and for HEAD of monitors that need only the status.
    private func add(
        _ path: RouterPath, to router: Router<AdminContext>, _ respond: @escaping @Sendable () async throws -> Response
    ) {
        router.get(path) { _, _ in try await respond() }
        router.head(path) { _, _ in try await respond().createHeadResponse() }
    }

    /// Returns 200 if calls may be sent here, else 503 with the reason.
    ///
    /// Also 200 for a gateway that waits for its address: keepalived would never move the address to one that fails its check.
    private func readiness() async -> Response {
        let status = await source.status()
        guard let obstacle = status.obstacle else {
            return Self.text(.ok, (status.isStandby ? status.standbyText ?? "ready" : "ready") + "\n")
        }
        return Self.text(.serviceUnavailable, "not ready: \(obstacle)\n")
    }

    private func metrics() async -> Response {
        let own = await MetricSamples(
            counters: source.counters(), gauges: source.gauges(), histograms: source.histograms())
        let page = MetricsText(own + ProcessFigures().samples + LibraryMetrics.shared.samples)
        return Self.text(.ok, page.text, type: MetricsText.contentType)
    }

    private func status() async throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try await encoder.encode(source.status()), as: UTF8.self)
        return Self.text(.ok, json + "\n", type: "application/json; charset=utf-8")
    }

    fileprivate static func text(
        _ status: HTTPResponse.Status, _ text: String, type: String = "text/plain; charset=utf-8"
    ) -> Response {
        // Responses describe this instant. A proxy must not cache them.
        let headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

/// A request of the admin port with its connection.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let connection: ObjectIdentifier
    /// The client's address, for the log.
    let client: String

    init(source: Source) {
        coreContext = .init(source: source)
        client = source.channel.remoteAddress?.ipAddress ?? "unknown"
        connection = ObjectIdentifier(source.channel)
    }
}

/// Restricts connections above their client's share to `/healthz` and `/readyz`.
private struct HealthFirst: RouterMiddleware {
    typealias Context = AdminContext

    let shares: ConnectionShares

    func handle(
        _ request: Request, context: AdminContext,
        next: @concurrent (Request, AdminContext) async throws -> Response
    ) async throws -> Response {
        guard shares.isForHealthAlone(context.connection) else { return try await next(request, context) }
        let isAllowed = ["/healthz", "/readyz"].contains(request.uri.path)
        var response =
            isAllowed
            ? try await next(request, context)
            : AdminRoutes.text(.serviceUnavailable, "too many connections of this client are open; close some\n")
        response.headers[.connection] = "close"
        return response
    }
}
