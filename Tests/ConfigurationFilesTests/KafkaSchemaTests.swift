// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("outcomes.kafka")
struct KafkaSchemaTests {
    private let folder = TemporaryFolder()

    private func yaml(_ kafka: String) throws -> String {
        let path = try folder.write("s3cret-word\n", to: "kafka-password")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return smallest + "outcomes: {kafka: {\(kafka)}}\n"
    }

    @Test func `brokers and topic are enough`() throws {
        let yaml = try yaml(
            "brokers: [kafka-1.example.com, '192.0.2.7:9093', '[2001:db8::7]:9094'], topic: herald-calls")
        let kafka = try #require(try folder.load(yaml).outcomes.kafka)
        #expect(
            kafka.brokers.map(\.description) == ["kafka-1.example.com", "192.0.2.7:9093", "[2001:db8::7]:9094"])
        #expect(kafka.brokers.map(\.port) == [9092, 9093, 9094])
        #expect(kafka.topic == "herald-calls" && kafka.compression == .none)
        #expect(kafka.tls == nil && kafka.sasl == nil)
        #expect(try folder.load(smallest).outcomes.kafka == nil)
    }

    @Test func `it has TLS, a login and compression`() throws {
        for name in ["roots.pem", "client.pem", "client.key"] { try folder.write("pem", to: name) }
        let yaml = try yaml(
            "brokers: ['k:9093'], topic: t, compression: zstd, "
                + "tls: {roots: roots.pem, certificate: client.pem, key: client.key}, "
                + "sasl: {mechanism: SCRAM-SHA-256, user: herald, password_file: kafka-password}")
        let kafka = try #require(try folder.load(yaml).outcomes.kafka)
        #expect(kafka.compression == .zstd && kafka.tls?.roots == folder.path + "/roots.pem")
        #expect(kafka.sasl?.mechanism == .scram256 && kafka.sasl?.user == "herald")
        #expect(kafka.sasl?.password.reveal() == "s3cret-word" && !"\(kafka)".contains("s3cret-word"))
        #expect(try folder.load(yaml, secrets: .ignored).outcomes.kafka?.sasl?.password.reveal() == "")
    }

    @Test func `tls without keys has the system's roots, and SCRAM-SHA-512 is the default`() throws {
        let yaml = try yaml("brokers: [k], topic: t, tls: {}, sasl: {user: herald, password_env: PASSWORD}")
        let kafka = try #require(try folder.load(yaml, environment: ["PASSWORD": "s3cret"]).outcomes.kafka)
        #expect(kafka.tls == .init() && kafka.sasl?.mechanism == .scram512)
    }

    @Test(arguments: [
        ("topic: t", "brokers", "write brokers: [kafka-1.example.com:9092]"),
        ("brokers: [], topic: t", "brokers", "must not be empty"),
        ("brokers: ['k:0'], topic: t", "brokers", "port \"0\" is out of range"),
        ("brokers: ['u:s3cret-word@k:9093'], topic: t", "brokers", "\"<redacted>@k:9093\" is not an IPv4"),
        ("brokers: ['u:s3cret-word@k'], topic: t", "brokers", "port \"<redacted>@k\" is out of range"),
        ("brokers: [k]", "topic", "write topic: herald-calls"),
        ("brokers: [k], topic: 'two words'", "topic", "letters, digits, dots, dashes or underscores"),
        ("brokers: [k], topic: '..'", "topic", "as Kafka allows"),
        ("brokers: [k], topic: t, compression: zip", "compression", "none, gzip, snappy, lz4, zstd"),
        ("brokers: [k], topic: t, tls: {certificate: c.pem}", "key", "required together"),
        ("brokers: [k], topic: t, tls: {roots: absent.pem}", "roots", "cannot be read"),
        ("brokers: [k], topic: t, sasl: {password_file: kafka-password}", "user", "write user: herald"),
        ("brokers: [k], topic: t, sasl: {user: u}", "password_file", "is missing"),
        ("brokers: [k], topic: t, sasl: {user: u, password: s3cret-word}", "password", "use password_file"),
        ("brokers: [k], topic: t, sasl: {user: u, password_file: absent}", "password_file", "cannot be read"),
        (
            "brokers: [k], topic: t, sasl: {mechanism: GSSAPI, user: u, password_file: kafka-password}", "mechanism",
            "SCRAM-SHA-512, SCRAM-SHA-256, PLAIN"
        ),
        (
            "brokers: [k], topic: t, sasl: {mechanism: PLAIN, user: u, password_file: kafka-password}", "sasl",
            "add tls, or use SCRAM-SHA-512"
        ),
        ("brokers: [k], topic: t, broker: k", "broker", "did you mean"),
    ])
    func `what cannot work is refused with the key and the remedy`(kafka: String, key: String, words: String) throws {
        let problems = try folder.problems(in: try yaml(kafka))
        #expect(problems.contains { $0.contains(key) && $0.contains(words) }, "\(problems)")
        #expect(!problems.joined().contains("s3cret-word"))
    }

    @Test func `PLAIN without TLS is accepted on this machine`() throws {
        let yaml = try yaml(
            "brokers: ['127.0.0.1:9092'], topic: t, sasl: {mechanism: PLAIN, user: u, password_file: kafka-password}")
        #expect(try folder.problems(in: yaml).isEmpty)
    }

    @Test(arguments: [("k:9092", "", true), ("127.0.0.1:9092", "", false), ("k:9093", ", tls: {}", false)])
    func `numbers that travel unencrypted cause a remark`(broker: String, more: String, isRemarked: Bool) throws {
        let remarks = try folder.load(try yaml("brokers: ['\(broker)'], topic: t\(more)")).remarks
        #expect(remarks.contains { $0.hasPrefix("outcomes.kafka has no tls") } == isRemarked)
    }

    @Test func `a password that everybody can read causes a remark`() throws {
        let yaml = try yaml("brokers: [k], topic: t, tls: {}, sasl: {user: u, password_file: kafka-password}")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.path + "/kafka-password")
        #expect(try folder.load(yaml).remarks.contains { $0.contains("kafka-password contains a secret") })
    }
}
