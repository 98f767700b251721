// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import SIPCore
import Testing

/// Switches write one Remote-Party-ID for the caller, one for the called party and more for parties of their own.
@Suite("Whose Remote-Party-ID it is, draft-ietf-sip-privacy-04 §5")
struct RemotePartyTests {
    private static let brand = #""Acme \"Bank\"""#
    /// The caller, who has a brand; the called party and a third one have brands of theirs.
    private static let numbers = ["+61491570156", "+61491570157", "+61491570158"]

    private func gateway(_ change: (inout GatewayUnderTest.Options) -> Void = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        change(&options)
        return try GatewayUnderTest(numbers: Self.numbers.compactMap { E164Number($0) }, options: options)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Lines of Remote-Party-ID, by value.
        let values: [String]
        /// Whose number is recorded; nil for none.
        var caller: String? = "+61491570156"
        var reason: PassThroughReason?
        /// Which values carry the brand's name afterwards.
        var named: [Int] = []
    }

    static let rows = [
        Row(
            testDescription: "the called party's line is not the caller", values: ["<sip:+61491570157@c>;party=called"]),
        Row(
            testDescription: "in any case and with quotes",
            values: ["<sip:+61491570157@c>;PARTY=Called", "<sip:+61491570157@c>;party=\"called\""]),
        Row(
            testDescription: "an original called number (CUCM) is none either",
            values: ["<sip:+61491570156@c>;party=calling", "<sip:+61491570157@c>;party=x-cisco-original-called"],
            named: [0]),
        Row(
            testDescription: "its privacy is its own",
            values: [
                "<sip:+61491570156@c>;party=calling;screen=yes;privacy=off",
                "<sip:+61491570157@c>;party=called;privacy=full", "<sip:+61491570158@c>;party=x-first;privacy=full",
            ], named: [0]),
        Row(
            testDescription: "the caller's privacy counts wherever its line is",
            values: [
                "<sip:+61491570157@c>;party=called;privacy=off", "<sip:+61491570156@c>;privacy=full;party=calling",
            ],
            caller: nil, reason: .privacy),
        Row(
            testDescription: "without a party it is the caller's", values: ["<sip:+61491570158@c>;screen=yes"],
            caller: "+61491570158", named: [0]),
        Row(
            testDescription: "without a party it may restrict itself", values: ["<sip:+61491570158@c>;privacy=name"],
            caller: nil, reason: .privacy),
        Row(
            testDescription: "a calling line names the caller, not From",
            values: ["\"Carrier\" <sip:+61491570158@c>;party=calling"], caller: "+61491570158", named: [0]),
        Row(
            testDescription: "two callers are not certain",
            values: ["<sip:+61491570156@c>;party=calling", "<sip:+61491570158@c>"], caller: nil, reason: .numberUnclear),
        Row(
            testDescription: "four lines, one caller",
            values: [
                "<sip:+61491570157@c>;party=called", "<sip:+61491570158@c>;party=x-one",
                "<sip:+61491570158@c>;party=x-two", "<sip:+61491570156@c>;party=calling",
            ], named: [3]),
        Row(
            testDescription: "a failed check of another party is not the caller's",
            values: ["<sip:+61491570157;verstat=TN-Validation-Failed@c>;party=called"]),
    ]

