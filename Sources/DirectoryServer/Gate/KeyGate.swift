// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Primitives

/// The context of a request before and after the check of its key.
struct KeyedContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection and its peer.
    let channel: any Channel
    let peer: SocketAddress?
    /// The caller; nil before the check.
    var caller: Caller?
    /// The state of the caller's account, if it was read with the key.
    var polled: PolledAccount?

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress
    }
}

/// The context of a request behind the gate, which always has a caller.
struct AccountContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let caller: Caller
    /// The state of the account, if it was read with the key of a poll.
    let polled: PolledAccount?

    var account: AccountID { caller.account }

    init(context: KeyedContext) throws {
        guard let caller = context.caller else { throw Refusal.noKey }
        coreContext = context.coreContext
        self.caller = caller
        polled = context.polled
    }
}

/// Requires a valid `X-API-Key` or access token, and enforces the rate limits.
///
/// A fleet of phones shares one key, so each device has a limit of its own, and the key a far higher one.
///
/// The limit of wrong keys never blocks a valid key. Behind a proxy many clients share an address, and a phone with an
/// old key must not block a gateway. Keys are too long to be guessed.
struct KeyGate: RouterMiddleware {
    typealias Context = KeyedContext

    let database: DirectoryDatabase
    let errors: ErrorResponses
    let policies: CurrentPolicies
    let now: @Sendable () -> Int64
    let counters: ServerCounters
    private let keys = RequestWindows<Data>()
    private let clients = RequestWindows<CountedClient>(capacity: 50_000)
    private let wrongKeys = RequestWindows<ClientAddress>()

    /// The unit of counting: a device, or an address for requests without a device.
    private struct CountedClient: Hashable {
        let keyHash: Data
        let type: ClientType
        let device: String?
        let address: ClientAddress?
    }

    init(
        database: DirectoryDatabase, errors: ErrorResponses, policies: CurrentPolicies, counters: ServerCounters,
        now: @escaping @Sendable () -> Int64
    ) {
        self.counters = counters
        self.database = database
        self.errors = errors
        self.policies = policies
        self.now = now
    }

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        let isSync = request.method == .get && request.uri.path.hasSuffix("/" + APIPath.sync)
        let poll = isSync ? Poll(since: QueryText.read("since", of: request).flatMap { SyncCursor($0) }) : nil
        let (caller, polled) = try await countingWrong(request, context) {
            let found = try await Credentials(request).caller(in: database, poll, now: now())
            // It is for registrations alone, whose tokens have scopes.
            guard found.caller.kind != .registrar else { throw Refusal.noKey }
            return found
        }
        let named = HTTPField.Name(ClientType.header).flatMap { request.headers[$0] }
        let type = named.map { ClientType(rawValue: $0) } ?? .web
        let counted = await count(request, context, caller, as: caller.limited(as: type ?? .web), isSync: isSync)
        let window = counted.window
        var response = try await errors.respond(to: request) {
            if let window, !window.isWithin {
                throw Refusal.tooMany(
                    "Too many requests. Please wait before trying again.", limit: window.limit,
                    reset: window.reset, now: now())
            }
            guard type != nil else { throw Refusal.clientType(named ?? "") }
            let bodies = try counted.bodies.get()
            var received = bodies.received
            try await caller.signing?.check(&received, now: now())
            var context = context
            (context.caller, context.polled) = (caller, polled)
            return try await next(bodies.plain, context)
        }
        response.set("X-API-Version", "v1")
        if response.status != .notModified, let size = response.body.contentLength {
            response.set("X-Response-Size", "\(size)")
        }
        if let type { response.set(ClientType.header, type.rawValue) }
        if let window {
            response.set("X-RateLimit-Limit", "\(window.limit)")
            response.set("X-RateLimit-Remaining", "\(window.remaining)")
            response.set("X-RateLimit-Reset", "\(window.reset)")
        }
        return response
    }

    /// A request with its received body, and with the decoded body.
    private typealias Bodies = (received: Request, plain: Request)

    /// Counts a request for its key and its client.
    ///
    /// The device identifier may be in the body, which is read unless the key is over its limit. Syncs are refused
    /// last, because a phone deletes its brands when a sync fails.
    private func count(
        _ request: Request, _ context: KeyedContext, _ caller: Caller, as type: ClientType, isSync: Bool
    ) async -> (window: WindowState?, bodies: Result<Bodies, any Error>) {
        let limits = policies.value.rateLimits
        let ofKey = keys.count(caller.keyHash, limit: limits.key, goesLast: isSync, now: now())
        var bodies: Result<Bodies, any Error> = .success((request, request))
        guard ofKey?.isWithin != false else { return (ofKey, bodies) }
        if request.method == .post {
            do {
                var received = request
                let plain = try await RequestCoding.plain(&received)
                bodies = .success((received, plain))
            } catch {
                bodies = .failure(error)
            }
        }
        let device = await device(of: bodies, caller, request)
        let client = CountedClient(
            keyHash: caller.keyHash, type: type, device: device,
            address: device == nil ? ClientAddress(peer: context.peer, request) : nil)
        let ofClient = clients.count(client, limit: limits.limit(of: type), goesLast: isSync, now: now())
        return (.tighter(ofClient, ofKey), bodies)
    }

    private func device(of bodies: Result<Bodies, any Error>, _ caller: Caller, _ request: Request) async -> String? {
        if let device = caller.device { return device }
        guard request.method == .post, var plain = try? bodies.get().plain else {
            return RequestDevice.id(of: request, body: nil)
        }
        return RequestDevice.id(of: request, body: try? await JSONBody.collect(&plain))
    }

    /// Counts a request with a wrong key or token for its address.
    func countingWrong<Value: Sendable>(
        _ request: Request, _ context: KeyedContext, _ find: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await find()
        } catch {
            guard let refusal = Refusal(of: error), refusal.status == .unauthorized else { throw error }
            counters.addRefusedKey(at: .contract)
            let limits = policies.value.rateLimits
            guard limits.wrongKeys > 0 else { throw error }
            let window = wrongKeys.count(
                ClientAddress(peer: context.peer, request), limit: limits.wrongKeys, now: now())
            if let window, !window.isWithin {
                throw Refusal.tooMany(
                    "Too many wrong keys from this address", limit: limits.wrongKeys, reset: window.reset, now: now())
            }
            throw refusal
        }
    }
}

