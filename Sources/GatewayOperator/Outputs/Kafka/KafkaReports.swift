// SPDX-License-Identifier: Apache-2.0

/// A record for a topic.
struct KafkaRecord: Sendable, Hashable {
    /// Returned in the reports; positive.
    let id: Int64
    let key: String
    let value: String
}

/// The results of sent records.
struct KafkaReports: Sendable, Hashable {
    /// Ids of records that the cluster has.
    var delivered: [Int64] = []
    /// Records that the topic does not take.
    var refused: [KafkaRefusal] = []
    /// The failure that ended the work of this producer; records without a report are not delivered, or only perhaps.
    var failure: KafkaError?
    /// The latest problem since a record was delivered; librdkafka tries again.
    var problem: KafkaError?
    /// Records without a report.
    var waiting = 0
}

/// A record that the topic does not take.
struct KafkaRefusal: Sendable, Hashable {
    let id: Int64
    let error: KafkaError
}

/// A line that librdkafka logs.
struct KafkaLogLine: Sendable, Hashable {
    /// The level of syslog(3): 0 is the most severe, 5 a notice.
    let level: Int
    /// The kind of the line, such as `FAIL`.
    let facility: String
    /// The text, escaped.
    let text: String
}
