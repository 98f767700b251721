// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation

/// `outcomes.kafka` with the contents of its files, by which a reload finds renewed certificates.
struct KafkaOutputSettings: Hashable, Sendable {
    let kafka: KafkaSettings
    private let files: [Data?]

    /// Nil without `outcomes.kafka`.
    init?(_ outcomes: HeraldConfiguration.Outcomes) {
        guard let kafka = outcomes.kafka else { return nil }
        self.kafka = KafkaSettings(kafka)
        files = [kafka.tls?.roots, kafka.tls?.certificate, kafka.tls?.key].map { path in
            path.flatMap { FileManager.default.contents(atPath: $0) }
        }
    }
}

extension KafkaSettings {
    /// The settings that the section configures.
    init(_ kafka: HeraldConfiguration.Kafka) {
        self.init(
            brokers: kafka.brokers.map(\.description), topic: kafka.topic, compression: kafka.compression.rawValue,
            tls: kafka.tls.map { .init(roots: $0.roots, certificate: $0.certificate, key: $0.key) },
            login: kafka.sasl.map {
                .init(mechanism: $0.mechanism.rawValue, user: $0.user, password: $0.password.reveal())
            })
    }
}
