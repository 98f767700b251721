// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Testing

@Suite("Logos in the form of the PBX's phones")
struct PhoneLogoTests {
    private static let hash = "0123456789abcdef0123456789abcdef"

    private func callInfo(to family: PhoneFamily?, hosted: Bool = true, largest: Int? = nil) throws -> String? {
        var options = GatewayUnderTest.Options()
        options.logo = family?.form
        options.largestDatagram = largest
        if hosted {
            options.hostedLogos = HostedLogos(
                publicURL: "http://192.0.2.10:9480", missing: .original,
                files: ["https://logos.example/acme-256x256.png": "\(Self.hash)-128x128.png"])
        }
        let gateway = try GatewayUnderTest(numbers: [try #require(E164Number("+61491570156"))], options: options)
        let sent = gateway.receive(request("INVITE"), from: GatewayUnderTest.trunk)
        let invite = try #require(sent.to(GatewayUnderTest.pbx).first)
        return invite.split(separator: "\r\n").first { $0.hasPrefix("Call-Info: ") }.map(String.init)
    }

    @Test(arguments: [
        (PhoneFamily?.none, "128x128.png"), (.snom, "128x128.jpg"), (.snom370, "64x64grey.bmp"),
        (.snomM9, "50x40.jpg"), (.mitel6739, "200x150opaque.png"),
    ]) func `Call-Info of a branded call has the URL of the family's picture`(
        family: PhoneFamily?, file: String
    ) throws {
        #expect(
            try callInfo(to: family)
                == "Call-Info: <http://192.0.2.10:9480/logos/\(Self.hash)-\(file)>;purpose=icon"
                + ";call-reason=\"Your appointment\"")
    }

    @Test func `the directory's URL stays where the gateway has no copy`() throws {
        let callInfo = try #require(try callInfo(to: .snom370, hosted: false))
        #expect(callInfo.hasPrefix("Call-Info: <https://logos.example/acme-256x256.png>;purpose=icon"))
    }

    @Test func `the datagram limit counts the URL that is sent`() throws {
        let whole = try #require(try callInfo(to: .mitel6739, largest: 1300))
        #expect(whole.contains("opaque.png"))
        #expect(try callInfo(to: .mitel6739, largest: 300) == nil)
    }
}
