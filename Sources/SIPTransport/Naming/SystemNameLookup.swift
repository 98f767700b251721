// SPDX-License-Identifier: Apache-2.0

import CResolver
import Foundation
public import SIPCore
import Synchronization

/// Queries name servers over the network.
///
/// Blocking calls run on threads of their own. Ignores `/etc/hosts` and the search list in `/etc/resolv.conf`.
public final class SystemNameLookup: NameLookup {
    /// Name servers, timeouts and limits.
    public struct Settings: Hashable, Sendable {
        /// Name servers in order, at most eight; empty for those of `/etc/resolv.conf`.
        public var servers: [PeerAddress]
        /// Timeout of one server and one attempt, 1 ms … 30 s.
        public var timeout: Duration
        /// Rounds through all servers, 1 … 8.
        public var attempts: Int
        /// Concurrent lookups, and so threads.
        public var concurrency: Int

        public init(
            servers: [PeerAddress] = [], timeout: Duration = .seconds(2), attempts: Int = 2, concurrency: Int = 4
        ) {
            self.servers = servers
            self.timeout = timeout
            self.attempts = attempts
            self.concurrency = concurrency
        }
    }

    private let settings: Settings
    private let queue = OperationQueue()

    public init(settings: Settings = Settings()) {
        self.settings = settings
        queue.name = "herald.names"
        queue.maxConcurrentOperationCount = max(settings.concurrency, 1)
    }

    /// Queries the servers; a cancelled task returns at once, while its query times out in the background.
    ///
    /// - Throws: `NameLookupError`, at the latest after servers × attempts × timeout plus the time in the queue.
    public func records(of name: String, type: NameRecordType) async throws(NameLookupError) -> [NameRecord] {
        let waiting = WaitingLookup()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.begin(continuation)
                let settings = settings
                queue.addOperation {
                    // The task may have been cancelled before a thread was free.
                    if waiting.isOver { return }
                    waiting.end(with: NameQuestion(name: name, type: type).ask(settings))
                }
            }
        } onCancel: {
            waiting.end(with: .failure(.cancelled))
        }
        return try outcome.get()
    }
}

/// A continuation that is resumed once, by the result or by cancellation.
private final class WaitingLookup: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<NameLookupOutcome, Never>)
        case over(NameLookupOutcome)
    }

    private let state = Mutex(State.new)

    var isOver: Bool {
        state.withLock { state in
            if case .over = state { return true }
            return false
        }
    }

    func begin(_ continuation: CheckedContinuation<NameLookupOutcome, Never>) {
        let early: NameLookupOutcome? = state.withLock { state in
            if case .over(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(returning: early) }
    }

    func end(with outcome: NameLookupOutcome) {
        let continuation: CheckedContinuation<NameLookupOutcome, Never>? = state.withLock { state in
            defer { if case .over = state {} else { state = .over(outcome) } }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: outcome)
    }
}

/// One query to the servers on the calling thread.
private struct NameQuestion {
    let name: String
    let type: NameRecordType

    func ask(_ settings: SystemNameLookup.Settings) -> NameLookupOutcome {
        let servers = settings.servers.prefix(Int(HERALD_NAME_SERVERS)).map(herald_name_server.init)
        var records = [herald_name_record](repeating: herald_name_record(), count: Int(HERALD_RECORDS))
        let milliseconds = min(max(settings.timeout / .milliseconds(1), 1), 30_000)
        let outcome = herald_resolve(
            name, Int32(type.rawValue), servers, Int32(servers.count), Int32(milliseconds),
            Int32(clamping: settings.attempts), &records, Int32(records.count))
        guard outcome > 0 else { return .failure(NameLookupError(code: outcome)) }
        return .success(records.prefix(Int(outcome)).compactMap(NameRecord.init))
    }
}

extension herald_name_server {
    fileprivate init(_ server: PeerAddress) {
        self.init()
        withUnsafeMutableBytes(of: &address) { $0.copyBytes(from: server.octets) }
        port = server.port
        is_ipv6 = server.isIPv6 ? 1 : 0
    }
}

extension NameLookupError {
    fileprivate init(code: Int32) {
        self =
            switch herald_resolve_failure(code) {
            case HERALD_RESOLVE_NOT_FOUND: .notFound
            case HERALD_RESOLVE_NO_DATA: .noData
            case HERALD_RESOLVE_SERVER_FAILURE: .serverFailure
            case HERALD_RESOLVE_TIMEOUT: .timedOut
            case HERALD_RESOLVE_MALFORMED: .malformed
            case HERALD_RESOLVE_UNREACHABLE: .unreachable
            case HERALD_RESOLVE_BAD_NAME: .badName
            default: .other
            }
    }
}

extension NameRecord {
    /// Nil for an unrequested type.
    fileprivate init?(_ record: herald_name_record) {
        guard let type = NameRecordType(rawValue: record.type) else { return nil }
        timeToLive = Int(record.ttl)
        let (high, low) = withUnsafeBytes(of: record.address) { raw in
            (
                UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        content =
            switch type {
            case .a: .address(PeerAddress(ipv4: UInt32(truncatingIfNeeded: high >> 32), port: 0))
            case .aaaa: .address(PeerAddress(ipv6High: high, low: low, port: 0))
            case .srv:
                .service(
                    priority: record.priority, weight: record.weight, port: record.port, target: text(record.target))
            case .naptr:
                .pointer(
                    order: record.priority, preference: record.weight, flags: text(record.flags),
                    service: text(record.service), replacement: text(record.target))
            }
    }
}

/// Returns the text of a C array, up to its NUL or its end.
private func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
