// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import FoundationXML
import GatewaySync
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Phonebooks of brands", .timeLimit(.minutes(8)))
struct PhonebookTests {
    private static let awkward = "<Fish> & \"Chips\"; O'Neil, \\Söhne"
    private static let photo = "\(PhoneServerFixture.base)/logos/\(PhoneServerFixture.hash)"

    private func book(_ name: String, _ port: Int, method: String = "GET") async throws -> (head: String, body: String)
    {
        let response = try await LoopbackClient.exchange("\(method) /phonebook/\(name) HTTP/1.1", port: port)
        try #require(response.head.hasPrefix("HTTP/1.1 200"), "\(response.head)")
        return response
    }

    /// The texts behind an XPath.
    private func texts(_ path: String, of xml: String) throws -> [String] {
        try XMLDocument(xmlString: xml).nodes(forXPath: path).map { $0.stringValue ?? "" }
    }

    private func texts(_ path: String, in name: String, _ port: Int) async throws -> [String] {
        try texts(path, of: try await book(name, port).body)
    }

    @Test func `Yealink: YealinkIPPhoneDirectory with DirectoryEntry, Name and Telephone`() async throws {
        try await PhoneServerFixture().run { port in
            let response = try await book("yealink.xml", port)
            #expect(response.head.lowercased().contains("content-type: text/xml; charset=utf-8"))
            let entry = "/YealinkIPPhoneDirectory/DirectoryEntry"
            #expect(try texts(entry + "/Name", of: response.body) == [Self.awkward, "Acme Bank", "Zebra Crossing"])
            #expect(
                try texts(entry + "/Telephone", of: response.body) == ["+61255501002", "+61255501001", "+441632960001"])
        }
    }

    @Test func `Grandstream: AddressBook with Contact, Phone and PhotoUrl`() async throws {
        try await PhoneServerFixture().run { port in
            let body = try await book("grandstream.xml", port).body
            #expect(try texts("/AddressBook/version", of: body) == ["1"])
            let acme = "/AddressBook/Contact[FirstName='Acme Bank']"
            #expect(try texts(acme + "/Phone[@type='Work']/phonenumber", of: body) == ["+61255501001"])
            #expect(try texts(acme + "/Phone/accountindex", of: body) == ["0"])
            #expect(try texts(acme + "/PhotoUrl", of: body) == [Self.photo + "-128x128.jpg"])
            #expect(try texts("/AddressBook/Contact[FirstName='Zebra Crossing']/PhotoUrl", of: body).isEmpty)
        }
    }

    @Test func `Fanvil: a tag for each kind of number, and no ampersand`() async throws {
        let brands = (1...4).map { ("+6125550100\($0)", "Fish & Chips", String?.none) }
        try await PhoneServerFixture(brands).run { port in
            let body = try await book("fanvil.xml", port).body
            #expect(!body.contains("&amp;"))
            let entry = "/FanvilIPPhoneDirectory/DirectoryEntry"
            #expect(try texts(entry + "/Name", of: body) == ["Fish + Chips", "Fish + Chips"])
            #expect(try texts(entry + "/Telephone", of: body) == ["+61255501001", "+61255501004"])
            #expect(try texts(entry + "/Mobile", of: body) == ["+61255501002"])
            #expect(try texts(entry + "/Other", of: body) == ["+61255501003"])
        }
    }

    @Test(arguments: ["GET", "POST"]) func `snom: tbook 2.0 with the picture in it, by POST as the phones ask`(
        method: String
    ) async throws {
        try await PhoneServerFixture().run { port in
            let body = try await book("snom.xml", port, method: method).body
            #expect(try texts("/tbook/@version", of: body) == ["2.0"])
            // Without complete="true", which would delete the user's own contacts.
            #expect(try texts("/tbook/@complete", of: body).isEmpty)
            let acme = "/tbook/contact[last_name='Acme Bank']"
            #expect(try texts(acme + "/numbers/number/@no", of: body) == ["+61255501001"])
            let photo = try #require(try texts(acme + "/photo", of: body).first.flatMap { Data(base64Encoded: $0) })
            #expect(String(decoding: photo, as: UTF8.self) == "file 128x128.jpg")
        }
    }

    @Test func `vCard 3.0: escaped, folded at 75 bytes, with the URL of the picture`() async throws {
        let long = String(repeating: "Käse ", count: 13).trimmingCharacters(in: .whitespaces)
        let brands = PhoneServerFixture.brands + [(number: "+61255501003", name: long, logo: nil)]
        try await PhoneServerFixture(brands).run { port in
            let response = try await book("brands.vcf", port)
            #expect(response.head.lowercased().contains("content-type: text/vcard"))
            let raw = response.body.components(separatedBy: "\r\n")
            #expect(raw.allSatisfy { $0.utf8.count <= 75 } && !response.body.replacing("\r\n", with: "").contains("\n"))
            let lines = response.body.replacing("\r\n ", with: "").components(separatedBy: "\r\n")
            #expect(lines.filter { $0 == "BEGIN:VCARD" }.count == 4 && lines.filter { $0 == "VERSION:3.0" }.count == 4)
            #expect(lines.contains("FN:\(long)"))
            #expect(lines.contains(#"FN:<Fish> & "Chips"\; O'Neil\, \\Söhne"#))
            #expect(lines.contains("TEL;TYPE=WORK,VOICE:+61255501001"))
            #expect(lines.contains("PHOTO;VALUE=URI:\(Self.photo)-128x128.png"))
        }
    }

    // RFC 2426 §3.6.8.
    @Test func `vCard has the address of the public card while the account has cards`() async throws {
        let fixture = try PhoneServerFixture()
        try await fixture.run { port in
            let before = try await book("brands.vcf", port).body
            #expect(!before.contains("\r\nURL:"))
            let cards = CardLinks(template: "https://cards.example/b/{brand_id}")
            let index = fixture.current.load().index
            fixture.current.store(BrandingSnapshot(index: index, gates: BrandingGates(), cards: cards))
            let lines = try await book("brands.vcf", port).body.replacing("\r\n ", with: "")
                .components(separatedBy: "\r\n")
            #expect(lines.contains("URL:https://cards.example/b/Acme%20Bank"), "\(lines)")
            #expect(lines.filter { $0.hasPrefix("URL:") }.count == 3)
            let others = try await book("grandstream.xml", port).body
            #expect(!others.contains("cards.example"))
        }
    }

    @Test(arguments: ["yealink.xml", "grandstream.xml", "fanvil.xml", "snom.xml", "brands.vcf"])
    func `a phonebook is sent again only after a change`(name: String) async throws {
        let fixture = try PhoneServerFixture()
        try await fixture.run { port in
            let head = try await book(name, port).head.lowercased()
            #expect(head.contains("cache-control: no-cache"))
            let tag = try #require(head.split(separator: "\r\n").first { $0.hasPrefix("etag: ") }?.dropFirst(6))
            func status() async throws -> String {
                let lines = "GET /phonebook/\(name) HTTP/1.1\r\nIf-None-Match: \(tag)"
                return String(try await LoopbackClient.exchange(lines, port: port).head.prefix(12))
            }
            let unchanged = try await status()
            #expect(unchanged == "HTTP/1.1 304")
            let next = try PhoneServerFixture.index([("+61255501001", "Acme Group", nil)], generation: 2)
            fixture.current.store(BrandingSnapshot(index: next, gates: BrandingGates()))
            let changed = try await status()
            #expect(changed == "HTTP/1.1 200")
        }
    }

    @Test func `a limit keeps the first brands by name and is logged once`() async throws {
        let brands = (0..<300).map { ("+6125550\(1000 + $0)", "Brand \(1299 - $0)", String?.none) }
        let fixture = try PhoneServerFixture(brands)
        try await fixture.run(limit: 100) { port in
            let names = try await texts("//Name", in: "yealink.xml", port)
            #expect(names == (1000..<1100).map { "Brand \($0)" })
            _ = try await book("grandstream.xml", port)
        }
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.lines.first?.contains("logos.phonebook_contacts") == true)
    }

    @Test func `a closed gate empties every phonebook at once`() async throws {
        let fixture = try PhoneServerFixture()
        try await fixture.run { port in
            let open = try await texts("//Name", in: "yealink.xml", port)
            #expect(open.count == 3)
            let index = fixture.current.load().index
            fixture.current.store(BrandingSnapshot(index: index, gates: BrandingGates(authorised: false)))
            let closed = try await texts("//Name", in: "yealink.xml", port)
            #expect(closed.isEmpty)
            let snom = try await texts("/tbook", in: "snom.xml", port)
            #expect(snom.count == 1)
        }
    }

    @Test(arguments: ["POST /phonebook/yealink.xml", "DELETE /phonebook/snom.xml", "POST /phonebook/other.xml"])
    func `nothing else can be done`(request: String) async throws {
        try await PhoneServerFixture().run { port in
            let response = try await LoopbackClient.exchange("\(request) HTTP/1.1", port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 405"))
        }
    }

    @Test(arguments: ["/phonebook/yealink.xml", "/phonebook/snom.xml", "/pictures/0255501001.png"])
    func `without the operator's consent neither pictures nor phonebooks exist`(path: String) async throws {
        try await RunningServer.run({
            LogoServer($0, files: { _ in PhoneFiles(cache: FixedLogos(), traffic: LogoTraffic()) }, logger: $1)
        }) {
            port in
            let response = try await LoopbackClient.exchange("GET \(path) HTTP/1.1", port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 404"))
        }
    }
}
