// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP
import GatewayStore
import GatewaySync
import Trust

/// The fetches of a gateway: orders, pauses after failures, and results that wait for the store. For one task.
struct SignerFetches {
    /// The result of one order, with the state of its address before it.
    struct Outcome: Sendable {
        let order: FetchQueue.Order
        let known: KnownFetch
        let result: Result<CertificateFetch.Response, CertificateProblem>

        /// Whether the address lies in a private network, and is not allowed there to those who have asked for it.
        var isForbidden: Bool {
            guard case .failure(.fetch(.forbiddenAddress)) = result else { return false }
            return true
        }
    }

    /// The most results that wait for the store; nothing new starts beside them.
    static let mostOutcomes = 64

    let fetch: CertificateFetch
    var queue = FetchQueue()
    private(set) var outcomes: [Outcome] = []
    /// Fetches by their result since the start.
    private(set) var counts: [String: UInt64] = [:]
    /// The time before which an address is left alone, by its hash. A text has ten times the size.
    private var pauses: [Int: Int64] = [:]
    /// The same for requests of trunks without private networks: those of another trunk may be allowed there.
    private var forbidden: [Int: Int64] = [:]

    init(_ fetch: CertificateFetch) { self.fetch = fetch }

    /// Begins anew with the stored pauses. An end that no pause reaches is that of another clock.
    mutating func begin(stored pauses: [(address: String, until: Int64)], at now: Int64) {
        (self.pauses, forbidden) = ([:], [:])
        for pause in pauses where pause.until > now && pause.until <= now + 2 * FetchTimes.day {
            self.pauses[pause.address.hashValue] = pause.until
        }
    }

    /// Orders an address that a call has named, unless its rules forbid it or a pause runs.
    ///
    /// - Parameters:
    ///   - rules: the addresses that are allowed to the trunk of the call.
    ///   - now: seconds since 1970.
    /// - Returns: false for a full queue.
    mutating func want(_ address: String, _ reason: FetchQueue.Reason, under rules: [AddressRules], at now: Int64)
        -> Bool
    {
        // The state of an address has one change at a time.
        guard CertificateFetch.allows(address, under: rules), !waitsForStore(address) else { return true }
        let hash = address.hashValue
        if let until = pauses[hash], now < until { return true }
        if let until = forbidden[hash], now < until, !CertificateFetch.allowsPrivate(address, under: rules) {
            return true
        }
        return queue.add(address, reason, rules: rules)
    }

    /// Orders the refresh of a stored certificate.
    mutating func refresh(_ address: String, under rules: [AddressRules]) {
        guard !waitsForStore(address) else { return }
        _ = queue.add(address, .refresh, rules: rules)
    }

    /// Orders a list.
    mutating func order(_ list: ListAddress) { _ = queue.add(list.address, .list, rules: list.rules) }

    private func waitsForStore(_ address: String) -> Bool { outcomes.contains { $0.order.address == address } }

    /// The next step; nil while the store has not taken the last results.
    mutating func next(at now: Int64) -> FetchQueue.Step? {
        outcomes.count + queue.runningCount < Self.mostOutcomes ? queue.next(at: now) : nil
    }

    /// Takes the result of an order.
    mutating func finish(_ outcome: Outcome, wasSkipped: Bool, at now: Int64) {
        var failure: FetchFailure?
        switch outcome.result {
        case .success(.chain): count("fetched")
        case .success(.unchanged): count("unchanged")
        case .failure(let problem):
            count(wasSkipped ? "skipped" : problem.reason)
            if case .fetch(let reason) = problem { failure = reason }
        }
        queue.finish(outcome.order, failure, wasSkipped: wasSkipped, at: now)
        outcomes.append(outcome)
    }

    private mutating func count(_ result: String) { counts[result, default: 0] += 1 }

    /// Removes the first results: they are stored, or their rules are gone.
    mutating func removeOutcomes(_ count: Int) { outcomes.removeFirst(min(count, outcomes.count)) }

