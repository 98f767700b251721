// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle

/// Takes ended calls to the operator's own systems: a file of call records, a webhook, or both.
///
/// Each goes out at least once and leaves the queue afterwards. What cannot go out waits; the log says so when it begins and
/// when something goes out again.
struct CallOutputService: Service {
    let queue: CallOutputStore
    let file: (records: CallRecordFile, isCSV: Bool)?
    let webhook: CallWebhook?
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                if let file {
                    group.addTask {
                        var out: [Int64] = []
                        await repeated { try write(to: file.records, isCSV: file.isCSV, &out) }
                    }
                }
                if let webhook {
                    group.addTask {
                        var out: [Int64] = []
                        await repeated { try await send(by: webhook, &out) }
                    }
                }
            }
        }
        await webhook?.shutdown()
    }

    /// What one look into the queue has brought.
    private struct Round {
        /// Calls that went out; none where none was due.
        var sent = 0
        /// More may be due at once.
        var hasMore = false
    }

    /// Does a step over and over, each second and at once while there is more, until shutdown.
    private func repeated(_ step: () async throws -> Round) async {
        var hasProblem = false
        while !Task.isCancelled {
            var round = Round()
            do {
                round = try await step()
                // While what failed waits for its next try nothing is due, which is no news.
                if hasProblem, round.sent > 0 {
                    logger.notice("call records go out again")
                    hasProblem = false
                }
            } catch {
                if !hasProblem { logger.error("\(error)") }
                hasProblem = true
            }
            if !round.hasMore { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    /// Appends what is due.
    ///
    /// - Parameter out: what has gone out and, for a full disk under the ledger, is still in the queue.
    private func write(to records: CallRecordFile, isCSV: Bool, _ out: inout [Int64]) throws -> Round {
        try settle(&out)
        let due = try queue.due(.file, limit: 500, now: now)
        guard !due.isEmpty else { return Round() }
        let lines = try due.map { isCSV ? CSVText.row($0.call.cdrCells) : try Output.line(json: $0.call.cdr) }
        try records.append(lines.joined())
        out = due.map(\.id)
        try settle(&out)
        return Round(sent: due.count, hasMore: due.count == 500)
    }

    private func settle(_ out: inout [Int64]) throws {
        guard !out.isEmpty else { return }
        try queue.done(out)
        out = []
    }

    /// Calls the webhook is sent at the same time.
    private static let webhookConcurrency = 8

    /// Sends what is due, a few at a time; when none of these few is taken the round ends, for the receiver is away then.
    ///
    /// - Parameter out: as `write` has it.
    /// - Throws: what the receiver or the network said, when nothing at all was taken; errors of the queue.
    private func send(by webhook: CallWebhook, _ out: inout [Int64]) async throws -> Round {
        try settle(&out)
        let due = try queue.due(.webhook, limit: 10 * Self.webhookConcurrency, now: now)
        var rest = due[...]
        var round = Round(hasMore: due.count == 10 * Self.webhookConcurrency)
        while !rest.isEmpty, !Task.isCancelled {
            let some = rest.prefix(Self.webhookConcurrency)
            rest = rest.dropFirst(some.count)
            let problems = await send(some, by: webhook)
            out = some.filter { problems[$0.id] == nil }.map(\.id)
            let isAway = out.isEmpty
            round.sent += out.count
            try settle(&out)
            for output in some where problems[output.id] != nil {
                // 2 s, 4 s and so on, up to an hour.
                try queue.postpone(output.id, until: now + min(3600, 2 << Int64(min(output.attempts, 11))))
            }
            guard isAway, let problem = problems.values.first else { continue }
            if round.sent == 0 { throw problem }
            break
        }
        return round
    }

    /// Sends some calls at the same time; what was not taken, by its place in the queue.
    private func send(
        _ outputs: ArraySlice<PendingCallOutput>, by webhook: CallWebhook
    ) async -> [Int64: any Error] {
        await withTaskGroup(of: (Int64, (any Error)?).self) { group in
            for output in outputs {
                group.addTask {
                    do {
                        let body = Data(try Output.line(json: output.call.cdr).utf8)
                        try await webhook.send(body, callID: output.call.callID, now: now)
                        return (output.id, nil)
                    } catch {
                        return (output.id, error)
                    }
                }
            }
            var problems: [Int64: any Error] = [:]
            for await (id, problem) in group { problems[id] = problem }
            return problems
        }
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
