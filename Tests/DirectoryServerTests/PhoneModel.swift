// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import Synchronization
import TestFixtures

/// A phone with the published iOS SDK: the requests it sends, and its own rules of what to keep and what to show.
///
/// It asks below `/api/` first and at the root after 404 or 405. It throws brands and queues away when a sync fails, sends
/// its queues in order up to the first failure, and reads no gate but `branding_enabled`.
/// Source: securenode-ios-sdk, ApiClient.swift and SecureNodeSDK.swift.
actor PhoneModel {
    let device: String
    private let directory: RunningDirectory
    private let mounts: [String]

    private(set) var brands: [String: String] = [:]
    private(set) var isBrandingEnabled = true
    private(set) var lastSynced: String?
    private(set) var waitingEvents: [JSONValue] = []
    private(set) var waitingLines: [JSONValue] = []
    /// How often it threw everything away.
    private(set) var resets = 0
    /// Every response that the published description does not allow, and every refusal.
    private(set) var problems: [String] = []
    private(set) var refusals: [Int] = []

    init(_ directory: RunningDirectory, device: String = UUID().uuidString, mounts: [String] = ["/api/", "/"]) {
        (self.directory, self.device, self.mounts) = (directory, device, mounts)
    }

    // What the SDK does when the app starts: register, update twice, the first full sync.
    func launch() async throws {
        try await post(
            APIPath.register,
            [
                "device_id": .string(device), "platform": .string("ios"), "device_type": .string("iPhone (17.4)"),
                "os_version": .string("Version 17.4 (Build 21E219)"), "app_version": .string("1.0.2"),
                "sdk_version": .string("1.0.2"), "customer_name": .string("Example Pty Ltd"),
                "customer_account_number": .string("A-1001"),
            ])
        try await update()
        try await update()
        try await flush()
        try await sync(full: true)
    }

    func sync(full: Bool = false) async throws {
        if try await trySync(since: full ? nil : lastSynced) { return }
        (brands, waitingEvents, waitingLines) = ([:], [], [])
        resets += 1
        _ = try await trySync(since: nil)
    }

    private func trySync(since: String?) async throws -> Bool {
        let query = (since.map { "since=\($0)&" } ?? "") + "device_id=\(device)"
        let response = try await ask("GET", APIPath.sync, query: query)
        guard response.status == 200, let sync: SyncResponse = try? response.decoded() else {
            try await track("sync:failed", ["success": .bool(false), "error": .string("API error \(response.status)")])
            return false
        }
        let items = sync.branding.compactMap { item in item.brandName.map { (item.phoneNumber, $0) } }
        brands = (since == nil ? [:] : brands).merging(items) { $1 }
        lastSynced = sync.syncedAt
        try await presence()
        try await update()
        isBrandingEnabled = sync.config?.brandingEnabled ?? true
        try await flush()
        try await track("sync:success", ["success": .bool(true), "items_updated": .int(sync.branding.count)])
        var acknowledgement: [String: JSONValue] = ["last_synced_at": .string(sync.syncedAt)]
        if !items.isEmpty { acknowledgement["e164_numbers"] = .array(items.map { .string($0.0) }) }
        try await post(APIPath.sync, acknowledgement)
        if sync.config?.debugUI?.requestUpload == true, sync.config?.debugUI?.allowExport == true {
            try await post(
                APIPath.debugUpload, ["device_id": .string(device), "nonce": .string(UUID().uuidString)])
        }
        return true
    }

    func presence() async throws {
        var body: [String: JSONValue] = [
            "device_id": .string(device), "observed_at": .string(Self.now), "platform": .string("ios"),
            "os_version": .string("Version 17.4 (Build 21E219)"),
        ]
        body["last_synced_at"] = lastSynced.map { .string($0) }
        try await post(APIPath.presence, body)
        try await update()
    }

    private func update() async throws {
        try await post(
            APIPath.update,
            [
                "device_id": .string(device), "platform": .string("ios"),
                "os_version": .string("Version 17.4 (Build 21E219)"), "app_version": .string("1.0.2"),
                "sdk_version": .string("1.0.2"), "last_seen": .string(Self.now),
                "capabilities": .object(["background_refresh": .bool(true)]),
            ])
    }

    /// A call rings; gives the name that is shown.
    func ring(_ number: String) async throws -> String? {
        let name = isBrandingEnabled ? brands[number] : nil
        try await report(number, name == nil ? "no_match" : "assisted", key: "call_event:\(UUID().uuidString)")
        guard name != nil else { return nil }
        try await post(
            APIPath.imprint,
            [
                "phone_number_e164": .string(number), "displayed_at": .string(Self.now), "device_id": .string(device),
                "platform": .string("ios"), "os_version": .string("17.4"),
                "device_model": .string(String(repeating: "0f", count: 32)),
            ])
        try await track("branding_applied_attempt:attempt", ["surface": .string("callkit")])
        return name
    }

    /// The app asks about a number that the phone has no brand of; gives the name it understands.
    func lookUp(_ number: String) async throws -> String? {
        let query = "e164=\(number)&format=public&device_id=\(device)"
        let response = try await ask("GET", APIPath.lookup, query: query)
        let name: String? = if case .string(let text) = response.object["brand_name"] { text } else { nil }
        try await report(number, name == nil ? "no_match" : "displayed", key: "call_event:\(UUID().uuidString)")
        return name
    }

    /// Reports a call; what fails waits in the queue.
    func report(_ number: String, _ outcome: String, key: String) async throws {
        let event = event(number, outcome, key: key)
        if try await !send(event) { waitingEvents.append(event) }
    }

    /// Puts a call into the queue, as without network.
    func reportOffline(_ number: String, _ outcome: String, key: String) {
        waitingEvents.append(event(number, outcome, key: key))
    }

    private func event(_ number: String, _ outcome: String, key: String) -> JSONValue {
        .object([
            "phone_number_e164": .string(number), "outcome": .string(outcome), "displayed_at": .string(Self.now),
            "surface": .string("display"), "device_id": .string(device), "event_key": .string(key),
            "meta": .object([
                "call_event_id": .string(key), "caller_number_e164": .string(number),
                "branding_applied": .bool(outcome == "displayed"), "branded": .bool(outcome == "displayed"),
                "ring_duration_seconds": .int(7), "call_outcome": .string("ANSWERED"), "device_id": .string(device),
                "platform": .string("ios"), "observed_at_utc": .string(Self.now),
            ]),
        ])
    }

    private func send(_ event: JSONValue) async throws -> Bool {
        let response = try await post(APIPath.event, event)
        guard (200...299).contains(response.status), let event: EventResponse = try? response.decoded() else {
            return false
        }
        if let isEnabled = event.config?.brandingEnabled { isBrandingEnabled = isEnabled }
        return true
    }

    private func track(_ message: String, _ meta: [String: JSONValue]) async throws {
        let line = JSONValue.object([
            "device_id": .string(device), "level": .string("info"), "message": .string(message),
            "meta": .object(meta), "occurred_at": .string(Self.now),
        ])
        if try await post(APIPath.deviceLog, line).status != 200 { waitingLines.append(line) }
    }

    private func flush() async throws {
        while let first = waitingEvents.first, try await send(first) { waitingEvents.removeFirst() }
        while let first = waitingLines.first, try await post(APIPath.deviceLog, first).status == 200 {
            waitingLines.removeFirst()
        }
    }

    @discardableResult
    private func post(_ path: String, _ body: [String: JSONValue]) async throws -> ReceivedResponse {
        try await post(path, .object(body))
    }

    @discardableResult
    private func post(_ path: String, _ body: JSONValue) async throws -> ReceivedResponse {
        try await ask("POST", path, body: String(decoding: try JSONEncoder().encode(body), as: UTF8.self))
    }

    private func ask(_ method: String, _ path: String, query: String? = nil, body: String = "") async throws
        -> ReceivedResponse
    {
        var last: ReceivedResponse?
        for mount in mounts {
            let response = try await directory.ask(
                mount + path + (query.map { "?\($0)" } ?? ""), method: method,
                headers: ["Content-Type": "application/json"], body: body)
            if let problem = PublishedShapes.problem(of: response, to: method, path) { problems.append(problem) }
            if response.status >= 400 { refusals.append(response.status) }
            last = response
            if response.status != 404, response.status != 405 { break }
        }
        guard let last else { throw CancellationError() }
        return last
    }

    private static let now = "2026-01-01T00:00:00Z"
}
