// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewaySync
import Host
import ServiceLifecycle

/// Posts ended calls to `outcomes.webhook`, eight at a time in no order.
struct CallWebhookOutput: CallRecordOutput {
    private let queue: CallOutputStore
    private let webhook: CallWebhook
    private let links: CallLinks
    /// Calls the receiver has whose removal from the queue has failed; never sent twice by this process.
    private var delivered: [Int64] = []

    /// Calls posted at the same time.
    static let concurrency = 8

    init(_ queue: CallOutputStore, _ webhook: CallWebhook, links: CallLinks = CallLinks(nil)) {
        self.queue = queue
        self.webhook = webhook
        self.links = links
    }

    /// Sends the calls that are due; ends early when the receiver accepts none of a group.
    ///
    /// - Throws: the receiver's or the network's error when no call was accepted, unless the task is cancelled; errors of
    ///   the queue.
    mutating func round(at now: Int64) async throws -> CallOutputRound {
        try settle()
        let limit = 10 * Self.concurrency
        let due = try queue.due(.webhook, limit: limit, now: now)
        var rest = due[...]
        var round = CallOutputRound(hasMore: due.count == limit)
        while !rest.isEmpty, !Task.isCancelled, !Task.isShuttingDownGracefully {
            let group = rest.prefix(Self.concurrency)
            rest = rest.dropFirst(group.count)
            let problems = await post(group, at: now)
            delivered = group.filter { problems[$0.id] == nil }.map(\.id)
            let isAway = delivered.isEmpty
            round.sent += delivered.count
            try settle()
            for output in group where problems[output.id] != nil {
                try queue.postpone(output.id, until: now + Self.delay(afterAttempts: output.attempts))
            }
            guard isAway, let problem = problems.values.first else { continue }
            // A reload or a stop ends requests: the next output repeats them.
            if round.sent == 0, !Task.isCancelled { throw problem }
            break
        }
        return round
    }

    func shutdown() async { await webhook.shutdown() }

    /// Seconds before the next attempt: 2, 4, 8 and so on, up to an hour.
    static func delay(afterAttempts attempts: Int) -> Int64 { min(3600, 2 << Int64(min(attempts, 11))) }

    private mutating func settle() throws {
        guard !delivered.isEmpty else { return }
        try queue.done(delivered)
        delivered = []
    }

    /// Posts some calls at the same time.
    ///
    /// - Returns: the errors by place in the queue.
    private func post(_ outputs: ArraySlice<PendingCallOutput>, at now: Int64) async -> [Int64: any Error] {
        await withTaskGroup(of: (Int64, (any Error)?).self) { group in
            for output in outputs {
                group.addTask { [webhook, links] in
                    do {
                        let body = Data(try Output.line(json: links.linked(output.call).recordJSON).utf8)
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
}
