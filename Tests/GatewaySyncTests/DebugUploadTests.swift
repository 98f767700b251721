// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import GatewaySyncTesting
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Debug uploads, securenode-endpoint-contract §9", .timeLimit(.minutes(8)))
struct DebugUploadTests {
    private static let uploaded = FaultyPeer.Response.json(#"{"success":true,"id":"u-1"}"#)

    private static func gates(
        _ enabled: Bool? = true, _ request: Bool? = true, _ export: Bool? = true, until: String? = nil
    ) -> DirectoryConfig {
        var gates = DirectoryConfig.DebugUI()
        (gates.enabled, gates.requestUpload, gates.allowExport, gates.expiresAt) = (enabled, request, export, until)
        var config = DirectoryConfig()
        config.debugUI = gates
        return config
    }

    private static func uploader(
        _ gateway: GatewayFixture, logs: [String] = ["line"], state: String = #"{"version":"1.2.3"}"#
    ) -> DebugUploader {
        DebugUploader(
            client: gateway.client, device: gateway.device, current: gateway.current, stateFolder: gateway.folder.path,
            content: .init(logs: { logs }, state: { Data(state.utf8) }), time: gateway.time.clock,
            logger: gateway.logger)
    }

    private static func upload(_ request: FaultyPeer.Request) throws -> DebugUpload {
        try JSONDecoder().decode(DebugUpload.self, from: Data(request.body.utf8))
    }

    @Test(arguments: [
        (gates(), true), (gates(until: "2026-01-01T00:00:01Z"), true), (gates(until: "2026-01-01T00:00:00Z"), false),
        (gates(until: "soon"), false), (gates(false), false), (gates(nil), false), (gates(true, false), false),
        (gates(true, nil), false), (gates(true, true, false), false), (gates(true, true, nil), false),
        (DirectoryConfig(), false),
    ])
    func `nothing leaves the house unless all four gates are open`(config: DirectoryConfig, isOpen: Bool) async throws {
        let peer = try FaultyPeer { _, _ in Self.uploaded }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(config)
        await Self.uploader(gateway).check()
        #expect(peer.requests.map(\.path) == (isOpen ? ["/api/mobile/debug/upload"] : []))
        await gateway.client.shutdown()
    }

    @Test func `the status comes whole, without the numbers in its texts`() async throws {
        let peer = try FaultyPeer { _, _ in Self.uploaded }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(Self.gates())
        let state = #"{"started_at":1763000000,"sync":{"last_error":"of 61255501001","ok":true},"n":[1,"61255501002"]}"#
        await Self.uploader(gateway, state: state).check()
        guard case .object(let sent) = try peer.requests.first.map(Self.upload)?.state else {
            Issue.record("no state")
            return
        }
        #expect(sent["started_at"] == .int(1_763_000_000))
        #expect(sent["sync"] == .object(["last_error": .string("of <number>"), "ok": .bool(true)]))
        #expect(sent["n"] == .array([.int(1), .string("<number>")]))
        await gateway.client.shutdown()
    }

    @Test func `one request gets one upload, over restarts, until the directory withdraws it`() async throws {
        let peer = try FaultyPeer { _, _ in Self.uploaded }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(Self.gates())
        await Self.uploader(gateway).check()
        await Self.uploader(gateway).check()
        #expect(peer.requests.count == 1)
        gateway.client.state.record(Self.gates(true, false))
        let uploader = Self.uploader(gateway)
        await uploader.check()
        gateway.client.state.record(Self.gates())
        await uploader.check()
        #expect(peer.requests.count == 2)
        #expect(try Set(peer.requests.map { try Self.upload($0).nonce }).count == 2)
        await gateway.client.shutdown()
    }

    @Test func `an upload that got lost is repeated with its nonce, and a duplicate is its end`() async throws {
        let peer = try FaultyPeer { _, position in position < 3 ? .status(503) : .refusal(409) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(Self.gates())
        #expect(await Self.uploader(gateway).check() == false)
        #expect(await Self.uploader(gateway).check())
        #expect(await Self.uploader(gateway).check())
        #expect(peer.requests.count == 4)
        #expect(try Set(peer.requests.map { try Self.upload($0).nonce }).count == 1)
        await gateway.client.shutdown()
    }

    @Test(arguments: [403, 413])
    func `a refusal is final`(status: Int) async throws {
        let peer = try FaultyPeer { _, _ in .refusal(status) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(Self.gates())
        await Self.uploader(gateway).check()
        await Self.uploader(gateway).check()
        #expect(peer.requests.count == 1)
        await gateway.client.shutdown()
    }

    @Test(arguments: [403, 413])
    func `what a proxy refuses is uploaded later, with the same nonce`(status: Int) async throws {
        let peer = try FaultyPeer { _, position in position == 0 ? .status(status, body: "<h1>no</h1>") : Self.uploaded
        }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(Self.gates())
        #expect(await Self.uploader(gateway).check() == false)
        #expect(await Self.uploader(gateway).check())
        #expect(peer.requests.count == 2)
        #expect(try Set(peer.requests.map { try Self.upload($0).nonce }).count == 1)
        await gateway.client.shutdown()
    }

    @Test(arguments: ["{}", #"{"success":true}"#, #"{"success":true,"id":7}"#])
    func `an upload is done whatever the response names`(body: String) async throws {
        let peer = try FaultyPeer { _, _ in .json(body) }
        let gateway = try await GatewayFixture(peer.url)
        gateway.client.state.record(Self.gates())
        #expect(await Self.uploader(gateway).check())
        #expect(await Self.uploader(gateway).check())
        #expect(peer.requests.count == 1)
        await gateway.client.shutdown()
    }

    @Test func `neither keys nor callers' numbers are in it`() async throws {
        let peer = try FaultyPeer { _, _ in Self.uploaded }
        let gateway = try await GatewayFixture(peer.url, records: [try record("+61412345678")])
        gateway.client.state.record(Self.gates())
        let logs = ["key \(testKey)", "from sip:+61491570157@carrier to 0491570157", "brand +61412345678", "port 5060"]
        await Self.uploader(gateway, logs: logs).check()
        let upload = try Self.upload(try #require(peer.requests.first))
        #expect(
            upload.logs
                == "key <redacted>\nfrom sip:+<number>@carrier to <number>\nbrand +61412345678\nport 5060")
        #expect(upload.state == .object(["version": .string("1.2.3")]))
        #expect(upload.deviceID == "gateway-1")
        await gateway.client.shutdown()
    }

    @Test func `a long log is cut at its beginning, or sent in chunks where the directory takes them`() async throws {
        let logs = ["begin " + String(repeating: "x", count: FieldLimit.debugLogs), "end"]
        let cut = try FaultyPeer { _, _ in Self.uploaded }
        let gateway = try await GatewayFixture(cut.url)
        gateway.client.state.record(Self.gates())
        await Self.uploader(gateway, logs: logs).check()
        let short = try Self.upload(try #require(cut.requests.first)).logs
        #expect(short?.count == FieldLimit.debugLogs)
        #expect(short?.hasSuffix("x\nend") == true)
        await gateway.client.shutdown()

        let chunked = try FaultyPeer { request, _ in
            switch request.path.split(separator: "/").last {
            case "init": .json(#"{"session_id":"s","chunk_size":65536,"expires_at":"x"}"#)
            case "chunk": .json(#"{"chunk_number":1,"status":"received","progress":1}"#)
            case "complete": .json(#"{"id":"file-1","size":1}"#)
            default: Self.uploaded
            }
        }
        let other = try await GatewayFixture(chunked.url)
        var remote = RemoteConfiguration()
        remote.features.chunkedUpload = true
        other.client.state.record(remote)
        other.client.state.record(Self.gates())
        await Self.uploader(other, logs: logs).check()
        let chunks = try chunked.requests.filter { $0.path.hasSuffix("/chunk") }.map {
            try JSONDecoder().decode(UploadChunk.self, from: Data($0.body.utf8))
        }
        #expect(chunks.map(\.number) == [1, 2, 3, 4])
        let whole = chunks.compactMap { Data(base64Encoded: $0.data) }.reduce(Data(), +)
        #expect(String(decoding: whole, as: UTF8.self) == logs.joined(separator: "\n"))
        let last = try Self.upload(try #require(chunked.requests.last))
        #expect(last.logsUploadID == "file-1" && last.logs == nil)
        await other.client.shutdown()
    }
}
