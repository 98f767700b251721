// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayOperator

@Suite("Signers in a gateway that runs", .serialized, .timeLimit(.minutes(8)))
struct TrustServicesTests {
    private let starts: StartFixture
    private var text: ConfigurationText { starts.folder.sections.with("trust", "{regimes: [private]}") }

    init() async throws { starts = try await StartFixture() }

    private static func trust(_ control: ControlClient) async -> GatewayStatus.Trust? {
        try? await control.state().gateway.trust
    }

    private func until(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<2_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func `it decides at its start, follows imports, and lists addresses of calls`() async throws {
        let start = try starts.start(text)
        let control = ControlClient(folder: start.configuration.runtime)
        try await starts.run(start) { reload in
            try await until { await Self.trust(control)?.decidedAt != nil }
            #expect(await Self.trust(control)?.signers == 0)
            let file = starts.folder.path + "/addresses"
            try "https://a.example/1.pem\n".write(toFile: file, atomically: true, encoding: .utf8)
            _ = try await TrustImport(start.configuration).take([file])
            try await until { await Self.trust(control)?.unknownAddresses == 1 }
            var state = try await control.state()
            #expect(state.gateway.trust?.unknownAddresses == 1 && state.gateway.trust?.problem == nil)
            let status = StatusText(state).text
            #expect(status.contains("signers   0 with a certificate, 1 addresses without a certificate, decided"))
            #expect(status.contains("signed    no signed call since the start"), "\(status)")
            state.gateway.trust?.clockOffset = -31
            state.gateway.trust?.calls["failed"] = 2
            state.gateway.trust?.problem = "the stored signers are decided for us"
            let sick = StatusText(state).text
            #expect(sick.contains("signed    tokens of most signers are 31 s behind this clock\n"), "\(sick)")
            #expect(sick.contains("signed    2 failed since the start\n"), "\(sick)")
            #expect(sick.contains("signers   the stored signers are decided for us\n"), "\(sick)")
            #expect(
                PageTroubles(state.gateway, further: []).all.contains {
                    $0.text == "The stored signers are decided for us."
                })
            try starts.folder.write(text.with("trust", "{regimes: [private, us]}"))
            #expect(await reload.run() == .applied(waiting: ["trust.regimes"]))
        }
        #expect(try SignerReader(folder: start.configuration.state).figures().unknown == 1)
    }

    @Test func `a list with an address is fetched without a call, and without fetch: on`() async throws {
        let peer = try FaultyPeer { _, _ in .status(404) }
        let regimes = starts.folder.path + "/regimes"
        try FileManager.default.createDirectory(atPath: regimes, withIntermediateDirectories: true)
        let address = "http://127.0.0.1:\(peer.port)/api/v1/ca-list"
        let regime = """
            anchors: ["\(address)"]
            list_root: root.pem
            x5u_ports: any
            x5u_http: true
            x5u_private: true

            """
        try regime.write(toFile: regimes + "/private.yaml", atomically: true, encoding: .utf8)
        let start = try starts.start(text)
        let control = ControlClient(folder: start.configuration.runtime)
        try await starts.run(start) { _ in
            try await until { await Self.trust(control)?.lists?.first?.failures == 1 }
            let state = try await control.state()
            let list = try #require(state.gateway.trust?.lists?.first)
            #expect(list.address == address && list.kind == "authorities" && list.regimes == ["private"])
            #expect(list.fetchedAt == nil && list.reason == "the server returned 404")
            #expect(state.gateway.trust?.fetches == nil, "no certificate is fetched")
            let status = StatusText(state).text
            let line =
                "authorities of private at \(address) not fetched yet, the last fetch failed: the server returned 404"
            #expect(status.contains("lists     \(line)\n"), "\(status)")
        }
        #expect(peer.requests.map(\.path) == ["/api/v1/ca-list"])
    }

    @Test func `without the section there is no file, no service and no part of the status`() async throws {
        let start = try starts.start(starts.folder.sections)
        let control = ControlClient(folder: start.configuration.runtime)
        try await starts.run(start) { _ in
            try await until { (try? await control.state()) != nil }
            #expect(try await control.state().gateway.trust == nil)
            #expect(try await !StatusText(control.state()).text.contains("signers"))
        }
        #expect(!FileManager.default.fileExists(atPath: HeraldDatabase.signersPath(in: start.configuration.state)))
    }

    @Test func `the recorder and the call path have the same signers`() async throws {
        let start = try starts.start(text)
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        #expect(callPath.shared.trust.signers === state.signers)
        #expect(callPath.trust?.shared.requests === callPath.shared.trust.requests)
        try state.database.close()
    }
}
