// SPDX-License-Identifier: Apache-2.0

/// A record for a topic.
package struct KafkaRecord: Sendable, Hashable {
    /// Returned in the reports; positive.
    package let id: Int64
    package let key: String
    package let value: String

    package init(id: Int64, key: String, value: String) { (self.id, self.key, self.value) = (id, key, value) }
}

/// The results of sent records.
package struct KafkaReports: Sendable, Hashable {
    /// Ids of records that the cluster has.
    package var delivered: [Int64] = []
    /// Records that the topic does not take.
    package var refused: [KafkaRefusal] = []
    /// The failure that ended the work of this producer; records without a report are not delivered, or only perhaps.
    package var failure: KafkaError?
    /// The latest problem since a record was delivered; librdkafka tries again.
    package var problem: KafkaError?
    /// Records without a report.
    package var waiting = 0

    package init() {}
}

/// A record that the topic does not take.
package struct KafkaRefusal: Sendable, Hashable {
    package let id: Int64
    package let error: KafkaError
}

/// A line that librdkafka logs.
package struct KafkaLogLine: Sendable, Hashable {
    /// The level of syslog(3): 0 is the most severe, 5 a notice.
    package let level: Int
    /// The kind of the line, such as `FAIL`.
    package let facility: String
    /// The text, escaped.
    package let text: String

    package init(level: Int, facility: String, text: String) {
        (self.level, self.facility, self.text) = (level, facility, text)
    }
}
