// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Testing

/// What a trunk that is not trusted may learn of a caller who withholds the number.
///
/// RFC 3325 §7: towards a node that is not trusted a proxy looks at Privacy; with `id` it must remove
/// P-Asserted-Identity (§9.3).
@Suite("Who withholds the number is not told to a trunk that may not know, RFC 3325 §7")
struct WithheldIdentityTests {
    private static let number = "+61491570777"

    private func gateway(tells: Bool = false) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.takesWithheldIdentity = tells
        return try GatewayUnderTest(numbers: [], options: options)
    }

    /// A request of the PBX, whose From says nothing.
    private func outbound(
        _ extra: String, _ method: String = "INVITE", toTag: String = "", called: String = "sip:100@203.0.113.5"
    ) -> String {
        request(method, extra: extra, toTag: toTag, branch: "p\(method)")
            .replacing("sip:100@192.0.2.20 SIP", with: "\(called) SIP")
            .replacing("\"Carrier\" <sip:+61491570156@carrier.example>", with: "<sip:anonymous@anonymous.invalid>")
    }

    private func sent(_ gateway: GatewayUnderTest, _ text: String) throws -> String {
        try #require(gateway.receive(text, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let lines: String
        let goesOn: Bool
    }

    @Test(
        arguments: [
            Row(
                testDescription: "RFC 3325 §9.3, id",
                lines: "Privacy: id\nP-Asserted-Identity: <sip:\(number)@pbx.example>\n", goesOn: false),
            Row(
                testDescription: "several tokens in any case, RFC 3323 §4.2",
                lines: """
                    P-Asserted-Identity: <sip:\(number)@pbx.example>, <tel:\(number)>
                    Privacy: Header ; ID;critical

                    """, goesOn: false),
            Row(
                testDescription: "every line of it",
                lines: """
                    P-Asserted-Identity: <sip:\(number)@pbx.example>
                    Privacy: id
                    P-Asserted-Identity: <tel:\(number)>
                    P-Preferred-Identity: <sip:\(number)@pbx.example>
                    Remote-Party-ID: <sip:\(number)@pbx.example>;party=calling

                    """, goesOn: false),
            Row(
                testDescription: "Remote-Party-ID restricts itself",
                lines: "Remote-Party-ID: <sip:\(number)@pbx.example>;party=calling;privacy=full;screen=yes\n",
                goesOn: false),
            Row(
                testDescription: "RFC 3323 §4.2, none",
                lines: "Privacy: none\nP-Asserted-Identity: <sip:\(number)@pbx.example>\n", goesOn: true),
            Row(
                testDescription: "an anonymous From alone asks for nothing of what is asserted",
                lines: "P-Asserted-Identity: <sip:\(number)@pbx.example>\n", goesOn: true),
            Row(
                testDescription: "Remote-Party-ID that is open",
                lines: "Remote-Party-ID: <sip:\(number)@pbx.example>;party=calling;privacy=off\n", goesOn: true),
        ]
    ) func `a call goes without the number that is withheld`(row: Row) throws {
        let invite = outbound(row.lines)
        let text = try sent(try gateway(), invite)
        #expect(text.contains(Self.number) == row.goesOn)
        #expect(text.contains("\r\nPrivacy: ") == row.lines.contains("Privacy: "), "the next hop is still asked for it")
        let told = try sent(try gateway(tells: true), invite)
        #expect(told.contains(Self.number), "to a trunk that may know it all goes")
    }

    @Test func `an emergency call names its caller, RFC 6443 §9`() throws {
        let invite = outbound(
            "Privacy: id\nP-Asserted-Identity: <sip:\(Self.number)@pbx.example>\n", called: "urn:service:sos")
        #expect(try sent(try gateway(), invite).contains(Self.number))
    }

    @Test func `later requests of the PBX do not carry it either`() throws {
        let gateway = try gateway()
        let lines = "Privacy: id\nP-Asserted-Identity: <sip:\(Self.number)@pbx.example>\n"
        let invite = try sent(gateway, outbound(lines))
        let responses = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.trunk)
        let fields = try #require(responses.to(GatewayUnderTest.pbx).last).split(separator: "\r\n")
        let route = try #require(fields.first { $0.hasPrefix("Record-Route: ") }).dropFirst(14)
        let update = try sent(gateway, outbound("Route: \(route)\n\(lines)", "UPDATE", toTag: ";tag=p"))
        #expect(update.hasPrefix("UPDATE ") && !update.contains(Self.number))
        let message = try sent(gateway, outbound(lines, "MESSAGE"))
        #expect(message.hasPrefix("MESSAGE ") && !message.contains(Self.number), "nor one outside a dialog")
    }

    @Test(arguments: [true, false])
    func `nor do its responses, RFC 5876 §4.2`(isRemembered: Bool) throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        if !isRemembered {
            // A 2xx that comes again once the transaction has ended goes statelessly (RFC 3261 §16.7 step 5).
            _ = gateway.receive(response("200 OK", to: invite), from: GatewayUnderTest.pbx)
            _ = gateway.pass(.seconds(40))
        }
        let lines = "Privacy: id\nP-Asserted-Identity: <sip:\(Self.number)@pbx.example>\n"
        let text = try #require(
            gateway.receive(response("200 OK", to: invite, extra: lines), from: GatewayUnderTest.pbx)
                .to(GatewayUnderTest.trunk).first { $0.hasPrefix("SIP/2.0 200") })
        #expect(!text.contains(Self.number) && text.contains("Privacy: id"))
    }

    @Test(arguments: ["Proxy-Require: privacy\n", "Proxy-Require: privacy\nPrivacy: id\n"])
    func `a PBX's call that requires privacy of proxies goes on, and without the identity`(lines: String) throws {
        for tells in [true, false] {
            let sent = try sent(
                gateway(tells: tells), outbound(lines + "P-Asserted-Identity: <sip:\(Self.number)@office.example>\n"))
            #expect(sent.contains(Self.number) == tells)
            #expect(sent.contains("\r\nProxy-Require: privacy\r\n"))
        }
    }
}