    /// Leaves an address alone until a time, or permits it again.
    ///
    /// - Parameter isForbidden: whether requests that are allowed in private networks go on.
    mutating func pause(_ address: String, until: Int64?, isForbidden: Bool = false) {
        forbidden[address.hashValue] = isForbidden ? until : nil
        if !isForbidden { pauses[address.hashValue] = until }
    }

    /// Drops pauses that are over.
    mutating func tidy(at now: Int64) {
        pauses = pauses.filter { now < $0.value }
        forbidden = forbidden.filter { now < $0.value }
    }

    // MARK: Records

    /// The new state of an address by the result of an order, and the chain that replaces the stored one.
    ///
    /// - Parameters:
    ///   - rules: decide on a fetched chain.
    ///   - now: seconds since 1970.
    ///   - chance: a random number in 0 ..< 1.
    static func record(
        _ outcome: Outcome, by rules: TokenChainPolicy, at now: Int64, chance: Double
    ) async -> FetchRecord {
        var state = outcome.known.state ?? StoredFetch(address: outcome.order.address, nextAt: 0)
        switch outcome.result {
        case .failure(let problem):
            state.fail(problem.cause, problem.description, [], at: now, chance)
        case .success(.unchanged(let freshness)):
            state.succeed(freshness, end: outcome.known.chain?.validity.upperBound ?? now, at: now, chance)
            state.isRenewed = state.isRenewed || outcome.order.isRenewal
        case .success(.chain(let certificates, let freshness)):
            switch await rules.decide(fetched: certificates, at: outcome.order.address) {
            case .success(let signer):
                let isSame = outcome.known.chain?.digest == signer.chain
                if !isSame, let stored = outcome.known.chain,
                    let lesser = LesserChain(signer, beside: stored, at: now)
                {
                    state.fail(lesser.cause, "\(signer.subject): \(lesser.reason)", signer.standings, at: now, chance)
                    state.isRenewed = state.isRenewed || outcome.order.isRenewal
                    break
                }
                // The validators of another response belong to another chain.
                (state.etag, state.lastModified) = (nil, nil)
                state.succeed(freshness, end: signer.validity.upperBound, at: now, chance)
                state.isRenewed = outcome.order.isRenewal || state.isRenewed && isSame
                // The same chain again is no change: it has another time for its refresh, and nothing else.
                return FetchRecord(state, since: outcome.known, signer: isSame ? nil : signer)
            case .failure(let refusal):
                let cause = refusal.standings.first ?? .certificateMalformed
                let subject = refusal.subject.isEmpty ? "" : "\(refusal.subject): "
                state.fail(cause, subject + refusal.reason, refusal.standings.map(\.rawValue), at: now, chance)
                state.isRenewed = state.isRenewed || outcome.order.isRenewal
            }
        }
        return FetchRecord(state, since: outcome.known)
    }
}

extension StoredFetch {
    /// Records a failure, after which the stored certificate stays in use.
    fileprivate mutating func fail(
        _ cause: TrustCause, _ reason: String, _ standings: [UInt8], at now: Int64, _ chance: Double
    ) {
        attempts += 1
        self.cause = cause.rawValue
        self.reason = reason
        self.standings = standings
        nextAt = now + FetchTimes.pause(afterFailures: attempts, cause, chance: chance)
    }

    /// Records a response with a certificate that counts.
    fileprivate mutating func succeed(
        _ freshness: CertificateFreshness, end: Int64, at now: Int64, _ chance: Double
    ) {
        (attempts, cause, reason, standings) = (0, nil, "", [])
        fetchedAt = now
        (expiresAt, nextAt) = FetchTimes.refresh(at: now, lifetime: freshness.lifetime, end: end, chance: chance)
        if let validator = freshness.etag { etag = validator }
        if let validator = freshness.lastModified { lastModified = validator }
    }
}
