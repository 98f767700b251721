// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Host
import Hummingbird
import NIOCore

/// `GET /readyz` for everybody, `/metrics` and `/status` for the operator.
struct OperationRoutes: Sendable {
    let report: OperationReport
    let gate: OperationGate

    /// Adds `/readyz`: 200 if the store can be written, else 503 with the reason.
    func addReadiness(to router: Router<KeyedContext>) {
        router.group().route("readyz", isOpenToHead: true) { _, _ in
            guard let problem = report.watch.problem else { return Self.text(.ok, "ready\n") }
            return Self.text(.serviceUnavailable, "not ready: \(problem)\n")
        }
    }

    /// Adds the routes behind the gate.
    func add(to router: Router<KeyedContext>) {
        let group = router.group().add(middleware: gate)
        group.route("metrics", isOpenToHead: true) { _, _ in
            Self.text(.ok, MetricsText(await report.samples()).text, type: MetricsText.contentType)
        }
        group.route("status", isOpenToHead: true) { _, _ in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let json = String(decoding: try encoder.encode(try await report.status()), as: UTF8.self)
            return Self.text(.ok, json + "\n", type: JSONBody.mediaType)
        }
    }

    private static func text(
        _ status: HTTPResponse.Status, _ text: String, type: String = "text/plain; charset=utf-8"
    ) -> Response {
        // A proxy must not keep the state of this instant.
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

/// Admits requests of this machine without a login, and all others with an admin key.
///
/// The key is in `X-Admin-Key`, or in `Authorization: Bearer`, which Prometheus can send. A request that a reverse proxy
/// has forwarded is not of this machine.
struct OperationGate: RouterMiddleware {
    typealias Context = KeyedContext

    let admin: AdminGate

    private static let adminKey = HTTPField.Name("X-Admin-Key")
    /// Fields that a proxy adds (RFC 7239, RFC 9110 §7.6.3).
    private static let forwarding = ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"].compactMap {
        HTTPField.Name($0)
    }

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        let isForwarded = Self.forwarding.contains { request.headers[$0] != nil }
        if !isForwarded, ClientAddress.isLoopback(context.peer) { return try await next(request, context) }
        var request = request
        if let name = Self.adminKey, request.headers[name] == nil, let token = Self.bearer(of: request) {
            var head = request.head
            head.headerFields[name] = token
            request = Request(head: head, body: request.body)
        }
        return try await admin.handle(request, context: context, next: next)
    }

    private static func bearer(of request: Request) -> String? {
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }
}
