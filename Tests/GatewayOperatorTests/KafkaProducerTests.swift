// SPDX-License-Identifier: Apache-2.0

import CRDKafka
import KafkaTesting
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("A producer of Kafka", .timeLimit(.minutes(8)))
struct ProducerTests {
    private let cluster: MockCluster
    private let topic = "calls"

    init() throws {
        cluster = try MockCluster()
        cluster.create(topic)
    }

    private var settings: KafkaSettings { KafkaSettings(brokers: cluster.brokers, topic: topic) }

    private func records(_ ids: ClosedRange<Int64>) -> [KafkaRecord] {
        ids.map { KafkaRecord(id: $0, key: "call-\($0)", value: "{\"call_id\":\"call-\($0)\"}") }
    }

    /// Sends records and returns the first reports; closes the producer.
    private func send(
        _ records: [KafkaRecord], _ settings: KafkaSettings, patience: Duration = .seconds(30)
    ) async throws -> KafkaReports {
        let producer = try await KafkaProducer.open(settings) { _ in }
        producer.send(records)
        let reports = await producer.reports(within: patience)
        await producer.close()
        return reports
    }

    @Test(arguments: ["none", "gzip", "snappy", "lz4", "zstd"])
    func `every record is in the topic once, with its key, whatever the compression`(_ codec: String) async throws {
        var settings = settings
        settings.compression = codec
        let reports = try await send(records(1...500), settings)
        #expect(reports.delivered.sorted() == Array(1...500) && reports.waiting == 0)
        #expect(reports.failure == nil && reports.problem == nil && reports.refused.isEmpty)
        let found = try cluster.records(topic, atLeast: 500)
        #expect(found.map(\.key) == (1...500).map { "call-\($0)" })
        #expect(found.first?.value == "{\"call_id\":\"call-1\"}")
    }

    @Test func `records of one key go to the partition that Java's producers choose`() async throws {
        // Of Kafka's own test of murmur2 for the key "foobar": 0x7fffffff & -790332482 = 1357151166, modulo 3 = 0.
        cluster.create("wide", partitions: 3)
        var settings = settings
        settings.topic = "wide"
        _ = try await send([KafkaRecord(id: 1, key: "foobar", value: "x")], settings)
        #expect(try cluster.records("wide", partitions: 1, atLeast: 1).map(\.key) == ["foobar"])
    }

    @Test func `a lost connection and a change of leader write no record twice`() async throws {
        cluster.push(
            [
                RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR__TRANSPORT,
                RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            ], to: .produce)
        let reports = try await send(records(1...50), settings)
        #expect(reports.delivered.count == 50 && reports.failure == nil)
        #expect(try cluster.records(topic, atLeast: 50).count == 50)
    }

    @Test func `records follow the partition to another broker`() async throws {
        let pair = try MockCluster(brokers: 2)
        pair.create(topic)
        pair.setLeader(1, of: topic)
        let producer = try await KafkaProducer.open(KafkaSettings(brokers: pair.brokers, topic: topic)) { _ in }
        producer.send(records(1...20))
        #expect(await producer.reports(within: .seconds(30)).delivered.count == 20)
        pair.setLeader(2, of: topic)
        producer.send(records(21...40))
        #expect(await producer.reports(within: .seconds(30)).delivered.count == 20)
        await producer.close()
        #expect(try pair.records(topic, atLeast: 40).map(\.key) == (1...40).map { "call-\($0)" })
    }

    @Test func `a user who may not write idempotently learns the operation`() async throws {
        cluster.push([RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED], to: .initProducerID)
        let reports = try await send(records(1...5), settings)
        #expect(reports.failure?.cause == .forbidden)
        #expect(reports.failure?.description.contains("IdempotentWrite") == true)
    }

    @Test func `records wait for a cluster that is away, with the reason, and go out when it is back`() async throws {
        cluster.set(isDown: true)
        let producer = try await KafkaProducer.open(settings) { _ in }
        producer.send(records(1...20))
        let away = await producer.reports(within: .seconds(2))
        #expect(away.waiting == 20 && away.delivered.isEmpty && away.failure == nil)
        #expect(away.problem.map { [.closed, .unreachable].contains($0.cause) } == true)
        cluster.set(isDown: false)
        let back = await producer.reports(within: .seconds(60))
        #expect(back.delivered.count == 20 && back.waiting == 0 && back.problem == nil)
        await producer.close()
    }

    @Test func `a name without an address and a closed port are different reasons`() async throws {
        var settings = settings
        settings.brokers = ["no-such-broker.invalid:9092"]
        let nameless = try await send(records(1...1), settings, patience: .seconds(3))
        #expect(nameless.problem?.cause == .name, "\(String(describing: nameless.problem))")
        settings.brokers = ["127.0.0.1:1"]
        let closed = try await send(records(1...1), settings, patience: .seconds(1))
        #expect(closed.problem?.cause == .unreachable)
        #expect(closed.problem?.description.contains("Connection refused") == true)
        #expect(closed.problem?.description.contains("advertised.listeners") == true)
    }

