// SPDX-License-Identifier: Apache-2.0

package import CRDKafka
import Glibc
import Synchronization

/// A cluster of librdkafka's own mock brokers on loopback, over real TCP, with a consumer to read what they have.
package final class MockCluster: @unchecked Sendable {
    // Unchecked, because of the pointers: they never change, and librdkafka passes each call to the cluster's own thread.
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    /// A record of a topic.
    package struct Record: Sendable, Hashable {
        package let key: String
        package let value: String
    }

    /// Numbers of requests in Kafka's protocol.
    package enum API: Int16 { case produce = 0, initProducerID = 22 }

    private let owner: OpaquePointer
    private let cluster: OpaquePointer
    /// Sockets at the ports of brokers that are down.
    private let held = Mutex<[Int32]>([])

    /// Brokers in the form of `brokers`.
    package var brokers: [String] {
        String(cString: rd_kafka_mock_cluster_bootstraps(cluster)).split(separator: ",").map(String.init)
    }

    package init(brokers count: Int32 = 1) throws {
        owner = try Self.client(RD_KAFKA_PRODUCER, ["log_level": "0"])
        guard let cluster = rd_kafka_mock_cluster_new(owner, count) else {
            throw Failure(description: "librdkafka makes no mock cluster")
        }
        self.cluster = cluster
    }

    deinit {
        held.withLock { $0.forEach { close($0) } }
        rd_kafka_mock_cluster_destroy(cluster)
        rd_kafka_destroy(owner)
    }

    package func create(_ topic: String, partitions: Int32 = 1) {
        _ = rd_kafka_mock_topic_create(cluster, topic, partitions, 1)
    }

    /// Lets metadata of a topic have an error.
    package func set(_ error: rd_kafka_resp_err_t, of topic: String) {
        rd_kafka_mock_topic_set_error(cluster, topic, error)
    }

    /// Lets the next requests fail with these errors, one each.
    package func push(_ errors: [rd_kafka_resp_err_t], to requests: API) {
        rd_kafka_mock_push_request_errors_array(cluster, requests.rawValue, errors.count, errors)
    }

    /// Closes all connections and accepts no others, or accepts them again.
    ///
    /// librdkafka ends the process if it does not get its port again, so no other test may get it meanwhile.
    package func set(isDown: Bool) {
        held.withLock { held in
            if isDown {
                _ = rd_kafka_mock_broker_set_down(cluster, -1)
                held = brokers.compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }.map(Self.hold)
            } else {
                held.forEach { close($0) }
                held = []
                _ = rd_kafka_mock_broker_set_up(cluster, -1)
            }
        }
    }

    /// A socket that has a port of loopback and does not listen.
    private static func hold(_ port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(isBound == 0, "port \(port) of a mock broker is taken: \(String(cString: strerror(errno)))")
        return descriptor
    }

    /// Delays each response.
    package func setDelay(milliseconds: Int32) { _ = rd_kafka_mock_broker_set_rtt(cluster, -1, milliseconds) }

    /// Delays the response of a broker to the next request of a kind, and to all later ones of the same connection.
    package func delayNext(_ requests: API, of broker: Int32 = 1, milliseconds: Int32) {
        _ = herald_mock_delay_request(cluster, broker, requests.rawValue, milliseconds)
    }

    /// Makes another broker the leader of a partition; -1 for none.
    package func setLeader(_ broker: Int32, of topic: String, partition: Int32 = 0) {
        _ = rd_kafka_mock_partition_set_leader(cluster, topic, partition, broker)
    }

    /// Reads all records of a topic, in the order of each partition; blocks.
    ///
    /// - Parameter count: the number that the caller expects; reading ends when the topic has no more for a second.
    package func records(_ topic: String, partitions: Int32 = 1, atLeast count: Int = 0) throws -> [Record] {
        let consumer = try Self.client(
            RD_KAFKA_CONSUMER,
            [
                "bootstrap.servers": brokers.joined(separator: ","), "group.id": "test",
                "auto.offset.reset": "earliest",
                "log_level": "0",
            ])
        defer { rd_kafka_destroy(consumer) }
        let list = rd_kafka_topic_partition_list_new(partitions)
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in 0..<partitions {
            rd_kafka_topic_partition_list_add(list, topic, partition)?.pointee.offset = Int64(RD_KAFKA_OFFSET_BEGINNING)
        }
        _ = rd_kafka_poll_set_consumer(consumer)
        _ = rd_kafka_assign(consumer, list)
        var records: [Record] = []
        var silence = 0
        // Ten seconds for what is expected, one for what is not.
        while silence < (records.count < count ? 100 : 10) {
            guard let message = rd_kafka_consumer_poll(consumer, 100) else {
                silence += 1
                continue
            }
            defer { rd_kafka_message_destroy(message) }
            guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                silence += 1
                continue
            }
            silence = 0
            records.append(
                Record(
                    key: Self.text(message.pointee.key, message.pointee.key_len),
                    value: Self.text(message.pointee.payload, message.pointee.len)))
        }
        return records
    }

    private static func text(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func client(_ kind: rd_kafka_type_t, _ properties: [String: String]) throws -> OpaquePointer {
        let configuration = rd_kafka_conf_new()
        var text = [CChar](repeating: 0, count: 512)
        for (name, value) in properties { _ = rd_kafka_conf_set(configuration, name, value, &text, text.count) }
        guard let client = rd_kafka_new(kind, configuration, &text, text.count) else {
            throw Failure(description: "librdkafka makes no client")
        }
        return client
    }
}
