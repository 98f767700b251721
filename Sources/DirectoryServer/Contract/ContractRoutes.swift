// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import HTTPTypes
import Hummingbird

/// Maps the paths of the contract to their handlers.
struct ContractRoutes: Sendable {
    let database: DirectoryDatabase
    let logos: @Sendable () -> LogoURLs
    let clients: @Sendable () -> ClientSettings
    let links: ClientLinks
    let now: @Sendable () -> Int64
    let lost: BestEffortWrites
    let counters: ServerCounters
    let push: PushRoutes

    /// Adds the routes behind the key.
    func add(to group: RouterGroup<AccountContext>) {
        let sync = SyncRoutes(
            database: database, logos: logos, clients: clients, links: links, now: now, lost: lost,
            counters: counters)
        group.route(APIPath.sync, get: sync.sync, post: sync.acknowledge)
        group.route(APIPath.lookup, get: sync.lookup)
        let reports = ReportRoutes(
            database: database, clients: clients, links: links, now: now, lost: lost, counters: counters)
        group.route(APIPath.event, post: reports.event)
        group.route(APIPath.register, post: reports.register)
        group.route(APIPath.update, post: reports.update)
        group.route(APIPath.presence, post: reports.presence)
        group.route(APIPath.deviceLog, post: reports.log)
        group.route(
            APIPath.batch, post: BatchRoute(database: database, links: links, now: now, counters: counters).batch)
        group.route(APIPath.testDeepLink, get: DeepLinkRoute(database: database, links: links).check)
        group.route(APIPath.imprint, post: ImprintRoute(database: database, now: now).imprint)
        group.route(APIPath.configuration, get: ConfigurationRoute(current: clients).configuration)
        group.route(APIPath.token, post: TokenRoutes(database: database, now: now).token)
        let uploads = UploadRoutes(database: database, now: now)
        group.route(APIPath.debugUpload, post: uploads.debug)
        group.route(APIPath.uploadStart, post: uploads.start)
        group.route(APIPath.uploadChunk, post: uploads.chunk)
        group.route(APIPath.uploadComplete, post: uploads.complete)
        group.route(APIPath.push, post: push.register, delete: push.unregister)
        group.route(APIPath.pushPreferences, get: push.preferences, put: push.setPreferences)
        group.route(APIPath.pushKey, get: { try push.key($0, $1) })
        group.route(APIPath.pushTest, post: push.test)
    }

    /// Adds the only route without a key; the refresh token identifies the caller.
    func addRefresh(to group: RouterGroup<KeyedContext>, countingWrongAt gate: KeyGate) {
        let tokens = TokenRoutes(database: database, now: now)
        group.route(
            APIPath.refresh,
            post: { request, context in
                try await gate.countingWrong(request, context) { try await tokens.refresh(request) }
            })
    }
}

extension RouterGroup {
    typealias Handler = @Sendable (Request, Context) async throws -> Response

    /// Adds a path with its methods; other methods get 405.
    ///
    /// - Parameter isOpenToHead: true lets `get` handle HEAD too.
    func route(
        _ path: String, isOpenToHead: Bool = false, get: Handler? = nil, post: Handler? = nil, put: Handler? = nil,
        delete: Handler? = nil
    ) {
        let read: [HTTPRequest.Method] = isOpenToHead ? [.get, .head] : [.get]
        let others: [(HTTPRequest.Method, Handler?)] = [(.post, post), (.put, put), (.delete, delete)]
        let handlers =
            (get.map { handler in read.map { ($0, handler) } } ?? [])
            + others.compactMap { method, handler in handler.map { (method, $0) } }
        for (method, handler) in handlers { on(RouterPath(path), method: method) { try await handler($0, $1) } }
        let allowed = handlers.map(\.0)
        for method in Self.methods where !allowed.contains(method) {
            on(RouterPath(path), method: method) { _, _ -> Response in throw Refusal.method(allowed: allowed) }
        }
    }

    /// The methods that get 405; any other method gets 404.
    private static var methods: [HTTPRequest.Method] {
        [.get, .head, .post, .put, .patch, .delete, .options, .trace] + [HTTPRequest.Method("QUERY")].compactMap { $0 }
    }
}
