// SPDX-License-Identifier: Apache-2.0

// Reads `outcomes.kafka`.

extension HeraldConfiguration {
    /// A topic of Apache Kafka for ended calls.
    package struct Kafka: Hashable, Sendable {
        /// The codecs of Kafka.
        package enum Compression: String, ConfigurationWord, Sendable { case none, gzip, snappy, lz4, zstd }

        /// Brokers that are asked for the others; at least one.
        package var brokers: [EndpointAddress]
        package var topic: String
        package var compression = Compression.none
        /// Nil for a connection without TLS.
        package var tls: TLS?
        /// Nil for a cluster without login.
        package var sasl: SASL?

        /// Files in PEM; nil for the system's roots and for no client certificate.
        package struct TLS: Hashable, Sendable {
            package var roots: String?
            package var certificate: String?
            package var key: String?
        }

        /// A login with a password.
        package struct SASL: Hashable, Sendable {
            package enum Mechanism: String, ConfigurationWord, Sendable {
                case scram512 = "SCRAM-SHA-512"
                case scram256 = "SCRAM-SHA-256"
                case plain = "PLAIN"
            }

            package var mechanism: Mechanism
            package var user: String
            /// Empty if the file was loaded without its secrets.
            package var password: ConfiguredSecret
        }

        /// Whether all brokers are on this machine.
        package var isLocal: Bool { brokers.allSatisfy { $0.isLoopback || $0.host == "localhost" } }
    }
}

extension HeraldSchema {
    private static let kafkaPort: UInt16 = 9092

    /// Reads the `kafka` section of `outcomes`.
    func kafka(_ section: ConfigurationSection) -> HeraldConfiguration.Kafka? {
        if !section.has("brokers") { section.missing("brokers", "[kafka-1.example.com:9092]") }
        let brokers = section.list("brokers") { text throws(AddressProblem) in
            try EndpointAddress.read(text, defaultPort: Self.kafkaPort, allowsNames: true)
        }
        if section.isEmptyList("brokers") { section.problem("brokers", "must not be empty") }
        if !section.has("topic") { section.missing("topic", "herald-calls") }
        let topic = section.string(
            "topic", form: "1 to 249 letters, digits, dots, dashes or underscores, as Kafka allows", Self.isTopic)
        let compression = section.choice("compression", default: HeraldConfiguration.Kafka.Compression.none)
        let tls = section.section("tls", kafkaTLS)
        let sasl = section.section("sasl", kafkaLogin)
        guard let topic, !brokers.isEmpty else { return nil }
        let kafka = HeraldConfiguration.Kafka(
            brokers: brokers, topic: topic, compression: compression, tls: tls, sasl: sasl)
        if sasl?.mechanism == .plain, tls == nil, !kafka.isLocal {
            section.problem(
                "sasl", "PLAIN sends the password itself, and there is no tls; add tls, or use SCRAM-SHA-512")
        }
        return kafka
    }

    private func kafkaTLS(_ section: ConfigurationSection) -> HeraldConfiguration.Kafka.TLS {
        func readable(_ key: String) -> String? {
            guard let path = section.string(key).map(file.resolved) else { return nil }
            section.checkReadable(key, path)
            return path
        }
        let tls = HeraldConfiguration.Kafka.TLS(
            roots: readable("roots"), certificate: readable("certificate"), key: readable("key"))
        if (tls.certificate == nil) != (tls.key == nil) {
            section.problem(tls.key == nil ? "certificate" : "key", "certificate and key are required together")
        }
        return tls
    }

    private func kafkaLogin(_ section: ConfigurationSection) -> HeraldConfiguration.Kafka.SASL? {
        let mechanism = section.choice("mechanism", default: HeraldConfiguration.Kafka.SASL.Mechanism.scram512)
        if !section.has("user") { section.missing("user", "herald") }
        let user = section.string("user")
        let password = SecretSchema(file: file).read(section, "password", secrets: secrets)
        return user.map { .init(mechanism: mechanism, user: $0, password: password ?? ConfiguredSecret("")) }
    }

    /// The rule of Kafka's `Topic.validate`.
    private static func isTopic(_ text: String) -> Bool {
        (1...249).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte | 0x20) || (48...57).contains(byte) || Array("._-".utf8).contains(byte)
            }
    }
}
