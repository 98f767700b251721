// SPDX-License-Identifier: Apache-2.0

import Branding
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
        let event = try await Answers.body(
            EventRequest.self, of: request,
            fields: [
                "phone_number_e164", "outcome", "surface", "device_id", "branding_request_id", "displayed_at",
                "event_key",
                // A repetition of event_key in one of the contract's clients.
                "idempotency_key", "meta",
            ])
        guard E164Number(event.phoneNumber) != nil else {
            throw Refusal.badRequest("phone_number_e164 is no E.164 number")
        }
        guard (1...64).contains(event.outcome.count) else {
            throw Refusal.badRequest("outcome must have 1 to 64 characters")
        }
        if let key = event.eventKey, !(1...FieldLimit.eventKey).contains(key.count) {
            throw Refusal.badRequest("event_key must have 1 to \(FieldLimit.eventKey) characters")
        }
        if let time = event.displayedAt, Timestamp.seconds(from: time) == nil {
            throw Refusal.badRequest("displayed_at is no ISO 8601 time")
        }
        return try Answers.json(try await EventLedger(database, account: context.account).record(event, now: now()))
    }

    func register(_ request: Request, _ context: AccountContext) async throws -> Response {
        let device = try await Answers.body(
            DeviceRegistration.self, of: request,
            fields: [
                "device_id", "platform", "device_type", "os_version", "app_version", "sdk_version", "customer_name",
                "customer_account_number",
            ])
        try check(device.deviceID, device.platform)
        try await devices(context).register(device, now: now())
        return try Answers.json(Done(device: .init(device_id: device.deviceID, platform: device.platform)))
    }

    func update(_ request: Request, _ context: AccountContext) async throws -> Response {
        let device = try await Answers.body(
            DeviceUpdate.self, of: request,
            fields: [
                "device_id", "platform", "os_version", "app_version", "sdk_version", "capabilities", "last_seen",
            ])
        try check(device.deviceID, device.platform)
        let now = now()
        guard try await devices(context).update(device, now: now) else { throw unknown }
        return try Answers.json(Done(updated_at: Timestamp.string(from: now)))
    }

    func presence(_ request: Request, _ context: AccountContext) async throws -> Response {
        let presence = try await Answers.body(
            Presence.self, of: request,
            fields: ["device_id", "observed_at", "platform", "os_version", "last_synced_at"])
        try check(presence.deviceID, presence.platform ?? "-")
        guard try await devices(context).notePresence(presence, now: now()) else { throw unknown }
        return try Answers.json(Done())
    }

    private func devices(_ context: AccountContext) -> DeviceList { DeviceList(database, account: context.account) }

    private func check(_ deviceID: String, _ platform: String) throws {
        guard (1...128).contains(deviceID.count), (1...64).contains(platform.count) else {
            throw Refusal.badRequest("device_id and platform must not be empty or too long")
        }
    }

    private var unknown: Refusal { Refusal(.notFound, "The device is not registered", code: "not_registered") }
}
