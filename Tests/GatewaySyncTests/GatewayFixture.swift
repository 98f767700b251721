// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import GatewayStoreTesting
import GatewaySync
import GatewaySyncTesting
import Logging
import Synchronization
import TestFixtures
import Testing

/// The sync side of a gateway on a database of its own, against whatever listens at a URL.
final class GatewayFixture: Sendable {
    let folder = TemporaryFolder()
    let time: ManualTime
    let database: HeraldDatabase
    let cache: BrandCacheStore
    let index: BrandCacheIndexFile
    let current: CurrentBranding
    let publisher: BrandingPublisher
    let client: DirectoryClient
    let device = DeviceIdentity(id: "gateway-1", platform: "linux", systemVersion: "Debian 12", version: "1.2.3")
    let outbox = MemoryOutbox()
    let log = RecordingLog()

    init(
        _ url: String, key: String = testKey, records: [BrandRecord] = [],
        time: ManualTime = ManualTime(passesByItself: true), configure: (inout DirectorySettings) -> Void = { _ in }
    ) async throws {
        self.time = time
        database = try HeraldDatabase(folder: folder.path)
        cache = BrandCacheStore(database)
        let log = log
        let logger = Logger(label: "test") { _ in log.handler }
        index = BrandCacheIndexFile(cache, folder: folder.path, profile: RenderingProfile(), logger: logger)
        if !records.isEmpty {
            _ = try await cache.apply(
                StoredResponse(
                    isFull: true, upserts: records, removals: [], cursor: "cursor-0", gates: BrandingGates(),
                    now: ManualTime.start - 60))
        }
        let gates = try await cache.syncState().gates
        current = CurrentBranding(BrandingSnapshot(index: try await index.load(), gates: gates))
        publisher = BrandingPublisher(current: current, cache: cache, time: time.clock, logger: logger)
        client = try GatewaySyncTests.client(at: url, key: key, time: time, configure: configure)
    }

    /// The operator's `voip_dialer_enabled: obey`.
    func obeyVoipDialer() async {
        await publisher.change { gates in
            var gates = gates
            gates.obeysVoipDialer = true
            return gates
        }
    }

    var logger: Logger { Logger(label: "test") { [log] _ in log.handler } }

    func service(_ schedule: SyncSchedule = SyncSchedule()) -> SyncService {
        SyncService(
            client: client, cache: cache, publisher: publisher, device: device, stateFolder: folder.path,
            schedule: schedule, time: time.clock, logger: logger, index: { [index] in try await index.rebuild() })
    }

    func sender(_ schedule: EventSchedule = EventSchedule()) -> EventSender {
        EventSender(
            client: client, outbox: outbox, publisher: publisher, device: device, schedule: schedule,
            time: time.clock, logger: logger)
    }

    /// The stored records by number, straight from the index a new start would use.
    func stored(_ numbers: [String]) async throws -> [String] {
        let fresh = try await cache.loadIndex(profile: RenderingProfile())
        return numbers.filter { text in E164Number(text).map { fresh.entry(for: $0) != nil } ?? false }
    }

    /// True if a call from the number would find a brand at this instant.
    func finds(_ number: String) -> Bool {
        E164Number(number).map { current.load().index.entry(for: $0) != nil } ?? false
    }

    var closed: PassThroughReason? { current.load().gates.closed }
}

/// A record as short as it can be.
func record(_ number: String, _ name: String = "Acme", at time: String = "2026-01-01T00:00:00Z") throws -> BrandRecord {
    BrandRecord(number: try #require(E164Number(number)), name: name, brandID: "b-\(name)", updatedAt: time)
}

/// An outbox in memory that remembers what became of each event.
final class MemoryOutbox: EventOutbox {
    enum Fate: Hashable, Sendable {
        case waiting
        case delivered(EventReceipt)
        case refused(Int, String)
        case postponed(until: Int64)
    }

    struct Entry: Sendable {
        var pending: PendingEvent
        var fate = Fate.waiting
        var due: Int64 = 0
    }

    private let entries = Mutex<[Entry]>([])
    /// Set to fail every write, as a full disk does.
    let isBroken = Mutex(false)

    func add(_ keys: String...) {
        entries.withLock { entries in
            for key in keys {
                var meta = OutcomeEvent.Meta()
                meta.callEventID = key
                meta.ringDuration = 12
                meta.brandingApplied = true
                let event = OutcomeEvent(
                    key: key, callID: key, number: "+61412345678", outcome: "displayed", surface: "sip",
                    displayedAt: "2026-01-01T00:00:00Z", meta: meta)
                entries.append(Entry(pending: PendingEvent(event: event, attempts: 0)))
            }
        }
    }

    func fate(_ key: String) -> Fate? {
        entries.withLock { entries in entries.first { $0.pending.event.key == key }?.fate }
    }

    var fates: [Fate] { entries.withLock { entries in entries.map(\.fate) } }
    var attempts: Int { entries.withLock { entries in entries.map(\.pending.attempts).reduce(0, +) } }

    func dueEvents(limit: Int, now: Int64) async throws -> [PendingEvent] {
        entries.withLock { entries in
            let due = entries.filter { entry in
                switch entry.fate {
                case .waiting, .postponed: entry.due <= now
                case .delivered, .refused: false
                }
            }
            return Array(due.map(\.pending).prefix(limit))
        }
    }

    func markDelivered(key: String, receipt: EventReceipt, now: Int64) async throws {
        try settle(key) { $0.fate = .delivered(receipt) }
    }

    func markRefused(key: String, status: Int, reason: String, now: Int64) async throws {
        try settle(key) { $0.fate = .refused(status, reason) }
    }

    func postpone(key: String, until: Int64, reason: String) async throws {
        try settle(key) { entry in
            entry.fate = .postponed(until: until)
            entry.due = until
            entry.pending.attempts += 1
        }
    }

    private func settle(_ key: String, _ change: (inout Entry) -> Void) throws {
        guard !isBroken.withLock({ $0 }) else { throw CocoaError(.fileWriteOutOfSpace) }
        entries.withLock { entries in
            guard let position = entries.firstIndex(where: { $0.pending.event.key == key }) else { return }
            change(&entries[position])
        }
    }
}

/// Keeps every log line of at least `info`, with its metadata.
final class RecordingLog: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }
    var handler: any LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
            log.kept.withLock { $0.append("\(event.level): \(event.message) \(details)") }
        }
    }
}
