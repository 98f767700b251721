// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Synchronization

/// Sends records to a topic; librdkafka connects, batches and retries.
///
/// Its thread `herald-kafka` opens the producer, and waits for reports, log lines and errors. One task sends and waits. Records wait in memory until their report, so the caller bounds their number.
final class KafkaProducer: Sendable {
    /// Nil after `close`.
    private let handle: Mutex<KafkaHandle?>
    private let inbox: KafkaInbox

    /// The time between two looks of the thread at deadlines and at `close`.
    private static let pollMilliseconds: Int32 = 100

    private init(_ handle: KafkaHandle, _ inbox: KafkaInbox) {
        self.handle = Mutex(handle)
        self.inbox = inbox
    }

    deinit { inbox.close() }

    /// Opens a producer, which connects by itself.
    ///
    /// - Parameters:
    ///   - isProbe: true to ask for metadata alone; nothing can be sent then.
    ///   - log: receives the lines that librdkafka logs, on the producer's thread.
    /// - Throws: an error of the settings or of a file that they name.
    static func open(
        _ settings: KafkaSettings, isProbe: Bool = false, log: @escaping @Sendable (KafkaLogLine) -> Void
    ) async throws(KafkaError) -> KafkaProducer {
        let inbox = KafkaInbox(settings, log: log)
        let result: Result<KafkaProducer, KafkaError> = await withCheckedContinuation { opened in
            Thread.detachNewThread {
                NamedThread.begin("herald-kafka")
                let handle: KafkaHandle
                do throws(KafkaError) { handle = try KafkaHandle(settings, inbox, isProbe: isProbe) } catch {
                    return opened.resume(returning: .failure(error))
                }
                opened.resume(returning: .success(KafkaProducer(handle, inbox)))
                while !inbox.isClosing {
                    handle.poll(milliseconds: pollMilliseconds)
                    inbox.endOverdueWait()
                }
            }
        }
        return try result.get()
    }

    /// Queues records; does not wait for the network.
    ///
    /// Does nothing after `close`.
    func send(_ records: [KafkaRecord]) {
        guard let handle = handle.withLock({ $0 }) else { return }
        inbox.expect(records.count)
        for record in records {
            if let error = handle.produce(record) { KafkaHandle.settle(record.id, error, in: inbox) }
        }
    }

    /// Waits for the reports of all records; ends early with a failure, and when the task is cancelled.
    ///
    /// - Returns: the results since the last call.
    func reports(within patience: Duration) async -> KafkaReports { await inbox.wait(patience) }

    /// Asks the cluster for its brokers and topics, on a thread of its own.
    ///
    /// - Returns: the number of brokers, and of the topic's partitions, which is 0 without the topic and after `close`.
    /// - Throws: the reason why no broker responds.
    func metadata(patience: Duration) async throws(KafkaError) -> (brokers: Int, partitions: Int) {
        guard let handle = handle.withLock({ $0 }) else { return (0, 0) }
        let milliseconds = Int32(patience / .milliseconds(1))
        let result: Result<(brokers: Int, partitions: Int), KafkaError> = await withCheckedContinuation { done in
            Thread.detachNewThread { [inbox] in
                do throws(KafkaError) {
                    let found = try handle.metadata(milliseconds: milliseconds)
                    guard let obstacle = inbox.obstacle, obstacle.cause == .forbidden else {
                        return done.resume(returning: .success(found))
                    }
                    done.resume(returning: .failure(obstacle))
                } catch {
                    // Only the failed connection has the reason of a timeout.
                    done.resume(returning: .failure(inbox.obstacle ?? error))
                }
            }
        }
        return try result.get()
    }

    /// Gives up records without a report and closes the connections.
    ///
    /// Waits two seconds at most; a name lookup on its way ends later.
    func close() async {
        handle.withLock { $0 = nil }
        inbox.close()
        await withCheckedContinuation { done in
            Thread.detachNewThread { [inbox] in
                _ = inbox.closed.wait(.seconds(2))
                done.resume()
            }
        }
    }

    /// Makes the producer fail for good; for tests.
    func breakForTests() { handle.withLock { $0?.breakForTests() } }
}
