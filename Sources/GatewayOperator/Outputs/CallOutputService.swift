// SPDX-License-Identifier: Apache-2.0

import GatewaySync
import Logging
import ServiceLifecycle

/// Sends ended calls to one of the operator's own systems: a file of call records, a webhook or a topic of Kafka.
///
/// Each call is sent at least once and leaves the queue afterwards. The log reports when an output starts to fail, when it
/// fails for another reason, and when it works again.
struct CallOutputService: Service {
    let output: any CallRecordOutput
    let standing: CallOutputStanding
    let logger: Logger
    let time: ServiceClock

    init(
        _ output: any CallRecordOutput, standing: CallOutputStanding = CallOutputStanding(), logger: Logger,
        time: ServiceClock = .system
    ) {
        self.output = output
        self.standing = standing
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
        await output.shutdown()
    }

    /// The longest wait at the end for calls that are being sent, so that they are not sent twice.
    static let patience = Duration.seconds(2)

    /// The shortest time in seconds between two lines about reasons of a failure that goes on.
    static let otherReason: Int64 = 60

    /// Runs a round each second, and the next one at once while more calls are due.
    private func repeatRounds() async {
        var output = output
        var problem: (text: String, loggedAt: Int64)?
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let now = time.now()
            var round = CallOutputRound()
            do {
                round = try await output.round(at: now)
                standing.add(round)
                // A round without a due call does not show whether a failed output works again.
                if problem != nil, round.sent > 0 {
                    logger.notice("call records go out again")
                    problem = nil
                }
            } catch {
                let text = "\(error)"
                standing.add(problem: text)
                if problem.map({ $0.text != text && abs(now - $0.loggedAt) >= Self.otherReason }) ?? true {
                    logger.error("\(text)")
                    problem = (text, now)
                }
            }
            if !round.hasMore { try? await cancelWhenGracefulShutdown { try await time.sleep(.seconds(1)) } }
        }
    }
}
