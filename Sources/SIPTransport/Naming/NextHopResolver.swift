// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Keeps the addresses of configured next hops fresh, away from the calls.
///
/// A call reads what was published last and never waits for a name. When a lookup fails, the last good answer stays,
/// whatever its age: an address that worked an hour ago serves a call better than none. Only an SRV target of "."
/// takes addresses away (RFC 2782).
package final class NextHopResolver: Sendable {
    private struct State {
        /// In the order of configuration, each once.
        var names: [NextHopName] = []
        var entries: [NextHopName: NextHopEntry] = [:]
        /// Rung when the names change; nil while nothing runs.
        var bell: AsyncStream<Void>.Continuation?
    }

    private let settings: Settings
    private let lookup: any NameLookup
    private let time: Time
    private let onChange: @Sendable ([NextHopName: [ResolvedHop]]) -> Void
    private let onNotice: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// What was published last; held while publishing, so that changes arrive in order.
    private let published = Mutex<[NextHopName: [ResolvedHop]]>([:])

    /// Reads the kept answers; nothing is asked or published before `run`.
    ///
    /// `onChange` gets all names that have an answer, each time one differs; `onNotice` one line for the log when a
    /// name begins or ceases to fail or the file fails. Both are called by any thread and must not call the resolver.
    package init(
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

    /// Refreshes every name when its time has come, until the task is cancelled; new names at once.
    ///
    /// One task only.
    package func run() async {
        let (changes, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.bell = bell }
        publish()
        while !Task.isCancelled { await keepAllFresh(until: changes) }
        state.withLock { $0.bell = nil }
    }

    /// Asks once for each name that is not among those kept, before a reload puts it in place.
    ///
    /// Any thread, except inside `onChange` and `onNotice`.
    ///
    /// - Returns: the names without an answer.
    package func learn(_ names: [NextHopName]) async -> [NextHopName] {
        let new = state.withLock { state in names.filter { state.entries[$0]?.hops == nil && !state.names.contains($0) }
        }
        return await withTaskGroup(of: NextHopName?.self) { group in
            for name in new { group.addTask { await self.learn(name) ? nil : name } }
            var unknown: Set<NextHopName> = []
            for await name in group { if let name { unknown.insert(name) } }
            publish()
            return new.filter(unknown.contains)
        }
    }

    /// Puts other names in place, for a reload; names that stay keep their answers and their times.
    ///
    /// Any thread, except inside `onChange` and `onNotice`.
    package func replace(names: [NextHopName]) {
        put(names, kept: [:])
        publish()
        state.withLock { $0.bell }?.yield()
    }

    /// Every name with what is known of it, in the order of configuration.
    package var snapshot: [NextHopStatus] {
        let wall = time.wallSeconds()
        return state.withLock { state in
            state.names.compactMap { name in state.entries[name].map { NextHopStatus(name, $0, wall: wall) } }
        }
    }
}

extension NextHopResolver {
    private func learn(_ name: NextHopName) async -> Bool {
        guard let answer = try? await settings.resolution.answer(for: name, using: lookup) else { return false }
        var entry = NextHopEntry(due: time.elapsed())
        entry.take(answer, at: time.elapsed(), wall: time.wallSeconds()) {
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

    /// One task for each name, until the names change or the task is cancelled.
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
        let outcome: Result<NextHopAnswer, NextHopFailure>
        do throws(NextHopFailure) {
            outcome = .success(try await settings.resolution.answer(for: name, using: lookup))
        } catch {
            outcome = .failure(error)
        }
        // Lookups that were given up say nothing about the name.
        if Task.isCancelled { return }
        settle(outcome, of: name)
        publish()
    }

    private func settle(_ outcome: Result<NextHopAnswer, NextHopFailure>, of name: NextHopName) {
        let (now, wall, chance) = (time.elapsed(), time.wallSeconds(), time.chance())
        let retry = { count in self.settings.backoff.delay(afterFailures: count, chance: chance) }
        let notice: String? = state.withLock { state in
            guard var entry = state.entries[name] else { return nil }
            let before = entry.problem
            switch outcome {
            case .success(let answer): entry.take(answer, at: now, wall: wall, retry: retry)
            case .failure(let failure): entry.fail(failure.description, at: now, retry: retry)
            }
            state.entries[name] = entry
            return before == entry.problem ? nil : NextHopStatus(name, entry, wall: wall).notice
        }
        if let notice { onNotice(notice) }
    }

    /// Tells what differs from what was told last, and keeps it.
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
        guard let hops = entry.hops, let answeredAt = entry.answeredAt else { return nil }
        self.init(hops: hops, isWhole: entry.isWhole, answeredAt: answeredAt)
    }
}
