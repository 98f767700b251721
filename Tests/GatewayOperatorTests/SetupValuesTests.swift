// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Testing

@testable import GatewayOperator

/// The forms of lists are those of providers' pages: Vapi lists `/32` networks, Monobot ranges and wildcards.
@Suite("Values of a setup")
struct SetupValuesTests {
    @Test(
        arguments: [
            ("203.0.113.5", ["203.0.113.5"], "203.0.113.5:5060"),
            ("203.0.113.5:5080", ["203.0.113.5"], "203.0.113.5:5080"),
            ("44.229.228.186/32\n44.238.177.138/32", ["44.229.228.186", "44.238.177.138"], "44.229.228.186:5060"),
            ("54.172.60.0/30, 54.244.51.0/30", ["54.172.60.0/30", "54.244.51.0/30"], nil),
            ("203.0.113.0/24; 203.0.113.5", ["203.0.113.0/24"], "203.0.113.5:5060"),
            ("88.214.8.*", ["88.214.8.0/24"], nil), ("88.214.*.*", ["88.214.0.0/16"], nil),
            (
                "88.214.8.230-88.214.8.240", ["88.214.8.230/31", "88.214.8.232/29", "88.214.8.240"],
                "88.214.8.240:5060"
            ),
            ("88.214.8.4 - 88.214.8.7", ["88.214.8.4/30"], nil), ("88.214.8.4 – 7", ["88.214.8.4/30"], nil),
            ("[2001:db8::5]:5060 2001:db8:1::/48", ["[2001:db8::5]", "[2001:db8:1::]/48"], "[2001:db8::5]:5060"),
            ("2001:db8::5", ["[2001:db8::5]"], "[2001:db8::5]:5060"),
            ("sip:203.0.113.5:5060;transport=udp;lr", ["203.0.113.5"], "203.0.113.5:5060"),
            ("us-west-wa.sip.carrier.example", [], "us-west-wa.sip.carrier.example"),
            ("203.0.113.5, 203.0.113.5:5060 ,,203.0.113.5/32", ["203.0.113.5"], "203.0.113.5:5060"),
        ] as [(String, [String], String?)])
    func `a carrier's list becomes sources and a next hop`(text: String, sources: [String], hop: String?) throws {
        let chosen = try CarrierAddresses.read(text)
        #expect(chosen.sources.map(\.description) == sources)
        #expect(chosen.hops.first?.description == hop)
    }

    @Test(arguments: [
        ("", "write at least one address"), (" , ;", "write at least one address"),
        ("203.0.113.9/24", "bits set after the first 24"), ("203.0.113.0/33", "is not a prefix length"),
        ("0.0.0.0/0", "anybody may be the carrier"), ("::/0", "anybody may be the carrier"),
        ("0.0.0.0", "means every address"), ("*.*", "is not an IPv4 or IPv6 address"),
        ("*.carrier.example", "is not an IPv4 or IPv6 address"), ("88.214.8.9-88.214.8.4", "is no range"),
        ("88.214.8.9-400", "is no range"), ("203.0.113.5:0", "is out of range"),
        ("203.0.113.5 2001:db8::5", "of two families"), ("2001:db8::5:5060", "is ambiguous"),
        ("sip:203.0.113.5;transport=TLS", "needs TCP or TLS"), ("sips:carrier.example", "needs TCP or TLS"),
        ("https://carrier.example", "is a URL"), ("203.0.113.5\u{0}", "is not an IPv4 or IPv6 address"),
        ("carrier.example]: {x", "is out of range"), ("'\ntrusted: true", "is not an IPv4 or IPv6 address"),
        ("carriér.example", "is not an IPv4 or IPv6 address, and no host name"),
    ])
    func `a wrong list has its reason`(text: String, reason: String) {
        let problem = #expect(throws: SetupProblem.self) { try CarrierAddresses.read(text) }
        #expect(problem?.description.contains(reason) == true, "\(problem?.description ?? "")")
    }

    @Test func `a range has exactly its addresses`() throws {
        func addresses(_ range: SourceRange) -> [UInt32] {
            let first = range.host.split(separator: ".").reduce(UInt32(0)) { $0 << 8 | (UInt32($1) ?? 0) }
            return (0..<(1 << (32 - range.prefixLength))).map { first + UInt32($0) }
        }
        for (first, last) in [(0, 255), (1, 254), (5, 5), (127, 129), (64, 191), (3, 200)] {
            let chosen = try CarrierAddresses.read("198.51.100.\(first)-198.51.100.\(last)")
            let base: UInt32 = 198 << 24 | 51 << 16 | 100 << 8
            #expect(chosen.sources.flatMap(addresses) == (first...last).map { base + UInt32($0) })
        }
    }

    @Test(
        arguments: [
            ("AU", "AU", "Australia"), ("au", "AU", "Australia"), (" Australia ", "AU", "Australia"),
            ("+61 ", nil, nil),
            ("+49", "DE", "Germany"), ("49", "DE", "Germany"), ("Deutschland", "DE", "Germany"),
            ("UK", "GB", "United Kingdom"), ("england", "GB", "United Kingdom"), ("USA", "US", "United States"),
            ("the netherlands", "NL", "Netherlands"), ("Cote d’Ivoire", "CI", "Côte d'Ivoire"),
            ("Österreich", "AT", "Austria"), ("osterreich", "AT", "Austria"), ("St Lucia", "LC", "Saint Lucia"),
            ("Bosnia & Herzegovina", "BA", "Bosnia and Herzegovina"), ("no", "NO", "Norway"),
            ("South Korea", "KR", "South Korea"),
        ] as [(String, String?, String?)])
    func `a country is found by code, name or calling code`(text: String, code: String?, name: String?) {
        let chosen = try? ChosenCountry.read(text)
        // +61 is also the code of Christmas Island and the Cocos Islands.
        #expect(chosen?.region.description == code && chosen?.name == name)
    }

    @Test(arguments: [
        ("ZZ", "\"ZZ\" is no country"), ("", "is no country"), ("Austrlia", "did you mean \"Australia\"?"),
        ("+1", "several countries (AG, AI, "), ("+61", "(AU, CC, CX)"), ("+999", "is no country's calling code"),
        ("99999999999999999999", "is no country's calling code"), ("EU", "is no country"),
    ])
    func `a wrong country has its reason`(text: String, reason: String) {
        let problem = #expect(throws: SetupProblem.self) { try ChosenCountry.read(text) }
        #expect(problem?.description.contains(reason) == true, "\(problem?.description ?? "")")
    }

    @Test func `every region of the numbering plans has a name, and each name leads back to it`() throws {
        for region in Region.all {
            let name = try ChosenCountry.read("\(region)").name
            #expect(name != "\(region)", "\(region) has no name")
            #expect(try ChosenCountry.read(name).region == region, "\(name)")
        }
    }

    @Test(arguments: [
        ("203.0.113.0/24", "203.0.113.0/24"), ("NO", "'NO'"), ("on", "'on'"), ("", "''"), ("it's", "'it''s'"),
        ("203.0.113.5:5060", "203.0.113.5:5060"), ("http://a:1", "'http://a:1'"), ("a: 1", "'a: 1'"),
        ("[2001:db8::]/32", "'[2001:db8::]/32'"), ("-", "'-'"), ("a b", "'a b'"),
        ("#", "'#'"), ("api-key", "api-key"),
    ])
    func `a text is quoted where YAML would read another value`(text: String, scalar: String) {
        #expect(YAMLScalar.text(text) == scalar)
    }
}
