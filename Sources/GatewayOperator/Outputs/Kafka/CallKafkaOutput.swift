// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host
import Logging
import ServiceLifecycle

/// Sends ended calls to `outcomes.kafka`, up to 500 at a time; the key of a record is its `call_id`.
///
/// librdkafka retries records that the cluster has not acknowledged, and no further ones are sent meanwhile. A failure that
/// it does not retry, such as a missing topic, ends the producer. Another one follows after 2, 4, 8 and so on up to 60
/// seconds. A producer that delivers nothing for half a minute is replaced if its brokers respond to another one. A record that the topic refuses waits as one that the webhook refuses.
struct CallKafkaOutput: CallRecordOutput {
    private let queue: CallOutputStore
    private let connection: KafkaConnection
    private let patience: Duration
    private let links: CallLinks
    /// Calls without a report, by place in the queue.
    private var inFlight: [Int64: PendingCallOutput] = [:]
    /// Calls the cluster has whose removal from the queue has failed; never sent twice by this process.
    private var delivered: [Int64] = []
    /// Failures since a call was delivered.
    private var failures = 0
    /// The end of the present pause, in seconds since 1970.
    private var resumesAt: Int64 = 0
    /// Whether the queue had more calls than are in flight.
    private var hasMore = false
    private var refusals: KafkaRefusalLog
    /// Rounds in a row without a report, and their number at which the brokers are asked.
    private var (idleRounds, mostIdleRounds) = (0, firstIdleRounds)

    private static let firstIdleRounds = 3
    private static let lastIdleRounds = 48
    /// The longest wait for brokers that are asked.
    private static let question = Duration.seconds(5)

    /// The largest number of calls in flight.
    static let batch = 500
    /// The longest pause after failures, in seconds.
    static let longestPause: Int64 = 60

    /// - Parameter patience: the time after which records without a report are a problem.
    init(
        _ queue: CallOutputStore, _ settings: KafkaSettings, logger: Logger, patience: Duration = .seconds(10),
        links: CallLinks = CallLinks(nil)
    ) {
        self.queue = queue
        self.patience = patience
        self.links = links
        connection = KafkaConnection(settings, logger: logger)
        refusals = KafkaRefusalLog(logger: logger)
    }

    /// Sends the calls that are due and waits for their reports, or waits again for those of the last round.
    ///
    /// - Throws: `KafkaOutputError` if no call was delivered; errors of the queue.
    mutating func round(at now: Int64) async throws -> CallOutputRound {
        try settle()
        // A clock that was set back does not lengthen the pause.
        guard !(resumesAt - Self.longestPause...resumesAt - 1).contains(now) else { return CallOutputRound() }
        if inFlight.isEmpty {
            let due = try queue.due(.kafka, limit: Self.batch, now: now)
            let batch = Self.batch(of: due)
            guard !batch.isEmpty else { return CallOutputRound() }
            hasMore = batch.count < due.count || due.count == Self.batch
            try await send(batch, at: now)
        }
        let reports = await connection.reports(within: patience)
        let wasAlone = inFlight.count == 1
        delivered = reports.delivered
        for id in delivered { inFlight[id] = nil }
        let refused = reports.refused.compactMap { refusal in
            inFlight.removeValue(forKey: refusal.id).map { ($0, refusal.error) }
        }
        if !delivered.isEmpty { (failures, mostIdleRounds) = (0, Self.firstIdleRounds) }
        if reports.failure != nil { await pause(at: now) }
        try settle()
        for (output, error) in refused { try postpone(output, error, wasAlone: wasAlone, at: now) }
        let round = CallOutputRound(
            sent: reports.delivered.count, failed: refused.count,
            hasMore: hasMore && inFlight.isEmpty && reports.failure == nil)
        guard round.sent == 0, let problem = problem(reports) else {
            idleRounds = 0
            return round
        }
        let isStuck = reports.failure == nil && refused.isEmpty
        if !Task.isCancelled, isStuck, let reason = await replaceStuckProducer() { throw KafkaOutputError(reason) }
        if !Task.isCancelled { throw KafkaOutputError(problem) }
        return round
    }

    /// Ends a producer that has delivered nothing for some rounds although its brokers respond: they may have lost its state.
    ///
    /// - Returns: the reason; nil while the producer stays. A cluster that acknowledges nothing to the next one either is asked
    ///   less and less often, so that few records are written twice.
    private mutating func replaceStuckProducer() async -> KafkaError? {
        idleRounds += 1
        guard idleRounds >= mostIdleRounds else { return nil }
        idleRounds = 0
        guard let partitions = await connection.partitions(patience: Self.question) else { return nil }
        mostIdleRounds = min(mostIdleRounds * 2, Self.lastIdleRounds)
        inFlight = [:]
        await connection.close()
        return .stuck(connection.settings, partitions: partitions)
    }

    /// The reason why calls are still in flight, or were given up.
    private func problem(_ reports: KafkaReports) -> KafkaError? {
        if let failure = reports.failure { return failure }
        return inFlight.isEmpty ? nil : reports.problem ?? .silent(connection.settings)
    }

    func shutdown() async { await connection.close() }

    /// The first calls of `due` that may go together.
    ///
    /// A broker refuses all records of a request for one that is too large. Records that were refused go one by one.
    private static func batch(of due: [PendingCallOutput]) -> [PendingCallOutput] {
        guard let first = due.first, first.attempts == 0 else { return Array(due.prefix(1)) }
        return Array(due.prefix { $0.attempts == 0 })
    }

    private mutating func send(_ batch: [PendingCallOutput], at now: Int64) async throws {
        let records = try batch.map { output in
            KafkaRecord(
                id: output.id, key: output.call.callID,
                value: String(try Output.line(json: links.linked(output.call).recordJSON).dropLast()))
        }
        do throws(KafkaError) { try await connection.send(records) } catch {
            await pause(at: now)
            throw KafkaOutputError(error)
        }
        for output in batch { inFlight[output.id] = output }
    }

    private mutating func settle() throws {
        guard !delivered.isEmpty else { return }
        try queue.done(delivered)
        delivered = []
    }

    private mutating func postpone(
        _ output: PendingCallOutput, _ error: KafkaError, wasAlone: Bool, at now: Int64
    ) throws {
        let delay = wasAlone ? CallWebhookOutput.delay(afterAttempts: output.attempts) : 0
        try queue.postpone(output.id, until: now + delay)
        // In company the refused record is not known.
        if wasAlone { refusals.append(error, of: output.call.callID, delay: delay) }
    }

    /// Ends the producer; the calls in flight stay in the queue, and some of them may be sent again.
    private mutating func pause(at now: Int64) async {
        inFlight = [:]
        resumesAt = now + min(Self.longestPause, 2 << Int64(min(failures, 10)))
        failures += 1
        await connection.close()
    }
}

/// Kafka has not taken calls.
struct KafkaOutputError: Error, Hashable, CustomStringConvertible {
    let reason: KafkaError

    init(_ reason: KafkaError) { self.reason = reason }

    var description: String { "outcomes.kafka: \(reason); the calls wait in the ledger and are sent again" }
}
