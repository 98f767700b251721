// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Testing

@Suite("Messages of the contract")
struct MessageTests {
    private func read<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func json(_ value: some Encodable) throws -> [String: JSONValue] {
        try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(value))
    }

    @Test(arguments: ["null", "true", "-3", "1.5", #""ü\n\"""#, "[1,[],{}]", #"{"a":{"b":[null,false]},"c":""}"#])
    func `every JSON value survives encoding and decoding`(text: String) throws {
        let value = try read([JSONValue].self, "[\(text)]")
        let again = try JSONDecoder().decode([JSONValue].self, from: JSONEncoder().encode(value))
        #expect(value == again)
        #expect(value.count == 1)
    }

    @Test func `one and true are different values`() throws {
        #expect(try read([JSONValue].self, "[1,true,0,false]") == [.int(1), .bool(true), .int(0), .bool(false)])
    }

    @Test func `an event is encoded with the contract's names and without absent fields`() throws {
        let event = EventRequest(
            phoneNumber: "+61491570156", outcome: "displayed", surface: "sip", deviceID: "g", displayedAt: "t",
            eventKey: "k",
            meta: ["ring_duration_seconds": .int(12)])
        #expect(
            try json(event) == [
                "phone_number_e164": .string("+61491570156"), "outcome": .string("displayed"),
                "surface": .string("sip"),
                "device_id": .string("g"), "displayed_at": .string("t"), "event_key": .string("k"),
                "meta": .object(["ring_duration_seconds": .int(12)]),
            ])
        #expect(try json(EventRequest(phoneNumber: "+61491570156", outcome: "missed")).count == 2)
    }

    @Test(arguments: ["success", "counted", "accepted"])
    func `an event response needs one member of the contract`(member: String) throws {
        #expect(try read(EventResponse.self, #"{"\#(member)":true}"#).success)
    }

    @Test(arguments: ["{}", #"{"message":"Forbidden"}"#, #"{"reason":"blocked by policy"}"#, #"{"status":"ok"}"#])
    func `an object without a member of the contract is not an event response`(json: String) {
        #expect(throws: DecodingError.self) { try read(EventResponse.self, json) }
    }

    /// Published error bodies (openapi.yaml ErrorResponse, mobile-api "Error Response Format"), then bodies of common
    /// proxies and frameworks.
    @Test(arguments: [
        (#"{"success":false,"error":"no such key"}"#, true), (#"{"success":false,"error":"no","code":null}"#, true),
        (#"{"success":false,"error":"no","code":"INVALID_KEY"}"#, true), (#"{"error":"no","code":"BAD"}"#, true),
        (#"{"error":{"code":"BAD","message":"no","retry_guidance":"mend it"}}"#, true),
        (#"{"timestamp":"2026-11-27T10:00:00Z","status":403,"error":"Forbidden","path":"/api"}"#, false),
        (#"{"error":"access denied"}"#, false), (#"{"error":{"message":"denied"}}"#, false),
        (#"{"success":true,"error":"odd"}"#, false),
    ]) func `an error body follows the contract if it has success or code`(json: String, isOfContract: Bool) throws {
        #expect(try read(ErrorEnvelope.self, json).isOfContract == isOfContract)
    }

    @Test(arguments: [#"{"message":"Forbidden"}"#, #"{"success":false,"errors":[{"code":1020}]}"#, "[]"])
    func `a body without an error is not an error body`(json: String) {
        #expect(throws: DecodingError.self) { try read(ErrorEnvelope.self, json) }
    }

    @Test func `an event response is decoded in every spelling`() throws {
        let read = try read(
            EventResponse.self,
            #"""
            {"success":true,"event_id":77,"outcome":"displayed","counted":"false","reason":"cap_reached","displayed_at":"t",
             "imprint_id":null,"accepted":1,"partial":false,"config":"none","warning_code":"w","limits":{}}
            """#)
        var expected = EventResponse(success: true)
        (expected.eventID, expected.outcome, expected.counted) = ("77", "displayed", false)
        (expected.reason, expected.displayedAt, expected.accepted, expected.partial) = ("cap_reached", "t", true, false)
        expected.warningCode = "w"
        #expect(read == expected)
    }

    @Test func `device messages use the contract's names`() throws {
        #expect(
            try json(
                DeviceRegistration(deviceID: "g", platform: "linux", osVersion: "o", appVersion: "a", sdkVersion: "s"))
                == [
                    "device_id": .string("g"), "platform": .string("linux"), "os_version": .string("o"),
                    "app_version": .string("a"), "sdk_version": .string("s"),
                ])
        #expect(
            try json(DeviceUpdate(deviceID: "g", platform: "linux", lastSeen: "t"))
                == ["device_id": .string("g"), "platform": .string("linux"), "last_seen": .string("t")])
        #expect(
            try json(Presence(deviceID: "g", observedAt: "t", lastSyncedAt: "u"))
                == ["device_id": .string("g"), "observed_at": .string("t"), "last_synced_at": .string("u")])
        #expect(
            try json(SyncAcknowledgement(lastSyncedAt: "t", numbers: ["+61491570156"]))
                == ["last_synced_at": .string("t"), "e164_numbers": .array([.string("+61491570156")])])
    }

    @Test func `a sync response survives encoding and decoding`() throws {
        let response = SyncResponse(
            success: true, branding: [BrandingItem(phoneNumber: "+61491570156", brandName: "Acme")], syncedAt: "t",
            config: DirectoryConfig())
        #expect(try JSONDecoder().decode(SyncResponse.self, from: JSONEncoder().encode(response)) == response)
    }

    @Test func `an empty lookup response means no match`() throws {
        let empty = try read(LookupResponse.self, "{}")
        #expect(empty.brandName == nil)
        let miss = try json(LookupResponse(e164: "+61491570156", item: nil, config: nil))
        #expect(miss["brand_name"] == .null)
        #expect(miss["logo_url"] == .null)
        let written = LookupResponse(
            e164: "+61491570156", item: BrandingItem(phoneNumber: "+61491570156", brandName: "Acme"), config: nil)
        #expect(try JSONDecoder().decode(LookupResponse.self, from: JSONEncoder().encode(written)) == written)
    }

    @Test(arguments: [nil, BrandingItem(phoneNumber: "+61491570156", brandName: "Acme", callReason: "Your order")])
    func `the public form survives encoding and decoding`(item: BrandingItem?) throws {
        let written = PublicLookupResponse(item)
        #expect(try JSONDecoder().decode(PublicLookupResponse.self, from: JSONEncoder().encode(written)) == written)
    }

    @Test(arguments: [
        (#"{"success":false,"error":"No","code":"e"}"#, ErrorEnvelope(error: "No", code: "e")),
        (#"{"success":false,"error":"No","code":null}"#, ErrorEnvelope(error: "No", code: nil)),
        (
            #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Too many","retry_guidance":"Wait 45 seconds","details":{"retry_after":45}}}"#,
            ErrorEnvelope(error: "Too many", code: "RATE_LIMIT_EXCEEDED", retryGuidance: "Wait 45 seconds")
        ),
        (#"{"error":{"code":"GONE"}}"#, ErrorEnvelope(error: "GONE", code: "GONE")),
    ])
    func `errors are decoded in both published shapes`(json: String, expected: ErrorEnvelope) throws {
        #expect(try read(ErrorEnvelope.self, json) == expected)
    }

    @Test func `an error is encoded with a code even if it is null`() throws {
        #expect(
            try json(ErrorEnvelope(error: "No", code: nil))
                == ["success": .bool(false), "error": .string("No"), "code": .null])
    }
}
