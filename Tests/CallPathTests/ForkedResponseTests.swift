// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import SIPCore
import Testing

/// RFC 3261 §13.2.2.4: a forked INVITE may have several 2xx, each a dialog of its own; the caller ends all but one by BYE.
@Suite("A call ends with the dialog that answered it, RFC 3261 §13.2.2.4")
struct ForkedResponseTests {
    /// Who sends a BYE, and in which dialog.
    struct Hangup: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isCaller: Bool
        let answererTag: String
        var hasRoute = true
        let ends: Bool
    }

    @Test(arguments: [
        Hangup(
            testDescription: "the caller ends the dialog of one 2xx", isCaller: true, answererTag: "p", ends: true),
        Hangup(testDescription: "the phone that answered ends it", isCaller: false, answererTag: "p", ends: true),
        Hangup(testDescription: "the caller ends that of a second 2xx", isCaller: true, answererTag: "q", ends: false),
        Hangup(testDescription: "the second phone ends its own", isCaller: false, answererTag: "q", ends: false),
        Hangup(
            testDescription: "nothing shows who sends it", isCaller: true, answererTag: "p", hasRoute: false, ends: true
        ),
        Hangup(
            testDescription: "nothing shows who of the PBX sends it", isCaller: false, answererTag: "p",
            hasRoute: false, ends: true),
    ])
    func `a BYE ends the call of its own dialog only`(_ hangup: Hangup) throws {
        let gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))])
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        for tag in ["p", "q"] {
            let success = response("200 OK", to: invite).replacing(";tag=p", with: ";tag=\(tag)")
            #expect(gateway.receive(success, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).count == 1)
        }
        _ = gateway.receive(
            try bye(hangup, invite), from: hangup.isCaller ? GatewayUnderTest.trunk : GatewayUnderTest.pbx)
        #expect(try (record(of: gateway.updates()).endedAt != nil) == hangup.ends)
    }

    private func bye(_ hangup: Hangup, _ invite: String) throws -> String {
        let recordRoute = try #require(invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") })
        let route = hangup.hasRoute ? "Route: \(recordRoute.dropFirst("Record-Route: ".count))\n" : ""
        let byCaller = request("BYE", extra: route, toTag: ";tag=\(hangup.answererTag)", branch: "bye", sequence: 2)
        guard !hangup.isCaller else { return byCaller }
        return byCaller.replacing("tag=a", with: "tag=*").replacing("tag=\(hangup.answererTag)", with: "tag=a")
            .replacing("tag=*", with: "tag=\(hangup.answererTag)")
    }

    /// What the outcome side makes of the signals, by the names it finds a call by.
    private func record(of updates: [CallUpdate]) throws -> CallRecord {
        let first = try #require(updates.first)
        var machine = CallStateMachine(CallRecord(first, texts: nil, trunk: nil))
        for update in updates.dropFirst()
        where update.call == first.call || update.counterpart == .callIfSentByCallee(first.call) {
            _ = machine.receive(update)
        }
        return machine.record
    }
}
