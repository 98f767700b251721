// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Directory
import Testing

@Suite("POST mobile/device", .timeLimit(.minutes(8)))
struct DeviceTests {
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
    func `a device that never registered is told so`(path: String, body: String) async throws {
        try await RunningDirectory.run { directory in
            let answer = try await directory.post(path, body)
            #expect(answer.status == 404)
            #expect(answer.isEnvelope("not_registered"))
        }
    }
}
