// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Host
import PostgreSQL

/// The source of `/metrics` and `/status`.
struct OperationReport: Sendable {
    let database: DirectoryDatabase
    let version: String
    /// Seconds since 1970.
    let startedAt: Int64
    let counters: ServerCounters
    let watch: StoreWatch
    let figures: CurrentFigures
    /// Nil if the directory sends no push messages.
    let push: PushCounters?

    /// The series of this moment; without the figures of the store while it cannot be read.
    func samples() async -> MetricSamples {
        var gauges = [
            GaugeSample(
                name: "herald_directory_build_info", help: "1; the label has the version of the directory",
                labels: [MetricLabel("version", version)], value: 1),
            GaugeSample(
                name: "herald_directory_store_writable", help: "1 while the database can be written",
                value: watch.problem == nil ? 1 : 0),
            GaugeSample(
                name: "herald_directory_writes_waiting", help: "Writes of requests that wait for a commit",
                value: Double(database.waitingWrites)),
            GaugeSample(
                name: "herald_directory_connections", help: "Open connections of clients",
                value: Double(counters.connections)),
        ]
        gauges += push?.gauges ?? []
        if let load = database.load { gauges += DatabaseGauges.sessions(load) }
        if let figures = try? await figures.take() {
            gauges += Self.gauges(figures) + (figures.replication.map(DatabaseGauges.standbys) ?? [])
        }
        let sessions = database.load.map(DatabaseGauges.sessionCounts) ?? []
        let commits = HistogramSample(
            name: "herald_directory_commit_seconds",
            help: "Seconds of a commit of requests, from the begin of the transaction to the disk",
            value: database.commitTimes)
        return MetricSamples(
            counters: counters.samples + (push?.counters ?? []) + sessions, gauges: gauges, histograms: [commits])
            + ProcessFigures().samples + LibraryMetrics.shared.samples
    }

    private static func gauges(_ figures: StoreFigures) -> [GaugeSample] {
        let values = [
            GaugeSample(
                name: "herald_directory_accounts", help: "Accounts that are active",
                value: Double(figures.activeAccounts)),
            GaugeSample(
                name: "herald_directory_numbers", help: "Numbers in use, of all accounts",
                value: Double(figures.numbers)),
            GaugeSample(
                name: "herald_directory_last_change",
                help: "Number of the last change in the feed, the highest of all accounts",
                value: Double(figures.lastChange)),
            GaugeSample(
                name: "herald_directory_events_today", help: "Events of this day in UTC, counted or not",
                value: Double(figures.eventsToday)),
            GaugeSample(
                name: "herald_directory_database_bytes", help: "Size of the database file",
                value: Double(figures.databaseBytes)),
            GaugeSample(
                name: "herald_directory_log_bytes", help: "Size of the write-ahead log of the database",
                value: Double(figures.logBytes)),
            GaugeSample(
                name: "herald_directory_disk_free_bytes", help: "Free bytes on the disk of the state folder",
                value: Double(figures.freeBytes)),
        ]
        let backup = figures.lastBackup.map { time in
            GaugeSample(
                name: "herald_directory_last_backup_timestamp_seconds",
                help: "Time of the last backup in seconds since 1970; absent before the first", value: Double(time))
        }
        return values + (backup.map { [$0] } ?? [])
    }

    /// The state of this moment.
    ///
    /// - Throws: a database error.
    func status() async throws -> DirectoryStatus {
        let figures = try await figures.take()
        return DirectoryStatus(
            version: version, startedAt: startedAt, problem: watch.problem, accounts: figures.accounts,
            activeAccounts: figures.activeAccounts, numbers: figures.numbers, lastChange: figures.lastChange,
            eventsToday: figures.eventsToday, waitingWrites: database.waitingWrites, connections: counters.connections,
            disk: .init(
                databaseBytes: figures.databaseBytes, logBytes: figures.logBytes, freeBytes: figures.freeBytes),
            lastBackup: figures.lastBackup,
            replication: figures.replication.map { .init(summary: $0.summary, problems: $0.problems, details: $0) })
    }
}

/// The figures of the store, read again when they are a hundred times older than the reading took.
///
/// So a monitor that asks often costs at most one percent of a core, however many numbers there are.
actor CurrentFigures {
    private let database: DirectoryDatabase
    private let now: @Sendable () -> Int64
    private var last: (figures: StoreFigures, until: ContinuousClock.Instant)?

    /// - Parameter now: seconds since 1970.
    init(_ database: DirectoryDatabase, now: @escaping @Sendable () -> Int64) {
        self.database = database
        self.now = now
    }

    /// The figures.
    ///
    /// - Throws: a database error.
    func take() async throws -> StoreFigures {
        let began = ContinuousClock.now
        if let last, began < last.until { return last.figures }
        let figures = try await database.figures(now: now())
        let end = ContinuousClock.now
        last = (figures, end + (end - began) * 100)
        return figures
    }
}
