// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import ConfigurationFiles
import GatewayStore
import GatewaySync
import Trust

/// Fetches one list, and takes it in as an import takes in a file of its regimes.
struct ListRefresh: Sendable {
    /// The result of a fetch.
    struct Outcome: Sendable {
        /// The new state of the address.
        var state: StoredListFetch
        /// Label for metrics: `fetched`, `unchanged`, `refused`, `skipped`, or the reason of a failure.
        var result: String
        /// The failure of the host; nil for a response.
        var failure: FetchFailure?
        /// The change of the store for the operator; nil without one.
        var change: String?
    }

    let list: ListAddress
    let settings: HeraldConfiguration.TrustSettings
    let folder: String
    let time: ServiceClock

    /// Fetches the list.
    ///
    /// - Parameter known: the present state of the address.
    func run(_ fetch: CertificateFetch, since known: StoredListFetch) async -> Outcome {
        var outcome = Outcome(state: known, result: "")
        do {
            let trust = try await SignerReader(folder: folder).authorities()
            // Validators of a list that is not stored any more would leave the store without it.
            let validators =
                list.isStored(known.digest, in: trust)
                ? CertificateFreshness(etag: known.etag, lastModified: known.lastModified) : nil
            let response = try await fetch.list(
                list.kind, at: list.address, under: list.rules, authorization: try list.authorizationValue(),
                known: validators, at: time.now())
            switch response {
            case .unchanged(let freshness): succeed(&outcome, "unchanged", freshness, trust)
            case .list(let fetched, let freshness): try await take(fetched, freshness, trust, fetch, &outcome)
            }
        } catch let problem as CertificateProblem {
            fail(&outcome, problem, problem.description)
        } catch let failure as ListSigner.Failure {
            fail(&outcome, failure.problem, failure.description)
        } catch let refusal as TrustMerge.ListRefusal {
            fail(&outcome, "refused", refusal.reason, isRefused: true)
        } catch {
            fail(&outcome, "store", "\(error)", isRefused: false)
        }
        return outcome
    }

    /// The outcome for an address whose host is skipped.
    func skipped(_ failure: FetchFailure, since known: StoredListFetch) -> Outcome {
        var outcome = Outcome(state: known, result: "")
        fail(&outcome, "skipped", failure.description, isRefused: false)
        return outcome
    }

    private func take(
        _ fetched: FetchedList, _ freshness: CertificateFreshness, _ trust: StoredTrust, _ fetch: CertificateFetch,
        _ outcome: inout Outcome
    ) async throws {
        // The validators of another response belong to another list.
        (outcome.state.etag, outcome.state.lastModified) = (nil, nil)
        let isStored = list.isStored(fetched.digest, in: trust)
        outcome.state.digest = fetched.digest
        guard !isStored else { return succeed(&outcome, "unchanged", freshness, trust) }
        let intake = TrustImport(settings, folder: folder, now: self.time.now())
        let (taken, signer) = try await ListSigner(list: list, fetch: fetch).take(fetched, by: intake, at: time.now())
        outcome.change = taken.changes.first { ["list", "revocations"].contains($0.kind) }
            .map { "\($0.subject): \($0.detail)" + (signer.map { "; its signer is new: \($0)" } ?? "") }
        succeed(&outcome, "fetched", freshness, taken.trust)
    }

    private func succeed(
        _ outcome: inout Outcome, _ result: String, _ freshness: CertificateFreshness, _ trust: StoredTrust
    ) {
        let now = time.now()
        outcome.result = result
        (outcome.state.attempts, outcome.state.reason, outcome.state.fetchedAt) = (0, "", now)
        outcome.state.nextAt = FetchTimes.nextList(
            at: now, lifetime: freshness.lifetime, end: list.end(of: outcome.state.digest, in: trust),
            chance: time.chance())
        if let validator = freshness.etag { outcome.state.etag = validator }
        if let validator = freshness.lastModified { outcome.state.lastModified = validator }
    }

    /// Records the failure of a fetch.
    private func fail(_ outcome: inout Outcome, _ problem: CertificateProblem, _ reason: String) {
        if case .fetch(let failure) = problem { outcome.failure = failure }
        fail(&outcome, problem.reason, reason, isRefused: problem.cause == .certificateMalformed)
    }

    /// Records a failure, after which the stored list stays in use.
    private func fail(_ outcome: inout Outcome, _ result: String, _ reason: String, isRefused: Bool) {
        outcome.result = result
        outcome.state.attempts += 1
        outcome.state.reason = reason
        // A refused list was read, and the next one has the validators of no list.
        if isRefused { (outcome.state.digest, outcome.state.etag, outcome.state.lastModified) = ([], nil, nil) }
        outcome.state.nextAt =
            time.now()
            + FetchTimes.pauseOfList(
                afterFailures: outcome.state.attempts, isRefused: isRefused, chance: time.chance())
    }
}