/// The credentials of a request: `X-API-Key`, or `Authorization: Bearer` with an access token.
struct Credentials: Redacted {
    private let key: String?
    private let token: String?

    /// Longest key or token that is looked up, in bytes.
    private static let limit = 200

    init(_ request: Request) {
        key = HTTPField.Name("X-API-Key").flatMap { request.headers[$0] }
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        token = words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }

    /// Finds the caller.
    ///
    /// - Parameter poll: the request if it is a poll; PostgreSQL then reads the state of its account with the key.
    /// - Throws: `Refusal` (401), `TokenError`, or a database error.
    func caller(
        in database: DirectoryDatabase, _ poll: Poll? = nil, now: Int64
    ) async throws -> (caller: Caller, polled: PolledAccount?) {
        if let key {
            guard key.utf8.count <= Self.limit,
                let found = try await Self.caller(ofKey: key, poll, in: database, now: now)
            else { throw Refusal.noKey }
            return found
        }
        guard let token else { throw Refusal.noKey }
        guard token.utf8.count <= Self.limit else { throw TokenError.accessExpired }
        return (try await DeviceTokens.caller(of: token, in: database, now: now), nil)
    }

    private static func caller(
        ofKey key: String, _ poll: Poll?, in database: DirectoryDatabase, now: Int64
    ) async throws -> (caller: Caller, polled: PolledAccount?)? {
        if let poll { return try await database.caller(ofKey: key, poll, now: now) }
        return try await database.caller(ofKey: key, now: now).map { ($0, nil) }
    }
}

extension Caller {
    /// The client type for the limits; a phone's key does not get a gateway's limit by claiming its type.
    fileprivate func limited(as type: ClientType) -> ClientType { kind == .phone && type == .herald ? .web : type }
}

extension Response {
    fileprivate mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { headers[name] = value }
    }
}
