// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

@Suite("herald-directory.yaml")
struct DirectoryConfigurationTests {
    private let folder = TemporaryFolder()

    @Test func `relative paths start at the file's folder and other keys have defaults`() throws {
        let path = try folder.write("state: data\nlogos: .\npublic_url: https://d.example.com\n", to: "directory.yaml")
        let configuration = try DirectoryConfiguration.load(path: path)
        #expect(configuration.listen.description == "127.0.0.1:8088")
        #expect(configuration.state == folder.path + "/data")
        #expect(configuration.logos == folder.path + "/.")
        #expect(configuration.publicURL == "https://d.example.com")
        #expect(configuration.log == LogSettings())
    }

    @Test func `invalid values are rejected with their position`() throws {
        let path = try folder.write(
            "lisen: 127.0.0.1:8088\nlogos: nowhere\npublic_url: d.example.com\nlog: {level: inf}\n",
            to: "directory.yaml")
        let error = #expect(throws: ConfigurationError.self) { try DirectoryConfiguration.load(path: path) }
        #expect(
            error?.problems.map { $0.description.replacing(folder.path + "/", with: "") } == [
                #"directory.yaml:1:1: lisen: unknown key; did you mean "listen"?"#,
                "directory.yaml:2:8: logos: nowhere cannot be read: No such file or directory",
                "directory.yaml:3:13: public_url: must be an http:// or https:// URL with a host, without user, query and fragment",
                #"directory.yaml:4:14: log.level: "inf" is not one of trace, debug, info, notice, warning, error; did you mean "info"?"#,
            ])
    }

    @Test(arguments: [("", false), ("camara: {enabled: true}\n", true), ("camara: {enabled: false}\n", false)])
    func `registrations are off by default`(text: String, isOn: Bool) throws {
        let path = try folder.write("state: data\n" + text, to: "directory.yaml")
        #expect(try DirectoryConfiguration.load(path: path).offersRegistrations == isOn)
    }

    @Test func `push services have their files, and push needs one of them`() throws {
        #expect(DirectoryConfiguration().push == nil)
        let key = try folder.write("x", to: "push-key.pem")
        let path = try folder.write(
            """
            push:
              web: {subject: mailto:ops@example.com, key_file: push-key.pem}
              apns: {key_file: push-key.pem, key_id: ABC123DEFG, team_id: DEF123GHIJ, topic: com.example.app}
              fcm: {account_file: push-key.pem}
              privacy: name

            """, to: "directory.yaml")
        let push = try #require(try DirectoryConfiguration.load(path: path).push)
        #expect(push.web?.keyFile == key && push.web?.subject == "mailto:ops@example.com")
        #expect(push.apns?.topic == "com.example.app" && push.apns?.isSandbox == false)
        #expect(push.fcm?.accountFile == key && push.privacy == .name)
        let rows = [
            ("push: {}", "push.web: is missing; push needs one of web, apns and fcm"),
            (
                "push: {web: {key_file: push-key.pem}}",
                "push.web.subject: is missing; write subject: mailto:ops@example.com"
            ),
            (
                "push: {web: {subject: ops, key_file: push-key.pem}}",
                "push.web.subject: must be a mailto: or https: URL of the operator"
            ),
            (
                "push: {fcm: {account_file: none.json}}",
                "push.fcm.account_file: \(folder.path)/none.json cannot be read: No such file or directory"
            ),
        ]
        for (text, problem) in rows {
            let bad = try folder.write(text + "\n", to: "bad.yaml")
            let error = #expect(throws: ConfigurationError.self) { try DirectoryConfiguration.load(path: bad) }
            #expect(error?.problems.contains { $0.description.hasSuffix(problem) } == true, "\(text): \(error as Any)")
        }
    }

    @Test func `answer_timeout has a unit and a range`() throws {
        let path = try folder.write("answer_timeout: 10m\n", to: "directory.yaml")
        #expect(try DirectoryConfiguration.load(path: path).responseTimeout == .seconds(600))
        for (text, reason) in [
            ("59s", "59s is out of range (1m to 1d)"), ("2d", "2d is out of range (1m to 1d)"),
            ("30", "must be a time with its unit, such as 500ms, 30s, 5m, 24h or 90d"),
        ] {
            let bad = try folder.write("answer_timeout: \(text)\n", to: "directory.yaml")
            let error = #expect(throws: ConfigurationError.self) { try DirectoryConfiguration.load(path: bad) }
            #expect(error?.problems.first?.description.hasSuffix("answer_timeout: \(reason)") == true, "\(text)")
        }
    }

    @Test func `client versions are configured per kind of client`() throws {
        let path = try folder.write(
            "clients:\n  ios: {min_supported_version: 1.0.0, latest_version: 1.2.0}\n  herald: {latest_version: \"2.0\"}\n",
            to: "directory.yaml")
        let clients = try DirectoryConfiguration.load(path: path).clients
        #expect(clients.ios.minimum == "1.0.0" && clients.ios.latest == "1.2.0")
        #expect(clients.android.latest == nil && clients.herald.latest == "2.0")
        let bad = try folder.write("clients: {min_supported_version: 1.0.0}\n", to: "directory.yaml")
        let error = #expect(throws: ConfigurationError.self) { try DirectoryConfiguration.load(path: bad) }
        #expect(
            error?.problems.map { $0.description.replacing(folder.path + "/", with: "") } == [
                "directory.yaml:1:34: clients.min_supported_version: belongs to one kind of client; write it below ios, android or herald"
            ])
    }

    @Test func `the logo folder must be readable`() throws {
        let file = try folder.write("x", to: "file")
        #expect(DirectoryConfiguration.problem(ofLogos: folder.path) == nil)
        #expect(DirectoryConfiguration.problem(ofLogos: file) == "\(file) is not a folder")
        let missing = DirectoryConfiguration.problem(ofLogos: "/nowhere")
        #expect(missing == "/nowhere cannot be read: No such file or directory")
    }

    @Test(
        arguments: [
            ("", .loopback), ("listen: 0.0.0.0:8088\n", .off),
            ("listen: 0.0.0.0:8088\nadmin: {listen: \"[::1]:8089\"}\n", .loopback),
            ("admin: {pages: false}\n", .off), ("listen: 0.0.0.0:8088\nadmin: {tls_proxy: true}\n", .secure),
            ("admin: {listen: 0.0.0.0:8089, tls: {certificate: c.pem, key: k.pem}}\n", .secure),
        ] as [(String, DirectoryConfiguration.Pages.Access)])
    func `pages are on loopback, or behind TLS`(text: String, access: DirectoryConfiguration.Pages.Access) throws {
        let path = try folder.write(text + "state: data\n", to: "directory.yaml")
        let configuration = try DirectoryConfiguration.load(path: path)
        #expect(configuration.pages.access(at: configuration.adminHost) == access)
        if let tls = configuration.pages.tls { #expect(tls.key == folder.path + "/k.pem") }
    }

    @Test(arguments: [
        ("admin: {tls: {certificate: c.pem, key: k.pem}}\n", "admin.tls: needs admin.listen"),
        ("admin: {listen: 0.0.0.0:8089, tls: {key: k.pem}}\n", "admin.tls.certificate: is missing"),
        ("listen: 0.0.0.0:8088\nadmin: {pages: true}\n", "admin.pages: 0.0.0.0 is no loopback address and has no TLS"),
    ])
    func `pages that nobody could open safely are an error`(text: String, problem: String) throws {
        let path = try folder.write(text, to: "directory.yaml")
        let error = #expect(throws: ConfigurationError.self) { try DirectoryConfiguration.load(path: path) }
        #expect(error?.problems.first?.description.contains(problem) == true, "\(error.map { "\($0)" } ?? "")")
    }
}
