// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import CallPath
import Synchronization

/// Takes reported calls into the accounts, each once, and waits until they are stored.
///
/// A call whose end is stored is known for two days, by a table of the ledger. Calls on the way there are known to the ring and
/// the recorder. So a report that is repeated after any crash is one call. Any thread.
package final class OutcomeIntake: Sendable {
    /// The fate of a report that a client need not repeat.
    package enum Taken: Hashable, Sendable {
        case stored(DoorReports.Report)
        /// An earlier report of the call is stored.
        case known(CallIdentifier)
        /// A record that is no call of the trunk.
        case ignored
    }

    private let reports: DoorReports
    private let isKnown: @Sendable ([CallIdentifier]) async throws -> Bool
    private let patience: Duration
    private let isEnding = Atomic<Bool>(false)
    /// Time between two looks at the ring; the recorder stores once a second.
    private static let pause = Duration.milliseconds(50)

    /// - Parameters:
    ///   - isKnown: whether the ledger has the end of a call, under one of its identifiers.
    ///   - patience: the time in which a call must be stored.
    package init(
        _ reports: DoorReports, patience: Duration = .seconds(5),
        isKnown: @escaping @Sendable ([CallIdentifier]) async throws -> Bool
    ) {
        (self.reports, self.patience, self.isKnown) = (reports, patience, isKnown)
    }

    /// Ends each wait: a report that is not stored yet is stored without a response, and its client repeats it.
    package func end() { isEnding.store(true, ordering: .relaxed) }

    /// Takes a report, and returns once its call is stored.
    package func take(_ outcome: StatedOutcome) async throws(OutcomeProblem) -> Taken {
        let identifiers = reports.identifiers(of: outcome)
        let wasStored: Bool
        do { wasStored = try await isKnown(identifiers) } catch { throw .notStored }
        if wasStored, let call = identifiers.first { return .known(call) }
        guard let report = reports.report(outcome) else { throw .notStored }
        let end = ContinuousClock.now + patience
        while !reports.isStored(through: report.position) {
            guard ContinuousClock.now < end, !isEnding.load(ordering: .relaxed),
                (try? await Task.sleep(for: Self.pause)) != nil
            else { throw .notStored }
        }
        return .stored(report)
    }
}
