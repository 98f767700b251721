// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import HTTPTypes
import Hummingbird

/// `mobile/device/push` and what is below it, behind the key.
///
/// Source: mobile-api, "Push Notifications".
struct PushRoutes: Sendable {
    let database: DirectoryDatabase
    /// Nil if the directory sends no push messages.
    let gateway: PushGateway?
    let publicURL: String?
    let clients: @Sendable () -> ClientSettings
    let now: @Sendable () -> Int64
    let counters: PushCounters

    private static let fields: Set<String> = [
        "device_id", "platform", "token", "subscription", "app_version", "numbers",
    ]

    func register(_ request: Request, _ context: AccountContext) async throws -> Response {
        let gateway = try needed()
        let body = try await JSONBody.object(of: request)
        let fields = try RequestFields<PushFields>(body, known: Self.fields)
        let device = try fields.deviceID(.device)
        try Self.check(device, of: context.caller)
        guard let platform = PushPlatform(rawValue: try fields.needed(.platform)) else {
            throw Refusal.badRequest("platform must be web, ios or android")
        }
        let address = try PushAddress(gateway: gateway, now: now()).read(body, of: platform)
        var registration = PushRegistration(device: device, platform: platform, address: address)
        registration.appVersion = fields.clean(.appVersion, atMost: 64)
        registration.numbers = try Self.numbers(body["numbers"])
        registration.keyHash = context.caller.keyHash
        let devices = PushDevices(database, account: context.account)
        let stored = try await devices.register(
            registration, most: clients().devicesPerAccount, now: now())
        let client = try AccountStore(database, account: context.account).config(now: now()).clientID
        return try JSONBody.response(PushDeviceBody(stored, user: client))
    }

    func unregister(_ request: Request, _ context: AccountContext) async throws -> Response {
        let name = try await device(of: request, context, known: ["device_id", "token", "subscription"]).name
        try await PushDevices(database, account: context.account).remove(name)
        return try JSONBody.response(PushDone(message: "Device token unregistered successfully"))
    }

    func preferences(_ request: Request, _ context: AccountContext) async throws -> Response {
        _ = try needed()
        guard let id = QueryText.read("device_id", of: request) else {
            throw Refusal.badRequest("Missing parameter device_id")
        }
        try FieldCheck.length(id, 1...128, "device_id")
        try Self.check(id, of: context.caller)
        let device = try await PushDevices(database, account: context.account).device(.id(id))
        return try JSONBody.response(PushPreferencesResponse(device.preferences))
    }

    func setPreferences(_ request: Request, _ context: AccountContext) async throws -> Response {
        let (name, body) = try await device(
            of: request, context, known: ["device_id", "token", "subscription", "preferences"])
        let change = try PushPreferencesChange(body["preferences"])
        let devices = PushDevices(database, account: context.account)
        let changed = try await devices.change(name) { change.apply(to: &$0) }
        return try JSONBody.response(PushPreferencesResponse(changed.preferences))
    }

    /// The public key of the directory, with which a browser subscribes (RFC 8292).
    func key(_: Request, _: AccountContext) throws -> Response {
        guard let key = try needed().publicKey else { throw Refusal.platform(.web, offered: try needed().platforms) }
        return try JSONBody.response(PushKey(public_key: key))
    }

    /// Sends a test message at once; an error of the push service is the response.
    func test(_ request: Request, _ context: AccountContext) async throws -> Response {
        let (name, body) = try await device(
            of: request, context, known: ["device_id", "token", "subscription", "platform"])
        let device = try await PushDevices(database, account: context.account).device(name)
        let accepted: [JSONValue?] = [nil, .null, .string(device.platform.rawValue)]
        guard accepted.contains(body["platform"]) else {
            throw Refusal.badRequest("platform is not the one of this device")
        }
        return try await PushTest(gateway: try needed(), publicURL: publicURL, counters: counters)
            .response(for: device, now: now())
    }

    private func device(
        of request: Request, _ context: AccountContext, known: Set<String>
    ) async throws -> (name: PushDeviceName, body: [String: JSONValue]) {
        let gateway = try needed()
        let body = try await JSONBody.object(of: request)
        if let unknown = body.keys.filter({ !known.contains($0) }).min() { throw Refusal.unknownField(unknown) }
        for field in ["device_id", "token"] {
            if case .string = body[field] ?? .string("") { continue }
            throw Refusal.wrongType(field)
        }
        let name = try PushAddress(gateway: gateway, now: now()).name(body)
        if context.caller.device != nil {
            let device = try await PushDevices(database, account: context.account).device(name)
            try Self.check(device.id, of: context.caller)
        }
        return (name, body)
    }

    private func needed() throws -> PushGateway {
        guard let gateway else { throw Refusal.pushIsOff }
        return gateway
    }

    /// A token of a device is good for this device alone.
    private static func check(_ device: String, of caller: Caller) throws {
        guard caller.device == nil || caller.device == device else {
            throw Refusal(.forbidden, "The token belongs to another device", code: "wrong_device")
        }
    }

    /// Nil without the field, which keeps the numbers of an earlier registration.
    private static func numbers(_ value: JSONValue?) throws -> [E164Number]? {
        switch value {
        case nil, .null: return nil
        case .array(let texts):
            guard texts.count <= PushLimits.numbersPerDevice else { throw PushError.tooManyNumbers }
            return try texts.map { text in
                guard case .string(let text) = text, let number = E164Number(text) else {
                    throw Refusal.badRequest("numbers must be texts such as +61255501001")
                }
                return number
            }
        default: throw Refusal.wrongType("numbers")
        }
    }
}

/// Field names of a registration.
enum PushFields: String, CodingKey {
    case platform, token, subscription, numbers
    case device = "device_id"
    case appVersion = "app_version"
}
