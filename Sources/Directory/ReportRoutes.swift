// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Hummingbird

/// `POST mobile/branding/event` and the three `mobile/device` routes.
struct ReportRoutes: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    private struct Done: Encodable {
        var success = true
        var updated_at: String?
        var device: Device?

        struct Device: Encodable {
            var device_id: String
            var platform: String
        }
    }

    func event(_ request: Request, _ context: AccountContext) async throws -> Response {
        let event = try EventRequest(try await Answers.object(of: request))
        try EventCheck.check(event)
        return try Answers.json(try await EventLedger(database, account: context.account).record(event, now: now()))
    }

    func register(_ request: Request, _ context: AccountContext) async throws -> Response {
        let device = try await Answers.body(
            DeviceRegistration.self, of: request,
            fields: [
                "device_id", "platform", "device_type", "os_version", "app_version", "sdk_version", "customer_name",
                "customer_account_number",
            ])
        try check(device.deviceID, device.platform, [device.osVersion, device.appVersion, device.sdkVersion])
        try await devices(context).register(device, now: now())
        return try Answers.json(Done(device: .init(device_id: device.deviceID, platform: device.platform)))
    }

    func update(_ request: Request, _ context: AccountContext) async throws -> Response {
        let device = try await Answers.body(
            DeviceUpdate.self, of: request,
            fields: [
                "device_id", "platform", "os_version", "app_version", "sdk_version", "capabilities", "last_seen",
            ])
        try check(device.deviceID, device.platform, [device.osVersion, device.appVersion, device.sdkVersion])
        let now = now()
        guard try await devices(context).update(device, now: now) else { throw unknown }
        return try Answers.json(Done(updated_at: Timestamp.string(from: now)))
    }

    func presence(_ request: Request, _ context: AccountContext) async throws -> Response {
        let presence = try await Answers.body(
            Presence.self, of: request,
            fields: ["device_id", "observed_at", "platform", "os_version", "last_synced_at"])
        try check(presence.deviceID, presence.platform ?? "-", [presence.lastSyncedAt])
        guard try await devices(context).notePresence(presence, now: now()) else { throw unknown }
        return try Answers.json(Done())
    }

    private func devices(_ context: AccountContext) -> DeviceList { DeviceList(database, account: context.account) }

    /// - Throws: `Refusal` (400) for an id, a platform or another text of a wrong length.
    private func check(_ deviceID: String, _ platform: String, _ others: [String?]) throws {
        try EventCheck.length(deviceID, 1...128, "device_id")
        try EventCheck.length(platform, 1...64, "platform")
        for case let text? in others { try EventCheck.length(text, 0...128, "each version and time") }
    }

    private var unknown: Refusal { Refusal(.notFound, "The device is not registered", code: "not_registered") }
}
