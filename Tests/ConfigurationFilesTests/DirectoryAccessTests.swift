// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

@Suite("herald.yaml: directory")
struct DirectoryAccessTests {
    private static let pin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    private let folder = TemporaryFolder()

    private func load(_ lines: String, url: String = "https://directory.example") throws
        -> HeraldConfiguration.DirectoryAccess?
    {
        let yaml = smallest + "directory:\n  url: \(url)\n  api_key_env: KEY\n" + lines
        return try folder.load(yaml, environment: ["KEY": "k", "SECRET": "hush"]).directory
    }

    @Test func `pins, roots, signing and tokens are read`() throws {
        try folder.write("x", to: "roots.pem")
        let access = try #require(
            try load(
                """
                  bearer: true
                  client_type: mobile-ios
                  tls: {pins: [\(Self.pin), sha256/\(Self.pin)], roots: roots.pem}
                  signing: {id: app, secret_env: SECRET}
                """))
        #expect(access.isBearer)
        #expect(access.clientType == "mobile-ios")
        #expect(access.tls.pins.count == 2)
        #expect(access.tls.roots?.hasSuffix("/roots.pem") == true)
        #expect(access.signing?.id == "app")
        #expect(access.signing?.secret.reveal() == "hush")
        #expect(!"\(access)".contains("hush"))
    }

    @Test(arguments: [
        ("", HeraldConfiguration.DirectoryFlag.ignore), ("  voip_dialer_enabled: ignore", .ignore),
        ("  voip_dialer_enabled: obey", .obey),
    ]) func `the flag voip_dialer_enabled is ignored unless the operator sets obey`(
        lines: String, flag: HeraldConfiguration.DirectoryFlag
    ) throws {
        #expect(try #require(try load(lines)).voipDialer == flag)
    }

    @Test(arguments: [
        ("  voip_dialer_enabled: false", "directory.voip_dialer_enabled"),
        ("  tls: {pins: [abc]}", "directory.tls.pins[0]: must be a SHA-256 in Base64"),
        ("  tls: {roots: /nowhere.pem}", "directory.tls.roots: /nowhere.pem cannot be read"),
        ("  tls: {certificate: /dev/null}", "directory.tls.certificate: certificate and key are required together"),
        ("  signing: {id: a}", "directory.signing.secret_file: is missing; write secret_file: /etc/herald/secret"),
        ("  signing: {secret_env: SECRET}", "directory.signing.id: is missing; write id: herald"),
        ("  tls: {pin: x}", "directory.tls.pin: unknown key; did you mean \"pins\"?"),
    ])
    func `every error of the directory section is reported`(lines: String, message: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try load(lines) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test func `pins without TLS are rejected`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try load("  tls: {pins: [\(Self.pin)]}", url: "http://127.0.0.1:8088")
        }
        #expect(error?.description.contains("pins need an https url") == true)
    }
}
