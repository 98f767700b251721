// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

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

    // As librdkafka 2.0.2 wrote them with a broker that wants TLS, a client certificate and a login.
    @Test(arguments: [
        ("SSL handshake failed: certificate verify failed: broker certificate", "tls.roots"),
        ("Disconnected: connecting to a PLAINTEXT broker listener?", "remove tls, or name another port"),
        ("SSL handshake failed: error:0A00045C:SSL routines::tlsv13 alert certificate required", "tls.certificate"),
        ("SSL transport error: Broken pipe", "a login (sasl)"),
        ("SSL handshake failed: error:0A000126:SSL routines::unexpected eof while reading", "a login (sasl)"),
    ])
    func `each failure of TLS has its own remedy`(_ text: String, _ remedy: String) {
        let error = KafkaError(.tls, text, settings)
        #expect(error.description.contains(remedy), "\(error)")
    }

    @Test func `a file is named by the key of the configuration`() {
        let error = KafkaError(.settings, "ssl.ca.location failed: no certificate or crl found", settings)
        #expect(error.description.contains("outcomes.kafka.tls.roots failed: "), "\(error)")
    }
}
