// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// Requires an access token with the scope of the method, limits requests, and gives every error the shape of CAMARA.
///
/// The header `x-correlator` of a request is that of its response, also of an error.
struct CamaraGate: RouterMiddleware {
    typealias Context = KeyedContext

    let database: DirectoryDatabase
    /// Counts wrong tokens together with the wrong keys of the contract.
    let keys: KeyGate
    let policies: CurrentPolicies
    let windows: RequestWindows<Data>
    let now: @Sendable () -> Int64

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        let correlator = Correlator(request)
        let response: Response
        do {
            guard correlator != .invalid else {
                throw CamaraError.invalid("x-correlator has more than 256 characters, or one that is not allowed")
            }
            var context = context
            context.caller = try await caller(request, context)
            response = try await next(request, context)
        } catch {
            response = try CamaraError(of: error, request, keys.errors).response()
        }
        return correlator.added(to: response)
    }

    private func caller(_ request: Request, _ context: KeyedContext) async throws -> Caller {
        let found = try await keys.countingWrong(request, context) {
            guard let token = Self.token(of: request) else { throw Refusal.noToken }
            guard token.utf8.count <= Self.longest,
                let found = try await ClientTokens(database).holder(of: token, now: now())
            else { throw Refusal.wrongToken }
            return found
        }
        try limit(found.caller)
        if let scope = CamaraScope(request.method), !found.scopes.contains(scope.rawValue) {
            throw CamaraError.denied(scope)
        }
        return found.caller
    }

    /// Counts a request of a key; `rate_limits.web` limits those of each key.
    func limit(_ caller: Caller) throws {
        let limit = policies.value.rateLimits.web
        let window = windows.count(caller.keyHash, limit: limit, now: now())
        if let window, !window.isWithin {
            throw Refusal.tooMany("Too many requests of this client", limit: limit, reset: window.reset, now: now())
        }
    }

    /// Longest token that is looked up, in bytes.
    private static let longest = 200

    private static func token(of request: Request) -> String? {
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }
}

/// The header `x-correlator` of a request.
private enum Correlator: Equatable {
    case missing
    case invalid
    case text(String)

    private static let name = HTTPField.Name("x-correlator")

    init(_ request: Request) {
        guard let text = Self.name.flatMap({ request.headers[$0] }) else {
            self = .missing
            return
        }
        self = text.utf8.count <= 256 && text.utf8.allSatisfy(Self.isAllowed) ? .text(text) : .invalid
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_:;./<>{}".utf8.contains(byte)
        }
    }

    func added(to response: Response) -> Response {
        guard case .text(let text) = self, let name = Self.name else { return response }
        var response = response
        response.headers[name] = text
        return response
    }
}
