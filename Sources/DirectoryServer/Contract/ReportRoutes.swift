// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import Foundation
import Hummingbird

/// `POST mobile/branding/event` and the four `mobile/device` routes.
struct ReportRoutes: Sendable {
    let database: DirectoryDatabase
    let clients: @Sendable () -> ClientSettings
    let links: ClientLinks
    let now: @Sendable () -> Int64
    let lost: BestEffortWrites
    let counters: ServerCounters

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
        let event = ReportedEvent(try await JSONBody.object(of: request, levels: .max))
        var response = try await EventLedger(database, account: context.account).record(event, now: now())
        counters.addEvent(response.outcome, isCounted: response.counted)
        if let scheme = links.scheme(for: request) { response.link(to: event.event, scheme: scheme) }
        var text = JSONText()
        response.write(to: &text)
        return JSONBody.response(text, status: response.partial == true ? .accepted : .ok)
    }

    func register(_ request: Request, _ context: AccountContext) async throws -> Response {
        let device = try DeviceRegistration(try await JSONBody.object(of: request, levels: .max))
        try await devices(context).register(device, most: clients().devicesPerAccount, now: now())
        return try JSONBody.response(Done(device: .init(device_id: device.deviceID, platform: device.platform)))
    }

    func update(_ request: Request, _ context: AccountContext) async throws -> Response {
        let device = try DeviceUpdate(try await JSONBody.object(of: request, levels: .max))
        let now = now()
        guard try await devices(context).update(device, now: now) else { throw Refusal.deviceUnknown }
        return try JSONBody.response(Done(updated_at: Timestamp.string(from: now)))
    }

    func presence(_ request: Request, _ context: AccountContext) async throws -> Response {
        let presence = try Presence(try await JSONBody.object(of: request, levels: .max))
        guard try await devices(context).recordPresence(presence, now: now()) else { throw Refusal.deviceUnknown }
        return try JSONBody.response(Done())
    }

    /// Accepts a line of telemetry, even if it is not stored; a refused line would block the queue of a phone.
    func log(_ request: Request, _ context: AccountContext) async throws -> Response {
        let (object, now) = (try await JSONBody.object(of: request, levels: .max), now())
        if case .string(let device) = object["device_id"] {
            let log = DeviceLog(database, account: context.account)
            await lost.attempt("a line of a device's log") {
                try await log.append(DeviceLog.Line(object, now: now), of: device, now: now)
            }
        }
        return try JSONBody.response(Done())
    }

    private func devices(_ context: AccountContext) -> DeviceList { DeviceList(database, account: context.account) }
}

extension Refusal {
    static let deviceUnknown = Refusal(.notFound, "The device is not registered", code: "not_registered")
}
