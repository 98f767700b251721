// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Testing

/// `branding.card_link: call_info`.
@Suite("The address of a brand's public card in a call")
struct CardLinkTests {
    private static let line = "Call-Info: <https://cards.example/b/acme>;purpose=info\r\n"

    typealias Change = (inout GatewayUnderTest.Options) -> Void

    private func gateway(_ change: Change = { _ in }) throws -> GatewayUnderTest {
        var options = GatewayUnderTest.Options()
        options.cards = CardLinks(template: "https://cards.example/b/{brand_id}")
        options.writesCardLink = true
        change(&options)
        let numbers = [try #require(E164Number("+61491570156"))]
        return try GatewayUnderTest(numbers: options.brandNumbers ?? numbers, options: options)
    }

    /// The INVITE as the PBX gets it, and its evidence.
    private func sent(
        _ extra: String = "", _ change: Change = { _ in }
    ) throws -> (invite: String, evidence: DecisionEvidence) {
        let gateway = try gateway(change)
        let sent = gateway.receive(request("INVITE", extra: extra), from: GatewayUnderTest.trunk)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first { $0.hasPrefix("INVITE ") })
        return (invite, try #require(gateway.updates().first?.evidence))
    }

    private static func callInfo(_ invite: String) -> [String] {
        invite.split(separator: "\r\n").filter { $0.hasPrefix("Call-Info: ") }.map(String.init)
    }

    // RFC 3261 §20.9: purpose=info describes the caller in general. §7.3.1: fields of one name are one list, in their order.
    @Test func `a branded INVITE has it behind logo and reason, in a field of its own`() throws {
        let (invite, evidence) = try sent()
        #expect(
            Self.callInfo(invite) == [
                "Call-Info: <https://logos.example/acme-256x256.png>;purpose=icon;call-reason=\"Your appointment\"",
                "Call-Info: <https://cards.example/b/acme>;purpose=info",
            ])
        #expect(evidence.hasCardLink && evidence.logo == .written && evidence.policy == .standard)
    }

    /// A setting of the trunk or the brand, and a header of the carrier.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var extra = ""
        let change: @Sendable (inout GatewayUnderTest.Options) -> Void
    }

    static let plain = [
        Row(testDescription: "off") { $0.writesCardLink = false },
        Row(testDescription: "off, with a page of the carrier", extra: "Call-Info: <https://c.example/>;purpose=info\n")
        {
            $0.writesCardLink = false
        },
        Row(testDescription: "off, without logo and reason") {
            $0.writesCardLink = false
            $0.hasLogoAndReason = false
        },
        Row(testDescription: "the account has no cards") { $0.cards = nil },
        Row(testDescription: "call_info: false") { $0.writesCallInfo = false },
        Row(testDescription: "no identifier") { $0.brandID = "" },
        Row(testDescription: "an identifier that is no path segment") { $0.brandID = ".." },
        Row(testDescription: "an identifier that the index cuts") { $0.brandID = String(repeating: "a", count: 300) },
        Row(testDescription: "no brand") { $0.brandNumbers = [] },
        Row(testDescription: "in shadow") { $0.brands = .shadow },
        Row(testDescription: "brands: false") { $0.brands = .off },
        Row(testDescription: "withheld", extra: "Privacy: id\n") { _ in },
        Row(testDescription: "a closed gate") { $0.gates = BrandingGates(brandingEnabled: false) },
        Row(testDescription: "the carrier's name stays, neither logo nor reason") {
            ($0.carrierName, $0.hasLogoAndReason) = (.keep, false)
        },
    ]

    @Test(arguments: plain) func `every byte of a call without it is as in a gateway without the option`(
        row: Row
    ) throws {
        let (invite, evidence) = try sent(row.extra, row.change)
        let before = try sent(row.extra) { options in
            row.change(&options)
            (options.writesCardLink, options.cards) = (false, nil)
        }
        #expect(invite == before.invite)
        #expect(!invite.contains("cards.example") && !before.evidence.hasCardLink)
        #expect(evidence.hasCardLink == evidence.isInShadow)
    }

    @Test func `with it every other byte is as without it`() throws {
        for hasParts in [true, false] {
            let with = try sent { $0.hasLogoAndReason = hasParts }
            let without = try sent {
                $0.hasLogoAndReason = hasParts
                $0.writesCardLink = false
            }
            #expect(with.invite.replacing(Self.line, with: "") == without.invite)
            #expect(with.invite != without.invite)
        }
    }

    @Test func `a call in shadow has it in its evidence alone`() throws {
        #expect(try sent { $0.brands = .shadow }.evidence.hasCardLink)
    }

    @Test func `it goes first where the target's datagrams are small`() throws {
        let whole = try sent().invite.utf8.count
        for size in [whole + 1, whole, whole - 1] + stride(from: whole - 2, through: 300, by: -20) {
            let (invite, evidence) = try sent { $0.largestDatagram = size }
            let hasLink = invite.contains(Self.line)
            #expect(hasLink == (size >= whole) && evidence.hasCardLink == hasLink, "\(size) bytes")
            let plain = try sent {
                $0.largestDatagram = size
                $0.writesCardLink = false
            }
            if !hasLink { #expect(invite == plain.invite, "\(size) bytes") }
        }
    }

    @Test func `the carrier's name may stay beside it`() throws {
        let (invite, _) = try sent { $0.carrierName = .keep }
        #expect(invite.contains("\"Carrier\"") && invite.contains(Self.line))
    }

    /// Values of the carrier, and whether they stay beside the card. RFC 3261 §20.9, RFC 9796.
    static let carried: [(value: String, stays: Bool)] = [
        ("<https://c.example/>;purpose=info", false), ("<https://c.example/> ; Purpose = \"INFO\"", false),
        ("<https://c.example/i.png>;purpose=icon", false), ("<https://c.example/j>;purpose=jcard", false),
        ("<https://c.example/>;call-reason=\"x\"", false),
        ("<sip:c.example>;answer-after=0", true), ("<https://c.example/e>;purpose=EmergencyCallData.Comment", true),
        ("<https://c.example/>", true),
    ]

    @Test(arguments: carried) func `no other page about the caller stays beside it`(value: String, stays: Bool) throws {
        let (invite, _) = try sent("Call-Info: \(value)\n")
        #expect(Self.callInfo(invite).contains("Call-Info: \(value)") == stays)
        #expect(invite.contains(Self.line))
        #expect(Self.callInfo(invite).filter { $0.lowercased().contains("purpose=info") }.count == 1)
    }

    @Test(arguments: [
        ("b-7", "b-7"), ("a b", "a%20b"), ("x>;y=\"1\"", "x%3E%3By%3D%221%22"), ("ä", "%C3%A4"),
        ("a/b?c#d", "a%2Fb%3Fc%23d"),
        ("…", "%E2%80%A6"), ("a\r\nVia: x", "a%0D%0AVia%3A%20x"), ("...", "..."),
    ]) func `an identifier cannot leave the path segment`(brandID: String, segment: String) throws {
        let (invite, _) = try sent { $0.brandID = brandID }
        #expect(Self.callInfo(invite).last == "Call-Info: <https://cards.example/b/\(segment)>;purpose=info")
    }
}
