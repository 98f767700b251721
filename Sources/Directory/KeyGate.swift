// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// What a request knows before its key was looked at, and after.
struct KeyedContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Whose key it carries.
    var account: AccountID?
    /// Where it came from: the address of the client, or of the reverse proxy in front.
    let address: String

    init(source: Source) {
        coreContext = .init(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? ""
    }
}

/// What a request knows behind the gate: whose it is.
struct AccountContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let account: AccountID

    init(context: KeyedContext) throws {
        guard let account = context.account else { throw Refusal.noKey }
        coreContext = context.coreContext
        self.account = account
    }
}

/// Lets nobody past without a good `X-API-Key`.
struct KeyGate: RouterMiddleware {
    typealias Context = KeyedContext

    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        guard let header = HTTPField.Name("X-API-Key"), let key = request.headers[header], key.utf8.count <= 200,
            let account = try await AccountStore.owner(ofKey: key, now: now(), in: database)
        else { throw Refusal.noKey }
        var context = context
        context.account = account
        return try await next(request, context)
    }
}
