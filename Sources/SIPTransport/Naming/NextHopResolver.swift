// SPDX-License-Identifier: Apache-2.0

import Host
import Synchronization

/// Refreshes the addresses of configured next hops, off the call path.
///
/// A call reads the last published addresses and never waits for a name. After a failed lookup the last good result
/// stays in use at any age: an old address serves a call better than none. Only an SRV target of "." removes addresses
/// (RFC 2782).
public final class NextHopResolver: Sendable {
    private struct State {
        /// Each name once, in the order of the configuration.
        var names: [NextHopName] = []
        var entries: [NextHopName: NextHopEntry] = [:]
        /// Signals a change of the names; nil while `run` is not active.
        var bell: AsyncStream<Void>.Continuation?
    }

    private let settings: Settings
    private let lookup: any NameLookup
    private let time: Time
    private let onChange: @Sendable ([NextHopName: [ResolvedHop]]) -> Void
    private let onNotice: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// The last published addresses. Locked during a publication, so that changes arrive in order.
    private let published = Mutex<[NextHopName: [ResolvedHop]]>([:])

    /// Reads the stored results.
    ///
    /// Lookups and publications start with `run`.
    ///
    /// `onChange` receives all resolved names after each difference. `onNotice` receives a log line when a name starts
    /// or stops failing, or the file fails. Both are called by any thread and must not call the resolver.
    public init(
        names: [NextHopName], lookup: any NameLookup, settings: Settings, time: Time,
        onChange: @escaping @Sendable ([NextHopName: [ResolvedHop]]) -> Void,
        onNotice: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.lookup = lookup
        self.time = time
        self.onChange = onChange
        self.onNotice = onNotice
        put(names, kept: readKept())
    }

    /// Refreshes every due name until the task is cancelled; new names at once.
    ///
    /// Looks up new names at once. Only one task may run it.
    public func run() async {
        let (changes, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.bell = bell }
        publish()
        while !Task.isCancelled { await keepAllFresh(until: changes) }
        state.withLock { $0.bell = nil }
    }

    /// Looks up each new name once, before a reload puts it in place.
    ///
    /// Thread-safe, except inside `onChange` and `onNotice`.
    ///
    /// - Parameters:
    ///   - other: asked instead of the present name servers.
    ///   - keeps: false for a check, which neither stores nor publishes an address.
    /// - Returns: the unresolved names.
    public func learn(
        _ names: [NextHopName], asking other: (any NameLookup)? = nil, keeps: Bool = true
    ) async -> [NextHopName] {
        let new = state.withLock { state in names.filter { state.entries[$0]?.hops == nil && !state.names.contains($0) }
        }
        return await withTaskGroup(of: NextHopName?.self) { group in
            for name in new {
                group.addTask { await self.learn(name, asking: other ?? self.lookup, keeps) ? nil : name }
            }
            var unknown: Set<NextHopName> = []
            for await name in group { if let name { unknown.insert(name) } }
            if keeps { publish() }
            return new.filter(unknown.contains)
        }
    }

    /// Replaces the names after a reload.
    ///
    /// Names that stay keep their addresses and due times. Thread-safe, except inside `onChange` and `onNotice`.
    public func replace(names: [NextHopName]) {
        put(names, kept: [:])
        publish()
        state.withLock { $0.bell }?.yield()
    }

    /// The state of every name, in the order of the configuration.
    public var snapshot: [NextHopStatus] {
        let wall = time.wallSeconds()
        return state.withLock { state in
            state.names.compactMap { name in state.entries[name].map { NextHopStatus(name, $0, wall: wall) } }
        }
    }
}

extension NextHopResolver {
    private func learn(_ name: NextHopName, asking lookup: any NameLookup, _ keeps: Bool) async -> Bool {
        guard let response = try? await settings.resolution.resolve(name, using: lookup) else { return false }
        guard keeps else { return true }
        var entry = NextHopEntry(due: time.elapsed())
        entry.take(response, at: time.elapsed(), wall: time.wallSeconds()) {
            settings.backoff.delay(afterFailures: $0, chance: 0)
        }
        state.withLock { $0.entries[name] = entry }
        return true
    }

