// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// RFC 3261 §16.7: a proxy forks an INVITE; each branch has its own Via branch, the same Call-ID and From tag.
@Suite("A call that the carrier rings at several numbers at once")
struct ForkedCallTests {
    private static let numbers = ["100", "+61255502001"]
    private let gateway: GatewayUnderTest
    /// The forwarded INVITEs.
    private let sent: [String]

    init() throws {
        gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))])
        var sent: [String] = []
        for branch in 0..<2 {
            let out = gateway.receive(Self.request("INVITE", branch), from: GatewayUnderTest.trunk)
            sent.append(try #require(out.to(GatewayUnderTest.pbx).first))
        }
        self.sent = sent
    }

    private static func request(_ method: String, _ branch: Int) -> String {
        CallPathTests.request(method, branch: "fork\(branch)")
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:\(numbers[branch])@192.0.2.20 SIP")
    }

    private func respond(_ status: String, to branch: Int, extra: String = "") {
        _ = gateway.receive(response(status, to: sent[branch], extra: extra), from: GatewayUnderTest.pbx)
    }

    private func cancel(_ branch: Int) {
        _ = gateway.receive(Self.request("CANCEL", branch), from: GatewayUnderTest.trunk)
    }

    private var updates: [CallUpdate] { gateway.updates() }

    @Test(arguments: [0, 1]) func `the 2xx names the number that answered`(branch: Int) throws {
        respond("200 OK", to: branch)
        let call = try #require(updates.first?.call)
        #expect(updates.last?.kind == .answered)
        #expect(updates.last?.calledMark == call.mark(ofCalled: Self.numbers[branch]))
    }

    @Test func `also when the other number was busy before`() throws {
        respond("486 Busy Here", to: 0)
        respond("200 OK", to: 1)
        let call = try #require(updates.first?.call)
        #expect(updates.last?.calledMark == call.mark(ofCalled: Self.numbers[1]))
    }

    @Test(arguments: [
        ("Contact: <sip:+61255502001@192.0.2.20>\n", "+61255502001"),
        ("P-Asserted-Identity: \"Reception\" <sip:100@192.0.2.20>\nContact: <sip:pbx@192.0.2.20>\n", "100"),
    ]) func `after a restart the 2xx names it by its connected party, RFC 5876 §4.4, or by Contact`(
        fields: String, name: String
    ) throws {
        let after = try GatewayUnderTest(numbers: [])
        _ = after.receive(response("200 OK", to: sent[1], extra: fields), from: GatewayUnderTest.pbx)
        let update = try #require(after.updates().last)
        #expect(update.kind == .answered && update.call == updates.first?.call)
        #expect(update.calledMark == update.call.mark(ofCalled: name))
    }

    @Test func `a name longer than the accounts keep has the mark of what they keep`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let long = String(repeating: "n", count: 65)
        let invites = try (0..<2).map { branch in
            let invite = Self.request("INVITE", branch).replacing("sip:\(Self.numbers[branch])@", with: "sip:\(long)@")
            return try #require(gateway.receive(invite, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        }
        _ = gateway.receive(response("200 OK", to: invites[0]), from: GatewayUnderTest.pbx)
        var kept: [UInt8]?
        _ = gateway.ring.read(after: 0, limit: 1) { kept = $1?.subscriber }
        let update = try #require(gateway.updates().last)
        #expect(kept == Array(long.utf8.prefix(64)))
        #expect(update.calledMark == update.call.mark(ofCalled: String(long.prefix(64))))
    }

    @Test func `a call to one number has no mark`() throws {
        let gateway = try GatewayUnderTest(numbers: [])
        let invite = try #require(
            gateway.receive(Self.request("INVITE", 0), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        _ = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.pbx)
        #expect(gateway.updates().last?.calledMark == 0)
    }

    @Test func `a CANCEL of one number is none of the call while another one rings`() {
        respond("180 Ringing", to: 0)
        respond("180 Ringing", to: 1)
        cancel(0)
        respond("487 Request Terminated", to: 0)
        #expect(updates.allSatisfy { $0.kind != .cancelled && $0.kind != .failed })
        cancel(1)
        respond("487 Request Terminated", to: 1)
        #expect(updates.suffix(2).map(\.kind) == [.cancelled, .failed])
    }

    @Test func `a caller that gives up cancels all numbers`() {
        cancel(0)
        #expect(updates.last?.kind == .invite)
        cancel(0)
        #expect(updates.last?.kind == .invite, "a repeated CANCEL counts once")
        cancel(1)
        #expect(updates.last?.kind == .cancelled)
    }

    @Test(
        arguments: [
            // The responses in their order, each with its branch; the reason of the call.
            (["183 Session Progress", "404 Not Found"], ["480 Temporarily Unavailable"], 404),
            (["183 Session Progress", "480 Temporarily Unavailable"], ["404 Not Found"], 480),
            (["180 Ringing", "480 Temporarily Unavailable"], ["486 Busy Here"], 480),
            (["404 Not Found"], ["183 Session Progress", "480 Temporarily Unavailable"], 480),
            (
                ["183 Session Progress", "480 Temporarily Unavailable"], ["183 Session Progress", "503 No Circuit"], 480
            ),
        ] as [([String], [String], UInt16)])
    func `the branch whose phone rang decides, not the early media of one and the end of another`(
        first: [String], second: [String], status: UInt16
    ) {
        for response in first { respond(response, to: 0) }
        for response in second { respond(response, to: 1) }
        #expect(updates.last?.kind == .failed && updates.last?.status == status)
    }
}
