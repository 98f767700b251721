// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import TestFixtures
import Testing

@Suite("herald.yaml: logos")
struct LogosSchemaTests {
    private let folder = TemporaryFolder()

    private func load(_ logos: String) throws -> HeraldConfiguration {
        try folder.load(
            smallest + """
                directory: {url: "https://Directory.example:8443/api", api_key_env: KEY}
                logos: \(logos)
                """, environment: ["KEY": "secret"])
    }

    @Test func `without the section the logo service is off`() throws {
        #expect(try folder.load(smallest).logos == nil)
    }

    @Test func `only listen is required and the other keys have safe defaults`() throws {
        let logos = try #require(try load("{listen: 192.0.2.10:9480}").logos)
        #expect(logos.publicURL == "http://192.0.2.10:9480")
        #expect(logos.hosts == ["directory.example:8443", "assets.securenode.io"])
        #expect(!logos.allowsPrivate && !logos.allowsHTTP && logos.scales)
        #expect(logos.sizes == [128] && logos.format == .png && logos.missing == .original)
        #expect(logos.maxFile == 524_288 && logos.refresh == .seconds(86_400))
    }

    @Test func `hosts, sizes and the public URL are read`() throws {
        let logos = try #require(
            try load(
                """
                {listen: "0.0.0.0:9480", public_url: "https://pbx.example/herald/", hosts: [A.example, "b.example:81"],
                  sizes: [256, 64], format: bmp, missing: none, scale: false}
                """
            ).logos)
        #expect(logos.publicURL == "https://pbx.example/herald")
        #expect(logos.hosts == ["a.example", "b.example:81"])
        #expect(logos.sizes == [256, 64] && logos.format == .bmp && logos.missing == .none && !logos.scales)
    }

    @Test(arguments: [
        ("{}", "is missing; write listen: 192.0.2.10:9480"),
        ("{listen: 0.0.0.0}", "is missing; write public_url: http://192.0.2.10:9480"),
        ("{listen: 127.0.0.1:9470}", "listen: equals admin.listen; phones must not reach the admin pages"),
        ("{listen: 192.0.2.10, sizes: [100]}", "sizes: must be 1 to 4 different powers of two"),
        ("{listen: 192.0.2.10, sizes: [64, 64]}", "sizes: must be 1 to 4 different powers of two"),
        ("{listen: 192.0.2.10, public_url: 'http://x/a>b'}", "public_url: must be an http://"),
        ("{listen: 192.0.2.10, formt: png}", #"formt: unknown key; did you mean "format"?"#),
    ]) func `every error of the logos section is reported`(logos: String, problem: String) throws {
        let error = try #require(#expect(throws: ConfigurationError.self) { try load(logos) })
        #expect("\(error)".contains(problem))
    }

    @Test func `pictures by number and phonebooks are off until the operator wants them`() throws {
        let usual = try #require(try load("{listen: 192.0.2.10}").logos)
        #expect(usual.phones.isEmpty && !usual.servesPictures && !usual.servesPhonebook)
        #expect(usual.phonebookContacts == 1_000)
        let logos = try #require(
            try load(
                "{listen: 192.0.2.10, phones: [mitel, snom_370], pictures: true, phonebook: true, "
                    + "phonebook_contacts: 250}"
            ).logos)
        #expect(logos.phones == [.mitel, .snom370])
        #expect(logos.servesPictures && logos.servesPhonebook && logos.phonebookContacts == 250)
    }

    @Test func `the family of a PBX's phones is one of those with logos`() throws {
        let text = smallest.replacing("address: 192.0.2.20\n", with: "address: 192.0.2.20\n    phones: snom_m9\n")
        try #require(text != smallest)
        let directory = "directory: {url: https://directory.example, api_key_env: KEY}\n"
        func load(_ logos: String) throws -> HeraldConfiguration {
            try folder.load(text + directory + logos, environment: ["KEY": "secret"])
        }
        let configuration = try load("logos: {listen: 192.0.2.10, phones: [mitel]}")
        #expect(configuration.pbx[0].phones == .snomM9)
        #expect(configuration.logos?.phones == [.mitel, .snomM9])
        let error = try #require(#expect(throws: ConfigurationError.self) { try load("") })
        #expect("\(error)".contains("phones: needs a logos section"))
        let unscaled = #expect(throws: ConfigurationError.self) {
            try load("logos: {listen: 192.0.2.10, scale: false}")
        }
        #expect("\(try #require(unscaled))".contains("scale: must be true for phones"))
    }

    @Test func `a logos section requires a directory`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try folder.load(smallest + "logos: {listen: 192.0.2.10}")
        }
        #expect("\(try #require(error))".contains("logos need a directory, and none is configured"))
    }
}
