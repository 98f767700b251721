// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The gateway's own copies of logos, as the fetching side sees them.
///
/// Safe from any thread; never called on the call path. An error leaves what was there before.
package protocol LogoCache: Sendable {
    /// Brings rows and files in step after a start: what is half there goes, what has to be made anew becomes due.
    func prepare(now: Int64) async throws
    /// Takes over which logos the stored brands name.
    ///
    /// - Returns: how many different ones were left out because there are more than are ever fetched.
    func takeOver(now: Int64) async throws -> Int
    /// The logos whose time has come, the longest waiting first.
    func due(limit: Int, now: Int64) async throws -> [DueLogo]
    /// True when all wanted files of a picture are there.
    func has(hash: String) async throws -> Bool
    /// Writes the files of one picture, for whose URL `note` follows.
    ///
    /// - Throws: when the disk refuses; nothing is noted then.
    func store(hash: String, _ files: [LogoFile], now: Int64) async throws
    /// Notes how a fetch ended, and makes room for a new picture.
    func note(_ result: LogoResult, of url: String, now: Int64, dueAt: Int64) async throws
    /// Notes which files phones asked for.
    func noteUse(of names: [String], now: Int64) async throws
    /// Removes what no brand has named for the time of grace.
    func tidy(now: Int64) async throws
    /// What stands in Call-Info from now on.
    func hosted() async throws -> HostedLogos
    /// Counts for the status page.
    func totals() async throws -> LogoTotals
    /// The bytes of a file that is served; nil for a name that is none.
    func read(_ name: String) -> [UInt8]?
}

/// A logo that is to be fetched now.
package struct DueLogo: Hashable, Sendable {
    package var url: String
    /// Validators of the copy that is there; nil when it must be fetched whole.
    package var etag: String?
    package var lastModified: String?
    /// Fetches that failed in a row.
    package var failures: Int
    /// The kind of the last failure.
    package var reason: String?

    package init(
        url: String, etag: String? = nil, lastModified: String? = nil, failures: Int = 0, reason: String? = nil
    ) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
        self.failures = failures
        self.reason = reason
    }
}

/// How a fetch ended.
package enum LogoResult: Hashable, Sendable {
    /// The copy is still the right one.
    case unchanged
    case fetched(hash: String, etag: String?, lastModified: String?)
    /// The last good copy, if there is one, stays in use.
    case failed(reason: String, detail: String)
}

/// One file for phones.
package struct LogoFile: Hashable, Sendable {
    /// Key of its form, such as `128x128.png` or `as-is`.
    package var form: String
    /// `HASH-128x128.png`, as RFC 9796 wants the size in it.
    package var name: String
    package var bytes: [UInt8]

    package init(form: String, name: String, bytes: [UInt8]) {
        self.form = form
        self.name = name
        self.bytes = bytes
    }
}

/// Which files are made of each picture.
package enum LogoForms: Hashable, Sendable {
    /// The picture as it came.
    case asItCame
    /// Squares of these sizes in pixels, the first of which stands in Call-Info; at least one.
    case squares([Int], LogoPicture.Format)

    /// Keys of all files of a picture.
    package var keys: [String] {
        switch self {
        case .asItCame: ["as-is"]
        case .squares(let sizes, let format): sizes.map { "\($0)x\($0).\(format.fileExtension)" }
        }
    }

    /// Key of the file that stands in Call-Info.
    package var shown: String { keys[0] }
}

/// Counts of logos and of their files.
package struct LogoTotals: Hashable, Sendable {
    /// Different logos the stored brands name.
    package var known = 0
    /// Of those, with a copy that is served.
    package var ready = 0
    /// Logos whose last fetch failed, by reason.
    package var failed: [String: Int] = [:]
    package var files = 0
    package var bytes = 0

    package init() {}
}
