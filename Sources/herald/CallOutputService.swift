// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
import Logging
import ServiceLifecycle

/// Takes ended calls to the operator's own systems: a file of call records, a webhook, or both.
///
/// Each goes out at least once and leaves the queue afterwards. What cannot go out waits; the log says so when it begins.
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
                        var written: [Int64] = []
                        await repeated { try write(to: file.records, isCSV: file.isCSV, &written) }
                    }
                }
                if let webhook { group.addTask { await repeated { try await send(by: webhook) } } }
            }
        }
        await webhook?.shutdown()
    }

    /// Does a step over and over, each second and at once while there is more, until shutdown.
    private func repeated(_ step: () async throws -> Bool) async {
        var hasProblem = false
        while !Task.isCancelled {
            var hasMore = false
            do {
                hasMore = try await step()
                if hasProblem { logger.notice("call records go out again") }
                hasProblem = false
            } catch {
                if !hasProblem { logger.error("\(error)") }
                hasProblem = true
            }
            if !hasMore { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    /// Appends what is due; `written` has what is in the file and, for a full disk under the ledger, still in the queue.
    private func write(to records: CallRecordFile, isCSV: Bool, _ written: inout [Int64]) throws -> Bool {
        try settle(&written)
        let due = try queue.due(.file, limit: 500, now: now)
        guard !due.isEmpty else { return false }
        let lines = try due.map { isCSV ? CSVText.row($0.call.cdrCells) : try Output.line(json: $0.call.cdr) }
        try records.append(lines.joined())
        written = due.map(\.id)
        try settle(&written)
        return due.count == 500
    }

    private func settle(_ written: inout [Int64]) throws {
        guard !written.isEmpty else { return }
        try queue.done(written)
        written = []
    }

    /// Sends what is due, one after the other; three refusals in a row end the round, for the receiver is away then.
    private func send(by webhook: CallWebhook) async throws -> Bool {
        let due = try queue.due(.webhook, limit: 50, now: now)
        var (taken, refused) = (0, 0)
        var problem: CallWebhookError?
        for output in due where refused < 3 && !Task.isCancelled {
            do {
                let body = Data(try Output.line(json: output.call.cdr).utf8)
                try await webhook.send(body, callID: output.call.callID, now: now)
                try queue.done([output.id])
                (taken, refused) = (taken + 1, 0)
            } catch let error as CallWebhookError {
                (refused, problem) = (refused + 1, error)
                // 2 s, 4 s and so on, up to an hour.
                try queue.postpone(output.id, until: now + min(3600, 2 << Int64(min(output.attempts, 11))))
            }
        }
        if let problem, taken == 0 { throw problem }
        return due.count == 50 && refused < 3
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