    private func put(_ names: [NextHopName], kept: [NextHopName: NextHopFile.Kept]) {
        let now = time.elapsed()
        state.withLock { state in
            let known = state.entries
            state.names = []
            state.entries = [:]
            for name in names where state.entries[name] == nil {
                state.names.append(name)
                let restored = kept[name].map { NextHopEntry(kept: $0, due: now) }
                state.entries[name] = known[name] ?? restored ?? NextHopEntry(due: now)
            }
        }
    }

    /// Runs one task for each name, until the names change or the task is cancelled.
    private func keepAllFresh(until changes: AsyncStream<Void>) async {
        let names = state.withLock { $0.names }
        await withTaskGroup(of: Bool.self) { group in
            for name in names {
                group.addTask {
                    await self.keepFresh(name)
                    return false
                }
            }
            group.addTask {
                for await _ in changes { break }
                return true
            }
            for await isChange in group where isChange { break }
            group.cancelAll()
        }
    }

    private func keepFresh(_ name: NextHopName) async {
        while !Task.isCancelled, let due = state.withLock({ $0.entries[name]?.due }) {
            let wait = due - time.elapsed()
            if wait > .zero {
                try? await time.clock.sleep(for: wait)
            } else {
                await refresh(name)
            }
        }
    }

    private func refresh(_ name: NextHopName) async {
        let outcome: Result<NextHopResponse, NextHopFailure>
        do throws(NextHopFailure) {
            outcome = .success(try await settings.resolution.resolve(name, using: lookup))
        } catch {
            outcome = .failure(error)
        }
        // A cancelled lookup gives no result.
        if Task.isCancelled { return }
        settle(outcome, of: name)
        publish()
    }

    private func settle(_ outcome: Result<NextHopResponse, NextHopFailure>, of name: NextHopName) {
        let (now, wall, chance) = (time.elapsed(), time.wallSeconds(), time.chance())
        let retry = { count in self.settings.backoff.delay(afterFailures: count, chance: chance) }
        let notice: String? = state.withLock { state in
            guard var entry = state.entries[name] else { return nil }
            let before = entry.problem
            switch outcome {
            case .success(let response): entry.take(response, at: now, wall: wall, retry: retry)
            case .failure(let failure): entry.fail(failure.description, at: now, retry: retry)
            }
            state.entries[name] = entry
            return before == entry.problem ? nil : NextHopStatus(name, entry, wall: wall).notice
        }
        if let notice { onNotice(notice) }
    }

    /// Publishes differences from the last publication and stores the results.
    private func publish() {
        published.withLock { last in
            let entries = state.withLock { $0.entries }
            let current = entries.compactMapValues(\.hops)
            guard current != last else { return }
            last = current
            onChange(current)
            keep(entries)
        }
    }

    private func readKept() -> [NextHopName: NextHopFile.Kept] {
        guard let path = settings.path else { return [:] }
        do throws(NextHopFileError) {
            return try NextHopFile(path: path).read()
        } catch {
            onNotice(error.description)
            return [:]
        }
    }

    private func keep(_ entries: [NextHopName: NextHopEntry]) {
        guard let path = settings.path else { return }
        let kept = entries.compactMapValues(NextHopFile.Kept.init)
        do throws(NextHopFileError) {
            try NextHopFile(path: path).write(kept)
        } catch {
            onNotice(error.description)
        }
    }
}

extension NextHopFile.Kept {
    fileprivate init?(_ entry: NextHopEntry) {
        guard let hops = entry.hops, let resolvedAt = entry.resolvedAt else { return nil }
        self.init(hops: hops, isWhole: entry.isWhole, resolvedAt: resolvedAt)
    }
}
