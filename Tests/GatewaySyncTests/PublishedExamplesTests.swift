// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import Foundation
import GatewayStore
import GatewaySyncTesting
import TestFixtures
import Testing

@testable import GatewaySync

/// The responses that SecureNode publishes, with the same members, types and absences, and names and numbers of our own.
///
/// Sources, of the repositories securenode-call-branding/ios-sdk and android-sdk: docs/openapi.yaml, docs/API_QUICKSTART.md,
/// docs/BRANDING_FIELD_CONSTRAINTS.md, docs/mobile-branding-system.md, both README.md; securenode-endpoint-contract.
@Suite("Responses as they are published", .timeLimit(.minutes(8)))
struct PublishedExamplesTests {
    private static let number = "+61255501234"

    /// One published response to a sync, and what a call of its number gets.
    struct Sync: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body: String
        var branded = true
        var closed: PassThroughReason?
        var logo: String? = "https://logos.example.com/harbour.png"
        var reason: String? = "Delivery today"
    }

    private static func item(_ more: String = "") -> String {
        #"""
        {"phone_number_e164": "\#(number)", "brand_name": "Harbour Freight", \#(more)
         "logo_url": "https://logos.example.com/harbour.png", "call_reason": "Delivery today",
         "updated_at": "2026-05-04T10:11:12Z"}
        """#
    }

    private static func config(_ more: String = "") -> String {
        #"""
        {"mode": "live", "branding_enabled": true, "voip_dialer_enabled": false, "account_status": "active",
         "client_id": "c-17", \#(more)
         "debug_ui": {"enabled": false, "request_upload": false, "expires_at": null, "allow_export": false}}
        """#
    }

    static let syncs = [
        Sync(
            testDescription: "BRANDING_FIELD_CONSTRAINTS.md, API Response Format: no success, config or brand_id",
            body: #"{"branding": [\#(item())], "synced_at": "2026-05-04T10:15:00Z"}"#),
        Sync(
            testDescription: "android-sdk README, API Contract: three members of config, the dialler off",
            body: #"""
                {"branding": [\#(item())], "synced_at": "2026-05-04T10:15:00Z",
                 "config": {"branding_enabled": true, "voip_dialer_enabled": false, "mode": "live"}}
                """#),
        Sync(
            testDescription: "android-sdk README, Debug Console: config with debug_ui of three members",
            body: #"""
                {"branding": [\#(item())], "synced_at": "2026-05-04T10:15:00Z",
                 "config": {"debug_ui": {"enabled": true, "expires_at": "2026-05-10T23:59:59Z", "allow_export": true}}}
                """#),
        Sync(
            testDescription: "securenode-endpoint-contract §5: the members it names",
            body: #"""
                {"branding": [\#(item(#""brand_id": "b-1","#))], "synced_at": "2026-05-04T10:15:00Z",
                 "config": {"branding_enabled": true, "account_status": "active", "cap_this_month": 5000,
                            "used_this_month": 12, "included_imprints_monthly": 5000,
                            "debug_ui": {"enabled": false, "request_upload": false}}}
                """#),
        Sync(
            testDescription: "openapi.yaml BrandingSyncResponse, required members alone",
            body: #"""
                {"success": true, "synced_at": "2026-05-04T10:15:00Z", "config": \#(config()),
                 "branding": [{"phone_number_e164": "\#(number)", "brand_name": "Harbour Freight", "brand_id": "b-1",
                               "updated_at": "2026-05-04T10:11:12Z"}]}
                """#, logo: nil, reason: nil),
        Sync(
            testDescription: "openapi.yaml BrandingSyncResponse, every member, nullable ones null",
            body: #"""
                {"success": true, "synced_at": "2026-05-04T10:15:00Z",
                 "config": \#(config(#""used_this_month": 3, "cap_this_month": null, "included_imprints_monthly": 0,"#)),
                 "branding": [{"phone_number_e164": "\#(number)", "brand_name": "Harbour Freight", "brand_id": "b-1",
                               "logo_url": null, "call_reason": null, "updated_at": "2026-05-04T10:11:12Z"}]}
                """#, logo: nil, reason: nil),
        Sync(
            testDescription: "mobile-branding-system.md 4: is_active in the payload",
            body: #"{"branding": [\#(item(#""is_active": true,"#))], "synced_at": "2026-05-04T10:15:00Z"}"#),
        Sync(
            testDescription: "mobile-branding-system.md 3: inactive records are filtered out",
            body: #"{"branding": [\#(item(#""is_active": false,"#))], "synced_at": "2026-05-04T10:15:00Z"}"#,
            branded: false),
        Sync(
            testDescription: "openapi.yaml config: the switch of the account is off",
            body: #"{"branding": [\#(item())], "synced_at": "c", "config": {"branding_enabled": false}}"#,
            branded: false, closed: .gatedBrandingDisabled),
        Sync(
            testDescription: "openapi.yaml config: the account is suspended",
            body: #"{"branding": [\#(item())], "synced_at": "c", "config": {"account_status": "suspended"}}"#,
            branded: false, closed: .gatedAccountStatus),
        Sync(
            testDescription: "openapi.yaml config: account_status is any text",
            body: #"""
                {"branding": [\#(item())], "synced_at": "c",
                 "config": {"account_status": "past_due", "branding_enabled": true}}
                """#),
        Sync(
            testDescription: "openapi.yaml config: the month's cap is reached",
            body: #"""
                {"branding": [\#(item())], "synced_at": "c", "config": {"used_this_month": 9, "cap_this_month": 9}}
                """#, branded: false, closed: .gatedCapReached),
        Sync(
            testDescription: "a total beside one page of records, as servers add it",
            body: #"{"success": true, "count": 1200, "branding": [\#(item())], "synced_at": "c", "next": null}"#),
    ]

    @Test(arguments: syncs) func `a published sync response brands the call, or not, as it says`(sync: Sync)
        async throws
    {
        let peer = try FaultyPeer { _, _ in .json(sync.body) }
        let gateway = try await GatewayFixture(peer.url)
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.result == .succeeded, "\(service.status.lastError ?? "")")
        let call = gateway.call(from: Self.number)
        #expect(call.name == (sync.branded ? "Harbour Freight" : nil))
        #expect(call.reason == (sync.closed ?? (sync.branded ? nil : .noMatch)))
        if sync.branded {
            #expect(call.logo == sync.logo)
            #expect(call.callInfo.contains("call-reason=\"Delivery today\"") == (sync.reason != nil))
        }
        // The next one goes on from the cursor, to the letter.
        await service.syncOnce()
        #expect(peer.requests.last?.target.contains("since=") == true)
        await gateway.client.shutdown()
    }

    @Test(arguments: [
        // mobile-branding-system.md 3: the most recently updated record decides.
        ("2026-05-04T10:11:12Z", "2026-05-05T00:00:00Z", "Newer"),
        ("2026-05-05T00:00:00.123Z", "2026-05-04T10:11:12Z", "Older"),
    ])
    func `of several records of a number the latest is shown`(first: String, second: String, shown: String) async throws
    {
        let items = [("Older", first), ("Newer", second)].map { name, time in
            #"{"phone_number_e164":"\#(Self.number)","brand_name":"\#(name)","updated_at":"\#(time)"}"#
        }.joined(separator: ",")
        let peer = try FaultyPeer { _, _ in
            .json(#"{"branding":[\#(items)],"synced_at":"c"}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        await gateway.service().syncOnce()
        #expect(gateway.call(from: Self.number).name == shown)
        await gateway.client.shutdown()
    }

    /// The operator's choice, the directory's flag, and whether a call is branded.
    @Test(arguments: [(false, false, true), (false, true, true), (true, false, false), (true, true, true)])
    func `voip_dialer_enabled stops branding only where the operator obeys it`(
        obeys: Bool, flag: Bool, isBranded: Bool
    ) async throws {
        let peer = try FaultyPeer { _, _ in
            .json(#"{"branding":[\#(Self.item())],"synced_at":"c","config":{"voip_dialer_enabled":\#(flag)}}"#)
        }
        let gateway = try await GatewayFixture(peer.url)
        if obeys { await gateway.obeyVoipDialer() }
        let service = gateway.service()
        for _ in 0..<3 { await service.syncOnce() }
        let call = gateway.call(from: Self.number)
        #expect(call.reason == (isBranded ? nil : .gatedVoipDialerDisabled))
        let lines = gateway.log.lines.filter { $0.contains("voip_dialer_enabled") && !$0.contains("branding stopped") }
        #expect(lines.count == (flag ? 0 : 1), "\(lines)")
        #expect(lines.allSatisfy { $0.contains("directory.voip_dialer_enabled: \(obeys ? "ignore" : "obey")") })
        await gateway.client.shutdown()
    }

    // MARK: Events

    /// The published responses to an event, their status, and whether the event is known to count.
    @Test(arguments: [
        // API_QUICKSTART.md 3 and ios-sdk README 3.
        (
            200, #"{"success": true, "event_id": "0b9f", "displayed_at": "2026-05-04T12:00:00Z"}"#, Bool?.none,
            String?.none
        ),
        // securenode-endpoint-contract §7.
        (200, #"{"counted": true}"#, true, nil), (200, #"{"counted": false, "reason": "no_match"}"#, false, "no_match"),
        // openapi.yaml BrandingEventResponse: required members, then every one with the nullable ones null.
        (
            200,
            #"{"success": true, "outcome": "displayed", "counted": true, "displayed_at": "2026-05-04T12:00:00Z"}"#,
            true, nil
        ),
        (
            200,
            #"""
            {"success": true, "accepted": null, "partial": null, "warning_code": null, "event_id": null,
             "imprint_id": null, "outcome": "displayed", "counted": false, "reason": null,
             "displayed_at": "2026-05-04T12:00:00Z", "config": {}, "limits": {"left": 3}}
            """#, false, nil
        ),
        // openapi.yaml 202: only stored.
        (
            202,
            #"""
            {"success": true, "accepted": true, "partial": true, "warning_code": "RAW_ONLY", "outcome": "displayed",
             "counted": false, "reason": "pending_enrichment", "displayed_at": "2026-05-04T12:00:00Z"}
            """#, false, "pending_enrichment"
        ),
    ])
    func `a published response settles the event`(
        status: Int, body: String, counted: Bool?, reason: String?
    ) async throws {
        let peer = try FaultyPeer { _, _ in .status(status, body: body) }
        let gateway = try await GatewayFixture(peer.url, records: [record(Self.number)])
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        guard case .delivered(let receipt) = gateway.outbox.fate("displayed:1") else { Issue.record("waits"); return }
        #expect(receipt.counted == counted)
        #expect(receipt.reason == reason)
        #expect(gateway.call(from: Self.number).name == "Acme")
        await gateway.client.shutdown()
    }

    // MARK: Lookups

    /// The published shapes of a lookup, and the name that is found.
    @Test(arguments: [
        // ios-sdk README 2: a single identity.
        (
            FaultyPeer.Response.json(
                #"""
                {"e164": "\#(number)", "brand_name": "Harbour Freight", "logo_url": "https://logos.example.com/h.png",
                 "call_reason": "Delivery today", "updated_at": "2026-05-04T10:11:12Z"}
                """#), String?.some("Harbour Freight")
        ),
        // openapi.yaml BrandingLookupResponse: everything, then required members, then nulls.
        (
            .json(
                #"""
                {"success": true, "e164": "\#(number)", "brand_name": "Harbour Freight", "logo_url": null,
                 "call_reason": null, "brand_id": "b-1", "display": {"title": "Harbour Freight"}, "config": {}, "limits": {}}
                """#), "Harbour Freight"
        ),
        (.json(#"{"success": true, "e164": "\#(number)"}"#), nil),
        (
            .json(
                #"""
                {"success": true, "e164": "\#(number)", "brand_name": null, "logo_url": null, "call_reason": null,
                 "brand_id": null}
                """#), nil
        ),
        // openapi.yaml PublicLookupResponse, matched and not.
        (
            .json(
                #"""
                {"matched": true, "displayed": true, "brand": {"name": "Harbour Freight", "logo": null},
                 "call_reason": null, "source": "live"}
                """#), "Harbour Freight"
        ),
        (
            .json(#"{"matched": false, "displayed": false, "brand": null, "call_reason": null, "source": "none"}"#), nil
        ),
        // ios-sdk README 2: an empty body or 404 is no match.
        (.status(200, body: ""), nil), (.status(404, body: ""), nil), (.refusal(404), nil),
    ])
    func `a published lookup response brands the next call, or leaves it as it is`(
        response: FaultyPeer.Response, name: String?
    ) async throws {
        let peer = try FaultyPeer { _, _ in response }
        let gateway = try await GatewayFixture(peer.url)
        let lookup = NumberLookup(
            client: gateway.client, device: gateway.device, publisher: gateway.publisher, schedule: LookupSchedule(),
            time: gateway.time.clock, logger: gateway.logger,
            store: { [cache = gateway.cache] in try await cache.addProvisional($0) },
            index: { [index = gateway.index] in try await index.rebuild() })
        lookup.ended(callFrom: try #require(E164Number(Self.number)))
        _ = await lookup.step()
        #expect(gateway.call(from: Self.number).name == name)
        #expect(lookup.counts.found == (name == nil ? 0 : 1))
        #expect(lookup.counts.unknown == (name == nil ? 1 : 0))
        await gateway.client.shutdown()
    }

    // MARK: Errors

    /// openapi.yaml ErrorResponse for each documented status, with and without the nullable code.
    @Test(
        arguments: [
            (400, PassThroughReason?.none, true), (401, .gatedUnauthorised, false), (403, .gatedUnauthorised, false),
            (404, nil, true), (409, nil, true), (413, nil, true), (429, nil, false),
        ], [#""code": "SOME_CODE", "#, #""code": null, "#, ""])
    func `a published error stops branding only where it refuses the key`(
        row: (status: Int, closed: PassThroughReason?, isFinal: Bool), code: String
    ) async throws {
        let peer = try FaultyPeer { _, _ in
            .status(row.status, body: #"{"success": false, \#(code)"error": "a sentence for people"}"#)
        }
        let gateway = try await GatewayFixture(peer.url, records: [record(Self.number)])
        gateway.outbox.add("displayed:1")
        await gateway.sender().sendBatch()
        if case .refused(row.status, let reason) = gateway.outbox.fate("displayed:1") {
            #expect(row.isFinal && reason.contains("a sentence for people"))
        } else {
            #expect(!row.isFinal)
        }
        let service = gateway.service()
        await service.syncOnce()
        #expect(service.status.lastError?.contains("a sentence for people") == true)
        #expect(gateway.call(from: Self.number).reason == row.closed)
        #expect(gateway.call(from: Self.number).name == (row.closed == nil ? "Acme" : nil))
        await gateway.client.shutdown()
    }
}

extension GatewayFixture {
    /// What an initial INVITE of a trusted trunk from this number gets at this instant.
    func call(from number: String) -> (name: String?, logo: String?, callInfo: String, reason: PassThroughReason?) {
        let snapshot = current.load()
        let evidence = CallEvidence(number: E164Number(number), trunkTrusted: true)
        switch decide(evidence, policy: .standard, gates: snapshot.gates, index: snapshot.index) {
        case .passThrough(let reason): return (nil, nil, "", reason)
        case .show(let entry):
            let index = snapshot.index
            return (index.text(.name, entry), index.logoURL(of: entry), index.text(.callInfo, entry), nil)
        }
    }
}
