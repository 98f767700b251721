// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import HTTPTypes
import Hummingbird

/// `push/api`: the requests of a person's browser, which has an operator's invitation and no API key.
///
/// The invitation gives the browser a secret of its own, `Authorization: Bearer hp_…`, for its later requests.
struct PushPageRoutes: Sendable {
    let database: DirectoryDatabase
    /// Nil if the directory sends no push messages.
    let gateway: PushGateway?
    let publicURL: String?
    let clients: @Sendable () -> ClientSettings
    let now: @Sendable () -> Int64
    let counters: PushCounters
    let gate: KeyGate
    private let windows = RequestWindows<Holder>()

    /// Requests of one browser in a minute.
    private static let limit = 60

    private struct Holder: Hashable {
        let account: AccountID
        let device: String
    }

    init(
        database: DirectoryDatabase, gateway: PushGateway?, publicURL: String?,
        clients: @escaping @Sendable () -> ClientSettings, now: @escaping @Sendable () -> Int64, counters: PushCounters,
        gate: KeyGate
    ) {
        (self.database, self.gateway, self.publicURL) = (database, gateway, publicURL)
        (self.clients, self.now, self.counters, self.gate) = (clients, now, counters, gate)
    }

    func add(to group: RouterGroup<KeyedContext>) {
        group.route("push/api/key", get: { try key($0, $1) })
        group.route("push/api/devices", post: redeem)
        group.route("push/api/device", get: device, put: move, delete: remove)
        group.route("push/api/device/preferences", put: setPreferences)
        group.route("push/api/calls", get: calls)
        group.route("push/api/test", post: test)
    }

    private struct Redeemed: Encodable {
        var success = true
        let secret: String
        let device: PushDeviceBody
        let preferences: PushPreferencesResponse.Preferences
    }

    private struct State: Encodable {
        var success = true
        let device: PushDeviceBody
        let preferences: PushPreferencesResponse.Preferences
    }

    private func key(_: Request, _: KeyedContext) throws -> Response {
        let gateway = try needed()
        guard let key = gateway.publicKey else { throw Refusal.platform(.web, offered: gateway.platforms) }
        return try JSONBody.response(PushKey(public_key: key))
    }

    private func redeem(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let gateway = try needed()
        let body = try await body(of: request, known: ["invitation", "subscription", "app_version"])
        guard case .string(let link) = body["invitation"], link.utf8.count <= 200 else {
            throw Refusal.badRequest("Missing field invitation")
        }
        let address = try PushAddress(gateway: gateway, now: now()).read(body, of: .web)
        var registration = PushRegistration(device: "", platform: .web, address: address)
        registration.appVersion = ClientText.clean(body["app_version"], atMost: 64)
        let redeemed = try await gate.countingWrong(request, context) { [registration] in
            try await PushInvitations(database).redeem(
                link, registration, most: clients().devicesPerAccount, now: now())
        }
        return try JSONBody.response(
            Redeemed(
                secret: redeemed.secret, device: PushDeviceBody(redeemed.device),
                preferences: PushPreferencesResponse(redeemed.device.preferences).preferences))
    }

    private func device(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let device = try await holder(request, context).device
        return try JSONBody.response(
            State(
                device: PushDeviceBody(device),
                preferences: PushPreferencesResponse(device.preferences).preferences))
    }

    /// The browser has a new subscription, by its event `pushsubscriptionchange`.
    private func move(_ request: Request, _ context: KeyedContext) async throws -> Response {
        _ = try await holder(request, context)
        let gateway = try needed()
        let body = try await body(of: request, known: ["subscription"])
        let address = try PushAddress(gateway: gateway, now: now()).read(body, of: .web)
        let device = try await PushInvitations(database).move(secret(of: request), to: address, now: now())
        return try JSONBody.response(PushDeviceBody(device))
    }

    private func remove(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let (account, device) = try await holder(request, context)
        try await PushDevices(database, account: account).remove(.id(device.id))
        return try JSONBody.response(PushDone(message: "Device token unregistered successfully"))
    }

    private func setPreferences(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let (account, device) = try await holder(request, context)
        let change = try PushPreferencesChange(
            try await body(of: request, known: ["preferences"])["preferences"])
        let changed = try await PushDevices(database, account: account).change(.id(device.id)) {
            change.apply(to: &$0)
        }
        return try JSONBody.response(PushPreferencesResponse(changed.preferences))
    }

    /// The missed calls of which this browser had messages.
    private func calls(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let (account, device) = try await holder(request, context)
        let calls = try await PushDevices(database, account: account).missedCalls(of: device.id, now: now())
        var response = try JSONBody.response(
            MissedCallsResponse(calls: calls.map { MissedCallBody($0, publicURL: publicURL) }))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func test(_ request: Request, _ context: KeyedContext) async throws -> Response {
        let device = try await holder(request, context).device
        let gateway = try needed()
        return try await PushTest(gateway: gateway, publicURL: publicURL, counters: counters)
            .response(for: device, now: now())
    }

    private func needed() throws -> PushGateway {
        guard let gateway else { throw Refusal.pushIsOff }
        return gateway
    }

    private func holder(
        _ request: Request, _ context: KeyedContext
    ) async throws -> (account: AccountID, device: PushDevice) {
        // Without a secret the status is 401, also while push is off.
        let secret = try secret(of: request)
        _ = try needed()
        let found = try await gate.countingWrong(request, context) {
            try await PushInvitations(database).device(ofSecret: secret)
        }
        guard found.device.platform == .web else { throw PushError.badSecret }
        let holder = Holder(account: found.account, device: found.device.id)
        if let window = windows.count(holder, limit: Self.limit, now: now()), !window.isWithin {
            throw Refusal.tooMany(
                "Too many requests of this browser", limit: Self.limit, reset: window.reset, now: now())
        }
        return found
    }

    private func secret(of request: Request) throws -> String {
        let words = request.headers[.authorization]?.split(separator: " ") ?? []
        guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 200 else {
            throw PushError.badSecret
        }
        return String(words[1])
    }

    private func body(of request: Request, known: Set<String>) async throws -> [String: JSONValue] {
        var request = request
        // The caller is not known yet, so the body is limited to the size of a subscription.
        _ = try await JSONBody.collect(&request, upTo: 16_384)
        let object = try await JSONBody.object(of: request)
        if let unknown = object.keys.filter({ !known.contains($0) }).min() { throw Refusal.unknownField(unknown) }
        return object
    }
}
