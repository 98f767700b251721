// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import GatewayStore
import GatewayTesting
import Host
import SIPCore
import SIPTransport
import Synchronization

@testable import GatewayApp
@testable import GatewayConfiguration

/// A reload with real files and a real ledger, without sockets and threads.
final class ReloadFixture: Sendable {
    let folder: GatewayFolder
    let settings: SettingsFixture
    let log = LogLines()
    let sections: ConfigurationText
    private let streams: StreamTransport?
    /// The messages to systemd.
    let states = Messages()
    let systemd: SystemdReport
    let last = LastReload(now: { 1_800_000_000 })
    private let reload: ConfigurationReload

    /// - Parameter change: changes `GatewayFolder.sections` for the start.
    convenience init(_ change: (ConfigurationText) -> ConfigurationText = { $0 }) throws {
        let folder = try GatewayFolder()
        try self.init(folder, change(folder.sections)) { _ in nil }
    }

    /// - Parameter makeStreams: opens the TCP and TLS addresses of the configuration.
    init(
        _ folder: GatewayFolder, _ sections: ConfigurationText,
        makeStreams: (HeraldConfiguration) throws -> StreamTransport?,
        parts: (OutcomeRecorder) -> [any ReloadablePart] = { _ in [] }
    ) throws {
        let settings = try SettingsFixture(folder, sections)
        streams = try makeStreams(settings.configuration)
        let recorder = OutcomeRecorder(
            database: try HeraldDatabase(folder: folder.path), ring: try UpdateRing(inMemory: 64),
            settings: try settings.configuration.recorderSettings(), log: log.logger)
        let resolver = NextHopResolver(
            names: [], lookup: Unresolvable(), settings: .init(),
            time: .init(clock: ContinuousClock(), wallSeconds: { 0 }), onChange: { settings.live.use($0) },
            onNotice: { _ in })
        self.folder = folder
        self.sections = sections
        self.settings = settings
        systemd = SystemdReport(
            Supervisor(watchdogInterval: nil) { [states] in states.add($0) }, progress: { [] }, onStuck: { _ in },
            line: { "" })
        reload = ConfigurationReload(
            path: folder.configurationPath,
            fixed: RestartOnlySettings(settings.configuration, hasStreams: streams != nil),
            settings: settings.live, streams: streams, names: Self.names,
            resolver: resolver, recorder: recorder, parts: parts(recorder), last: last,
            report: systemd,
            logger: log.logger)
    }

    /// Reloads from a file with another text.
    ///
    /// - Returns: the log lines of the reload.
    func reload(_ text: String) async throws -> [String] {
        try folder.write(text)
        return await again()
    }

    /// Reloads from a file with one section changed.
    func reload(_ section: String, _ value: String) async throws -> [String] {
        try await reload(sections.with(section, value).text)
    }

    /// Plans a reload from the file as it is.
    func plan() async -> ReloadPlan { await reload.plan() }

    /// Reloads so many times at once.
    func atOnce(_ count: Int) async -> [ReloadResult] {
        await withTaskGroup(of: ReloadResult.self) { group in
            for _ in 0..<count { group.addTask { await self.reload.run() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Reloads from the file as it is.
    func again() async -> [String] {
        _ = log.take()
        await reload.run()
        return log.take()
    }

    /// Takes messages from any thread.
    final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func add(_ text: String) { list.withLock { $0.append(text) } }
    }

    /// The system's name servers know no name, and all others know every name.
    private static var names: LiveNameLookup {
        LiveNameLookup([]) { servers in
            guard servers.isEmpty else { return Known() }
            return Unresolvable()
        }
    }

    private struct Known: NameLookup {
        func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord] {
            guard type == .a, let address = PeerAddress(host: Array("127.85.0.7".utf8)[...], port: 0) else {
                throw .noData
            }
            return [NameRecord(timeToLive: 60, content: .address(address))]
        }
    }

    private struct Unresolvable: NameLookup {
        func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord] {
            throw .timedOut
        }
    }
}