    @Test(arguments: rows, [true, false])
    func `a request's caller is party=calling or none`(row: Row, onOneLine: Bool) throws {
        let gateway = try gateway()
        let lines = (onOneLine ? [row.values.joined(separator: ", ")] : row.values)
            .map { "Remote-Party-ID: \($0)\n" }.joined()
        let sent = try #require(
            gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx)
                .first)
        let update = try #require(gateway.updates().first)
        #expect(update.reason == row.reason)
        #expect(update.caller == row.caller.flatMap { E164Number($0)?.digits } ?? 0)
        let fields = sent.split(separator: "\r\n").filter { $0.hasPrefix("Remote-Party-ID: ") }
            .map { $0.dropFirst("Remote-Party-ID: ".count) }
        let values = onOneLine ? fields.flatMap { $0.split(separator: ", ") } : fields
        for (position, value) in values.enumerated() {
            #expect(value.hasPrefix(Self.brand) == row.named.contains(position), "\(value)")
            if !row.named.contains(position) { #expect(value == row.values[position], "it stays as it came") }
        }
        #expect(values.count == row.values.count)
    }

    @Test(arguments: [
        ("party=called", true), ("screen=yes", true), ("party=calling", false),
        ("party=x-cisco-original-called", false),
    ])
    func `the caller's response to a hold is party=called or none`(parameters: String, isNamed: Bool) throws {
        let gateway = try gateway()
        let invite = try #require(
            gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first)
        let route = try #require(invite.split(separator: "\r\n").first { $0.hasPrefix("Record-Route: ") }).dropFirst(14)
        let hold = fromCalledSide(
            request("INVITE", extra: "Route: \(route)\n", toTag: ";tag=p", branch: "hold", sequence: 2)
        )
        .replacing("192.0.2.20 SIP/2.0", with: "203.0.113.5 SIP/2.0")
        let asked = try #require(
            gateway.receive(hold, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first {
                $0.hasPrefix("INVITE ")
            })
        let success = response(
            "200 OK", to: asked, extra: "Remote-Party-ID: \"CARRIER\" <sip:+61491570156@c>;\(parameters)\n")
        let sent = try #require(
            gateway.receive(success, from: GatewayUnderTest.trunk).to(GatewayUnderTest.pbx).first {
                $0.hasPrefix("SIP/2.0 200")
            })
        #expect(sent.contains("CARRIER") != isNamed)
    }

    @Test(arguments: [
        // What the caller withholds is the caller's line; another party's says what it says.
        ("Privacy: id\n", "<sip:+61491570777@p>;party=calling", false),
        ("Privacy: id\n", "<sip:+61491570777@p>", false),
        ("Privacy: id\n", "<sip:+61491570777@p>;party=x-cisco-original-called", true),
        ("", "<sip:+61491570777@p>;party=called;privacy=full", false),
        ("", "<sip:+61491570777@p>;party=x-first;privacy=full", false),
        ("", "<sip:+61491570777@p>;party=calling", true),
    ])
    func `a trunk that may not know the caller does not get the caller's line`(
        privacy: String, value: String, goesOn: Bool
    ) throws {
        let gateway = try gateway { $0.takesWithheldIdentity = false }
        let invite = request("INVITE", extra: "\(privacy)Remote-Party-ID: \(value)\n")
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:100@203.0.113.5 SIP")
        let sent = try #require(gateway.receive(invite, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first)
        #expect(sent.contains("+61491570777") == goesOn)
    }

    @Test(arguments: ["party=called", "party=calling", "screen=yes"])
    func `inside a dialog a PBX is either party, and gets no identity`(parameters: String) throws {
        let gateway = try gateway { $0.takesWithheldIdentity = false }
        let line = "Remote-Party-ID: <sip:+61491570777@p>;\(parameters)\n"
        let update = request("UPDATE", extra: "Privacy: id\n" + line, toTag: ";tag=x")
            .replacing("sip:100@192.0.2.20 SIP", with: "sip:100@203.0.113.5 SIP")
        let sent = try #require(gateway.receive(update, from: GatewayUnderTest.pbx).to(GatewayUnderTest.trunk).first)
        #expect(!sent.contains("+61491570777"))
    }

    @Test func `an untrusted trunk brings none of any party`() throws {
        let gateway = try gateway { $0.isTrusted = false }
        let lines = "Remote-Party-ID: <sip:1@c>;party=called\nRemote-Party-ID: <sip:2@c>;party=x-other\n"
        let sent = gateway.receive(request("INVITE", extra: lines), from: GatewayUnderTest.trunk).to(
            GatewayUnderTest.pbx)
        #expect(try #require(sent.first).contains("Remote-Party-ID") == false)
    }

    /// draft-ietf-sip-privacy-04 §5: the network did not verify a value with `screen=no`.
    @Test(
        arguments: [
            ("screen=yes", nil), ("screen=no", .policy), ("SCREEN=\"No\"", .policy),
            ("id-type=subscriber;np=ordinary", nil),
        ] as [(String, PassThroughReason?)])
    func `a value that the network did not verify is as a call without a check`(
        parameters: String, strict: PassThroughReason?
    ) throws {
        let line = "Remote-Party-ID: <sip:+61491570156;verstat=TN-Validation-Passed@c>;party=calling;\(parameters)\n"
        for (policy, reason) in [(BrandingPolicy.strict, strict), (.standard, nil)] {
            let gateway = try gateway { $0.policy = policy }
            _ = gateway.receive(request("INVITE", extra: line), from: GatewayUnderTest.trunk)
            #expect(try #require(gateway.updates().first).reason == reason)
        }
        // Where P-Asserted-Identity names the caller, its own check counts.
        let asserted = "P-Asserted-Identity: <sip:+61491570156;verstat=TN-Validation-Passed@c>\n"
        let gateway = try gateway { $0.policy = .strict }
        _ = gateway.receive(request("INVITE", extra: asserted + line), from: GatewayUnderTest.trunk)
        #expect(try #require(gateway.updates().first).reason == nil)
    }

    /// P-Asserted-Identity values of one INVITE, and the decision.
    static let asserted: [(values: [String], reason: PassThroughReason?)] = [
        (["<sip:+61491570156@a>", "<tel:+61491570156>", "<sip:0491570156@b;user=phone>"], nil),
        (Array(repeating: "<sip:+61491570156@a>", count: 8), nil),
        (Array(repeating: "<sip:+61491570156@a>", count: 9), .numberUnclear),
        (["<sip:+61491570156@a>", "<tel:+61491570156>", "<tel:+61491570157>"], .numberUnclear),
        (["<sip:reception@a>", "<sip:+61491570156@a>", "<tel:+61491570156>"], nil),
        (["<sip:+61491570156@a>", "<tel:+61491570156>", "\"Anonymous\" <sip:+61491570156@a>"], .privacy),
        (
            ["<sip:+61491570156@a>", "<tel:+61491570156>", "<sip:+61491570156;verstat=TN-Validation-Failed@a>"],
            .failedVerification
        ),
    ]

    @Test(arguments: asserted, [", ", "\nP-Asserted-Identity: "])
    func `several values of one caller are certain, and one of another is not`(
        row: (values: [String], reason: PassThroughReason?), separator: String
    ) throws {
        let gateway = try gateway()
        let line = "P-Asserted-Identity: " + row.values.joined(separator: separator) + "\n"
        let sent = gateway.receive(request("INVITE", extra: line), from: GatewayUnderTest.trunk)
        #expect(try #require(gateway.updates().first).reason == row.reason)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
        #expect(invite.ranges(of: Self.brand).count == (row.reason == nil ? row.values.count + 1 : 0))
    }
}
