// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayTesting
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration

@Suite("A reload of the door for verifications", .serialized, .timeLimit(.minutes(8)))
struct VerificationReloadTests {
    private let fixture: CallFixture
    private let first = ReservedPort.next()
    private let second = ReservedPort.next()

    init() async throws { fixture = try await CallFixture() }

    private var trusting: ConfigurationText { fixture.text.with("trust", "{regimes: [us]}") }

    private func door(_ port: UInt16, _ more: String = "") -> ConfigurationText {
        trusting.with("doors", "{verification: {listen: '127.0.0.1:\(port)'\(more)}}")
    }

    /// The status of a heartbeat; nil for a port that nobody listens on.
    private func status(_ port: UInt16, _ base: String = "") async -> Int? {
        let body = #"{"verificationRequest":{"time":1,"to":{"tn":["7777777777"]},"from":{"tn":"9999999999"}}}"#
        let request = RawRequest(
            method: "POST", path: "\(base)/v1/verification", headers: [("Content-Type", "application/json")],
            body: Array(body.utf8))
        return try? await LoopbackClient.ask(request, port: Int(port)).status
    }

    @Test func `the door moves, has another base, and closes`() async throws {
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await fixture.until { await status(first) == 200 }
            try fixture.folder.write(door(second, ", base: /a"))
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second, "/a") == 200 }
            #expect(await status(second) == 404)
            #expect(await status(first) == nil)
            try fixture.folder.write(trusting)
            #expect(await reload.run() == .applied(waiting: []))
            try await fixture.until { await status(second) == nil }
        }
        #expect(
            fixture.log.all.contains {
                $0.contains("the doors have their new settings") && $0.contains("verification: off")
            })
    }

    @Test func `a port in use is refused, and nothing of the file is in force`() async throws {
        let other = try FaultyPeer { _, _ in .status(200) }
        try await fixture.starts.run(try fixture.starts.start(door(first))) { reload in
            try await fixture.until { await status(first) == 200 }
            try fixture.folder.write(door(other.port))
            guard case .refused(let problem) = await reload.run() else { return #expect(Bool(false), "applied") }
            #expect(problem.contains("cannot listen on TCP 127.0.0.1:\(other.port)"), "\(problem)")
            #expect(problem.hasSuffix("or change doors.verification.listen"))
            #expect(await status(first) == 200)
        }
        other.close()
    }
}
