// SPDX-License-Identifier: Apache-2.0

public import Branding

/// The gateway's own copies of logos, as the fetching side sees them.
///
/// Safe from any thread; never called on the call path. An error leaves the previous state.
public protocol LogoCache: Sendable {
    /// Reconciles rows and files after a start: removes partial logos and makes missing ones due.
    func prepare(now: Int64) async throws
    /// Takes over the logos of the stored brands.
    ///
    /// - Returns: the number of logos above the limit, which are left out.
    func takeOver(now: Int64) async throws -> Int
    /// The logos that are due, the longest waiting first.
    func due(limit: Int, now: Int64) async throws -> [DueLogo]
    /// True when all wanted files of a picture are there.
    func has(hash: String) async throws -> Bool
    /// Writes the files of one picture, for whose URL `record` follows.
    ///
    /// - Throws: an error of the disk; nothing is recorded then.
    func store(hash: String, _ files: [LogoFile], now: Int64) async throws
    /// Records the result of a fetch, and frees space for a new picture.
    func record(_ result: LogoResult, of url: String, now: Int64, dueAt: Int64) async throws
    /// Records the files that phones requested.
    func recordUse(of names: [String], now: Int64) async throws
    /// Removes logos that no brand has named for the grace period.
    func tidy(now: Int64) async throws
    /// The URLs for Call-Info from now on.
    func hosted() async throws -> HostedLogos
    /// Counts for the status page.
    func totals() async throws -> LogoTotals
    /// The bytes of a served file; nil for an unknown name.
    func read(_ name: String) -> [UInt8]?
}

/// A logo that is due for a fetch.
public struct DueLogo: Hashable, Sendable {
    public var url: String
    /// Validators of the present copy; nil without one.
    public var etag: String?
    public var lastModified: String?
    /// Consecutive failed fetches.
    public var failures: Int
    /// The kind of the last failure.
    public var reason: String?

    public init(
        url: String, etag: String? = nil, lastModified: String? = nil, failures: Int = 0, reason: String? = nil
    ) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
        self.failures = failures
        self.reason = reason
    }
}

/// The result of a fetch.
public enum LogoResult: Hashable, Sendable {
    /// The copy is current.
    case unchanged
    case fetched(hash: String, etag: String?, lastModified: String?)
    /// The last good copy, if there is one, stays in use.
    case failed(reason: String, detail: String)
}

/// One file for phones.
public struct LogoFile: Hashable, Sendable {
    /// Key of the form, such as `128x128.png` or `as-is`.
    public var form: String
    /// `HASH-128x128.png`, as RFC 9796 wants the size in it.
    public var name: String
    public var bytes: [UInt8]

    public init(form: String, name: String, bytes: [UInt8]) {
        self.form = form
        self.name = name
        self.bytes = bytes
    }
}

/// The files that are made of each picture.
public enum LogoForms: Hashable, Sendable {
    /// The picture as received.
    case asItCame
    /// These forms, all different; the first is in Call-Info. At least one.
    case scaled([LogoForm])

    /// Squares of these sizes in pixels, in one encoding.
    public static func squares(_ sizes: [Int], _ encoding: LogoForm.Encoding) -> LogoForms {
        .scaled(sizes.map { LogoForm(width: $0, height: $0, encoding) })
    }

    /// Keys of all files of a picture.
    public var keys: [String] {
        switch self {
        case .asItCame: ["as-is"]
        case .scaled(let forms): forms.map(\.key)
        }
    }

    /// Key of the file in Call-Info.
    public var shown: String { keys[0] }
}

/// Counts of logos and of their files.
public struct LogoTotals: Hashable, Sendable {
    /// Distinct logos of the stored brands.
    public var known = 0
    /// Of those, logos with a served copy.
    public var ready = 0
    /// Logos whose last fetch failed, by reason.
    public var failed: [String: Int] = [:]
    public var files = 0
    public var bytes = 0

    public init() {}
}