    @Test(arguments: [
        (RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, "max.message.bytes"),
        (RD_KAFKA_RESP_ERR_INVALID_RECORD, "the settings of topic calls"),
    ])
    func `a record that the topic does not take is refused, and the next one is delivered`(
        _ error: rd_kafka_resp_err_t, _ remedy: String
    ) async throws {
        cluster.push([error], to: .produce)
        let producer = try await KafkaProducer.open(settings) { _ in }
        producer.send(records(1...1))
        let first = await producer.reports(within: .seconds(30))
        #expect(first.refused.map(\.id) == [1] && first.waiting == 0 && first.failure == nil)
        #expect(first.refused.first?.error.concernsRecord == true)
        #expect(first.refused.first?.error.description.contains(remedy) == true)
        producer.send(records(2...2))
        #expect(await producer.reports(within: .seconds(30)).delivered == [2])
        await producer.close()
    }

    @Test func `a record above librdkafka's own limit is refused without a request`() async throws {
        let large = KafkaRecord(id: 7, key: "k", value: String(repeating: "x", count: 1_100_000))
        let reports = try await send([large], settings)
        #expect(reports.refused.map(\.id) == [7] && reports.refused.first?.error.cause == .tooLarge)
    }

    @Test(arguments: [
        (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, KafkaError.Cause.forbidden, "Write and Describe on topic calls"),
        (RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, .forbidden, "IdempotentWrite"),
    ])
    func `a user without the right to write ends the producer, with the remedy`(
        _ error: rd_kafka_resp_err_t, _ cause: KafkaError.Cause, _ remedy: String
    ) async throws {
        cluster.push([error], to: .produce)
        let reports = try await send(records(1...5), settings)
        #expect(reports.failure?.cause == cause && reports.delivered.isEmpty)
        #expect(reports.failure?.description.contains(remedy) == true)
    }

    @Test func `a missing topic ends the producer, with the command that creates it`() async throws {
        cluster.set(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, of: "absent")
        var settings = settings
        settings.topic = "absent"
        let reports = try await send(records(1...5), settings, patience: .seconds(60))
        #expect(reports.failure?.cause == .noTopic)
        #expect(reports.failure?.description.contains("kafka-topics.sh --create --topic absent") == true)
    }

    @Test func `an error that idempotence does not survive ends the producer, and another one goes on`() async throws {
        cluster.setDelay(milliseconds: 200)
        let producer = try await KafkaProducer.open(settings) { _ in }
        producer.send(records(1...5))
        producer.breakForTests()
        let reports = await producer.reports(within: .seconds(30))
        #expect(reports.failure?.cause == .fatal)
        #expect(reports.failure?.description.contains("as a test wants it; Herald goes on with a new producer") == true)
        await producer.close()
        #expect(try await send(records(1...5), settings).delivered.count == 5)
    }

    @Test func `a wait ends with its task`() async throws {
        cluster.set(isDown: true)
        let producer = try await KafkaProducer.open(settings) { _ in }
        producer.send(records(1...1))
        let wait = Task { await producer.reports(within: .seconds(3_600)) }
        wait.cancel()
        #expect(await wait.value.waiting == 1)
        await producer.close()
        producer.send(records(2...2))
    }

    @Test func `the lines of librdkafka come escaped, with their kind`() async throws {
        let lines = Mutex<[KafkaLogLine]>([])
        let producer = try await KafkaProducer.open(KafkaSettings(brokers: ["127.0.0.1:1"], topic: topic)) { line in
            lines.withLock { $0.append(line) }
        }
        producer.send(records(1...1))
        _ = await producer.reports(within: .seconds(1))
        await producer.close()
        let failure = try #require(lines.withLock { $0 }.first { $0.facility == "FAIL" })
        #expect(failure.level < 5 && failure.text.contains("Connection refused"))
    }

    @Test func `metadata has brokers and partitions, and creates no topic`() async throws {
        cluster.create("wide", partitions: 4)
        let producer = try await KafkaProducer.open(settings, isProbe: true) { _ in }
        var other = settings
        other.topic = "unseen"
        let unseen = try await KafkaProducer.open(other, isProbe: true) { _ in }
        for _ in 0..<2 { #expect(try await unseen.metadata(patience: .seconds(10)) == (1, 0)) }
        #expect(try await producer.metadata(patience: .seconds(10)) == (1, 1))
        await producer.close()
        await unseen.close()
        cluster.set(isDown: true)
        let away = try await KafkaProducer.open(settings, isProbe: true) { _ in }
        let error = await #expect(throws: KafkaError.self) { () async throws in
            try await away.metadata(patience: .seconds(2))
        }
        #expect(error.map { [.closed, .unreachable].contains($0.cause) } == true)
        await away.close()
    }

    @Test func `a file that is no certificate is an error of the settings`() async throws {
        var settings = settings
        settings.tls = .init(roots: "/etc/hostname")
        let error = await #expect(throws: KafkaError.self) { () async throws in
            try await KafkaProducer.open(settings) { _ in }
        }
        #expect(error?.cause == .settings && error?.description.contains("outcomes.kafka.tls.roots") == true)
    }

    @Test func `neither texts nor dumps have the password`() async throws {
        var settings = settings
        settings.login = .init(mechanism: "NO-SUCH", user: "herald", password: "s3cret-word")
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!dumped.contains("s3cret-word") && !"\(settings)".contains("s3cret-word"))
        let error = await #expect(throws: KafkaError.self) { () async throws in
            try await KafkaProducer.open(settings) { _ in }
        }
        #expect(error?.description.contains("s3cret-word") == false)
    }
}
