// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A Kafka cluster and a topic of it, with TLS and login.
struct KafkaSettings: Sendable, Hashable {
    /// Files in PEM; nil for the system's roots and for no client certificate.
    struct TLS: Sendable, Hashable {
        var roots: String?
        var certificate: String?
        var key: String?
    }

    /// A login by SASL.
    struct Login: Sendable, Hashable, CustomStringConvertible {
        /// The name in Kafka's documentation, such as `SCRAM-SHA-512`.
        var mechanism: String
        var user: String
        fileprivate var password: Concealed<String>

        init(mechanism: String, user: String, password: String) {
            (self.mechanism, self.user, self.password) = (mechanism, user, Concealed(password))
        }

        var description: String { "\(mechanism) \(user)" }
    }

    /// Brokers that are asked for the others, each with its port.
    var brokers: [String]
    var topic: String
    /// The name of a codec of Kafka, or `none`.
    var compression = "none"
    /// Nil for a connection without TLS.
    var tls: TLS?
    var login: Login?

    /// The brokers in one text.
    var cluster: String { brokers.joined(separator: ",") }

    /// Properties of librdkafka; see its `CONFIGURATION.md`.
    var properties: [(name: String, value: String)] {
        var all = [
            ("bootstrap.servers", cluster), ("client.id", "herald"),
            // Also sets acks=all, endless retries, and at most five requests on their way to a broker.
            ("enable.idempotence", "true"),
            // No record times out: a timeout leaves open whether the broker has it, and the ledger keeps it anyway.
            ("message.timeout.ms", "0"),
            // The partition that Java's producers choose for a key.
            ("partitioner", "murmur2_random"), ("compression.codec", compression),
            // A missing topic fails after ten seconds; one that was just created needs a few to be known.
            ("topic.metadata.propagation.max.ms", "10000"), ("socket.keepalive.enable", "true"),
            ("socket.connection.setup.timeout.ms", "10000"),
            ("log.connection.close", "false"), ("log_level", "5"), ("log.queue", "true"),
            ("security.protocol", (login == nil ? "" : "sasl_") + (tls == nil ? "plaintext" : "ssl")),
        ]
        if let tls {
            all.append(("ssl.endpoint.identification.algorithm", "https"))
            if let roots = tls.roots { all.append(("ssl.ca.location", roots)) }
            if let certificate = tls.certificate { all.append(("ssl.certificate.location", certificate)) }
            if let key = tls.key { all.append(("ssl.key.location", key)) }
        }
        if let login {
            all += [
                ("sasl.mechanism", login.mechanism), ("sasl.username", login.user),
                ("sasl.password", login.password.reveal()),
            ]
        }
        return all
    }
}
