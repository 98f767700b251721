// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import Hummingbird
import Logging

/// Requires a valid `X-Admin-Key`.
struct AdminGate: RouterMiddleware {
    typealias Context = KeyedContext

    let keys: AdminKeys
    let wrong: WrongKeys
    let now: @Sendable () -> Int64
    /// Waits; tests replace it.
    let pause: @Sendable (Duration) async throws -> Void
    let counters: ServerCounters
    let logger: Logger

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        let sent = HTTPField.Name("X-Admin-Key").flatMap { request.headers[$0] }
        let key = sent.flatMap { $0.utf8.count <= 200 ? $0 : "" }
        switch try await keys.check(key, now: now()) {
        case .valid: break
        case .noneExist:
            throw Refusal(
                .forbidden, "No admin key has been made; herald-directory admin-keys add makes one",
                code: "admin_disabled")
        case .wrong: throw try await refusal(of: key, context.peer?.ipAddress ?? "")
        }
        return try await next(request, context)
    }

    private func refusal(of key: String?, _ address: String) async throws -> Refusal {
        let refusal = Refusal(.unauthorized, "A valid X-Admin-Key is required", code: "unauthorized")
        counters.addRefusedKey(at: .admin)
        guard key != nil else { return refusal }
        let (count, delay) = wrong.add(address, now: now())
        if count.nonzeroBitCount == 1 {
            logger.warning("wrong admin keys", metadata: ["address": "\(address)", "count": "\(count)"])
        }
        guard wrong.enter() else {
            return Refusal(
                .tooManyRequests, "Too many wrong admin keys", code: "rate_limited", headers: [.retryAfter: "10"])
        }
        defer { wrong.leave() }
        try await pause(delay)
        return refusal
    }
}
