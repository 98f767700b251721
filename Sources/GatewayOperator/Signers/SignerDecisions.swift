// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import GatewayStore
package import GatewaySync
package import Logging
import ServiceLifecycle

/// Decides all stored signers anew: at the start if the regimes or their files are others, and once a day.
///
/// Certificates and lists end without any change of a file. An import by another process is never decided against: the next
/// decision is a day after it, or at the next start.
package struct SignerDecisions: Service {
    private let configuration: HeraldConfiguration
    private let publisher: TrustPublisher
    private let time: ServiceClock
    private let logger: Logger
    private let warnings: SteadyWarnings

    /// Seconds between two decisions.
    private static let day: Int64 = 86_400
    /// Time before another attempt after a failure.
    private static let retry = Duration.seconds(600)
    /// The most lines of one kind about the files of a decision.
    private static let mostLines = 20

    /// - Parameter configuration: has the regimes and the state folder.
    package init(
        _ configuration: HeraldConfiguration, _ publisher: TrustPublisher, time: ServiceClock = .system, logger: Logger
    ) {
        self.configuration = configuration
        self.publisher = publisher
        self.time = time
        self.logger = logger
        warnings = SteadyWarnings(time: time, logger: logger)
    }

    /// Decides until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var isDue = self.hasOtherRules
            while !Task.isCancelled {
                if isDue || self.secondsToNext == 0 { isDue = await !self.decide() }
                await self.publisher.startIsDecided()
                try? await self.time.sleep(isDue ? Self.retry : .seconds(max(1, self.secondsToNext)))
            }
        }
    }

    /// True if the stored decision is by other rules than those of the configuration, or if there is none.
    private var hasOtherRules: Bool {
        guard let figures = try? SignerReader(folder: configuration.state).figures() else { return true }
        return figures.regimes != RegimeSources(configuration.trust?.regimes ?? []).fingerprint
    }

    /// Seconds until a day has passed since the stored decision, also one by an import; 0 without any.
    private var secondsToNext: Int64 {
        guard let decidedAt = try? SignerReader(folder: configuration.state).figures().decidedAt else { return 0 }
        return min(max(0, decidedAt + Self.day - time.now()), Self.day)
    }

    /// Decides all signers by the files of the regimes, as `herald trust import` without a file does.
    ///
    /// - Returns: false if the result could not be stored.
    package func decide() async -> Bool {
        do {
            let outcome = try await TrustImport(configuration, now: time.now()).take([])
            report(outcome)
            publisher.changed()
            return true
        } catch {
            guard !Task.isCancelled else { return false }
            warnings.log(SignerTrouble.undecided(error, hasSigners: publisher.hasSigners))
            return false
        }
    }

    private func report(_ outcome: TrustImport.Outcome) {
        for remark in outcome.remarks.prefix(Self.mostLines) { logger.info("\(remark)") }
        for change in outcome.changes.filter({ $0.kind == "refused" }).prefix(Self.mostLines) {
            logger.warning("\(change.subject) refused: \(change.detail)")
        }
        logger.info(
            "signers of calls decided",
            metadata: [
                "signers": "\(outcome.trust.signers.count)",
                "changed": "\(outcome.changes.count { $0.kind == "decided" })",
            ])
    }
}
