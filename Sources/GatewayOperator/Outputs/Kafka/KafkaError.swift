// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A reason why Kafka has not taken records, with cause and remedy.
struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds that operators handle differently.
    enum Cause: Sendable, Hashable {
        /// A name of a broker has no address.
        case name
        /// No broker accepts a connection.
        case unreachable
        /// A broker closes new connections: it stops, or it expects TLS and gets none.
        case closed
        /// The TLS handshake failed.
        case tls
        /// The broker refused user or password.
        case login
        /// The topic does not exist.
        case noTopic
        /// The user has no right to write to the topic.
        case forbidden
        /// The topic takes no record of this size.
        case tooLarge
        /// The topic does not take the record for another reason.
        case invalid
        /// The brokers are connected, and acknowledge nothing.
        case silent
        /// The brokers respond to a new connection, and acknowledge nothing to the producer.
        case stuck
        /// librdkafka can no longer guarantee that its retries write a record once.
        case fatal
        /// librdkafka does not accept a setting or a file.
        case settings
        /// Any other failure.
        case other
    }

    let cause: Cause
    /// The cluster and the topic.
    private let place: String
    private let topic: String
    private let message: String

    init(_ cause: Cause, _ message: String, _ settings: KafkaSettings) {
        self.cause = cause
        topic = settings.topic
        place = "Kafka at \(settings.cluster), topic \(settings.topic)"
        self.message = TerminalText.visible(Self.steady(message))
    }

    /// The error of connected brokers that acknowledge nothing.
    static func silent(_ settings: KafkaSettings) -> KafkaError {
        KafkaError(.silent, "no broker acknowledges a record", settings)
    }

    /// The error of a producer that delivers nothing while its brokers respond to another connection.
    ///
    /// - Parameter partitions: those of the topic; 0 for a topic that does not exist.
    static func stuck(_ settings: KafkaSettings, partitions: Int) -> KafkaError {
        partitions == 0
            ? KafkaError(.noTopic, "the brokers respond and have no such topic", settings)
            : KafkaError(.stuck, "the brokers respond to a new connection, and acknowledge no record", settings)
    }

    /// Thing, cause and remedy in one line.
    var description: String { "\(place): \(message); \(remedy)" }

    /// Whether the topic refuses this record and may take others.
    var concernsRecord: Bool { cause == .tooLarge || cause == .invalid }

    private var remedy: String {
        switch cause {
        case .name: "correct the name in brokers, or add it to DNS"
        case .unreachable:
            """
            see whether the brokers run, whether a firewall blocks them, and whether they expect tls at this port; the \
            addresses of their advertised.listeners must be reachable from here too
            """
        case .closed: "see whether the broker runs, and add tls if it expects it at this port"
        case .tls: tlsRemedy
        case .login: "check user, password and mechanism in sasl; the broker's log has the reason"
        case .noTopic: "create it (kafka-topics.sh --create --topic \(topic)), or correct its name"
        case .forbidden:
            """
            give the user the operations Write and Describe on topic \(topic) (kafka-acls.sh); Kafka before 2.8 also wants \
            IdempotentWrite on the cluster
            """
        case .tooLarge: "raise max.message.bytes of topic \(topic) (kafka-configs.sh)"
        case .invalid: "see the settings of topic \(topic) and the broker's log"
        case .silent:
            """
            see whether each partition has a leader and min.insync.replicas replicas \
            (kafka-topics.sh --describe --topic \(topic))
            """
        case .stuck:
            """
            Herald goes on with a new producer, and the topic may have some calls twice, with the same key; if this is \
            repeated, see whether each partition has a leader and min.insync.replicas replicas \
            (kafka-topics.sh --describe --topic \(topic))
            """
        case .fatal: "Herald goes on with a new producer; the topic may have some calls twice, with the same key"
        case .settings: "correct the setting or the file that it names"
        case .other: "see the broker's log"
        }
    }

    // librdkafka names the kind of a failed handshake in its text alone.
    private var tlsRemedy: String {
        if message.contains("certificate verify failed") || message.contains("could not be verified") {
            return """
                write the issuer of the broker's certificate into tls.roots, and compare the name in brokers with the \
                certificate's; openssl s_client -connect HOST:PORT shows it
                """
        }
        if message.contains("certificate required") || message.contains("alert handshake failure") {
            return "the broker wants a client certificate: write it and its key into tls.certificate and tls.key"
        }
        if message.contains("PLAINTEXT") || message.contains("wrong version number") {
            return "the port has no TLS: remove tls, or name another port"
        }
        return "the broker ended the connection: it may want a login (sasl) or a client certificate (tls.certificate); "
            + "its log has the reason"
    }

    /// The keys of the configuration for the names of librdkafka.
    private static let keys = [
        ("ssl.ca.location", "outcomes.kafka.tls.roots"),
        ("ssl.certificate.location", "outcomes.kafka.tls.certificate"),
        ("ssl.key.location", "outcomes.kafka.tls.key"),
    ]

    /// A message with Herald's keys, and without the times and counts that librdkafka appends: one failure always has one
    /// text.
    private static func steady(_ message: String) -> String {
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        let ends = [" (after ", ", 1 identical error", " (+"].compactMap { line.firstRange(of: $0)?.lowerBound }
        return keys.reduce(String(line[..<(ends.min() ?? line.endIndex)])) { text, key in
            text.replacing(key.0, with: key.1)
        }
    }
}
