// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import DirectoryStore
import Host
import Primitives

/// `herald-directory status`: the state of the directory in lines, or as one JSON object.
package struct DirectoryOverview: Hashable, Sendable, Encodable {
    /// Where the server listens.
    var listen: String
    /// True if a server responds there.
    package var isRunning: Bool
    var isReady: Bool
    /// Why the server is not ready; nil if it is, or without a server.
    var obstacle: String?
    /// Of the running server; nil where its status is not open to this machine.
    var version: String?
    var startedAt: Int64?
    var connections: Int?
    var waitingWrites: Int?
    var place: String
    var accounts: Int
    var activeAccounts: Int
    var numbers: Int
    var eventsToday: Int
    var lastEvent: Int64?
    var keys: Int
    var endingKeys: Int
    var adminKeys: Int
    var databaseBytes: Int64
    var logBytes: Int64
    var freeBytes: Int64
    var lastBackup: Int64?
    /// Of database, disk, clock and logos, with remedies.
    var problems: [String]

    enum CodingKeys: String, CodingKey {
        case listen, obstacle, version, connections, accounts, numbers, keys, problems
        case isRunning = "running"
        case isReady = "ready"
        case startedAt = "started_at"
        case waitingWrites = "waiting_writes"
        case place = "database"
        case activeAccounts = "active_accounts"
        case eventsToday = "events_today"
        case lastEvent = "last_event"
        case endingKeys = "ending_keys"
        case adminKeys = "admin_keys"
        case databaseBytes = "database_bytes"
        case logBytes = "log_bytes"
        case freeBytes = "free_bytes"
        case lastBackup = "last_backup"
    }

    /// Asks the server and reads the database.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: when the database cannot be opened or read.
    package init(_ subject: OperatorSubject, now: Int64) async throws {
        let database = try subject.opened()
        let running = await subject.server()
        let figures = try await database.figures(now: now)
        let operators = try await database.operatorFigures(logos: subject.logos, now: now)
        listen = subject.configuration.listen.description
        (isRunning, obstacle) = (running != nil, running?.readiness.problem)
        isReady = isRunning && obstacle == nil
        (version, startedAt) = (running?.status?.version, running?.status?.startedAt)
        (connections, waitingWrites) = (running?.status?.connections, running?.status?.waitingWrites)
        place = database.place
        (accounts, activeAccounts, numbers) = (figures.accounts, figures.activeAccounts, figures.numbers)
        (eventsToday, lastEvent) = (figures.eventsToday, operators.lastEvent)
        (keys, endingKeys, adminKeys) = (operators.keys, operators.endingKeys.count, operators.adminKeys)
        (databaseBytes, logBytes, freeBytes) = (figures.databaseBytes, figures.logBytes, figures.freeBytes)
        lastBackup = figures.lastBackup
        problems = database.health(now: now).problems + operators.logoProblems
    }

    /// One fact a line, escaped for a terminal.
    package var text: String {
        lines.map { name, value in
            name + String(repeating: " ", count: max(1, 11 - name.count)) + TerminalText.visible(value) + "\n"
        }.joined()
    }

    private var lines: [(String, String)] {
        let ready = isRunning ? obstacle.map { "no: \($0)" } ?? "yes" : "no server responds at \(listen)"
        let ending = endingKeys == 0 ? "" : ", \(endingKeys) ending: see herald-directory doctor"
        let waiting = waitingWrites.map { ", \($0) writes wait" } ?? ""
        let last = lastEvent.map { ", the last one at \(Timestamp.string(from: $0))" } ?? ""
        return [
            ("ready", ready),
            version.map { ("directory", "herald-directory \($0)" + since) },
            ("listening", listen + (connections.map { ", \($0) connections" } ?? "")),
            ("accounts", "\(accounts), \(activeAccounts) active"), ("numbers", "\(numbers)"),
            ("events", "\(eventsToday) today in UTC" + last + waiting),
            ("keys", "\(keys) for clients\(ending); \(adminKeys) for operators"),
            ("database", "\(place), \(Self.size(databaseBytes)), log \(Self.size(logBytes))"),
            ("disk", "\(Self.size(freeBytes)) free"),
            ("backup", lastBackup.map { "the last one of \(Timestamp.string(from: $0))" } ?? "none"),
        ].compactMap { $0 } + problems.map { ("problem", $0) }
    }

    private var since: String { startedAt.map { ", since \(Timestamp.string(from: $0))" } ?? "" }

    private static func size(_ bytes: Int64) -> String { MemoryLimit.readable(UInt64(max(bytes, 0))) }
}
