// SPDX-License-Identifier: Apache-2.0

package import Branding
import Gateway
package import Logging

/// The saved copy of the index, `brands.index` in the state folder, which makes a restart instant.
///
/// It is only ever a copy: missing, damaged or of another generation it is built again from the stored records. Safe
/// from any thread; never called on the call path.
package struct BrandCacheIndexFile: Sendable {
    private let cache: BrandCacheStore
    private let path: String
    private let baseProfile: RenderingProfile
    private let logos: LogoStore?
    private let logger: Logger

    /// - Parameter logos: the gateway's own copies of logos, where it serves any.
    package init(
        _ cache: BrandCacheStore, folder: String, profile: RenderingProfile, logos: LogoStore? = nil, logger: Logger
    ) {
        self.cache = cache
        self.logos = logos
        path = folder + "/brands.index"
        baseProfile = profile
        self.logger = logger
    }

    /// The index to start with: the saved copy if it fits the stored records, else a new one.
    ///
    /// - Throws: a database error, if a new one is needed and the records cannot be read.
    package func load() async throws -> BrandIndex {
        let generation = try await cache.syncState().generation
        let profile = try await profile()
        do throws(BrandIndexFileError) {
            return try BrandIndex.load(from: path, generation: generation, profile: profile)
        } catch {
            // At the first start there is none, and nothing is wrong with that.
            if case .missing = error { return try await rebuild() }
            logger.notice(
                "the saved brand index is not usable and is built again from the stored records",
                metadata: ["reason": "\(error)"])
            return try await rebuild()
        }
    }

    /// Builds the index from the stored records and saves it.
    ///
    /// A copy that cannot be saved is logged and costs the next start some time, nothing else.
    /// - Throws: a database error, if the records cannot be read.
    package func rebuild() async throws -> BrandIndex {
        let index = try await cache.loadIndex(profile: profile())
        do throws(BrandIndexFileError) {
            try index.save(to: path)
        } catch {
            logger.warning(
                "the brand index could not be saved, the next start will take longer",
                metadata: ["reason": "\(error)"])
        }
        return index
    }

    /// The profile with the logos that are there at this instant.
    private func profile() async throws -> RenderingProfile {
        guard let logos else { return baseProfile }
        var profile = baseProfile
        profile.logos = try await logos.hosted()
        return profile
    }
}
