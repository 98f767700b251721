// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting
import Dispatch
package import Logging
import Synchronization

/// The index of the stored records and its saved copy, `brands.index` in the state folder, for a fast restart.
///
/// The file is a copy. An older one is updated by the numbers that changed since. Instead of a missing, damaged or
/// foreign one the index is built from the stored records. The file is written in the background, after enough changes
/// for a whole file. One task at a time; never called on the call path.
package final class BrandCacheIndexFile: Sendable {
    private let cache: BrandCacheStore
    private let path: String
    private let baseProfile: RenderingProfile
    private let logos: @Sendable () -> LogoCacheStore?
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// The last returned index.
        var last: BrandIndex?
        /// Numbers that changed since the saved copy; nil without a good copy.
        var unsavedChanges: Int?
        var saving: Task<Void, Never>?
        /// Whether left-out brands were logged.
        var saidFull = false
    }

    /// - Parameter logos: the gateway's own copies of logos, if it serves any; asked for each index.
    package init(
        _ cache: BrandCacheStore, folder: String, profile: RenderingProfile,
        logos: @escaping @Sendable () -> LogoCacheStore? = { nil }, logger: Logger
    ) {
        self.cache = cache
        self.logos = logos
        path = Self.path(in: folder)
        baseProfile = profile
        self.logger = logger
    }

    /// Reads the saved copy on a thread of its own, before the records are open.
    package static func reading(in folder: String) -> Task<SavedBrandIndex, any Error> {
        Task.detached { try SavedBrandIndex(path: path(in: folder)) }
    }

    private static func path(in folder: String) -> String { folder + "/brands.index" }

    /// The index at the start: the saved copy with later changes, else a new one.
    ///
    /// - Parameter copy: the saved copy, if it is being read already.
    /// - Throws: a database error, if the records are needed and unreadable.
    package func load(_ copy: Task<SavedBrandIndex, any Error>? = nil) async throws -> BrandIndex {
        let profile = try await profile()
        let copy = await (copy ?? Task { [path] in try SavedBrandIndex(path: path) }).result
        do throws(BrandIndexFileError) {
            let saved = try copy.mapError { $0 as? BrandIndexFileError ?? .damaged(path: path) }.get()
                .index(profile: profile)
            state.withLock { $0.unsavedChanges = 0 }
            if let index = try? await updated(saved) { return index }
            let generation = (try? await cache.syncState().generation) ?? 0
            throw .otherGeneration(path: path, found: saved.generation, expected: generation)
        } catch {
            // A first start has none.
            if case .missing = error { return try await build(profile) }
            logger.notice(
                "the saved brand index is not usable and is built again from the stored records",
                metadata: ["reason": "\(error)"])
            // A copy that does not fit now must not seem to fit after the next sync.
            BrandIndex.removeSaved(at: path)
            return try await build(profile)
        }
    }

    /// The index of the present records: the last one with later changes, or a new one.
    ///
    /// Returns as soon as calls can use it. A failure to save the copy afterwards is logged and slows the next start.
    /// - Throws: a database error, if the records are unreadable.
    package func rebuild() async throws -> BrandIndex {
        let profile = try await profile()
        if let last = state.withLock({ $0.last }), last.profile == profile, let index = try await updated(last) {
            return index
        }
        return try await build(profile)
    }

    /// Waits for a copy in progress.
    package func saved() async { await state.withLock { $0.saving }?.value }

    /// The profile with the present logos.
    private func profile() async throws -> RenderingProfile {
        guard let logos = logos() else { return baseProfile }
        var profile = baseProfile
        profile.logos = try await logos.hosted()
        return profile
    }

    private func build(_ profile: RenderingProfile) async throws -> BrandIndex {
        let index = try await cache.loadIndex(profile: profile)
        handOut(index) { _ in nil }
        return index
    }

    /// Nil if the changes are unknown.
    private func updated(_ index: BrandIndex) async throws -> BrandIndex? {
        guard let next = try await cache.update(index) else { return nil }
        handOut(next.index) { $0.map { $0 + next.changes } }
        return next.index
    }

    /// Keeps the index in use, logs left-out brands, and begins to save it if that is due.
    private func handOut(_ index: BrandIndex, unsavedChanges: (Int?) -> Int?) {
        let isNews = state.withLock { state in
            defer { state.saidFull = index.isFull }
            return index.isFull && !state.saidFull
        }
        if isNews {
            logger.warning(
                "the directory has more brands than the index can hold; calls from numbers of the others go unbranded",
                metadata: ["brands": "\(index.brandCount)", "bytes": "\(index.memory)"])
        }
        state.withLock { state in
            state.last = index
            state.unsavedChanges = unsavedChanges(state.unsavedChanges)
            // The change log must still reach back to the copy after this sync and the next.
            let worthAFile = min(index.count / 50, BrandChanges.limit / 4)
            if let unsaved = state.unsavedChanges, unsaved == 0 || unsaved < worthAFile { return }
            state.unsavedChanges = 0
            state.saving = Task { [before = state.saving] in
                await before?.value
                await self.save(index)
            }
        }
    }

    /// Writes the file on a thread that may wait for the disk.
    private func save(_ index: BrandIndex) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .background).async { [self] in
                do throws(BrandIndexFileError) {
                    try index.save(to: path)
                } catch {
                    state.withLock { $0.unsavedChanges = nil }
                    logger.warning(
                        "the brand index could not be saved, the next start will take longer",
                        metadata: ["reason": "\(error)"])
                }
                continuation.resume()
            }
        }
    }
}
