// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Logging
import ServiceLifecycle

/// Sends ended calls to the operator's own systems: a file of call records, a webhook, or both.
///
/// Each call is sent at least once and leaves the queue afterwards. The log reports when an output starts to fail and when it
/// works again.
struct CallOutputService: Service {
    let outputs: [any CallRecordOutput]
    let logger: Logger
    let time: ServiceClock

    init(_ outputs: [any CallRecordOutput], logger: Logger, time: ServiceClock = .system) {
        self.outputs = outputs
        self.logger = logger
        self.time = time
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await repeatRounds() }
            group.addTask {
                try? await gracefulShutdown()
                try? await time.sleep(Self.patience)
            }
            await group.next()
            group.cancelAll()
        }
        for output in outputs { await output.shutdown() }
    }

    /// The longest wait at the end for calls that are being sent, so that they are not sent twice.
    static let patience = Duration.seconds(2)

    private func repeatRounds() async {
        await withTaskGroup(of: Void.self) { group in
            for output in outputs { group.addTask { await repeatRounds(of: output) } }
        }
    }

    /// Runs a round each second, and the next one at once while more calls are due.
    private func repeatRounds(of output: any CallRecordOutput) async {
        var output = output
        var hasProblem = false
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            var round = CallOutputRound()
            do {
                round = try await output.round(at: time.now())
                // A round without a due call does not show whether a failed output works again.
                if hasProblem, round.sent > 0 {
                    logger.notice("call records go out again")
                    hasProblem = false
                }
            } catch {
                if !hasProblem { logger.error("\(error)") }
                hasProblem = true
            }
            if !round.hasMore { try? await cancelWhenGracefulShutdown { try await time.sleep(.seconds(1)) } }
        }
    }
}

/// An output of ended calls; one task runs its rounds.
protocol CallRecordOutput: Sendable {
    /// Sends the calls that are due.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: when no call could be sent, or an error of the queue.
    mutating func round(at now: Int64) async throws -> CallOutputRound

    /// Closes connections; no round follows.
    func shutdown() async
}

/// The result of one round of an output.
struct CallOutputRound: Hashable, Sendable {
    /// Calls that were sent.
    var sent = 0
    /// Whether more calls may be due at once.
    var hasMore = false
}
