// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import SIPCore
import Testing

@Suite("INVITEs of many makers")
struct InviteCorpusTests {
    private static let quotedName = #""Acme \"Bank\"""#
    private static let callInfo =
        #"<https://logos.example/acme-256x256.png>;purpose=icon;call-reason="Your appointment""#

    @Test func `the corpus has at least sixty shapes and fifteen broken ones`() {
        #expect(InviteCorpus.rows.count >= 60)
        #expect(InviteCorpus.broken.count >= 15)
    }

    @Test(arguments: InviteCorpus.rows)
    func `the decision is the expected one`(row: InviteCorpus.Row) throws {
        let gateway = try GatewayUnderTest(numbers: InviteCorpus.rows.compactMap(\.number))
        _ = gateway.receive(try row.bytes, from: GatewayUnderTest.trunk)
        let invite = try #require(gateway.updates().first)
        #expect(invite.reason.map(\.description) ?? "matched" == row.decision)
        if row.decision == "privacy" { #expect(invite.caller == 0, "a withheld number must not leave the call path") }
        if row.decision == "matched" { #expect(invite.caller == row.number?.digits) }
    }

    @Test(arguments: InviteCorpus.rows)
    func `every byte outside the intended splices is as it came`(row: InviteCorpus.Row) throws {
        let gateway = try GatewayUnderTest(numbers: InviteCorpus.rows.compactMap(\.number))
        let received = RawMessage(try row.bytes)
        let out = gateway.receive(try row.bytes, from: GatewayUnderTest.trunk)
        let sent = RawMessage(try #require(out.requests("INVITE").first))
        let isBranded = row.decision == "matched"

        #expect(sent.startLine == received.startLine)
        #expect(sent.body == received.body)
        var rest = sent.fields
        #expect(rest.removeFirst().value.hasPrefix("SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bK"))
        // Behind the target's thirteen digits come those of the origin, then the trunk's mark and four flags.
        let recordRoute = rest.removeFirst().value
        let cookie = try #require(recordRoute.wholeMatch(of: /<sip:192.0.2.10:5060;lr;hd=0c000021413c4(.*)>/)?.1)
        let payload = try #require(UInt32(cookie.dropFirst(13).prefix(8), radix: 16))
        #expect(payload >> 4 == UInt32(TrunkPeer.mark(of: "carrier")))
        #expect((isBranded ? [7, 15] : [2]).contains(payload & 15))
        if received.values("max-forwards").isEmpty {
            let added = try #require(rest.firstIndex { $0.raw == Array("Max-Forwards: 70\r\n".utf8) })
            rest.remove(at: added)
        }
        var isTopVia = true
        for field in received.fields {
            switch field.name {
            case "via" where isTopVia:
                isTopVia = false
                let expected = field.value.prefix { $0 != ";" && $0 != "," }
                #expect(rest.removeFirst().value.hasPrefix(expected))
            case "max-forwards":
                #expect(Int(rest.removeFirst().value) == (Int(field.value) ?? 0) - 1)
            case "p-preferred-identity" where isBranded: continue
            case "from" where isBranded:
                #expect(
                    rest.removeFirst()
                        == RawMessage.Field(name: "call-info", raw: Array("Call-Info: \(Self.callInfo)\r\n".utf8)))
                expectRenamed(rest.removeFirst(), from: field)
            case "p-asserted-identity" where isBranded, "remote-party-id" where isBranded:
                expectRenamed(rest.removeFirst(), from: field)
            case "call-info" where isBranded:
                let kept = row.keptCallInfo.filter { field.value.contains($0) }
                if kept.isEmpty { continue }
                let survivor = rest.removeFirst().value
                for value in kept { #expect(survivor.contains(value)) }
                for value in row.removedCallInfo { #expect(!survivor.contains(value)) }
            default:
                #expect(rest.removeFirst() == field)
            }
        }
        #expect(rest.isEmpty)
    }

    @Test(arguments: InviteCorpus.rows)
    func `the name isPresent in every header that may show it, and one Call-Info is the gateway's`(
        row: InviteCorpus.Row
    ) throws {
        let gateway = try GatewayUnderTest(numbers: InviteCorpus.rows.compactMap(\.number))
        let out = gateway.receive(try row.bytes, from: GatewayUnderTest.trunk)
        let sent = RawMessage(try #require(out.requests("INVITE").first))
        let headers = ["From": "from", "PAI": "p-asserted-identity", "RPID": "remote-party-id"]
        for (short, name) in headers {
            let count = sent.values(name).map { $0.ranges(of: Self.quotedName).count }.reduce(0, +)
            #expect(count == row.names[short], "\(name)")
        }
        #expect(sent.values("call-info").filter { $0 == Self.callInfo }.count == (row.decision == "matched" ? 1 : 0))
        for name in row.removedFields { #expect(sent.values(name.lowercased()).isEmpty) }
    }

    @Test(arguments: InviteCorpus.broken)
    func `a broken request is rejected as the RFC says or dropped, and the next call is branded`(
        row: InviteCorpus.BrokenRow
    ) throws {
        let gateway = try GatewayUnderTest(numbers: InviteCorpus.rows.compactMap(\.number))
        let out = gateway.receive(try row.bytes, from: GatewayUnderTest.trunk)
        switch row.response {
        case "drop": #expect(out.isEmpty)
        case "forward": #expect(!out.requests("INVITE").isEmpty)
        default: #expect(out.to(GatewayUnderTest.trunk).first?.hasPrefix("SIP/2.0 \(row.response) ") == true)
        }
        let good = try #require(InviteCorpus.rows.first)
        let next = gateway.receive(try good.bytes, from: GatewayUnderTest.trunk)
        #expect(next.to(GatewayUnderTest.pbx).first?.contains(Self.quotedName) == true)
    }

    /// Everything but the display name is as it was: from each `<` on, and the brackets where there were none.
    private func expectRenamed(_ sent: RawMessage.Field, from received: RawMessage.Field) {
        let bare = !received.value.contains("<")
        let parameters = received.value.firstIndex(of: ";") ?? received.value.endIndex
        let expected =
            bare
            ? "<\(received.value[..<parameters].trimmingCharacters(in: .whitespaces))>\(received.value[parameters...])"
            : tails(received.value)
        #expect(tails(sent.value).filter { !$0.isWhitespace } == expected.filter { !$0.isWhitespace })
        #expect(sent.name == received.name)
    }

    /// A value list without its display names: what stands from each `<` to the next name.
    private func tails(_ value: String) -> String {
        var out = ""
        var inBrackets = false
        var inQuotes = false
        var afterURI = false
        var isEscaped = false
        for character in value {
            if character == "\"" && !inBrackets && !isEscaped { inQuotes.toggle() }
            isEscaped = character == "\\" && inQuotes && !isEscaped
            if character == "<" && !inQuotes { (inBrackets, afterURI) = (true, true) }
            if inBrackets || afterURI && !inQuotes { out.append(character) }
            if character == ">" && !inQuotes { inBrackets = false }
            if character == "," && !inBrackets && !inQuotes { afterURI = false }
        }
        return out
    }
}
