// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import TestFixtures
import Testing

@testable import PushSending

@Suite("The server's name with push services, RFC 8292")
struct VAPIDTests {
    @Test func `the RFC's own token verifies, and ours has its claims`() throws {
        let example = """
            eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1Y\
            iI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9\
            OkSSHzvoD1oA
            """
        let theirs = try CheckedToken(
            example,
            key: bytes("BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"))
        let key = VAPIDKey()
        let tokens = VAPIDTokens(try WebPushSettings(key: key, subject: "mailto:push@example.com"))
        let value = try tokens.authorization(
            for: "https://push.example.net", at: 1_453_523_768 - VAPIDTokens.lifetime)
        let parts = try #require(value.wholeMatch(of: /vapid t=([^,]+), k=(.+)/))
        let ours = try CheckedToken(parts.1, key: bytes(String(parts.2)))
        #expect(ours.claims == theirs.claims)
        #expect(ours.header == #"{"alg":"ES256","typ":"JWT"}"#)
        #expect(String(parts.2) == key.publicKey)
    }

    @Test func `a token is kept for its origin and replaced an hour before its end`() throws {
        let tokens = VAPIDTokens(try WebPushSettings(key: VAPIDKey(), subject: "https://example.com/contact"))
        let first = try tokens.authorization(for: "https://a.example", at: present)
        #expect(try tokens.authorization(for: "https://b.example", at: present) != first)
        #expect(try tokens.authorization(for: "https://a.example", at: present + 11 * 3600 - 1) == first)
        #expect(try tokens.authorization(for: "https://a.example", at: present + 11 * 3600) != first)
        #expect(try tokens.authorization(for: "https://a.example", at: present - 86_400) != first, "a clock set back")
    }

    @Test func `the key is made once, for its owner alone`() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/push.key"
        let first = try VAPIDKey.stored(at: path)
        #expect(try bytes(first.publicKey).count == 65)
        #expect(try VAPIDKey.stored(at: path).publicKey == first.publicKey)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("-----BEGIN PRIVATE KEY-----"))
        #expect("\(first)" == "<redacted>")
    }

    @Test func `several processes at the first start have one key`() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/push.key"
        let keys = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { try? VAPIDKey.stored(at: path).publicKey } }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        let stored = try VAPIDKey.stored(at: path).publicKey
        #expect(keys.subtracting([nil]) == [stored])
    }

    @Test func `a damaged key stays, and the error names the file`() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/push.key"
        try "rubbish".write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: PushSettingsError.self) { try VAPIDKey.stored(at: path) }
        #expect(error?.description.contains(path) == true && error?.description.contains("rubbish") == false)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "rubbish")
        #expect(throws: PushSettingsError.self) { try VAPIDKey.stored(at: folder.path + "/missing/push.key") }
    }

    @Test(arguments: [
        "", "push@example.com", "http://example.com", "mailto:a b@example.com", "mailto:\u{e9}@example.com",
    ])
    func `a contact is a mailto or https URL`(subject: String) {
        #expect(throws: PushSettingsError.self) { try WebPushSettings(key: VAPIDKey(), subject: subject) }
    }
}
