// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("A reload of the door for reports of calls", .serialized, .timeLimit(.minutes(8)))
struct DoorOutcomesReloadTests {
    private let fixture: CallFixture
    private let names = ReservedPort.next()
    private let first = ReservedPort.next()
    private let second = ReservedPort.next()

    init() async throws { fixture = try await CallFixture() }

    private func doors(_ port: UInt16) -> ConfigurationText {
        fixture.text.with(
            "doors", "{names: {listen: '127.0.0.1:\(names)'}, outcomes: {listen: '127.0.0.1:\(port)'}}")
    }

    /// Reports a call of this instant; the response, or nothing from a port that nobody listens on.
    private func report(_ callID: String, to port: UInt16) async -> String? {
        let now = Int(Date().timeIntervalSince1970)
        let body = "call_id=\(callID)&caller=%2B61255501301&began=\(now)&rang=\(now)&ended=\(now)"
        let request = RawRequest(
            method: "POST", path: "/outcome", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8))
        return try? await LoopbackClient.ask(request, port: Int(port)).text
    }

    @Test func `the door moves to another port, knows the calls of before, and closes`() async throws {
        try await fixture.starts.run(try fixture.starts.start(doors(first))) { reload in
            try await fixture.until { await report("a", to: first)?.contains("call_event_id") == true }
            try fixture.folder.write(doors(second))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await report("a", to: second)?.contains(#""known":true"#) == true }
            #expect(await report("b", to: first) == nil)
            try fixture.folder.write(fixture.text)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await report("a", to: second) == nil }
        }
        #expect(fixture.log.all.contains { $0.contains("new settings") && $0.contains("outcomes: off") })
    }
}
