// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Kafka

@Suite("Errors of Kafka")
struct ErrorTests {
    private let settings = KafkaSettings(brokers: ["kafka-1:9092", "kafka-2:9092"], topic: "calls")

    // As librdkafka 2.0.2 writes them.
    @Test(arguments: [
        (
            "kafka-1:9092/bootstrap: Connect to ipv4#192.0.2.1:9092 failed: Connection refused (after 3ms in state CONNECT)",
            "kafka-1:9092/bootstrap: Connect to ipv4#192.0.2.1:9092 failed: Connection refused"
        ),
        (
            "kafka-1:9092/1: Disconnected (after 20ms in state APIVERSION_QUERY, 4 identical error(s) suppressed)",
            "kafka-1:9092/1: Disconnected"
        ),
        ("two\nlines\u{1B}[2J", "two lines\\u{1b}[2J"),
    ])
    func `one failure has one text, without times, counts and control characters`(_ text: String, _ shown: String) {
        let error = KafkaError(.other, text, settings)
        #expect(error.description.contains("topic calls: \(shown); "), "\(error)")
        #expect(error.description.hasPrefix("Kafka at kafka-1:9092,kafka-2:9092, topic calls: "))
    }

    @Test func `a certificate that is not trusted and a port without TLS have different remedies`() {
        let untrusted = KafkaError(
            .tls, "SSL handshake failed: certificate verify failed: broker certificate", settings)
        #expect(untrusted.description.contains("tls.roots"))
        let plain = KafkaError(.tls, "Disconnected: connecting to a PLAINTEXT broker listener?", settings)
        #expect(plain.description.contains("remove tls or name another port"))
    }
}
