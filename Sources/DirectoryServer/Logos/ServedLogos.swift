// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// Keeps the feed consistent with the logos of this server.
///
/// A logo appears, disappears or changes with the folder `logos:`, with uploads, and with `public_url`, while the
/// brands that name it do not change. So the server compares its logos with those served before, even in an earlier
/// run. Numbers with a changed logo get a new change number, in one statement for each account.
///
/// The first bytes under a name have the URL `/logos/NAME`. Other bytes have `/logos/NAME?v=` and eight digits of their
/// hash, because clients cache pictures by URL. If the first bytes return, their first URL returns. A missing logo is
/// left out of the entry, unless another server has the files (`public_url` without `logos:`). A folder that cannot be
/// read changes nothing.
final class ServedLogos: Service {
    /// Time between two comparisons.
    static let pause = Duration.seconds(5)
    /// Comparisons between two searches of all brands without other changes: a minute.
    private static let roundsPerSearch = 12
    /// Most names in one log line.
    private static let namesPerLine = 5

    private struct State {
        var urls = LogoURLs()
        var port: Int?
        /// The logos of the last round, with the stamps of this machine.
        var files: [String: LogoFolder.File] = [:]
        /// Comparisons until the next search of the brands for missing logos.
        var untilSearch = 0
        /// The last log line of each kind, so that no line is repeated.
        var lastLines: [String: String] = [:]
    }

    private let database: DirectoryDatabase
    private let folder: LogoFolder?
    private let publicURL: String?
    private let host: String
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let state = Mutex(State())

    init(
        _ database: DirectoryDatabase, folder: String?, publicURL: String?, host: String,
        now: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.database = database
        // The path is absolute, because commands in other working directories read it from the database.
        self.folder = folder.map { LogoFolder(path: URL(fileURLWithPath: $0).path) }
        self.publicURL = publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        self.host = host
        self.now = now
        self.logger = logger
    }

    /// The present URLs; thread-safe.
    var urls: LogoURLs { state.withLock { $0.urls } }

    /// Sets the listening port, which is part of URLs without `public_url`.
    func listens(on port: Int?) { state.withLock { $0.port = port } }

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            // `try?`: after a cancelled sleep the loop ends by its condition.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
            if !Task.isShuttingDownGracefully, !Task.isCancelled { await round() }
        }
    }

    /// Compares once; a failure is logged once and retried in the next round.
    func round() async {
        do {
            let comparison = try await ServedLogoTable.compared(in: database) { [self] in compare($0, uploads: $1) }
            // The URLs change first. A client that syncs in between gets its numbers twice, and none keeps an old URL.
            state.withLock { $0.urls = comparison.urls }
            if comparison.before != comparison.after {
                let numbers = try await ServedLogoTable.replace(
                    comparison.before, by: comparison.after, now: now, in: database)
                if numbers > 0 {
                    logger.info(
                        "logos changed; their numbers are delivered again",
                        metadata: ["numbers": "\(numbers)"])
                }
            }
            log("round", .info, nil)
            if isSearchDue(comparison.before != comparison.after) { try await logMissing(comparison.urls) }
        } catch is CancellationError {
            // The server ends; the next start compares again.
        } catch {
            log("round", .error, "changes of logos cannot be stored and will be retried: \(error)")
        }
    }

    /// The logos served before, the present ones, and their URLs.
    private struct Comparison: Sendable {
        let before: ServedLogoTable.Content
        var after: ServedLogoTable.Content
        let urls: LogoURLs
    }

    private func compare(_ before: ServedLogoTable.Content, uploads: [String: String]) -> Comparison {
        let after = present(before, uploads: uploads)
        var found = Comparison(before: before, after: after, urls: published(after))
        found.after.signature = Self.signature(found.urls)
        return found
    }

    /// The present logos.
    private func present(
        _ before: ServedLogoTable.Content, uploads: [String: String]
    ) -> ServedLogoTable.Content {
        var files: [String: LogoFolder.File] = [:]
        if let folder {
            let known = before.logos.compactMapValues(\.file).merging(state.withLock { $0.files }) { $1 }
            if let found = folder.files(known: known) {
                files = found
                log("folder", .info, nil)
            } else {
                // A file system that is briefly unavailable must not remove all logos from all clients.
                files = known.filter { $0.value.stamp != ServedLogoTable.upload }
                log("folder", .error, "\(folder.path) cannot be read; its logos stay unchanged. See logos:")
            }
        }
        for (name, hash) in uploads {
            files[name] = LogoFolder.File(stamp: ServedLogoTable.upload, hash: hash)
        }
        state.withLock { $0.files = files }
        // A stamp of this machine is no change of a logo, and another node has other stamps.
        for (name, file) in files {
            if let stored = before.logos[name]?.file, stored.hash == file.hash { files[name] = stored }
        }
        return before.taking(files, folder: folder?.path)
    }

    private func published(_ content: ServedLogoTable.Content) -> LogoURLs {
        let endings = content.logos.compactMapValues { logo in
            logo.file.map { $0.hash == logo.first ? "" : "?v=\($0.hash.prefix(8))" }
        }
        if let publicURL {
            return LogoURLs(base: publicURL, endings: endings, includesUnknown: folder == nil)
        }
        let port = state.withLock { $0.port }
        guard folder != nil || !endings.isEmpty, let port, !Self.isEverywhere(host) else {
            return LogoURLs(endings: endings)
        }
        return LogoURLs(base: "http://\(host.contains(":") ? "[\(host)]" : host):\(port)", endings: endings)
    }

    /// True for the wildcard address, which no URL can use.
    static func isEverywhere(_ host: String) -> Bool { ["0.0.0.0", "::"].contains(host) }

    /// The prefix of all URLs; another prefix changes the URL of every logo.
    private static func signature(_ urls: LogoURLs) -> String {
        (urls.includesUnknown ? ServedLogoTable.elsewhere : "") + (urls.base ?? "")
    }

    /// True when a search of all brands for missing logos is due; it reads up to a million brands.
    private func isSearchDue(_ hasChanged: Bool) -> Bool {
        state.withLock { state in
            let isDue = hasChanged || state.untilSearch <= 0
            state.untilSearch = isDue ? Self.roundsPerSearch : state.untilSearch - 1
            return isDue
        }
    }

    /// Warns of brands with a logo that this server does not have or cannot serve.
    private func logMissing(_ urls: LogoURLs) async throws {
        if urls.includesUnknown { return }
        let named = try await ServedLogoTable.namesInBrands(of: database)
        if urls.base == nil, folder != nil || !urls.endings.isEmpty {
            return log("missing", .warning, "logos have no address that phones can reach; set public_url")
        }
        let missing = named.filter { urls.url(of: $0) == nil }
        guard !missing.isEmpty else { return log("missing", .info, nil) }
        let names = missing.prefix(Self.namesPerLine).joined(separator: ", ") + (missing.count > 5 ? ", …" : "")
        let remedy =
            folder.map { "put their files into \($0.path), or add them with herald-directory logos add" }
            ?? "set logos: to the folder of their files, or add them with herald-directory logos add"
        log("missing", .warning, "missing logos of brands: \(missing.count) (\(names)); \(remedy)")
    }

    /// Logs a line unless the last one of its kind was the same; nil resets the kind.
    private func log(_ kind: String, _ level: Logger.Level, _ text: String?) {
        let before = state.withLock { state in
            defer { state.lastLines[kind] = text }
            return state.lastLines[kind]
        }
        guard before != text else { return }
        if let text {
            logger.log(level: level, "\(text)")
        } else if kind != "missing" {
            logger.info("changes of logos are stored again")
        }
    }
}
