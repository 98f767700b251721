// SPDX-License-Identifier: Apache-2.0

import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("Links into apps")
struct LinksSchemaTests {
    private let folder = TemporaryFolder()

    /// The fingerprint of the published examples (Digital Asset Links).
    private static let fingerprint =
        "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"

    private func load(_ text: String) throws -> DirectoryConfiguration {
        try DirectoryConfiguration.load(path: try folder.write("state: data\n" + text, to: "directory.yaml"))
    }

    private func problem(_ text: String) throws -> String? {
        try folder.write(text, to: "directory.yaml")
        let error = #expect(throws: ConfigurationError.self) {
            try DirectoryConfiguration.load(path: folder.path + "/directory.yaml")
        }
        return error?.problems.first?.description.replacing(folder.path + "/", with: "")
    }

    @Test func `without the keys there are no apps, and the scheme is herald`() throws {
        let configuration = try load("")
        #expect(configuration.clients.linkScheme == "herald")
        #expect(configuration.links == AppLinks())
        #expect(configuration.rateLimits.cards == 120)
    }

    @Test func `apps of both systems are read`() throws {
        let links = try load(
            """
            links:
              ios_apps: [ABCDE12345.com.example.phone, ABCDE12345.com.example.phone-beta]
              android_apps:
                - package: com.example.phone
                  sha256: ["\(Self.fingerprint.lowercased())"]
            """
        ).links
        #expect(links.iosApps == ["ABCDE12345.com.example.phone", "ABCDE12345.com.example.phone-beta"])
        #expect(links.androidApps == [.init(package: "com.example.phone", fingerprints: [Self.fingerprint])])
    }

    @Test(arguments: [
        ("com.example.phone", "links.ios_apps"), ("ABCDE12345", "links.ios_apps"),
        ("ABCDE12345.*", "links.ios_apps"), ("abcde12345.com.example", "links.ios_apps"),
        ("ABCDE12345.com..x", "links.ios_apps"), ("\"ABCDE12345.com/x\"", "links.ios_apps"),
    ])
    func `an identifier that is none of Apple's is refused`(text: String, key: String) throws {
        let problem = try problem("links: {ios_apps: [\(text)]}\n")
        #expect(problem?.contains("\(key)") == true && problem?.contains("ABCDE12345.com.example.phone") == true)
    }

    @Test(arguments: [
        ("package: phone, sha256: [\"\(fingerprint)\"]", "package"),
        ("package: \"com.example.phone/x\", sha256: [\"\(fingerprint)\"]", "package"),
        ("package: com.example.phone, sha256: [\"14:6D\"]", "sha256"),
        ("package: com.example.phone, sha256: [\"\(fingerprint):00\"]", "sha256"),
        ("package: com.example.phone", "sha256"), ("sha256: [\"\(fingerprint)\"]", "package"),
    ])
    func `an app that Android would not verify is refused`(text: String, key: String) throws {
        #expect(try problem("links: {android_apps: [{\(text)}]}\n")?.contains(key) == true)
    }

    @Test(arguments: [
        ("herald", true), ("acme.app", true), ("a1+b-c", true), ("Herald", false), ("1herald", false), ("a", false),
        ("javascript", false), ("https", false), ("tel", false), ("herald:", false), ("h\u{E4}rald", false),
        ("", false),
        (String(repeating: "a", count: 33), false),
    ])
    func `a scheme is one of RFC 3986, and none of the browser's`(text: String, isScheme: Bool) throws {
        #expect(LinksSchema.isScheme(text) == isScheme)
    }

    @Test func `the scheme is the operator's`() throws {
        #expect(try load("clients: {link_scheme: acme}\n").clients.linkScheme == "acme")
        #expect(try problem("clients: {link_scheme: javascript}\n")?.contains("clients.link_scheme") == true)
    }
}
