// SPDX-License-Identifier: Apache-2.0

import CRDKafka
import Host
import Primitives

/// A producer of librdkafka and its topic: every call of the library.
///
/// Any thread. It ends with its last user, so no thread can use it afterwards: the thread that polls, a task that sends, a
/// question for metadata.
final class KafkaHandle: Sendable {
    // Proof that threads may share the pointer: it is set once, in `init`. Any call of librdkafka but the destructor may come from
    // any thread at any time (its FAQ, "Is the library thread-safe?"). Only `deinit` destroys, and a thread inside a call
    // holds a reference to this object.
    nonisolated(unsafe) private let client: OpaquePointer
    // Proof: as for the client, which `deinit` destroys after the topic. Nil for a probe: brokers may create a topic that a
    // producer knows by name.
    nonisolated(unsafe) private let topic: OpaquePointer?
    private let settings: KafkaSettings
    /// The callbacks use it without a reference of their own.
    private let inbox: KafkaInbox

    /// Opens a producer whose callbacks fill `inbox`.
    ///
    /// Reads the files of TLS and starts threads. Connections follow later.
    init(_ settings: KafkaSettings, _ inbox: KafkaInbox, isProbe: Bool) throws(KafkaError) {
        (self.settings, self.inbox) = (settings, inbox)
        let configuration = try Self.configuration(settings)
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(inbox).toOpaque())
        Self.setCallbacks(configuration)
        var text = [CChar](repeating: 0, count: 512)
        guard let client = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, &text, text.count) else {
            rd_kafka_conf_destroy(configuration)
            throw KafkaError(.settings, Self.string(text), settings)
        }
        // Log lines come with the reports, on the thread that polls.
        rd_kafka_set_log_queue(client, nil)
        topic = isProbe ? nil : rd_kafka_topic_new(client, settings.topic, nil)
        guard isProbe || topic != nil else {
            let error = rd_kafka_last_error()
            rd_kafka_destroy(client)
            throw Self.error(error, settings)
        }
        self.client = client
    }

    private static func configuration(_ settings: KafkaSettings) throws(KafkaError) -> OpaquePointer {
        guard let configuration = rd_kafka_conf_new() else { throw KafkaError(.settings, "no memory", settings) }
        var text = [CChar](repeating: 0, count: 512)
        for (name, value) in settings.properties
        where rd_kafka_conf_set(configuration, name, value, &text, text.count) != RD_KAFKA_CONF_OK {
            rd_kafka_conf_destroy(configuration)
            // The library's text may repeat the value, which may be a password.
            throw KafkaError(.settings, "librdkafka does not accept the value of \(name)", settings)
        }
        return configuration
    }

    private static func setCallbacks(_ configuration: OpaquePointer) {
        rd_kafka_conf_set_dr_msg_cb(configuration) { client, message, inbox in
            guard let inbox = KafkaHandle.inbox(inbox), let client, let message else { return }
            KafkaHandle.report(message.pointee, client, to: inbox)
        }
        rd_kafka_conf_set_error_cb(configuration) { client, code, reason, inbox in
            guard let inbox = KafkaHandle.inbox(inbox), let client else { return }
            KafkaHandle.met(rd_kafka_resp_err_t(code), reason.map { String(cString: $0) } ?? "", client, inbox)
        }
        rd_kafka_conf_set_log_cb(configuration) { client, level, facility, text in
            guard let client, let inbox = KafkaHandle.inbox(rd_kafka_opaque(client)), let text else { return }
            inbox.logged(
                KafkaLogLine(
                    level: Int(level), facility: TerminalText.visible(facility.map { String(cString: $0) } ?? ""),
                    text: TerminalText.visible(String(cString: text))))
        }
    }

    private static func inbox(_ opaque: UnsafeMutableRawPointer?) -> KafkaInbox? {
        opaque.map { Unmanaged<KafkaInbox>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Waits for reports, log lines and errors, and passes them to the inbox.
    func poll(milliseconds: Int32) { rd_kafka_poll(client, milliseconds) }

    /// Queues a record; does not wait.
    ///
    /// - Returns: nil if a report will follow.
    func produce(_ record: KafkaRecord) -> KafkaError? {
        guard let topic else { return KafkaError(.other, "a probe sends nothing", settings) }
        var (key, value) = (record.key, record.value)
        let result = key.withUTF8 { key in
            value.withUTF8 { value in
                rd_kafka_produce(
                    topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                    UnsafeMutableRawPointer(mutating: value.baseAddress), value.count, key.baseAddress, key.count,
                    UnsafeMutableRawPointer(bitPattern: Int(record.id)))
            }
        }
        return result == 0 ? nil : Self.error(rd_kafka_last_error(), settings, client)
    }

    /// Asks the cluster for its brokers and topics; blocks.
    ///
    /// It asks for all topics, because a broker may create a topic that it is asked for by name.
    ///
    /// - Returns: the number of brokers, and of the topic's partitions, which is 0 without the topic.
    func metadata(milliseconds: Int32) throws(KafkaError) -> (brokers: Int, partitions: Int) {
        var answer: UnsafePointer<rd_kafka_metadata>?
        let result = rd_kafka_metadata(client, 1, nil, &answer, milliseconds)
        guard result == RD_KAFKA_RESP_ERR_NO_ERROR, let answer else { throw Self.error(result, settings) }
        defer { rd_kafka_metadata_destroy(answer) }
        let topics = UnsafeBufferPointer(start: answer.pointee.topics, count: Int(answer.pointee.topic_cnt))
        let own = topics.first { $0.topic.map { String(cString: $0) } == settings.topic }
        if let code = own?.err, code != RD_KAFKA_RESP_ERR_NO_ERROR { throw Self.error(code, settings) }
        return (Int(answer.pointee.broker_cnt), Int(own?.partition_cnt ?? 0))
    }

    /// Gives up records without a report and ends the threads; takes as long as a name lookup on its way.
    deinit {
        rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING)
        if let topic { rd_kafka_topic_destroy(topic) }
        rd_kafka_destroy(client)
        inbox.closed.ring()
    }

    /// Makes the library fail as after an error that idempotence does not survive; for tests.
    func breakForTests() {
        _ = rd_kafka_test_fatal_error(client, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "as a test wants it")
    }

    // MARK: Results

    private static func report(_ message: rd_kafka_message_t, _ client: OpaquePointer, to inbox: KafkaInbox) {
        let id = Int64(Int(bitPattern: message._private))
        guard message.err != RD_KAFKA_RESP_ERR_NO_ERROR else { return inbox.delivered(id) }
        settle(id, error(message.err, inbox.settings, client), in: inbox)
    }

    /// Passes on the error of one record: as a refusal, or as a failure of the producer.
    static func settle(_ id: Int64, _ error: KafkaError, in inbox: KafkaInbox) {
        error.concernsRecord ? inbox.refused(id, error) : inbox.failed(error)
    }

    private static func met(
        _ code: rd_kafka_resp_err_t, _ reason: String, _ client: OpaquePointer, _ inbox: KafkaInbox
    ) {
        guard code == RD_KAFKA_RESP_ERR__FATAL else {
            let problem = KafkaError(cause(of: code, reason), reason, inbox.settings)
            return inbox.met(problem, isSummary: code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        }
        inbox.failed(error(code, inbox.settings, client))
    }

    /// The error of a code; the fatal error of `client` if it has one, which is the reason for all others.
    private static func error(
        _ code: rd_kafka_resp_err_t, _ settings: KafkaSettings, _ client: OpaquePointer? = nil
    ) -> KafkaError {
        var text = [CChar](repeating: 0, count: 512)
        if let client {
            let reason = rd_kafka_fatal_error(client, &text, text.count)
            let cause = cause(of: reason, "")
            if reason != RD_KAFKA_RESP_ERR_NO_ERROR {
                return KafkaError(cause == .other ? .fatal : cause, string(text), settings)
            }
        }
        return KafkaError(cause(of: code, ""), String(cString: rd_kafka_err2str(code)), settings)
    }

    /// - Parameter reason: the library's text, the only difference between a refused handshake and a closed port.
    private static func cause(of code: rd_kafka_resp_err_t, _ reason: String) -> KafkaError.Cause {
        switch code {
        case RD_KAFKA_RESP_ERR__RESOLVE: .name
        case RD_KAFKA_RESP_ERR__SSL: .tls
        case RD_KAFKA_RESP_ERR__TRANSPORT where reason.contains("while requesting ApiVersion"): .closed
        case RD_KAFKA_RESP_ERR__TRANSPORT where reason.contains("SSL"): .tls
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__TIMED_OUT:
            .unreachable
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
            .login
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
            .noTopic
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
            .forbidden
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: .tooLarge
        case RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, RD_KAFKA_RESP_ERR_INVALID_RECORD,
            RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
            .invalid
        default: .other
        }
    }

    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
