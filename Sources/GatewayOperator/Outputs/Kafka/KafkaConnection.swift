// SPDX-License-Identifier: Apache-2.0

import Host
import Logging
import Synchronization

/// The producer of `outcomes.kafka`, opened when it is first needed and again after it was closed.
///
/// One task uses it; another one may close it afterwards.
final class KafkaConnection: Sendable {
    let settings: KafkaSettings
    private let producer = Mutex<KafkaProducer?>(nil)
    private let log: KafkaLibraryLog

    init(_ settings: KafkaSettings, logger: Logger) {
        self.settings = settings
        log = KafkaLibraryLog(logger: logger)
    }

    /// Queues records.
    func send(_ records: [KafkaRecord]) async throws(KafkaError) {
        if let open = producer.withLock({ $0 }) { return open.send(records) }
        let opened = try await KafkaProducer.open(settings) { [log] in log.append($0) }
        producer.withLock { $0 = opened }
        opened.send(records)
    }

    /// Waits for the reports of queued records.
    func reports(within patience: Duration) async -> KafkaReports {
        guard let open = producer.withLock({ $0 }) else { return KafkaReports() }
        return await open.reports(within: patience)
    }

    /// Asks the brokers for the topic by a connection of its own.
    ///
    /// - Returns: the number of its partitions; nil if no broker responds.
    func partitions(patience: Duration) async -> Int? {
        guard let probe = try? await KafkaProducer.open(settings, isProbe: true, log: { [log] in log.append($0) })
        else {
            return nil
        }
        let found = try? await probe.metadata(patience: patience)
        await probe.close()
        return found?.partitions
    }

    func close() async {
        let open = producer.withLock { $0.take() }
        await open?.close()
    }
}

/// Writes lines of librdkafka into Herald's log: one of a kind in ten minutes, the others at level `debug`.
final class KafkaLibraryLog: Sendable {
    private let logger: Logger
    /// Times on the monotonic clock by kind, in microseconds.
    private let times = Mutex<[String: Int64]>([:])

    static let interval: Int64 = 600_000_000

    init(logger: Logger) { self.logger = logger }

    /// Any thread.
    func append(_ line: KafkaLogLine, at time: Int64 = SteadyClock.microseconds) {
        let isShown = times.withLock { times in
            if let last = times[line.facility], time - last < Self.interval { return false }
            // The library has a few dozen kinds.
            if times.count < 100 { times[line.facility] = time }
            return true
        }
        let level: Logger.Level = !isShown || line.level > 5 ? .debug : line.level > 4 ? .notice : .warning
        logger.log(level: level, "librdkafka: \(line.text)", metadata: ["kind": "\(line.facility)"])
    }
}

/// Logs records that the topic refuses: one in ten minutes, with the number of those before it.
struct KafkaRefusalLog {
    private let logger: Logger
    private var lastTime: Int64?
    private var unlogged = 0

    init(logger: Logger) { self.logger = logger }

    /// - Parameter delay: seconds until the next attempt.
    mutating func append(
        _ error: KafkaError, of callID: String, delay: Int64, at time: Int64 = SteadyClock.microseconds
    ) {
        if let lastTime, time - lastTime < KafkaLibraryLog.interval {
            unlogged += 1
            return
        }
        lastTime = time
        let others = unlogged > 0 ? "; \(unlogged) more refusals since the last such line" : ""
        unlogged = 0
        logger.error(
            "outcomes.kafka: the record of call \(callID) is refused and sent again in \(delay) s: \(error)\(others)")
    }
}
