// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import TestFixtures
import Testing

@Suite("POST mobile/device", .timeLimit(.minutes(8)), .bothEngines)
struct DeviceTests {
    @Test func `an account registers no more devices than it may have, and known ones go on`() async throws {
        var clients = ClientSettings()
        clients.devicesPerAccount = 3
        try await RunningDirectory.run(clients: clients) { directory in
            func register(_ device: String) async throws -> ReceivedResponse {
                try await directory.post(
                    "/" + APIPath.register, #"{"device_id":"\#(device)","platform":"ios"}"#)
            }
            for device in ["a", "b", "c", "a"] { #expect(try await register(device).status == 200) }
            let refused = try await register("d")
            #expect(refused.status == 429 && refused.text.contains("TOO_MANY_DEVICES"))
            #expect(refused.headers["retry-after"] != nil)
            #expect(try await register("b").status == 200)
            // Of another account.
            let other = try AccountList(directory.database).create(name: "other", now: 1)
            let key = try AccountStore(directory.database, account: other).createKey(name: "k", now: 1)
            let foreign = try await directory.ask(
                "/" + APIPath.register, method: "POST", headers: ["X-API-Key": key],
                body: #"{"device_id":"d","platform":"ios"}"#)
            #expect(foreign.status == 200)
        }
    }

    private static let registration =
        #"{"device_id":"gateway-1","platform":"linux","os_version":"6.1","sdk_version":"0.1"}"#
    private static let update =
        #"{"device_id":"gateway-1","platform":"linux","capabilities":{"contacts_enabled":false}}"#
    private static let presence = #"{"device_id":"gateway-1","observed_at":"2026-01-01T00:00:00Z"}"#

    @Test(arguments: ["", "/api"])
    func `a device registers, is updated and shows signs of life`(mount: String) async throws {
        try await RunningDirectory.run { directory in
            let registered = try await directory.post(mount + "/mobile/device/register", Self.registration)
            #expect(registered.status == 200)
            #expect(
                try registered.decoded([String: JSONValue].self) == [
                    "success": .bool(true),
                    "device": .object(["device_id": .string("gateway-1"), "platform": .string("linux")]),
                ])
            let updated = try await directory.post(mount + "/mobile/device/update", Self.update)
            #expect(updated.status == 200)
            #expect(
                try updated.decoded([String: JSONValue].self)
                    == ["success": .bool(true), "updated_at": .string("2026-01-01T00:00:00Z")])
            let present = try await directory.post(mount + "/mobile/device/presence", Self.presence)
            #expect(present.status == 200)
            // Registering again is no mistake.
            #expect(try await directory.post(mount + "/mobile/device/register", Self.registration).status == 200)
        }
    }

    @Test(arguments: [("/mobile/device/update", update), ("/mobile/device/presence", presence)])
    func `a device that never registered gets an error that says so`(path: String, body: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await directory.post(path, body)
            #expect(response.status == 404)
            #expect(response.isEnvelope("not_registered"))
        }
    }

    // The ten fields of the published registration and update, and what a real phone writes into them.
    private static let phone = #"""
        {"device_id":"phone-1","platform":"ios","device_type":"iPhone (17.4)","os_version":"Version 17.4 (Build 21E219)",
        "app_version":"2.1","sdk_version":"2.1","customer_name":"Acme \u001b[31mSales\u202e","customer_account_number":4711}
        """#

    @Test func `what a phone says of itself is kept, cleaned, and shown to the operator`() async throws {
        try await RunningDirectory.run { directory in
            #expect(try await directory.post("/" + APIPath.register, Self.phone).status == 200)
            let update = #"""
                {"device_id":"phone-1","platform":"ios","os_version":"17.5","last_seen":"2026-01-01T00:00:00Z","capabilities":
                {"contacts_enabled":true,"background_refresh":false,"theme":"dark\n","list":[1],"none":null,"build":7}}
                """#
            #expect(try await directory.post("/" + APIPath.update, update).status == 200)
            // What it leaves out the next time stays.
            let again = #"{"device_id":"phone-1","platform":"ios"}"#
            #expect(try await directory.post("/" + APIPath.register, again).status == 200)
            let device = try #require(try DeviceList(directory.database).page(after: nil, limit: 2).first)
            #expect(device.deviceType == "iPhone (17.4)")
            #expect(device.osVersion == "17.5")
            #expect(device.appVersion == "2.1")
            #expect(device.sdkVersion == "2.1")
            #expect(device.customerName == "Acme [31mSales")
            #expect(device.customerAccountNumber == "4711")
            #expect(
                device.capabilities == [
                    "contacts_enabled": .bool(true), "background_refresh": .bool(false), "theme": .string("dark"),
                    "build": .int(7),
                ])
        }
    }

    @Test(arguments: [
        #"{"device_id":"p"}"#, #"{"device_id":"p","platform":7,"os_version":[1],"imei":"1"}"#,
        "{\"device_id\":\"p\",\"platform\":\"\(String(repeating: "p", count: 500))\",\"capabilities\":\"all\"}",
    ])
    func `a report with odd fields is taken without them`(body: String) async throws {
        try await RunningDirectory.run { directory in
            for path in [APIPath.register, APIPath.update, APIPath.presence] {
                let response = try await directory.post("/" + path, body)
                #expect(response.status == 200, "\(response.text)")
            }
            let device = try #require(try DeviceList(directory.database).page(after: nil, limit: 2).first)
            #expect((1...64).contains(device.platform.count))
        }
    }
}
