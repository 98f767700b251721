// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

@Suite("Secrets in configuration")
struct SecretTests {
    private let folder = TemporaryFolder()
    private let secret = "sk-4f1c-do-not-show-9a7e"

    private func directory(_ lines: String) -> String {
        smallest + "directory:\n  url: http://127.0.0.1:8088\n  " + lines
    }

    @Test func `a secret is read from a file or the environment`() throws {
        try folder.write("  \(secret)\n", to: "other-key")
        let fromFile = try folder.load(directory("api_key_file: other-key"))
        #expect(fromFile.directory?.key.reveal() == secret)
        let fromEnvironment = try folder.load(
            directory("api_key_env: HERALD_API_KEY"), environment: ["HERALD_API_KEY": secret])
        #expect(fromEnvironment.directory?.key.reveal() == secret)
    }

    @Test(arguments: [(0o600, false), (0o640, false), (0o604, true), (0o644, true)])
    func `a secret that every user can read causes a remark`(mode: Int, isRemarked: Bool) throws {
        let path = try folder.write(secret + "\r\n", to: "other-key")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let remarks = try folder.load(directory("api_key_file: other-key")).remarks
        let remark = "\(path) contains a secret and is readable by every user of this machine: chmod o= \(path)"
        #expect(remarks.filter { $0.contains("secret") } == (isRemarked ? [remark] : []))
    }

    @Test func `commands that need no secret do not read it`() throws {
        let configuration = try folder.load(directory("api_key_file: /nowhere/key"), secrets: .ignored)
        #expect(configuration.directory?.key.reveal() == "")
    }

    @Test func `a secret is redacted when printed, dumped or interpolated`() throws {
        try folder.write(secret, to: "other-key")
        let configuration = try folder.load(directory("api_key_file: other-key"))
        var dumped = ""
        dump(configuration, to: &dumped)
        let texts = [
            dumped, "\(configuration)", String(reflecting: configuration), String(describing: configuration.directory),
            configuration.directory.map { "\($0.key) \(String(reflecting: $0.key))" } ?? "",
            ConfigurationSummary(configuration).text,
        ]
        for text in texts { #expect(!text.contains(secret)) }
        #expect(texts[4] == "<redacted> <redacted>")
    }

    @Test(arguments: [
        BadFile(
            "api_key: SECRET",
            "herald.yaml:12:12: directory.api_key: secrets are not allowed in this file; use api_key_file or api_key_env"
        ),
        BadFile(
            "api_key: SECRET\n  api_key_file: api-key",
            "herald.yaml:12:12: directory.api_key: secrets are not allowed in this file; use api_key_file or api_key_env"
        ),
        BadFile(
            "api_kye: SECRET",
            "herald.yaml:11:3: directory.api_key_file: is missing; write api_key_file: /etc/herald/api-key",
            #"herald.yaml:12:3: directory.api_kye: unknown key; did you mean "api_key"?"#),
        BadFile(
            "api_key_file: SECRET",
            "herald.yaml:12:17: directory.api_key_file: the file cannot be read: No such file or directory"
        ),
        BadFile(
            "api_key_file: /nowhere/key",
            "herald.yaml:12:17: directory.api_key_file: /nowhere/key cannot be read: No such file or directory"
        ),
        // The kernel closes this file for reading, also to root.
        BadFile(
            "api_key_file: /proc/sys/net/ipv4/route/flush",
            "herald.yaml:12:17: directory.api_key_file: /proc/sys/net/ipv4/route/flush cannot be read: Permission denied; "
                + "open it for the group of herald: chgrp herald /proc/sys/net/ipv4/route/flush && "
                + "chmod 640 /proc/sys/net/ipv4/route/flush"
        ),
        BadFile(
            "api_key_env: SECRET", "herald.yaml:12:16: directory.api_key_env: the environment variable is not set"),
        BadFile(
            "api_key_env: EMPTY",
            "herald.yaml:12:16: directory.api_key_env: the variable contains no valid secret: expected one line of 1 to 1024 visible ASCII characters"
        ),
        BadFile(
            "api_key_env: A\n  api_key_file: api-key",
            "herald.yaml:12:16: directory.api_key_env: cannot be combined with api_key_file; the secret has one source"
        ),
        BadFile("api_key_file: [SECRET]", "herald.yaml:12:17: directory.api_key_file: must be text"),
    ])
    func `a secret under a wrong key is rejected and not repeated`(bad: BadFile) throws {
        let problems = try folder.problems(
            in: directory(bad.yaml).replacing("SECRET", with: secret), environment: ["EMPTY": " \n"])
        #expect(problems == bad.lines)
        #expect(!problems.joined().contains(secret))
    }

    @Test func `an error of the YAML parser does not quote the file`() throws {
        let problems = try folder.problems(in: directory("api_key: \(secret)\n   x: [\(secret)"))
        #expect(!problems.isEmpty)
        #expect(!problems.joined().contains(secret))
    }

    @Test func `a URL with a password is rejected and not repeated`() throws {
        let yaml = smallest + "directory: {url: \"https://u:\(secret)@d.example.com\", api_key_file: api-key}"
        let problems = try folder.problems(in: yaml)
        #expect(
            problems == [
                "herald.yaml:10:18: directory.url: must be an http:// or https:// URL with a host, without user, query and fragment"
            ])
    }
}
