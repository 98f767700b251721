// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Host

/// Connects to the cluster of `outcomes.kafka`, logs in and looks for the topic; writes nothing.
struct DoctorKafka: Sendable {
    private let configuration: HeraldConfiguration
    private let path: String

    init(_ configuration: HeraldConfiguration, path: String) { (self.configuration, self.path) = (configuration, path) }

    /// None without `outcomes.kafka`.
    func findings(patience: Duration) async -> [DoctorFinding] {
        guard let seen = configuration.outcomes.kafka else { return [] }
        let loaded = (try? HeraldConfiguration.load(path: path))?.outcomes.kafka
        guard let kafka = seen.sasl == nil ? seen : loaded else {
            return [
                DoctorFinding(
                    "kafka", .note,
                    "not asked: this user cannot read the file of its password; run the command as herald")
            ]
        }
        do throws(KafkaError) {
            let producer = try await KafkaProducer.open(KafkaSettings(kafka), isProbe: true) { _ in }
            let found: (brokers: Int, partitions: Int)
            do throws(KafkaError) { found = try await producer.metadata(patience: patience) } catch {
                await producer.close()
                throw error
            }
            await producer.close()
            return [Self.finding(found, kafka)]
        } catch {
            return [DoctorFinding("kafka", Self.mayPass(error) ? .warning : .error, "\(error)")]
        }
    }

    /// Whether a failure may pass without a change here: calls wait for a cluster that is away.
    private static func mayPass(_ error: KafkaError) -> Bool {
        [.unreachable, .closed, .silent].contains(error.cause)
    }

    private static func finding(_ found: (brokers: Int, partitions: Int), _ kafka: HeraldConfiguration.Kafka)
        -> DoctorFinding
    {
        let place =
            "\(kafka.brokers.map(\.description).joined(separator: ",")) responds; \(found.brokers) broker\(found.brokers == 1 ? "" : "s")"
        guard found.partitions > 0 else {
            return DoctorFinding(
                "kafka", .error,
                """
                \(place), which show no topic \(kafka.topic): create it (kafka-topics.sh --create --topic \(kafka.topic)), or \
                give the user the operations Write and Describe on it (kafka-acls.sh)
                """)
        }
        return DoctorFinding("kafka", .ok, "\(place), topic \(kafka.topic) with \(found.partitions) partitions")
    }
}
