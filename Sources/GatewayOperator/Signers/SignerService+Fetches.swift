// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import ConfigurationFiles
import GatewayStore
import GatewaySync
import Primitives
import Trust

extension SignerService {
    /// The fetches of a gateway at one moment.
    struct FetchFigures: Equatable, Sendable {
        /// Fetches by their result since the start.
        var counts: [String: UInt64]
        var waiting: Int
        var running: Int
        /// Hosts that are skipped, since they have sent no response.
        var skippedHosts: Int
    }

    /// Seconds between two looks for due refreshes.
    private static let refreshPause: Int64 = 30
    /// Seconds for which an address without space in the store is left alone.
    static let fullPause: Int64 = 3600
    /// Seconds for which an address is left alone after its renewal, until the calls know of it.
    private static let renewalPause: Int64 = 60

    /// Nil where no certificate is fetched.
    var fetchFigures: FetchFigures? {
        guard !settings.fetchRules.isEmpty else { return nil }
        return fetches.map { fetches in
            FetchFigures(
                counts: fetches.counts, waiting: fetches.queue.waitingCount, running: fetches.queue.runningCount,
                skippedHosts: fetches.queue.skippedHosts(at: time.steady()))
        }
    }

    /// Waits for the fetches that run.
    func finishFetches() async {
        while let fetch = running.values.first { await fetch.value }
    }

    // MARK: Orders

    /// Orders certificates at 80 % of their life, or a day before their end.
    func orderRefreshes(at now: Int64) async {
        guard let fetches, now - refreshedAt >= Self.refreshPause, fetches.queue.takesRefreshes
        else { return }
        refreshedAt = now
        self.fetches?.tidy(at: time.now())
        // The publisher reports a file that cannot be read.
        guard let reader = try? SignerReader(folder: folder),
            let due = try? await reader.dueRefreshes(
                at: time.now(), limit: FetchQueue.mostRefreshesWaiting, under: Array(settings.fetchRules.keys))
        else { return }
        let rules = settings.fetchRules
        for refresh in due {
            // No call has asked, so the certificate comes from where the regimes allow it under which it counts.
            self.fetches?.refresh(refresh.address, under: refresh.regimes.compactMap { rules[$0] })
        }
    }

    /// Starts the fetches that the limits permit.
    func startFetches() {
        while let step = fetches?.next(at: time.steady()) {
            switch step {
            case .start(let order) where order.reason == .list:
                running[order.address] = Task { await self.carryOutList(order, skipped: nil) }
            case .skip(let order, let failure) where order.reason == .list:
                running[order.address] = Task { await self.carryOutList(order, skipped: failure) }
            case .start(let order): running[order.address] = Task { await self.carryOut(order) }
            case .skip(let order, let failure): running[order.address] = Task { await self.skip(order, failure) }
            }
        }
    }

    private func carryOut(_ order: FetchQueue.Order) async {
        guard let fetch = fetches?.fetch else { return }
        let known = await knownFetch(of: order.address)
        // Without its chain a validator is good for nothing.
        let validators = known.chain == nil ? nil : known.state?.validators
        let result: Result<CertificateFetch.Response, CertificateProblem>
        do throws(CertificateProblem) {
            result = .success(
                try await fetch.response(of: order.address, under: order.rules, known: validators, at: time.now()))
        } catch {
            result = .failure(error)
        }
        finish(SignerFetches.Outcome(order: order, known: known, result: result), wasSkipped: false)
    }

    private func skip(_ order: FetchQueue.Order, _ failure: FetchFailure) async {
        let known = await knownFetch(of: order.address)
        finish(SignerFetches.Outcome(order: order, known: known, result: .failure(.fetch(failure))), wasSkipped: true)
    }

    private func knownFetch(of address: String) async -> KnownFetch {
        guard let reader = try? SignerReader(folder: folder) else { return KnownFetch() }
        return (try? await reader.fetch(of: address)) ?? KnownFetch()
    }

    private func finish(_ outcome: SignerFetches.Outcome, wasSkipped: Bool) {
        running[outcome.order.address] = nil
        guard !Task.isCancelled else { return }
        fetches?.finish(outcome, wasSkipped: wasSkipped, at: time.steady())
        startFetches()
    }

    // MARK: Results

    /// Decides on fetched chains and stores the results of this batch; they wait for an import and for new rules.
    func storeFetches() async {
        guard let outcomes = fetches?.outcomes, !outcomes.isEmpty, let rules = await tokenPolicy(at: time.steady())
        else { return }
        let now = time.now()
        var records: [FetchRecord] = []
        for outcome in outcomes {
            records.append(await SignerFetches.record(outcome, by: rules, at: now, chance: time.chance()))
        }
        do {
            let stored = try await opened().record(
                records, decidedAt: rules.generation, at: now, limit: settings.signers)
            take(stored, records, of: outcomes, decidedAt: rules.generation, at: now)
        } catch is SignerStore.ImportRuns {
            return
        } catch is SignerStore.Overtaken {
            policy = nil
        } catch {
            refused(error)
        }
    }

    private func take(
        _ stored: SignerStore.StoredFetches, _ records: [FetchRecord], of outcomes: [SignerFetches.Outcome],
        decidedAt generation: Int64, at now: Int64
    ) {
        fetches?.removeOutcomes(outcomes.count)
        for (position, outcome) in outcomes.enumerated() {
            pause(after: outcome, records[position].fetch, stored.effects[position], at: now)
        }
        let leftOut = stored.effects.count { $0 == .full }
        intake.drop(leftOut)
        if leftOut > 0 {
            warnings.log(
                "fetched certificates are left out: the store has \(settings.signers) signers, see trust.signers")
        }
        if stored.generation > generation {
            // New certificates of authorities may complete other chains.
            policy = nil
            if let generations, generations.upperBound == generation {
                self.generations = generations.lowerBound...stored.generation
            }
        }
        publisher.changed()
    }

    /// Leaves the address of a result alone as long as another fetch has no use.
    ///
    /// An overtaken result, and that of a removed address, leave nothing: the next call has the certificate fetched.
    private func pause(
        after outcome: SignerFetches.Outcome, _ fetch: StoredFetch, _ effect: SignerStore.FetchEffect, at now: Int64
    ) {
        switch effect {
        case .gone, .overtaken: return
        case .full: fetches?.pause(fetch.address, until: now + Self.fullPause)
        case .replaced, .recorded:
            let renewed = outcome.order.isRenewal ? now + Self.renewalPause : nil
            fetches?.pause(
                fetch.address, until: fetch.cause == nil ? renewed : fetch.nextAt, isForbidden: outcome.isForbidden)
            report(fetch, hasStored: outcome.known.chain != nil)
        }
    }

    /// Logs the first failure of an address, and the first one with the longest pause.
    private func report(_ fetch: StoredFetch, hasStored: Bool) {
        guard let cause = fetch.cause.flatMap(TrustCause.init(rawValue:)), fetch.attempts == 1 || fetch.attempts == 4
        else { return }
        let address = TerminalText.visible(fetch.address)
        let (state, remedy) =
            hasStored
            ? ("refreshed", "the stored one stays in use until its end; import another one with herald trust import")
            : ("in use", "a call fetches it again after a pause, or import it with herald trust import")
        warnings.log("certificate of \(address) is not \(state) (\(cause.name)): \(fetch.reason); \(remedy)")
    }
}

extension StoredFetch {
    fileprivate var validators: CertificateFreshness { CertificateFreshness(etag: etag, lastModified: lastModified) }
}
